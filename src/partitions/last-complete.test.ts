import { describe, expect, it } from '@jest/globals'
import { firstTicks, openScheduleTicks } from '../core/cron/schedule-ticks.js'
import { isRefusal, type KeyOrder } from './key-order.js'
import { lastComplete } from './last-complete.js'
import { keyOrderOf } from './order.js'

const DATE = { type: 'daily', start_date: '2025-01-14' }
const REGION = { type: 'static', keys: ['us', 'eu'] }
const NOON = Date.parse('2025-01-16T12:00:00Z')
const ONE = { end_offset: 0 }

function orderOf(definition: object): KeyOrder {
  const order = keyOrderOf(definition)
  if (isRefusal(order)) throw new Error(order.problem)
  return order
}

const multi = orderOf({ type: 'multi', dimensions: { date: DATE, region: REGION } })
const keysOf = (order: KeyOrder, mapping: Parameters<typeof lastComplete>[1], at_ms = NOON) => {
  const found = lastComplete(order, mapping, at_ms, 100)
  return 'keys' in found ? found.keys : found
}

describe('lastComplete', () => {
  it.each([
    [-2, { none: true }],
    [-1, ['2025-01-14']],
    [0, ['2025-01-15']],
    [1, ['2025-01-16']],
    [2, ['2025-01-17']],
  ])('of time is the window that ended last, moved by %i', (end_offset, keys) => {
    expect(keysOf(orderOf(DATE), { end_offset })).toEqual(keys)
  })

  it('of time is none before the first window has ended, and past the end', () => {
    expect(keysOf(orderOf(DATE), ONE, Date.parse('2025-01-14T23:59:59Z'))).toEqual({ none: true })
    expect(keysOf(orderOf({ ...DATE, end_date: '2025-01-16' }), { end_offset: 1 })).toEqual({ none: true })
  })

  it.each([
    [
      'its end',
      { type: 'daily', start_date: '2025-01-01', end_date: '2025-01-05' },
      ['2025-01-05', '2025-01-06', '2030-01-01'],
      '2025-01-04',
    ],
    [
      'a weekend that is left out',
      { type: 'daily', start_date: '2025-01-01', exclusions: ['0 0 * * 6,0'] },
      ['2025-01-04', '2025-01-05', '2025-01-06'],
      '2025-01-03',
    ],
  ])('of time stays the same after %s', (_, definition, days, key) => {
    const found = days.map((day) => keysOf(orderOf(definition), ONE, Date.parse(`${day}T00:00:00Z`)))
    expect(found).toEqual(days.map(() => [key]))
  })

  it('of time is each one once, where the cron fires only when one has ended', () => {
    const order = orderOf({ type: 'daily', start_date: '2025-01-01', exclusions: ['0 0 * * 6,0'] })
    const from_ms = Date.parse('2025-01-07T00:00:00Z')
    const ticks = openScheduleTicks({ cron: '0 0 * * 2-6', timezone: 'UTC' })
    if (isRefusal(ticks)) throw new Error(ticks.problem)
    expect(firstTicks(ticks, from_ms, 5).map((at_ms) => keysOf(order, ONE, at_ms))).toEqual([
      ['2025-01-06'],
      ['2025-01-07'],
      ['2025-01-08'],
      ['2025-01-09'],
      ['2025-01-10'],
    ])
  })

  it('of what is not time is each of its keys', () => {
    expect(lastComplete(orderOf(REGION), ONE, NOON, 100)).toEqual({ keys: ['us', 'eu'], selector: { all: true }, is_single: false })
  })

  it('of dimensions is the last window with each key of the others, or with those that are named', () => {
    expect(lastComplete(multi, ONE, NOON, 100)).toEqual({
      keys: ['date=2025-01-15|region=us', 'date=2025-01-15|region=eu'],
      selector: { dims: { date: { keys: ['2025-01-15'] }, region: { all: true } } },
      is_single: false,
    })
    expect(keysOf(multi, { end_offset: 1, dims: { region: { keys: ['eu'] } } })).toEqual(['date=2025-01-16|region=eu'])
    expect(keysOf(multi, { ...ONE, dims: { region: { match: ['u*'] } } })).toEqual(['date=2025-01-15|region=us'])
    expect(keysOf(multi, ONE, Date.parse('2025-01-14T12:00:00Z'))).toEqual({ none: true })
  })

  it('of dimensions is of what exists alone, also where a mapping names it', () => {
    const of = (date: object, end_offset = 0) => keysOf(multi, { end_offset, dims: { date, region: { keys: ['eu'] } } } as typeof ONE)
    expect(of({ range: { start: '2025-01-14', end: '2025-01-15' } })).toEqual(['date=2025-01-14|region=eu', 'date=2025-01-15|region=eu'])
    expect(of({ range: { start: '2025-01-14', end: '2025-01-16' } })).toMatchObject({ problem: expect.stringContaining('"2025-01-16"') })
    expect(of({ keys: ['2025-01-16'] })).toMatchObject({ problem: expect.stringContaining('The nearest key is "2025-01-15"') })
    expect(of({ keys: ['2025-01-16'] }, 1)).toEqual(['date=2025-01-16|region=eu'])
    expect(of({ all: true })).toMatchObject({ problem: expect.stringContaining('go on with time') })
    const ended = orderOf({ type: 'multi', dimensions: { date: { ...DATE, end_date: '2025-02-01' }, region: REGION } })
    const all = { ...ONE, dims: { date: { all: true }, region: { keys: ['us'] } } } as const
    expect(keysOf(ended, all)).toEqual(['date=2025-01-14|region=us', 'date=2025-01-15|region=us'])
    expect(keysOf(ended, all, Date.parse('2025-01-14T12:00:00Z'))).toEqual({ none: true })
  })

  it('is none of a definition that begins later, whatever the offset', () => {
    const later = orderOf({ type: 'daily', start_date: '2025-03-01' })
    expect(keysOf(later, { end_offset: 1 })).toEqual({ none: true })
    // 1 is the day that is under way: here it is the first one.
    expect(keysOf(later, { end_offset: 1 }, Date.parse('2025-03-01T12:00:00Z'))).toEqual(['2025-03-01'])
  })

  it.each([
    [multi, { ...ONE, dims: { country: { all: true } } }, 100, /The dimension "country" is not there: there are date, region\./],
    [multi, ONE, 1, /^2 keys are asked for .* 1 is the most of one tick/],
    [orderOf(REGION), ONE, 1, /^2 keys are asked for .* 1 is the most of one tick/],
    [orderOf(DATE), { ...ONE, dims: { region: { all: true } } }, 100, /Leave dims out/],
  ] as const)('is refused with a sentence: %#', (order, mapping, keys_max, problem) => {
    expect(lastComplete(order, mapping, NOON, keys_max)).toMatchObject({ problem: expect.stringMatching(problem) })
  })
})
