// Which upstream partitions a partition is made from, as users write it, checked against the partitions of both assets.

import { z } from 'zod'
import { isCalendar } from '../calendar.js'
import { isRefusal, type KeyOrder, type Refusal } from '../key-order.js'
import { isMulti } from '../multi.js'

export type SingleMapping =
  /** The one with the same key. */
  | { readonly type: 'identity' }
  /** Those whose windows share an instant with its own, from so many before to so many after. */
  | { readonly type: 'time_window'; readonly start_offset: number; readonly end_offset: number }
  /** The last one that exists. */
  | { readonly type: 'last' }
  /** All that exist. */
  | { readonly type: 'all' }
  /** Those that are listed under its key. */
  | { readonly type: 'static'; readonly upstream_keys: ReadonlyMap<string, readonly string[]> }

/** By one dimension of the side that has several, or of both; what they have besides is taken whole. */
export type DimensionMapping = { readonly type: 'dimension'; readonly dimension: string; readonly mapping: SingleMapping }
export type Mapping = SingleMapping | DimensionMapping

const OFFSET_MAX = 1_000_000
const offset = z.int().min(-OFFSET_MAX).max(OFFSET_MAX).default(0)
const SINGLE = [
  z.strictObject({ type: z.literal('identity') }),
  z.strictObject({ type: z.literal('time_window'), start_offset: offset, end_offset: offset }),
  z.strictObject({ type: z.literal('last') }),
  z.strictObject({ type: z.literal('all') }),
  z.strictObject({ type: z.literal('static'), upstream_keys: z.record(z.string(), z.array(z.string()).min(1)) }),
] as const
const single = z.discriminatedUnion('type', SINGLE)
const any = z.discriminatedUnion('type', [
  ...SINGLE,
  z.strictObject({ type: z.literal('dimension'), dimension: z.string(), mapping: single.optional() }),
])

const FORMS =
  '{"type": "identity"}, {"type": "time_window", "start_offset": -1, "end_offset": 0}, {"type": "last"}, {"type": "all"}, ' +
  '{"type": "static", "upstream_keys": {"eu": ["de", "fr"]}} or {"type": "dimension", "dimension": "date"}'

export function parseMapping(mapping: unknown, downstream: KeyOrder, upstream: KeyOrder): Mapping | Refusal {
  const parsed = any.safeParse(mapping)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const field = issue?.path.join('.') ?? ''
    return {
      problem: `The mapping${field === '' ? '' : `'s ${field}`} is not right (${issue?.message ?? 'unknown'}). Write one of ${FORMS}.`,
    }
  }
  const { data } = parsed
  if (data.type !== 'dimension') return checkSingle(readSingle(data), downstream, upstream)
  const { dimension } = data
  const [down, up] = [sideOf(downstream, dimension), sideOf(upstream, dimension)]
  if (!isMulti(downstream) && !isMulti(upstream))
    return { problem: 'The mapping is by dimension, and neither asset has dimensions. Write another type.' }
  if (down === undefined || up === undefined) {
    const side = down === undefined ? 'downstream' : 'upstream'
    return { problem: `The mapping's dimension "${dimension}" is none of the ${side} asset: name one that it has.` }
  }
  const inner = checkSingle(readSingle(data.mapping ?? { type: 'identity' }), down, up)
  return isRefusal(inner) ? inner : { type: 'dimension', dimension, mapping: inner }
}

/** The order that a dimension has on one side: that of the whole, where it has none. */
export const sideOf = (order: KeyOrder, dimension: string): KeyOrder | undefined =>
  isMulti(order) ? order.dimensions.find(({ name }) => name === dimension)?.order : order

const readSingle = (data: z.infer<typeof single>): SingleMapping =>
  data.type === 'static' ? { type: 'static', upstream_keys: new Map(Object.entries(data.upstream_keys)) } : data

function checkSingle(mapping: SingleMapping, downstream: KeyOrder, upstream: KeyOrder): SingleMapping | Refusal {
  if (mapping.type === 'time_window') {
    const [side, order] = isCalendar(downstream) ? ['upstream', upstream] : ['downstream', downstream]
    if (isCalendar(order)) return mapping
    return { problem: `The mapping is by time, and the ${side} asset has ${order.description}. Both need partitions by time.` }
  }
  if (mapping.type !== 'static') return mapping
  for (const [key, keys] of mapping.upstream_keys) {
    const found = [downstream.indexOf(key), ...keys.map((each) => upstream.indexOf(each))].find((each) => isRefusal(each))
    if (found !== undefined && isRefusal(found))
      return { problem: `The mapping's upstream_keys under ${JSON.stringify(key)}: ${found.problem}` }
  }
  return mapping
}
