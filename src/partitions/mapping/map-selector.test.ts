// The answer is as short as the question, whatever it selects; what does not fit is a sentence.

import { describe, expect, test } from '@jest/globals'
import { isRefusal, type KeyOrder } from '../key-order.js'
import { keyOrderOf } from '../order.js'
import type { PartitionSelector } from '../selector.js'
import { UNPARTITIONED } from '../unpartitioned.js'
import { type Mapping, parseMapping } from './definition.js'
import { downstreamSelector, type Mapped, upstreamSelector } from './map-selector.js'

const NOW_MS = Date.parse('2025-06-01T00:00:00Z')
const orderOf = (definition: object): KeyOrder => {
  const order = keyOrderOf(definition)
  if (isRefusal(order)) throw new Error(order.problem)
  return order
}
const days = orderOf({ type: 'daily', start_date: '2020-01-01' })
const hours = orderOf({ type: 'hourly', start_date: '2020-01-01' })
const numbers = orderOf({ type: 'static', keys: Array.from({ length: 400 }, (_, i) => `n${String(i).padStart(3, '0')}`) })
const both = orderOf({
  type: 'multi',
  dimensions: {
    date: { type: 'daily', start_date: '2020-01-01' },
    n: { type: 'static', keys: Array.from({ length: 400 }, (_, i) => `n${String(i).padStart(3, '0')}`) },
  },
})
const LISTS: Readonly<Record<string, readonly string[]>> = {
  odd: Array.from({ length: 150 }, (_, i) => `n${String(2 * i + 1).padStart(3, '0')}`),
}
const BOUNDS = { lists: (sha256: string) => LISTS[sha256], keys_max: 1_000 }

const ask = (
  direction: typeof upstreamSelector,
  json: unknown,
  [downstream, upstream]: readonly [KeyOrder, KeyOrder],
  selector: PartitionSelector,
): Mapped => {
  const mapping: Mapping | { problem: string } = parseMapping(json, downstream, upstream)
  if (isRefusal(mapping)) throw new Error(mapping.problem)
  return direction(mapping, { downstream, upstream, now_ms: NOW_MS }, selector, BOUNDS)
}
const up = (json: unknown, orders: readonly [KeyOrder, KeyOrder], selector: PartitionSelector) =>
  ask(upstreamSelector, json, orders, selector)
const down = (json: unknown, orders: readonly [KeyOrder, KeyOrder], selector: PartitionSelector) =>
  ask(downstreamSelector, json, orders, selector)
const YEAR = { range: { start: '2024-01-01', end: '2024-12-31' } }
const TIME = { type: 'time_window' }
const DATE = { type: 'dimension', dimension: 'date' }

describe('the answer is short', () => {
  test('for a year of days and their hours, both ways', () => {
    const range = { start: '2024-01-01-00:00', end: '2024-12-31-23:00' }
    expect(up(TIME, [days, hours], YEAR)).toEqual({ selector: { range } })
    expect(down(TIME, [days, hours], { range })).toEqual({ selector: YEAR })
    expect(up(TIME, [hours, days], { range })).toEqual({ selector: YEAR })
    expect(down(TIME, [days, hours], { keys: ['2024-02-29-13:00'] })).toEqual({ selector: { keys: ['2024-02-29'] } })
  })

  test('for a year of days of all numbers, both ways', () => {
    expect(up(DATE, [days, both], YEAR)).toEqual({ selector: { dims: { date: YEAR, n: { all: true } } } })
    expect(down(DATE, [days, both], { dims: { date: YEAR, n: { keys: ['n007'] } } })).toEqual({ selector: YEAR })
    const numbered = { type: 'dimension', dimension: 'n' }
    const until_now = { range: { start: '2020-01-01', end: '2025-05-31' } }
    expect(up(numbered, [numbers, both], { all: true })).toEqual({ selector: { dims: { date: until_now, n: { all: true } } } })
    expect(down(numbered, [numbers, both], { range: { start: 'date=2024-01-01|n=n007', end: 'date=2024-01-01|n=n009' } })).toEqual({
      selector: { range: { start: 'n007', end: 'n009' } },
    })
  })

  test('and in several keys, a list, or null where it cannot be a range', () => {
    const scattered = { keys: ['2024-01-01', '2024-01-03'] }
    expect(up({ type: 'identity' }, [days, days], scattered)).toEqual({ selector: scattered })
    const list = { list: { sha256: 'odd', count: 120, offset: 30 } }
    expect(up({ type: 'identity' }, [numbers, numbers], list)).toEqual({ long_list: LISTS['odd']?.slice(30) })
    const numbered = { type: 'dimension', dimension: 'n', mapping: { type: 'identity' } }
    expect(down(numbered, [both, numbers], { keys: ['n001'] })).toMatchObject({ selector: { dims: { n: { keys: ['n001'] } } } })
    expect(up({ type: 'last' }, [UNPARTITIONED, days], null)).toEqual({ selector: { keys: ['2025-05-31'] } })
    expect(down({ type: 'last' }, [UNPARTITIONED, days], { keys: ['2025-05-31'] })).toEqual({ selector: null })
    expect(down({ type: 'last' }, [UNPARTITIONED, days], { keys: ['2025-05-30'] })).toEqual({ none: true })
  })

  test('and of what does not exist yet, nothing is made', () => {
    const numbered = { type: 'dimension', dimension: 'n' }
    const dims = (day: string) => ({ dims: { date: { keys: [day] }, n: { keys: ['n007'] } } })
    expect(down(numbered, [numbers, both], dims('2025-05-31'))).toEqual({ selector: { keys: ['n007'] } })
    expect(down(numbered, [numbers, both], dims('2025-06-01'))).toEqual({ none: true })
  })

  test('and a range where time has an end, because the definition may get a later one', () => {
    const week = orderOf({ type: 'daily', start_date: '2025-01-06', end_date: '2025-01-13' })
    const range = { start: '2025-01-06', end: '2025-01-12' }
    expect(up({ type: 'identity' }, [week, week], { all: true })).toEqual({ selector: { range } })
    expect(up({ type: 'identity' }, [numbers, numbers], { all: true })).toEqual({ selector: { all: true } })
  })

  test('where an offset reaches before the start and past the last year', () => {
    expect(up({ type: 'time_window', start_offset: -1, end_offset: -1 }, [days, days], { keys: ['2020-01-01'] })).toEqual({ none: true })
    const far = up({ type: 'time_window', end_offset: 1_000_000 }, [days, days], { keys: ['2024-01-01'] })
    expect(far).toEqual({ selector: { range: { start: '2024-01-01', end: '2199-12-31' } } })
  })
})

describe('what does not fit is a sentence', () => {
  test.each<readonly [unknown, readonly [KeyOrder, KeyOrder], PartitionSelector, RegExp]>([
    [TIME, [days, hours], { keys: ['2019-12-31'] }, /The partition key "2019-12-31" is none of/],
    [TIME, [days, hours], { range: { start: '2024-01-02', end: '2024-01-01' } }, /runs backwards/],
    [TIME, [days, hours], { all: true }, /which have no end: select a range/],
    [TIME, [days, hours], null, /No partitions are selected of the days from/],
    [TIME, [days, hours], { dims: {} }, /Dimensions are selected of partitions that have some/],
    [TIME, [days, hours], { list: { sha256: 'even', count: 1 } }, /is not there: write it before/],
    [{ type: 'identity' }, [numbers, numbers], { list: { sha256: 'odd', count: 151 } }, /has 150 keys, and 151 from 0 on are selected/],
    [{ type: 'all' }, [UNPARTITIONED, days], { all: true }, /an asset that has none. Select null of it/],
    [DATE, [both, days], { dims: { date: YEAR } }, /The dimension "n" is missing/],
  ])('%j: %#', (json, orders, selector, sentence) => {
    const mapped = up(json, orders, selector)
    expect('problem' in mapped ? mapped.problem : '').toMatch(sentence)
  })

  test('so are more keys than can be spelled out', () => {
    const identity = { type: 'identity' }
    const dims = { date: { range: { start: '2024-01-01', end: '2024-01-08' } }, n: { match: ['*1', '*3', '*5', '*7', '*9'] } }
    expect(up(identity, [both, both], { dims })).toMatchObject({ problem: expect.stringMatching(/^More than 1000 scattered keys/) })
  })

  test.each([
    [{ ...DATE, dimension: 'day' }, [days, both], `The mapping's dimension "day" is none of the upstream asset: name one of date, n.`],
    [{ ...DATE, dimension: undefined }, [days, both], 'names none. Give it "dimension" or "dimensions".'],
    [{ ...DATE, dimensions: {} }, [both, both], 'The mapping has "dimensions" and also "dimension".'],
    [{ type: 'dimension', dimensions: {} }, [both, both], "The mapping's dimensions are none."],
    [{ type: 'dimension', dimensions: { date: {} } }, [both, days], 'and the upstream one has none. Write "dimension".'],
    [{ type: 'dimension', dimensions: { date: {}, n: { dimension: 'date' } } }, [both, both], 'name "date" of the upstream asset twice.'],
    [
      { type: 'dimension', dimensions: { n: { mapping: TIME } } },
      [both, both],
      'The dimension "n": The mapping is by time, and the downstream asset has the 400 keys',
    ],
    [{ type: 'dimension', dimension: 'date', mapping: DATE }, [days, both], "The mapping's mapping.type is not right"],
    [DATE, [UNPARTITIONED, both], 'and the downstream asset has no partitions. Write {"type": "all"}, or leave it out.'],
    [TIME, [days, UNPARTITIONED], 'and the upstream asset has no partitions. Both need partitions by time.'],
  ] as const)('a mapping that is not right: %j', (json, [downstream, upstream], sentence) => {
    expect(parseMapping(json, downstream, upstream)).toMatchObject({ problem: expect.stringContaining(sentence) })
  })
})
