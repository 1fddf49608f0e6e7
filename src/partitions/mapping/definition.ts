// Which upstream partitions a partition is made from, as users write it, checked against the partitions of both assets.

import { z } from 'zod'
import { isCalendar } from '../calendar.js'
import { isRefusal, type KeyOrder, type Refusal } from '../key-order.js'
import { isMulti, sidesOf } from '../multi.js'
import { UNPARTITIONED } from '../unpartitioned.js'

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

/** By some dimensions, each with its own mapping; what a side has besides is taken whole. null: that side has no dimensions. */
type DimensionPair = { readonly downstream: string | null; readonly upstream: string | null; readonly mapping: SingleMapping }
type DimensionMapping = { readonly type: 'dimension'; readonly pairs: readonly DimensionPair[] }
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
const inner = { dimension: z.string().optional(), mapping: single.optional() }
const any = z.discriminatedUnion('type', [
  ...SINGLE,
  z.strictObject({ type: z.literal('dimension'), ...inner, dimensions: z.record(z.string(), z.strictObject(inner)).optional() }),
])
type Given = Extract<z.infer<typeof any>, { readonly type: 'dimension' }>

const FORMS =
  '{"type": "identity"}, {"type": "time_window", "start_offset": -1, "end_offset": 0}, {"type": "last"}, {"type": "all"}, ' +
  '{"type": "static", "upstream_keys": {"eu": ["de", "fr"]}}, {"type": "dimension", "dimension": "date"} or ' +
  '{"type": "dimension", "dimensions": {"date": {"mapping": {"type": "last"}}}}'

/** What is wrong with it as JSON, whatever partitions it is for. */
export function mappingFormProblem(mapping: unknown): string | undefined {
  const form = readForm(mapping)
  return isRefusal(form) ? form.problem : undefined
}

function readForm(mapping: unknown): z.infer<typeof any> | Refusal {
  const parsed = any.safeParse(mapping)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = issue?.path.join('.') ?? ''
  const type = typeof mapping === 'object' && mapping !== null && 'type' in mapping ? mapping.type : undefined
  const what =
    field === 'type' && type !== undefined
      ? `type ${JSON.stringify(type)} is not known`
      : `${field}${field === '' ? '' : ' '}is not right (${issue?.message ?? 'unknown'})`
  return { problem: `The mapping${field === '' ? ' ' : "'s "}${what}. Write one of ${FORMS}.` }
}

/** The order of an asset without partitions is UNPARTITIONED. */
export function parseMapping(mapping: unknown, downstream: KeyOrder, upstream: KeyOrder): Mapping | Refusal {
  const data = readForm(mapping)
  if (isRefusal(data)) return data
  if (data.type === 'static' || data.type === 'dimension') {
    const bare = downstream === UNPARTITIONED ? 'downstream' : upstream === UNPARTITIONED ? 'upstream' : undefined
    if (bare !== undefined) {
      return {
        problem: `The mapping is of type "${data.type}", and the ${bare} asset has no partitions. Write {"type": "all"}, or leave it out.`,
      }
    }
  }
  return data.type === 'dimension' ? readDimensions(data, downstream, upstream) : checkSingle(readSingle(data), downstream, upstream)
}

function readDimensions({ dimension, mapping, dimensions }: Given, downstream: KeyOrder, upstream: KeyOrder): DimensionMapping | Refusal {
  if (!isMulti(downstream) && !isMulti(upstream)) {
    return { problem: 'The mapping is by dimension, and neither asset has dimensions. Write another type.' }
  }
  if (dimensions === undefined) {
    if (dimension === undefined) return { problem: 'The mapping is by dimension, and names none. Give it "dimension" or "dimensions".' }
    const pair = readPair([dimension, dimension], mapping, [downstream, upstream])
    return isRefusal(pair) ? pair : { type: 'dimension', pairs: [pair] }
  }
  if (dimension !== undefined || mapping !== undefined) {
    return {
      problem: `The mapping has "dimensions" and also "${dimension === undefined ? 'mapping' : 'dimension'}". Leave one of them out.`,
    }
  }
  if (!isMulti(downstream) || !isMulti(upstream)) {
    const side = isMulti(downstream) ? 'upstream' : 'downstream'
    return { problem: `The mapping's dimensions are for two assets that have some, and the ${side} one has none. Write "dimension".` }
  }
  const pairs: DimensionPair[] = []
  for (const [name, each] of Object.entries(dimensions)) {
    const pair = readPair([name, each.dimension ?? name], each.mapping, [downstream, upstream])
    if (isRefusal(pair)) return pair
    if (pairs.some((other) => other.upstream === pair.upstream)) {
      return { problem: `The mapping's dimensions name "${pair.upstream}" of the upstream asset twice. Name it once.` }
    }
    pairs.push(pair)
  }
  return pairs.length > 0
    ? { type: 'dimension', pairs }
    : { problem: 'The mapping\'s dimensions are none. Name one, or write {"type": "all"}.' }
}

function readPair(
  [down_name, up_name]: readonly [string, string],
  given: z.infer<typeof single> | undefined,
  [downstream, upstream]: readonly [KeyOrder, KeyOrder],
): DimensionPair | Refusal {
  const [down, up] = [sideOf(downstream, down_name), sideOf(upstream, up_name)]
  if (down === undefined || up === undefined) {
    const [side, name, order] =
      down === undefined ? (['downstream', down_name, downstream] as const) : (['upstream', up_name, upstream] as const)
    const names = sidesOf(order).map((each) => each.name)
    return { problem: `The mapping's dimension "${name}" is none of the ${side} asset: name one of ${names.join(', ')}.` }
  }
  const mapping = checkSingle(readSingle(given ?? { type: 'identity' }), down, up)
  if (isRefusal(mapping)) return { problem: `The dimension "${down_name}": ${mapping.problem}` }
  return { downstream: isMulti(downstream) ? down_name : null, upstream: isMulti(upstream) ? up_name : null, mapping }
}

/** The order that a dimension has on one side: that of the whole, where it has none. */
const sideOf = (order: KeyOrder, dimension: string): KeyOrder | undefined =>
  sidesOf(order).find(({ name }) => name === null || name === dimension)?.order

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
