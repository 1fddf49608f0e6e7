import { expect, test } from '@jest/globals'
import { SECOND_MS } from '../../src/core/time.js'
import { withAlteredRows } from '../fixtures/altered-evidence.js'
import { createExecutionStory } from '../simulation/execution/story.js'
import { checkSlots } from './execution-checks.js'

const ERROR = { code: 'BOOM', message: 'It broke.', retryable: false }

/** Five runs, each of which gives its places back in another way. */
async function fiveEnds() {
  const story = createExecutionStory()
  const { tell, automation, api, begin, turn, keepTurning, out, person } = story
  const seen = await tell(async () => {
    const turning = automation()
    const run_ids = await begin(turning, ['e'], ['e'], ['e'], ['e'], ['e'])
    const door = await api()
    const [succeeded, failed, released, cancelled, silent] = run_ids.map((id) => out.find(({ run_id }) => run_id === id))
    if (!succeeded || !failed || !released || !cancelled || !silent) throw new Error('Not all of them were handed over.')
    for (const dispatch of [succeeded, failed, released, cancelled]) await story.start(door, dispatch)
    await turn(turning)
    const pools = await story.rows('pools')
    await story.succeed(door, succeeded)
    await story.say(door, failed, 'completed', { outcome: 'FAILED', error: ERROR })
    await story.say(door, released, 'completed', { outcome: 'RELEASED' })
    await person.cancel(cancelled.run_id)
    await turn(turning)
    // What was given back starts elsewhere; what nobody started is given up at its deadline, and then cancelled, too.
    await keepTurning(turning, 2 * SECOND_MS)
    const again = out.findLast(({ run_id }) => run_id === released.run_id)
    if (again === undefined || again.attempt !== 2) throw new Error('It was not tried again.')
    await story.start(door, again)
    await story.succeed(door, again)
    await keepTurning(turning, 28 * SECOND_MS)
    await person.cancel(silent.run_id)
    await keepTurning(turning, 20 * SECOND_MS)
    return pools
  })
  return { ...story, seen }
}

test('I27 whichever way an attempt ends, its pools have their places back, and count what is out at every revision', async () => {
  const { seen, rows, expectInvariants } = await fiveEnds()
  const inUse = (pools: typeof seen) => Object.fromEntries(pools.map(({ pool_key, in_use }) => [pool_key, in_use]))
  expect(inUse(seen)).toEqual({ global: 5, 'location:main': 5, 'pool:small': 5, 'pool:other': 5 })
  expect(inUse(await rows('pools'))).toEqual({ global: 0, 'location:main': 0, 'pool:small': 0, 'pool:other': 0 })
  expect((await rows('runs')).map(({ state }) => state).toSorted()).toEqual(['CANCELLED', 'CANCELLED', 'FAILED', 'SUCCEEDED', 'SUCCEEDED'])
  await expectInvariants()
})

test('I27 its check notices a place that was not given back, and a dispatch into a full pool', async () => {
  const found = await (await fiveEnds()).evidence()
  expect(checkSlots(found)).toEqual([])
  // Each of the four pools: it counts what is not there, and it is not empty in the end.
  expect(checkSlots(withAlteredRows(found, { pools: { in_use: 1 } }))).toHaveLength(8)
  const crowded = withAlteredRows(found, { pools: { in_use: 5, max_running: 4 }, tasks: { state: 'RUNNING', attempt: 9 } })
  const before = found.revisions.at(-1)?.sequence ?? 0
  const capped = withAlteredRows(found, { pools: { max_running: 4 } }).history.everythingAt(before + 1)
  const everythingAt = (at: number) => (at === before ? capped : crowded.history.everythingAt(at))
  const problems = checkSlots({ ...crowded, history: { ...crowded.history, everythingAt } })
  expect(problems.filter((text) => text.includes('has 5 tasks after a dispatch, and its cap was 4, then 4'))).toHaveLength(4)
})
