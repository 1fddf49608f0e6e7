// Mappings against brute force: every pair of windows is looked at, and both directions have to say the same.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isRefusal, type KeyOrder } from '../key-order.js'
import { keyOrderOf } from '../order.js'
import { indexesIn } from '../spans.js'
import { parseMapping, type SingleMapping } from './definition.js'
import { downstreamSpans, upstreamSpans } from './map.js'

const NOW_MS = Date.parse('2024-12-31T00:00:00Z')
const ZONE = { timezone: 'America/New_York' }
const DATES = { start_date: '2024-10-28', end_date: '2024-11-08', ...ZONE }
const TIMES: readonly object[] = [
  { type: 'hourly', ...DATES },
  { type: 'daily', ...DATES, exclusions: ['0 0 * * 0,6'] },
  { type: 'daily', ...DATES, start_date: '2024-10-30', hour_offset: 6 },
  { type: 'weekly', ...DATES, day_offset: 1 },
  {
    type: 'cron',
    start: '2024-10-28',
    end: '2024-11-11',
    cron_schedule: '0 */7 * * *',
    timezone: 'Europe/Berlin',
    exclusions: ['2024-11-03-14:00'],
  },
]

function orderOf(definition: unknown): KeyOrder {
  const order = keyOrderOf(definition)
  if (isRefusal(order)) throw new Error(order.problem)
  return order
}

function mapped(mapping: unknown, downstream: KeyOrder, upstream: KeyOrder): SingleMapping {
  const parsed = parseMapping(mapping, downstream, upstream)
  if (isRefusal(parsed) || parsed.type === 'dimension') throw new Error(JSON.stringify(parsed))
  return parsed
}

const all = (order: KeyOrder): readonly number[] => Array.from({ length: order.total ?? 0 }, (_, index) => index)
const keysOf = (order: KeyOrder, spans: Parameters<typeof indexesIn>[0]) => [...indexesIn(spans)].map((index) => order.keyAt(index))

/** The numbers that one downstream window is made from: those of the upstream windows that share an instant with it, and as
 *  many before and after as the offsets say. `wide` has windows before the start and past the end of `upstream`, too. */
function madeFrom(
  { downstream, upstream, wide }: Readonly<Record<'downstream' | 'upstream' | 'wide', KeyOrder>>,
  index: number,
  offsets: readonly [number, number],
) {
  const window = downstream.windowAt(index)
  const shared = all(wide).filter((each) => {
    const other = wide.windowAt(each)
    return window !== null && other !== null && other.start_ms < window.end_ms && other.end_ms > window.start_ms
  })
  const [first, last] = [shared[0], shared.at(-1)]
  if (first === undefined || last === undefined) return []
  const starts = all(wide).flatMap((each) =>
    each >= first + offsets[0] && each <= last + offsets[1] ? [wide.windowAt(each)?.start_ms] : [],
  )
  return all(upstream).filter((each) => starts.includes(upstream.windowAt(each)?.start_ms))
}

const widened = (definition: object): object =>
  'start' in definition
    ? { ...definition, start: '2024-10-14', end: '2024-11-25' }
    : { ...definition, start_date: '2024-10-14', end_date: '2024-11-25' }

describe('windows', () => {
  test('are made from those that share an instant with them, and the other way round', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...TIMES),
        fc.constantFrom(...TIMES),
        fc.constantFrom<readonly [number, number]>([0, 0], [-1, 0], [-1, -1], [0, 2], [-3, 1]),
        (down, up, offsets) => {
          const [downstream, upstream, wide] = [orderOf(down), orderOf(up), orderOf(widened(up))]
          const mapping = mapped({ type: 'time_window', start_offset: offsets[0], end_offset: offsets[1] }, downstream, upstream)
          const sides = { downstream, upstream, now_ms: NOW_MS }
          const indexes = all(downstream)
          const each = indexes.map((index) => madeFrom({ downstream, upstream, wide }, index, offsets))
          for (const index of indexes)
            expect([...indexesIn(upstreamSpans(mapping, sides, [{ first: index, count: 1 }]))]).toEqual(each[index])
          const whole = upstreamSpans(mapping, sides, [{ first: 0, count: indexes.length }])
          expect([...indexesIn(whole)]).toEqual([...new Set(each.flat())].sort((a, b) => a - b))
          for (const index of all(upstream)) {
            const made = indexes.filter((other) => each[other]?.includes(index))
            expect([...indexesIn(downstreamSpans(mapping, sides, [{ first: index, count: 1 }]))]).toEqual(made)
          }
        },
      ),
      { numRuns: 12 },
    )
  })

  test('of a day are its hours, 25 where the clocks are set back, and an hour is of one day', () => {
    const [hours, days] = [orderOf(TIMES[0]), orderOf({ type: 'daily', ...DATES })]
    const mapping = mapped({ type: 'time_window' }, days, hours)
    const sides = { downstream: days, upstream: hours, now_ms: NOW_MS }
    const sunday = days.indexOf('2024-11-03') as { index: number }
    const found = upstreamSpans(mapping, sides, [{ first: sunday.index, count: 1 }])
    expect(found).toMatchObject([{ count: 25 }])
    expect(keysOf(hours, found).slice(0, 3)).toEqual(['2024-11-03-00:00', '2024-11-03-01:00', '2024-11-03-01:00-0500'])
    expect(keysOf(days, downstreamSpans(mapping, sides, [{ first: found[0]?.first ?? 0, count: 1 }]))).toEqual(['2024-11-03'])
  })
})

describe('keys', () => {
  const regions = orderOf({ type: 'static', keys: ['eu', 'us', 'asia'] })
  const countries = orderOf({ type: 'static', keys: ['de', 'fr', 'us'] })
  const days = orderOf({ type: 'daily', start_date: '2024-12-01' })
  const up = (mapping: unknown, downstream: KeyOrder, upstream: KeyOrder, first: number, count: number) =>
    keysOf(upstream, upstreamSpans(mapped(mapping, downstream, upstream), { downstream, upstream, now_ms: NOW_MS }, [{ first, count }]))
  const down = (mapping: unknown, downstream: KeyOrder, upstream: KeyOrder, first: number, count: number) =>
    keysOf(downstream, downstreamSpans(mapped(mapping, downstream, upstream), { downstream, upstream, now_ms: NOW_MS }, [{ first, count }]))

  test('of one name, of a list, the last, and all', () => {
    const lists = { type: 'static', upstream_keys: { eu: ['de', 'fr'], us: ['us'] } }
    expect(up({ type: 'identity' }, regions, countries, 0, 3)).toEqual(['us'])
    expect(up(lists, regions, countries, 0, 1)).toEqual(['de', 'fr'])
    expect(down(lists, regions, countries, 1, 2)).toEqual(['eu', 'us'])
    expect(up({ type: 'last' }, regions, days, 0, 1)).toEqual(['2024-12-30'])
    expect(up({ type: 'all' }, regions, days, 0, 1)).toHaveLength(30)
    expect(down({ type: 'last' }, regions, days, 0, 29)).toEqual([])
    expect(down({ type: 'last' }, regions, days, 29, 1)).toEqual(['eu', 'us', 'asia'])
    expect(down({ type: 'all' }, regions, days, 0, 1)).toEqual(['eu', 'us', 'asia'])
  })

  test.each([
    [{ type: 'nearest' }, `The mapping's type "nearest" is not known.`],
    [{ type: 'time_window', start_offset: 0.5 }, "The mapping's start_offset is not right"],
    [{ type: 'time_window' }, 'The mapping is by time, and the downstream asset has the 3 keys of a static definition.'],
    [{ type: 'static', upstream_keys: { eu: ['es'] } }, 'under "eu": "es" is none of its keys.'],
    [{ type: 'dimension', dimension: 'date' }, 'The mapping is by dimension, and neither asset has dimensions.'],
  ])('%j is refused', (mapping, sentence) => {
    expect(parseMapping(mapping, regions, countries)).toMatchObject({ problem: expect.stringContaining(sentence) })
  })
})
