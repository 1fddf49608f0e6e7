import { expect, test } from '@jest/globals'
import { submitDrafts } from '../../src/commands/submit.js'
import { SECOND_MS } from '../../src/core/time.js'
import { withAlteredRows } from '../fixtures/altered-evidence.js'
import { createDecider } from '../fixtures/roles.js'
import { reconcile } from '../simulation/execution/automation.js'
import { GRACE_SECONDS } from '../simulation/execution/people.js'
import { createExecutionStory } from '../simulation/execution/story.js'
import { checkCancelBound, checkCancels } from './execution-checks.js'

/** The grace of its tasks, the turn that hears of it, and the one that is due at the end of the grace. */
const BOUND_MS = (GRACE_SECONDS + 3) * SECOND_MS

/** Cancelled with a task that runs and does not listen, one that is out, one that waits for its retry, and one that is ready. */
async function cancelled() {
  const story = createExecutionStory()
  const { tell, automation, api, begin, turn, keepTurning, person, world, site, out } = story
  const asked = await tell(async () => {
    const turning = automation()
    await begin(turning)
    const door = await api()
    await door.command(async (deps) => {
      const payload = { pool_key: 'pool:small', max_running: 1 }
      const drafts = [{ event_type: 'PoolDefined', idempotency_key: 'pool_def:pool:small:one', payload }] as const
      return submitDrafts(deps, drafts, 'servo/api')
    })
    const run_id = (await person.askForRun(['a', 'b', 'c', 'e'])) ?? 'none'
    await turn(turning)
    // a runs, b waits for it, e took the only place of its pool, c is blocked.
    const a = story.dispatchOf('a')
    await story.start(door, a)
    await story.say(door, a, 'completed', { outcome: 'FAILED', error: { code: 'BOOM', message: 'It broke.' } })
    const e = story.dispatchOf('e')
    await story.start(door, e)
    await turn(turning)
    const other_run_id = (await person.askForRun(['e'])) ?? 'none'
    await turn(turning)
    const before = out.length
    const asked_at = world.time.now()
    for (const id of [run_id, other_run_id]) {
      await person.cancel(id)
      site.witness.calm_cancels.push({ run_id: id, asked_at })
    }
    await turn(turning)
    await world.time.sleep(2 * SECOND_MS)
    // Whoever asks now is told to stop, also the one who was told to start before.
    const answers = [await story.start(door, e, 'another execution'), (await story.say(door, e, 'heartbeat')).body]
    await keepTurning(turning, BOUND_MS)
    return { answers, sent_later: out.slice(before) }
  })
  return { ...story, ...asked }
}

test('I30 a cancelled run dispatches nothing more, and is over within its bound, whatever its code does', async () => {
  const { answers, sent_later, rows, site, evidence, expectInvariants } = await cancelled()
  expect(answers).toEqual([409, { cancel: true }])
  expect(sent_later.map(({ task_key, attempt }) => [task_key, attempt])).toEqual([])
  expect((await rows('runs')).map(({ state }) => state)).toEqual(['CANCELLED', 'CANCELLED'])
  expect((await rows('tasks')).map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => 'CANCELLED'))
  const found = await evidence()
  expect(checkCancelBound(found, site.witness, BOUND_MS)).toEqual([])
  await expectInvariants()
})

test('I30 an attempt that asks to start after the cancel is told to stop, although nobody has taken it back yet', async () => {
  const story = createExecutionStory()
  const { tell, automation, api, begin, turn, person, world, rows, expectInvariants } = story
  const answers = await tell(async () => {
    const turning = automation()
    const [run_id = 'none'] = await begin(turning, ['a'])
    const door = await api()
    await person.cancel(run_id)
    // Of a process that publishes, and dies before it hands over or takes back anything.
    await createDecider(world, world.start('dies'), { reconcile }).turn()
    await world.time.sleep(2 * SECOND_MS)
    const answered = await story.start(door, story.dispatchOf('a'))
    await turn(turning)
    return [answered, (await rows('runs')).map(({ state }) => state)]
  })
  expect(answers).toEqual([409, ['CANCELLED']])
  await expectInvariants()
})

test('I30 an execution whose answer was lost asks again after the cancel: it is told to cancel, and its code does not begin', async () => {
  const story = createExecutionStory()
  const { tell, automation, api, begin, turn, person, world, site, rows, evidence, expectInvariants } = story
  const told = await tell(async () => {
    const turning = automation()
    const [run_id = 'none'] = await begin(turning, ['a'])
    const door = await api()
    const a = story.dispatchOf('a')
    // It was told to start, and never hears of it: nothing of it runs.
    const unheard = await story.say(door, a, 'started')
    await turn(turning)
    const asked_at = world.time.now()
    await person.cancel(run_id)
    site.witness.calm_cancels.push({ run_id, asked_at })
    await turn(turning)
    await world.time.sleep(2 * SECOND_MS)
    const answers = [unheard.body['cancel'], await story.say(door, a, 'started'), await story.start(door, a)]
    const completed = await story.say(door, a, 'completed', { outcome: 'CANCELLED' })
    await turn(turning)
    return [...answers, completed.status]
  })
  expect(told).toEqual([undefined, { status: 200, body: expect.objectContaining({ cancel: true }) }, 200, 200])
  expect(site.witness.starts).toEqual([])
  expect((await rows('tasks')).map(({ state, outcome_reason }) => [state, outcome_reason])).toEqual([['CANCELLED', 'WORKER_CANCELLED']])
  // No grace was waited for.
  expect(checkCancelBound(await evidence(), site.witness, 4 * SECOND_MS)).toEqual([])
  await expectInvariants()
})

test('I30 its check notices a dispatch and a start that came after the cancel, and a run that took longer', async () => {
  const { site, evidence } = await cancelled()
  const { witness } = site
  const found = await evidence()
  expect(checkCancels(found, witness)).toEqual([])
  expect(checkCancels(withAlteredRows(found, { tasks: { attempt: 7 } }), witness)).toHaveLength(5)
  const late = witness.starts.map((start) => ({ ...start, asked_at: start.asked_at + 60 * SECOND_MS }))
  expect(checkCancels(found, { ...witness, starts: late })).toHaveLength(late.length)
  expect(checkCancelBound(found, witness, 1)).toHaveLength(2)
})
