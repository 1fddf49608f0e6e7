import { describe, expect, it } from '@jest/globals'
import { openScheduleTicks, type Ticks } from '../core/cron/schedule-ticks.js'
import { COUNT_MAX } from '../core/limits.js'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.js'
import { addCounted, countedIn, intervalOf } from './schedule-interval.js'

const NOON = Date.parse('2025-01-15T12:00:00Z')
const POLICY = { catchup_window_minutes: 1_440, max_catchup_ticks: 3 }

function ticksOf(cron: string, timezone = 'UTC'): Ticks {
  const ticks = openScheduleTicks({ cron, timezone })
  if ('problem' in ticks) throw new Error(ticks.problem)
  return ticks
}

describe('intervalOf', () => {
  it('is nothing where no instant lies in it, whose borders are (from, to]', () => {
    const hourly = ticksOf('0 * * * *')
    expect(intervalOf(hourly, NOON, NOON + HOUR_MS - 1, POLICY)).toBeUndefined()
    expect(intervalOf(hourly, NOON, NOON + HOUR_MS, POLICY)).toEqual({ to: NOON + HOUR_MS, newest: [NOON + HOUR_MS], older: undefined })
    expect(intervalOf(hourly, NOON - 1, NOON, POLICY)?.newest).toEqual([NOON])
  })

  it('ends at its last instant, however much later it is asked', () => {
    const hourly = ticksOf('0 * * * *')
    const first = intervalOf(hourly, NOON - 1, NOON, POLICY)
    expect(intervalOf(hourly, NOON - 1, NOON + HOUR_MS - SECOND_MS, POLICY)).toEqual(first)
  })

  it('lets the newest run and counts the rest', () => {
    expect(intervalOf(ticksOf('0 * * * *'), NOON - 10 * HOUR_MS, NOON, POLICY)).toEqual({
      to: NOON,
      newest: [NOON - 2 * HOUR_MS, NOON - HOUR_MS, NOON],
      older: { count: 7, first: NOON - 9 * HOUR_MS, last: NOON - 3 * HOUR_MS },
    })
  })

  it('lets nothing run that is older than the window, whose first instant is inside', () => {
    const daily = ticksOf('0 12 * * *')
    const policy = { catchup_window_minutes: 2 * 1_440, max_catchup_ticks: 100 }
    expect(intervalOf(daily, NOON - 10 * DAY_MS, NOON, policy)?.newest).toEqual([NOON - 2 * DAY_MS, NOON - DAY_MS, NOON])
    expect(intervalOf(daily, NOON - 10 * DAY_MS, NOON + SECOND_MS, policy)?.newest).toEqual([NOON - DAY_MS, NOON])
    const late = intervalOf(daily, NOON - 10 * DAY_MS, NOON + HOUR_MS, { ...policy, catchup_window_minutes: 30 })
    expect(late).toEqual({ to: NOON, newest: [], older: { count: 10, first: NOON - 9 * DAY_MS, last: NOON } })
  })

  it('counts a year of seconds without looking at them', () => {
    const seconds = ticksOf('* * * * * *')
    const counted: string[] = []
    const watched: Ticks = { ...seconds, walk: () => counted.push('walked'), next: () => (counted.push('next'), null) }
    const began = performance.now()
    const interval = intervalOf(watched, NOON - 365 * DAY_MS, NOON, { ...POLICY, max_catchup_ticks: 100 })
    expect(interval?.older).toEqual({ count: 31_536_000 - 100, first: NOON - 365 * DAY_MS + SECOND_MS, last: NOON - 100 * SECOND_MS })
    expect(interval?.newest).toHaveLength(100)
    expect(counted).toEqual([])
    // Walking over them takes seconds.
    expect(performance.now() - began).toBeLessThan(500)
  })

  it('decides no more than a row counts, and the rest after it', () => {
    const seconds = ticksOf('* * * * * *')
    const from = Date.parse('1930-01-01T00:00:00Z')
    const first = intervalOf(seconds, from, NOON, POLICY)
    expect(first).toEqual({ to: first?.older?.last, newest: [], older: { count: COUNT_MAX, first: from + SECOND_MS, last: first?.to } })
    expect(intervalOf(seconds, first?.to ?? 0, NOON, POLICY)?.newest).toEqual([NOON - 2 * SECOND_MS, NOON - SECOND_MS, NOON])
  })

  it('follows the clock of a zone through its changes', () => {
    const from = Date.parse('2025-03-09T00:00:00-05:00')
    const night = intervalOf(ticksOf('30 2 * * *', 'America/New_York'), from, from + DAY_MS, POLICY)
    expect(night?.newest).toEqual([Date.parse('2025-03-09T03:00:00-04:00')])
  })
})

describe('what is only counted', () => {
  it('is all of a span, and nothing of an empty one', () => {
    const minutes = ticksOf('* * * * *')
    expect(countedIn(minutes, NOON, NOON + HOUR_MS)).toEqual({ count: 60, first: NOON + MINUTE_MS, last: NOON + HOUR_MS })
    expect(countedIn(minutes, NOON, NOON + MINUTE_MS - 1)).toBeUndefined()
  })

  it('adds up to one span', () => {
    const one = { count: 2, first: 10, last: 20 }
    expect(addCounted(undefined, one)).toBe(one)
    expect(addCounted(one, undefined)).toBe(one)
    expect(addCounted({ count: 3, first: 5, last: 15 }, one)).toEqual({ count: 5, first: 5, last: 20 })
  })
})
