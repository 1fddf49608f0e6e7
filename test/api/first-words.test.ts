// A process has a clock of its own, and the store's time from the store's first answer on: what it says before its first
// append is stamped by that, too.

import { expect, test } from '@jest/globals'
import { HOUR_MS, SECOND_MS } from '../../src/core/time.js'
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
