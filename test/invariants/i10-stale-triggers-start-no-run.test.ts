// A trigger that rests on what no longer holds, or that was said before, starts no run: for ticks of schedules.

import { expect, test } from '@jest/globals'
import { sha256 } from '../../src/core/hash.js'
import { scheduleRunKey, tickId } from '../../src/core/keys.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { stampDrafts } from '../../src/events/draft.js'
import type { EventOf, LedgerEvent } from '../../src/events/event.js'
import { NOW, runIdOf, TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { createScheduleStory, requestedIn, SCHEDULE_ID, type ScheduleStory } from '../fixtures/schedule-story.js'

const HOURLY = { cron_expressions: ['0 * * * *'] }

/** What the controller would say at this instant, as a turn would append it; said by another one, with ids of its own. */
function said(story: ScheduleStory, now: number, by: string): readonly LedgerEvent[] {
  let count = 0
  const random = (size: number): Uint8Array => sha256(`${by} ${++count}`).subarray(0, size)
  const stamp = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID, now, random, source: 'servo/turn' } as const
  return story.ask(now).flatMap(({ drafts }) => stampDrafts(drafts, stamp))
}

function createDue(): ScheduleStory {
  const story = createScheduleStory({ a: {}, b: {} })
  story.define(NOW - MINUTE_MS, HOURLY)
  return story
}

const runCount = ({ story }: ScheduleStory): number => story.rows.hotRows('runs').length

test.each([
  ['an edit of its cron', (story: ScheduleStory) => story.define(NOW + SECOND_MS, { cron_expressions: ['30 * * * *'] })],
  ['an edit of its assets', (story: ScheduleStory) => story.define(NOW + SECOND_MS, { ...HOURLY, asset_selection: ['b'] })],
  ['a pause', (story: ScheduleStory) => story.status(NOW + SECOND_MS, 'PAUSED')],
  ['its end', (story: ScheduleStory) => story.fold(story.say.scheduleRemoved(SCHEDULE_ID, { at: NOW + SECOND_MS }))],
])('I10 a tick that was decided before %s starts no run', (_, change) => {
  const story = createDue()
  const tick = said(story, NOW, 'a turn')
  change(story)
  expect(story.fold(...tick)).toEqual([expect.stringMatching(/STALE_BASIS|TERMINAL/), expect.stringMatching(/TRIGGER_NOT_APPLIED/)])
  expect(runCount(story)).toBe(0)
  expect(story.ticks()).toEqual([])
})

test('I10 a tick that two turns decide starts one run', () => {
  const story = createDue()
  const [one, other] = [said(story, NOW, 'one'), said(story, NOW + 5 * SECOND_MS, 'other')]
  expect(story.fold(...one)).toEqual(['applied', 'applied'])
  expect(story.fold(...other)).toEqual(['duplicate', 'duplicate'])
  expect([runCount(story), story.ticks()]).toMatchObject([1, [{ conflict_count: 0 }]])
})

test('L2-INV-1 a tick that is processed twice is processed once, whoever says it and whenever', () => {
  const story = createDue()
  const tick = said(story, NOW, 'one')
  story.fold(...tick)
  const before = story.story.everything()
  story.fold(...tick)
  story.fold(...tick)
  const { idempotency_keys, ...after } = story.story.everything()
  expect(after).toEqual({ ...before, idempotency_keys: undefined, ...{ refusals: after['refusals'] } })
  expect(Object.keys(idempotency_keys ?? {})).toEqual(Object.keys(before['idempotency_keys'] ?? {}))
  expect(story.decide(NOW + HOUR_MS - SECOND_MS)).toEqual([])
})

test('L2-INV-10 from a tick to its run and back: run key, run id, correlation and cause agree', () => {
  const story = createDue()
  const events = story.decide(NOW)
  const [ticked, requested] = events as [EventOf<'ScheduleTicked'>, EventOf<'RunRequested'>]
  const [tick_id, run_key] = [tickId(SCHEDULE_ID, NOW / 1_000), scheduleRunKey(SCHEDULE_ID, NOW / 1_000)]
  const run_id = runIdOf(run_key)
  expect(ticked.payload.ticks).toMatchObject([{ tick_id, run_key }])
  expect(requested).toMatchObject({
    causation_id: ticked.event_id,
    correlation_id: run_id,
    payload: { run_key, run_id, trigger: { tick_id } },
  })
  expect(ticked.correlation_id).toBe(run_id)
  expect(story.ticks()).toMatchObject([{ tick_id, run_key, run_id }])
  expect(story.story.row('runs', run_id)).toMatchObject({ run_key, schedule_id: SCHEDULE_ID, tick_id })
  expect(story.story.row('run_key_index', run_key)).toMatchObject({ run_id })
})

test('L2-INV-11 a tick keeps the assets and the version that it was decided with, whatever is defined later', () => {
  const story = createDue()
  story.decide(NOW)
  story.define(NOW + MINUTE_MS, { ...HOURLY, asset_selection: ['b'] })
  const events = story.decide(NOW + HOUR_MS)
  expect(story.ticks()).toMatchObject([
    { assets: { keys: ['a'] }, definition_version: 1 },
    { assets: { keys: ['b'] }, definition_version: 2 },
  ])
  expect(story.ticks()[0]?.definition_hash).not.toBe(story.ticks()[1]?.definition_hash)
  expect(requestedIn(events)).toMatchObject([{ assets: { keys: ['b'] } }])
})
