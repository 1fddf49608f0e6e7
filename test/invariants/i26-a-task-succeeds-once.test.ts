import { expect, test } from '@jest/globals'
import { SECOND_MS } from '../../src/core/time.js'
import { withAlteredRows } from '../fixtures/altered-evidence.js'
import { createExecutionStory, type ExecutionStory } from '../simulation/execution/story.js'
import { checkSuccesses } from './execution-checks.js'

/** Attempt 1 was given up, and attempt 2 has succeeded: each with code that ran to its end. */
async function twoSuccesses() {
  const story = createExecutionStory()
  const { tell, automation, api, begin, turn, dispatchOf } = story
  const second = await tell(async () => {
    const turning = automation()
    await begin(turning, ['a'])
    const [fresh, stale] = [await api('fresh'), await api('stale')]
    const first = dispatchOf('a')
    expect(await story.start(fresh, first)).toBe(200)
    // Asked for nothing but a start that it knows, an API looks once a second, and is believed by nobody to have heard a beat.
    for (let seconds = 0; seconds < 60 && !(await isLost(story)); seconds += 1) {
      await story.world.time.sleep(SECOND_MS)
      expect((await story.say(stale, first, 'started')).status).toBe(200)
      await turn(turning)
    }
    // One whose view is of the moment before takes it, and the fold refuses it; one that looks now answers 409.
    expect([await story.succeed(stale, first), await story.succeed(fresh, first)]).toEqual([200, 409])
    const second = dispatchOf('a')
    expect([first.attempt, second.attempt]).toEqual([1, 2])
    expect([await story.start(fresh, second), await story.succeed(fresh, second)]).toEqual([200, 200])
    await turn(turning)
    return second
  })
  return { ...story, second }
}

/** The silence counts as the delay: the turn that gives it up dispatches the next one. */
const isLost = async ({ rows }: ExecutionStory) => (await rows('tasks')).some(({ attempt }) => attempt === 2)

test('I26 the success of an attempt that was given up changes nothing that anybody reads, whoever hears of it', async () => {
  const { rows, second, expectInvariants } = await twoSuccesses()
  expect(await rows('tasks')).toMatchObject([{ task_key: 'a', state: 'SUCCEEDED', attempt: 2, attempt_id: second.attempt_id }])
  expect(await rows('partition_status')).toMatchObject([{ asset_key: 'a', last_attempt_id: second.attempt_id }])
  expect((await rows('refusals')).filter(({ event_type }) => event_type === 'TaskFinished')).toMatchObject([{ reason: 'STALE_ATTEMPT' }])
  await expectInvariants()
})

test('I26 its check notices a success that no code had, and one that took the place of another', async () => {
  const { site, evidence } = await twoSuccesses()
  const found = await evidence()
  expect(checkSuccesses(found, site.witness)).toEqual([])
  expect(checkSuccesses(found, { ...site.witness, ends: [] })).toHaveLength(1)
  const replaced = { tasks: { materialization_id: 'another' }, partition_status: { last_materialization_id: 'another' } }
  expect(checkSuccesses(withAlteredRows(found, replaced), site.witness)).toHaveLength(2)
  expect(checkSuccesses(withAlteredRows(found, { tasks: { state: 'RETRY_WAIT' } }), site.witness)).toHaveLength(1)
})
