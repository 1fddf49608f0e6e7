import { describe, expect, test } from '@jest/globals'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.js'
import { RETENTION } from '../../projections/retention.js'
import { keptBefore, keptSentence, keptUntil, lettingGo } from './kept.js'

const NINE = Date.parse('2025-01-15T09:00:00.000Z')
const at = (offset_ms: number): number => NINE + offset_ms
const END = 30 * DAY_MS

describe('a revision is kept', () => {
  test.each([
    ['for ever while it is the current one', at(0), null, Number.POSITIVE_INFINITY],
    ['for an hour after it was replaced', at(10 * SECOND_MS), at(20 * SECOND_MS), at(HOUR_MS + 20 * SECOND_MS)],
    ['for an hour even where it stood for no time at all', at(MINUTE_MS), at(MINUTE_MS), at(MINUTE_MS + HOUR_MS)],
    ['for a day as the last of a minute', at(10 * SECOND_MS), at(70 * SECOND_MS), at(2 * MINUTE_MS + DAY_MS)],
    ['as the last of a minute where the next one came with the next minute', at(59_999), at(MINUTE_MS), at(2 * MINUTE_MS + DAY_MS)],
    ['not as the last of a minute that it began', at(MINUTE_MS), at(90 * SECOND_MS), at(90 * SECOND_MS + HOUR_MS)],
    ['for 30 days as the last of an hour', at(59 * MINUTE_MS), at(HOUR_MS + 5 * MINUTE_MS), at(2 * HOUR_MS + END)],
    ['as the last of all hours that it stood through', at(5 * MINUTE_MS), at(3 * DAY_MS + 1), at(3 * DAY_MS + HOUR_MS + END)],
  ])('%s', (_, published_at, replaced_at, until) => {
    expect(keptUntil({ published_at, replaced_at }, RETENTION)).toBe(until)
  })
})

describe('before one that was published at an instant, the newest that is kept', () => {
  const replaced_at = at(HOUR_MS + 90 * SECOND_MS)
  test.each([
    ['is the one before it, within the hour', replaced_at + HOUR_MS, replaced_at + 1],
    ['is the last of the minute before, beyond it', replaced_at + HOUR_MS + 1, at(HOUR_MS + MINUTE_MS)],
    ['is that for a day', at(HOUR_MS + 2 * MINUTE_MS + DAY_MS), at(HOUR_MS + MINUTE_MS)],
    ['is the last of the hour before, beyond the day', at(HOUR_MS + 2 * MINUTE_MS + DAY_MS + 1), at(HOUR_MS)],
    ['is that for 30 days', at(2 * HOUR_MS + END), at(HOUR_MS)],
    ['is none after 30 days', at(2 * HOUR_MS + END + 1), undefined],
  ])('%s', (_, now, before) => {
    expect(keptBefore(replaced_at, now, RETENTION)).toBe(before)
  })
})

describe('settings of how long revisions are kept', () => {
  const two_hours = { ...RETENTION, as_of_minutes_hours: 2 }
  const stood = { published_at: at(10 * SECOND_MS), replaced_at: at(70 * SECOND_MS) }

  test('move the end of a tier', () => {
    expect(keptUntil(stood, two_hours)).toBe(at(2 * MINUTE_MS + 2 * HOUR_MS))
  })

  test('that are raised say what the shorter tier had let go by then, and keep no more of it', () => {
    const raised_at = at(DAY_MS)
    const raised = lettingGo(two_hours, RETENTION, raised_at)
    expect(raised.gone_before).toEqual({ as_of_minutes_hours: raised_at - MINUTE_MS - 2 * HOUR_MS })
    expect(keptUntil(stood, raised)).toBe(at(70 * SECOND_MS + HOUR_MS))
    expect(keptBefore(stood.replaced_at, at(3 * HOUR_MS), raised)).toBe(at(0))
    const replaced_at = raised_at - 90 * MINUTE_MS
    const later = { published_at: replaced_at - 10 * SECOND_MS, replaced_at }
    expect(keptUntil(later, raised)).toBe(replaced_at + MINUTE_MS + DAY_MS)
  })

  test('that are lowered, or stay, go on with what was gone', () => {
    const raised = lettingGo(two_hours, RETENTION, at(DAY_MS))
    const next = lettingGo(raised, two_hours, at(2 * DAY_MS))
    expect(next).toEqual({ ...two_hours, gone_before: raised.gone_before })
    expect(lettingGo(next, two_hours, at(3 * DAY_MS))).toEqual(next)
    expect(lettingGo(undefined, RETENTION, NINE)).toBe(RETENTION)
  })

  test('are said in words', () => {
    expect(keptSentence(RETENTION)).toMatch(/for a day the last one of each minute, for 30 days the last one of each hour\.$/)
    expect(keptSentence({ ...RETENTION, as_of_minutes_hours: 1, as_of_hours_days: 1 })).toMatch(/for 1 hour the last one .* for 1 day the/)
  })
})
