import { describe, expect, it } from '@jest/globals'
import { createScheduleStory, requestedIn, SCHEDULE_ID, tickedIn, toldTicks } from '../../test/fixtures/schedule-story.js'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.js'
import type { RunRow } from '../projections/run-table.js'
import { firstRunOf } from './schedule-decision.js'

const NOON = Date.parse('2025-01-15T12:00:00Z')
const MIDNIGHT = '0 0 * * *'
const HOURLY = '0 * * * *'
const at = (text: string): number => Date.parse(text)

describe('catch-up, edits and pauses', () => {
  const twoDays = { catchup_window_minutes: 2 * 1_440 }

  it('#10335 runs the newest three of ten midnights that were missed, and counts the other seven', () => {
    const story = createScheduleStory()
    story.define(at('2025-01-05T12:00:00Z'), { cron_expressions: [MIDNIGHT], catchup_window_minutes: 30 * 1_440 })
    expect(requestedIn(story.decide(NOON))).toHaveLength(3)
    expect(toldTicks(story)).toEqual([
      '2025-01-12T00:00 SKIPPED 7 {"CATCH_UP":7}',
      '2025-01-13T00:00 TRIGGERED',
      '2025-01-14T00:00 TRIGGERED',
      '2025-01-15T00:00 TRIGGERED',
    ])
    expect(story.ticks()[0]).toMatchObject({ first_scheduled_for: at('2025-01-06T00:00:00Z') })
  })

  it('looks back as far in any part of a second: what is as old as its window runs', () => {
    for (const part_ms of [0, 1, 999]) {
      const story = createScheduleStory()
      story.define(at('2025-01-13T12:00:00Z'), { cron_expressions: ['0 12 * * *'] })
      story.decide(NOON + part_ms)
      expect(toldTicks(story)).toEqual(['2025-01-14T12:00 TRIGGERED', '2025-01-15T12:00 TRIGGERED'])
    }
  })

  it('#10335 runs none that is older than the window, whatever was decided before', () => {
    const story = createScheduleStory()
    story.define(at('2025-01-05T12:00:00Z'), { cron_expressions: [MIDNIGHT] })
    story.decide(at('2025-01-06T00:00:00Z'))
    story.decide(NOON)
    expect(toldTicks(story)).toEqual([
      '2025-01-06T00:00 TRIGGERED',
      '2025-01-14T00:00 SKIPPED 8 {"CATCH_UP":8}',
      '2025-01-15T00:00 TRIGGERED',
    ])
  })

  it('#5604 does not replay what was missed while it was off, when it is on again', () => {
    const story = createScheduleStory()
    story.define(at('2025-01-05T12:00:00Z'), { cron_expressions: [MIDNIGHT], ...twoDays })
    story.decide(at('2025-01-06T00:00:00Z'))
    story.status(at('2025-01-06T12:00:00Z'), 'PAUSED')
    expect(story.decide(NOON - SECOND_MS)).toEqual([])
    story.status(NOON, 'ACTIVE')
    expect(requestedIn(story.decide(NOON))).toEqual([])
    story.decide(NOON + 12 * HOUR_MS)
    expect(toldTicks(story)).toEqual([
      '2025-01-06T00:00 TRIGGERED',
      '2025-01-15T00:00 SKIPPED 9 {"PAUSED":9}',
      '2025-01-16T00:00 TRIGGERED',
    ])
  })

  it('#7010 does not fire when it is switched off and on between two instants', () => {
    const story = createScheduleStory()
    story.define(NOON, { cron_expressions: [MIDNIGHT] })
    story.status(NOON + HOUR_MS, 'PAUSED')
    story.status(NOON + 2 * HOUR_MS, 'ACTIVE')
    expect(story.decide(NOON + 2 * HOUR_MS)).toEqual([])
    story.decide(NOON + 12 * HOUR_MS)
    expect(toldTicks(story)).toEqual(['2025-01-16T00:00 TRIGGERED'])
  })

  it('#7010 looks back on resume where it is told to, as after any other gap', () => {
    const story = createScheduleStory()
    story.define(at('2025-01-05T12:00:00Z'), { cron_expressions: [MIDNIGHT], catch_up_on_resume: true, ...twoDays })
    story.status(at('2025-01-05T13:00:00Z'), 'PAUSED')
    story.status(NOON, 'ACTIVE')
    story.decide(NOON)
    expect(toldTicks(story)).toEqual([
      '2025-01-13T00:00 SKIPPED 8 {"CATCH_UP":8}',
      '2025-01-14T00:00 TRIGGERED',
      '2025-01-15T00:00 TRIGGERED',
    ])
  })

  it('#13597 does not fire the past when its cron is edited to one that had fired', () => {
    const story = createScheduleStory()
    story.define(at('2025-01-05T12:00:00Z'), { cron_expressions: [MIDNIGHT] })
    story.decide(at('2025-01-15T00:00:00Z'))
    story.define(NOON, { cron_expressions: ['0 11 * * *'] })
    expect(story.decide(NOON)).toEqual([])
    story.decide(NOON + 23 * HOUR_MS)
    expect(toldTicks(story).slice(-1)).toEqual(['2025-01-16T11:00 TRIGGERED'])
  })

  it('#13597 counts what an edit cut off by the cron of then, and decides it before anything else', () => {
    const story = createScheduleStory()
    story.define(NOON - 3 * HOUR_MS - MINUTE_MS, { cron_expressions: [HOURLY] })
    story.define(NOON + MINUTE_MS, { cron_expressions: ['30 * * * *'] })
    story.define(NOON + 2 * HOUR_MS, { cron_expressions: ['45 * * * *'] })
    const events = story.decide(NOON + 2 * HOUR_MS + 50 * MINUTE_MS)
    expect(tickedIn(events).map(({ ticks, skipped }) => [ticks.length, skipped?.count])).toEqual([
      [0, 4],
      [0, 2],
      [1, undefined],
    ])
    expect(toldTicks(story)).toEqual([
      '2025-01-15T12:00 SKIPPED 4 {"SUPERSEDED":4}',
      '2025-01-15T13:30 SKIPPED 2 {"SUPERSEDED":2}',
      '2025-01-15T14:45 TRIGGERED',
    ])
    expect(story.story.row('schedule_state', SCHEDULE_ID)?.owed).toEqual([])
  })

  it('keeps what is due through an edit that leaves its instants as they are', () => {
    const story = createScheduleStory({ a: {}, b: {} })
    story.define(NOON - MINUTE_MS, { cron_expressions: [HOURLY] })
    story.define(NOON + MINUTE_MS, { cron_expressions: [HOURLY], asset_selection: ['b'] })
    const events = story.decide(NOON + MINUTE_MS)
    expect(tickedIn(events)).toMatchObject([{ definition_version: 2, assets: { keys: ['b'] } }])
    expect(toldTicks(story)).toEqual(['2025-01-15T12:00 TRIGGERED'])
  })

  it('#12758 skips a tick while a run of the schedule is active, and says which', () => {
    const story = createScheduleStory()
    story.define(NOON - MINUTE_MS, { cron_expressions: [HOURLY], overlap_policy: 'SKIP' })
    const [first] = requestedIn(story.decide(NOON))
    expect(requestedIn(story.decide(NOON + HOUR_MS))).toEqual([])
    expect(story.ticks().at(-1)).toMatchObject({ status: 'SKIPPED', skip_reasons: { OVERLAP: 1 }, active_run_id: first?.run_id })
    story.fold(story.say.runCancelRequested(first?.run_id ?? '', { at: NOON + HOUR_MS }))
    expect(requestedIn(story.decide(NOON + 2 * HOUR_MS))).toHaveLength(1)
  })

  it('#12758 names the run that began first of several, in whatever order they came to mind', () => {
    const runs = [
      { run_id: 'run_b', requested_at: NOON },
      { run_id: 'run_a', requested_at: NOON },
      { run_id: 'run_c', requested_at: NOON - 1 },
    ] as unknown as readonly RunRow[]
    expect([firstRunOf(runs), firstRunOf(runs.toReversed()), firstRunOf(runs.slice(0, 2)), firstRunOf([])]).toEqual([
      'run_c',
      'run_c',
      'run_a',
      undefined,
    ])
  })

  it('#12758 lets the newest alone run of what was missed, because the others would run beside it', () => {
    const story = createScheduleStory()
    story.define(NOON - 5 * HOUR_MS, { cron_expressions: [HOURLY], overlap_policy: 'SKIP' })
    expect(requestedIn(story.decide(NOON))).toHaveLength(1)
    expect(toldTicks(story)).toEqual(['2025-01-15T11:00 SKIPPED 4 {"CATCH_UP":2,"OVERLAP":2}', '2025-01-15T12:00 TRIGGERED'])
  })

  it('#12758 lets runs overlap where nobody says otherwise', () => {
    const story = createScheduleStory()
    story.define(NOON - MINUTE_MS, { cron_expressions: [HOURLY] })
    expect(requestedIn([...story.decide(NOON), ...story.decide(NOON + HOUR_MS)])).toHaveLength(2)
  })

  it('decides a year of seconds that was missed at once', () => {
    const story = createScheduleStory()
    story.define(NOON - 365 * DAY_MS, { cron_expressions: ['* * * * * *'] })
    const began = performance.now()
    expect(requestedIn(story.decide(NOON))).toHaveLength(3)
    expect(performance.now() - began).toBeLessThan(1_000)
    expect(story.ticks()[0]).toMatchObject({ skipped_count: 31_536_000 - 3 })
  })
})
