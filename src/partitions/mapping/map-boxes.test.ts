// Mappings by dimension, against brute force: every pair of keys is looked at, and both directions have to say the same.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isRefusal, type KeyOrder } from '../key-order.js'
import { keyOrderOf } from '../order.js'
import { expandSelector, type PartitionSelector } from '../selector.js'
import { UNPARTITIONED } from '../unpartitioned.js'
import { type Mapping, parseMapping } from './definition.js'
import { downstreamSelector, type Mapped, upstreamSelector } from './map-selector.js'

const NOW_MS = Date.parse('2025-06-01T00:00:00Z')
const DAYS = { type: 'daily', start_date: '2025-01-06', end_date: '2025-01-10' }
const HALF_DAYS = { type: 'cron', cron_schedule: '0 0,12 * * *', start: '2025-01-06', end: '2025-01-10' }
const REGIONS = { type: 'static', keys: ['us', 'eu', 'asia'] }
const COUNTRIES = { type: 'static', keys: ['de', 'fr', 'us'] }
const multi = (dimensions: object) => ({ type: 'multi', dimensions })
const LIST = { type: 'static', upstream_keys: { eu: ['de', 'fr'], us: ['us'] } }
const LONG = { lists: () => undefined, keys_max: 10_000 }

const orderOf = (definition: object | null): KeyOrder => {
  const order = definition === null ? UNPARTITIONED : keyOrderOf(definition)
  if (isRefusal(order)) throw new Error(order.problem)
  return order
}

function parsed(mapping: unknown, down: KeyOrder, up: KeyOrder): Mapping {
  const found = parseMapping(mapping, down, up)
  if (isRefusal(found)) throw new Error(found.problem)
  return found
}

const keysOf = (order: KeyOrder): readonly string[] => Array.from({ length: order.size() }, (_, index) => order.keyAt(index) ?? '')
const selected = (definition: object | null, mapped: Mapped): readonly string[] => {
  if ('none' in mapped) return []
  if ('long_list' in mapped) return mapped.long_list
  const found = isRefusal(mapped) ? mapped : expandSelector(definition, mapped.selector, () => undefined, 100_000)
  if (isRefusal(found)) throw new Error(found.problem)
  return found.keys.map(({ partition_key }) => partition_key)
}

type Rule = (down: string, up: string) => boolean
const same: Rule = (down, up) => down === up
const listed: Rule = (down, up) => (LIST.upstream_keys as Record<string, string[]>)[down]?.includes(up) === true
const dayOf: Rule = (down, up) => up.startsWith(down)
/** The day before and the day itself, of the half days. */
const since: Rule = (down, up) => dayOf(down, up) || (Number(down.slice(8)) - 1 === Number(up.slice(8, 10)) && up.endsWith('12:00'))
const value = (key: string, name: string): string =>
  key
    .split('|')
    .find((part) => part.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? key

/** Each with the rule that it comes to, by what the keys say. */
const CASES: readonly (readonly [name: string, down: object | null, up: object | null, mapping: object, rule: Rule])[] = [
  [
    'a day from all regions of it',
    DAYS,
    multi({ date: DAYS, region: REGIONS }),
    { type: 'dimension', dimension: 'date' },
    (d, u) => same(d, value(u, 'date')),
  ],
  [
    'each region of a day from it',
    multi({ date: DAYS, region: REGIONS }),
    DAYS,
    { type: 'dimension', dimension: 'date' },
    (d, u) => same(value(d, 'date'), u),
  ],
  [
    'a day from the half days of each region',
    DAYS,
    multi({ area: REGIONS, half: HALF_DAYS }),
    { type: 'dimension', dimension: 'half', mapping: { type: 'time_window', start_offset: -1 } },
    (d, u) => since(d, value(u, 'half')),
  ],
  [
    'a region from listed countries',
    multi({ date: DAYS, region: REGIONS }),
    COUNTRIES,
    { type: 'dimension', dimension: 'region', mapping: LIST },
    (d, u) => listed(value(d, 'region'), u),
  ],
  [
    'dimension by dimension, of other names',
    multi({ date: DAYS, region: REGIONS, zone: COUNTRIES }),
    multi({ country: COUNTRIES, half: HALF_DAYS }),
    {
      type: 'dimension',
      dimensions: { date: { dimension: 'half', mapping: { type: 'time_window' } }, region: { dimension: 'country', mapping: LIST } },
    },
    (d, u) => dayOf(value(d, 'date'), value(u, 'half')) && listed(value(d, 'region'), value(u, 'country')),
  ],
  [
    'the last day of the same region',
    multi({ date: DAYS, region: REGIONS }),
    multi({ date: DAYS, region: REGIONS }),
    { type: 'dimension', dimensions: { date: { mapping: { type: 'last' } }, region: {} } },
    (d, u) => same('2025-01-09', value(u, 'date')) && same(value(d, 'region'), value(u, 'region')),
  ],
  [
    'the same keys, of dimensions',
    multi({ date: DAYS, region: REGIONS }),
    multi({ date: HALF_DAYS, region: COUNTRIES }),
    { type: 'identity' },
    same,
  ],
  [
    'the same keys, of other dimensions',
    multi({ date: DAYS, region: REGIONS }),
    multi({ date: DAYS, zone: REGIONS }),
    { type: 'identity' },
    same,
  ],
  ['all, of dimensions', REGIONS, multi({ area: REGIONS, date: DAYS }), { type: 'all' }, () => true],
  [
    'the last, of dimensions',
    multi({ area: REGIONS, date: DAYS }),
    multi({ area: REGIONS, date: DAYS }),
    { type: 'last' },
    (_, u) => u === 'area=asia|date=2025-01-09',
  ],
  [
    'listed keys of dimensions',
    REGIONS,
    multi({ date: DAYS, region: REGIONS }),
    { type: 'static', upstream_keys: { eu: ['2025-01-07|us', 'date=2025-01-08|region=eu'] } },
    (d, u) => d === 'eu' && ['date=2025-01-07|region=us', 'date=2025-01-08|region=eu'].includes(u),
  ],
  ['all, without partitions', null, DAYS, { type: 'all' }, () => true],
  ['the last, without partitions', null, DAYS, { type: 'last' }, (_, u) => u === '2025-01-09'],
  ['half days of days', DAYS, HALF_DAYS, { type: 'time_window', start_offset: -1 }, since],
  ['days of half days', HALF_DAYS, DAYS, { type: 'time_window' }, (d, u) => dayOf(u, d)],
]

/** Any selection, with the keys that it selects. */
function selections(definition: object | null, order: KeyOrder): fc.Arbitrary<readonly [PartitionSelector, readonly string[]]> {
  if (definition === null) return fc.constant([null, ['']])
  const keys = keysOf(order)
  const index = fc.nat(keys.length - 1)
  return fc.oneof(
    fc
      .uniqueArray(index, { minLength: 1, maxLength: 6 })
      .map((each) => [{ keys: each.map((one) => keys[one] ?? '').sort() }, each.map((one) => keys[one] ?? '')] as const),
    fc.tuple(index, index).map(([one, other]) => {
      const [first, last] = [Math.min(one, other), Math.max(one, other)]
      return [{ range: { start: keys[first] ?? '', end: keys[last] ?? '' } }, keys.slice(first, last + 1)] as const
    }),
    fc.constant([{ all: true }, keys] as const),
  )
}

describe('a selection is mapped', () => {
  test.each(CASES)('to %s, both ways, as brute force says', (_, down, up, json, rule) => {
    const sides = { downstream: orderOf(down), upstream: orderOf(up), now_ms: NOW_MS }
    const mapping = parsed(json, sides.downstream, sides.upstream)
    const [all_down, all_up] = [keysOf(sides.downstream), keysOf(sides.upstream)]
    fc.assert(
      fc.property(selections(down, sides.downstream), ([selector, keys]) => {
        const expected = all_up.filter((each) => keys.some((key) => rule(key, each)))
        expect([...selected(up, upstreamSelector(mapping, sides, selector, LONG))].sort()).toEqual([...expected].sort())
      }),
      { numRuns: 60 },
    )
    fc.assert(
      fc.property(selections(up, sides.upstream), ([selector, keys]) => {
        const expected = all_down.filter((each) => keys.some((key) => rule(each, key)))
        expect([...selected(down, downstreamSelector(mapping, sides, selector, LONG))].sort()).toEqual([...expected].sort())
      }),
      { numRuns: 60 },
    )
  })
})
