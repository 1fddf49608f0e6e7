// A process has a clock of its own, and the store's time from the store's first answer on: what it says before its first
// append is stamped by that, too.

import { expect, test } from '@jest/globals'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { createExecutionStory } from '../simulation/execution/story.js'

test.each([-3, 3])('the first word of an API whose clock is wrong by %s hours is stamped by the store', async (hours) => {
  const { tell, automation, begin, turn, site, world, rows, person, expectInvariants, ...story } = createExecutionStory()
  await tell(async () => {
    const turning = automation()
    await begin(turning, ['e'])
    site.apis.clear()
    const door = await story.api('wrong', { skew_ms: () => hours * HOUR_MS })
    expect(await story.start(door, story.dispatchOf('e'))).toBe(200)
    await turn(turning)
    const [task] = await rows('tasks')
    expect(Math.abs(Number(task?.['started_at']) - world.time.now())).toBeLessThan(5 * SECOND_MS)
    site.apis.clear()
    await story.api('wrong again', { skew_ms: () => hours * HOUR_MS })
    await person.cancel(String(task?.['run_id']))
    await turn(turning)
    await story.keepTurning(turning, 12 * SECOND_MS)
    const [run] = await rows('runs')
    expect(run).toMatchObject({ state: 'CANCELLED' })
  })
  await expectInvariants()
})

test.each([-4, 4])('the word after the clock of an API was set by %s minutes is stamped by the store', async (minutes) => {
  const story = createExecutionStory()
  const { tell, automation, begin, turn, api, world, rows, expectInvariants } = story
  let isSet = false
  await tell(async () => {
    const turning = automation()
    await begin(turning, ['e'])
    const door = await api('set', { skew_ms: () => (isSet ? minutes * MINUTE_MS : 0) })
    const dispatch = story.dispatchOf('e')
    await story.start(door, dispatch)
    await turn(turning)
    await story.keepTurning(turning, 4 * SECOND_MS)
    isSet = true
    expect(await story.say(door, dispatch, 'heartbeat')).toMatchObject({ status: 200 })
    await story.keepTurning(turning, 2 * SECOND_MS)
    const [task] = await rows('tasks')
    expect(task).toMatchObject({ state: 'RUNNING', attempt: 1 })
    expect(Math.abs(Number(task?.['last_heartbeat_at']) - world.time.now())).toBeLessThan(5 * SECOND_MS)
    await story.succeed(door, dispatch)
    await turn(turning)
  })
  await expectInvariants()
})
