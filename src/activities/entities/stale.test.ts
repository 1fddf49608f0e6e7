import { expect, test } from '@jest/globals'
import { NOW } from '../../../test/fixtures/say.js'
import { createScheduleStory, SCHEDULE_ID } from '../../../test/fixtures/schedule-story.js'
import { ENTITY_OFTEN_MS } from '../../core/loop-limits.js'
import { HOUR_MS, MINUTE_MS } from '../../core/time.js'
import type { Schedule } from '../../readers/schedules.js'
import { SCHEDULE_KIND } from './schedule.js'
import { isStale as isStaleOf, type ListedLoop } from './stale.js'

const isStale = (listed: ListedLoop, schedule: Schedule, now: number) => isStaleOf(SCHEDULE_KIND, listed, schedule, now)
const undecidedAt = (schedule: Schedule) => SCHEDULE_KIND.dueAt(schedule)[0] ?? null

function world() {
  const story = createScheduleStory()
  story.define(NOW, { cron_expressions: ['0 * * * *'] })
  const schedule = () =>
    ({
      definition: story.story.rows.get('schedule_definitions', SCHEDULE_ID),
      state: story.story.rows.get('schedule_state', SCHEDULE_ID),
    }) as Schedule
  return { story, schedule, next: undecidedAt(schedule()) as number }
}

test('a cron that changed without a poke shows in the next fire, before it fires', () => {
  const { story, schedule, next } = world()
  const listed = { status: 'ACTIVE', next_fire_at: next }
  expect(isStale(listed, schedule(), NOW)).toBe(false)
  story.define(NOW + 1, { cron_expressions: ['30 3 * * *'] })
  expect(isStale(listed, schedule(), NOW + 2)).toBe(true)
  expect(isStale({ ...listed, status: 'ERROR' }, schedule(), NOW + 2)).toBe(true)
  expect(isStale({ status: 'ACTIVE', next_fire_at: undecidedAt(schedule()) }, schedule(), NOW + 2)).toBe(false)
})

test('one that has just fired is left to its own timer, and so is one that tries again by itself', () => {
  const { story, schedule, next } = world()
  story.decide(next + 1)
  expect(undecidedAt(schedule())).toBe(next + HOUR_MS)
  expect(isStale({ status: 'ACTIVE', next_fire_at: next }, schedule(), next + MINUTE_MS)).toBe(false)
  expect(isStale({ status: 'ERROR', next_fire_at: null }, schedule(), next + MINUTE_MS)).toBe(false)
  expect(isStale({ status: 'STARTING', next_fire_at: null }, schedule(), next + MINUTE_MS)).toBe(false)
  expect(isStale({ status: 'ACTIVE', next_fire_at: null }, schedule(), next + MINUTE_MS)).toBe(true)
})

test('a status that is not so any more shows at once', () => {
  const { story, schedule, next } = world()
  expect(isStale({ status: 'PAUSED', next_fire_at: null }, schedule(), NOW)).toBe(true)
  story.status(NOW + 1, 'PAUSED')
  expect(isStale({ status: 'ACTIVE', next_fire_at: next }, schedule(), NOW + 2)).toBe(true)
  expect(isStale({ status: 'PAUSED', next_fire_at: null }, schedule(), NOW + 2)).toBe(false)
})

test('of a schedule that fires often the listed fire may be off by as much as its loop leaves it', () => {
  const { story, schedule } = world()
  story.define(NOW + 1, { cron_expressions: ['* * * * *'] })
  const next = undecidedAt(schedule()) as number
  const listedAt = (next_fire_at: number) => isStale({ status: 'ACTIVE', next_fire_at }, schedule(), NOW + 2)
  expect([next, next + MINUTE_MS, next + ENTITY_OFTEN_MS].map(listedAt)).toEqual([false, false, false])
  expect(listedAt(next + ENTITY_OFTEN_MS + 1)).toBe(true)
  story.define(NOW + 3, { cron_expressions: ['0 * * * *'] })
  expect(listedAt(undecidedAt(schedule()) as number)).toBe(false)
  expect(listedAt((undecidedAt(schedule()) as number) + MINUTE_MS)).toBe(true)
})
