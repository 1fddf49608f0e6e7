// The controllers in a turn: what they say is appended, folded and published, and what they read was loaded before.

import { describe, expect, test } from '@jest/globals'
import { listSha256 } from '../../src/core/keys.js'
import { attemptId } from '../../src/core/run-id.js'
import { writeList } from '../../src/ledger/lists.js'
import { createReader } from '../../src/readers/reader.js'
import { createReconcile } from '../../src/turn/controllers.js'
import type { Unheard } from '../../src/turn/outage.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import type { DeciderOptions } from '../fixtures/roles.js'
import { runIdOf } from '../fixtures/say.js'
import { createScenario, loseAnswer, once } from '../fixtures/scenario.js'

const SECRET = { secret_key_id: 's1', secret: 'servo-golden-secret' }
const reconcile = createReconcile({ secret: SECRET })

/** One task of one run is out, and nobody has started it. */
async function withOneDispatched(options: Pick<DeciderOptions, 'unheard'> = {}) {
  const scenario = createScenario()
  const { say, writer, decider, tell, defineAssets, rows } = scenario
  const task = async () => (await rows('tasks'))[0]
  const { turn } = decider('turn', { reconcile, ...options })
  await tell(async () => {
    await defineAssets()
    await writer().append([say.runRequested('user:1', { assets: { keys: ['a'] } })])
    await turn()
  })
  return { ...scenario, turn, task, start_deadline_at: Number((await task())?.['start_deadline_at']) }
}

describe('the controllers in a turn', () => {
  test('plan a run and dispatch what is ready of it, within one turn', async () => {
    const { say, writer, decider, tell, defineAssets, rows, expectInvariants } = createScenario()
    await tell(async () => {
      await defineAssets()
      await writer().append([say.runRequested('user:1', { assets: { keys: ['b', 'a'] } })])
      const answer = await decider('turn', { reconcile }).turn()
      expect(answer.wake_in_ms).toBeGreaterThan(0)
    })
    const name = { run_id: runIdOf('user:1'), task_key: 'a', attempt: 1 }
    expect(await rows('tasks')).toMatchObject([
      { task_key: 'a', state: 'DISPATCHED', attempt_id: attemptId(SECRET, name) },
      { task_key: 'b', state: 'BLOCKED' },
    ])
    expect(await rows('dispatch_outbox')).toMatchObject([{ ...name, status: 'PENDING' }])
    await expectInvariants()
  })

  test('read long lists and old definitions that are pinned', async () => {
    const { say, writer, decider, tell, world, defineAssets, rows, expectInvariants } = createScenario()
    const process = world.start('caller')
    const first = say.assetDefined('a').payload.definition_hash
    await tell(async () => {
      await defineAssets()
      await writer().append([say.locationDeployed('main', 1), say.assetDefined('a', { code_version: 'v2' })])
      const assets = await writeList(process, ['b', 'a'])
      const pins = await writeList(process, [`a@${first}`])
      await writer().append([say.runRequested('user:1', { assets: { list: assets }, definition_pins: { list: pins } })])
      await writer().append([say.runRequested('user:2', { definition_pins: { a: first } })])
      // In memory of its own: what is superseded is on disk alone.
      await decider('fold', { reconcile: foldOnly }).turn()
      await decider('turn', { reconcile }).turn()
    })
    const planned = (await rows('tasks')).map(({ run_id, task_key, definition_hash }) => [run_id, task_key, definition_hash === first])
    expect(planned.toSorted()).toEqual(
      [
        [runIdOf('user:1'), 'a', true],
        [runIdOf('user:1'), 'b', false],
        [runIdOf('user:2'), 'a', true],
      ].toSorted(),
    )
    await expectInvariants()
  })

  test('fail the plan whose list was lost, and nothing else', async () => {
    const { say, writer, decider, tell, world, defineAssets, rows } = createScenario()
    const sha256 = listSha256(['a', 'b'])
    await tell(async () => {
      await defineAssets()
      const list = await writeList(world.start('caller'), ['a', 'b'])
      await writer().append([say.runRequested('user:1', { assets: { list } })])
      await writer().append([say.runRequested('user:2')])
      await decider('fold', { reconcile: foldOnly }).turn()
      const found = await world.bucket.head(`lists/${sha256}.json`)
      if (found.kind !== 'found') throw new Error('The list is not there.')
      await world.bucket.delete(`lists/${sha256}.json`, { if_generation: found.head.generation })
      await decider('turn', { reconcile }).turn()
    })
    const runs = await rows('runs')
    expect(runs.find(({ run_key }) => run_key === 'user:1')).toMatchObject({ state: 'FAILED', error: { code: 'UNKNOWN_ASSET' } })
    expect(JSON.stringify(runs.map(({ error }) => error))).toContain(`The list ${sha256} of the run's assets is not there`)
    expect(runs.find(({ run_key }) => run_key === 'user:2')).toMatchObject({ state: 'PLANNED' })
  })

  test('give nothing up after a gap until those who were silent could speak again, and give it up then', async () => {
    const { say, writer, decider, tell, world, defineAssets, rows, expectInvariants } = createScenario()
    const task = async () => (await rows('tasks'))[0]
    const watermarks = async () => {
      const view = await createReader({ store: world.bucket, files: world.files }).latest()
      return view?.snapshot.revision.watermarks
    }
    await tell(async () => {
      await defineAssets()
      await writer().append([say.runRequested('user:1', { assets: { keys: ['a'] } })])
      await decider('turn', { reconcile }).turn()
    })
    const start_deadline_at = Number((await task())?.['start_deadline_at'])
    // Nobody is there for a minute after something was due.
    await world.time.pass(start_deadline_at + 60_000 - world.time.now())
    await tell(() => decider('late', { reconcile }).turn())
    expect(await task()).toMatchObject({ state: 'DISPATCHED', attempt: 1 })
    const held = await watermarks()
    const hold_until = Date.parse(held?.hold_until ?? '')
    expect(hold_until - start_deadline_at).toBeGreaterThan(60_000)
    expect(held?.wake_at).toBe(held?.hold_until)

    await world.time.pass(hold_until - world.time.now() - 2_000)
    await tell(() => decider('held', { reconcile }).turn())
    expect(await task()).toMatchObject({ state: 'DISPATCHED' })

    await world.time.pass(hold_until - world.time.now() + 1_000)
    await tell(() => decider('over', { reconcile }).turn())
    expect(await task()).toMatchObject({ state: 'RETRY_WAIT', infra_losses: 1, outcome_reason: 'START_DEADLINE' })
    expect((await watermarks())?.hold_until).toBeNull()
    await expectInvariants()
  })

  test('give nothing up right after the store was out of reach, for nobody could say that it lives', async () => {
    const { tell, world, turn, task, start_deadline_at } = await withOneDispatched()
    await world.time.pass(start_deadline_at - 20_000 - world.time.now())
    once(world, 'before', { process: 'turn', operation: 'get' }, loseAnswer)
    await tell(() => expect(turn()).rejects.toThrow('The answer was lost.'))
    // It is there again, a moment before the deadline: the turn that is woken by it is punctual.
    await world.time.pass(start_deadline_at - 1_000 - world.time.now())
    await tell(() => turn())
    await world.time.pass(2_000)
    await tell(() => turn())
    expect(await task()).toMatchObject({ state: 'DISPATCHED', attempt: 1 })
    await world.time.pass(60_000)
    await tell(() => turn())
    expect(await task()).toMatchObject({ state: 'RETRY_WAIT', outcome_reason: 'START_DEADLINE' })
  })

  test('give nothing up in a turn that is far behind, and give it up in the next one', async () => {
    const { say, writer, tell, world, turn, task, start_deadline_at } = await withOneDispatched()
    await world.time.pass(start_deadline_at - 40_000 - world.time.now())
    await tell(() => writer('other').append([say.poolDefined('pool:x', 1)]))
    await world.time.pass(start_deadline_at + 1_000 - world.time.now())
    const behind = await tell(() => turn())
    expect(await task()).toMatchObject({ state: 'DISPATCHED' })
    expect(behind.wake_in_ms).toBe(0)
    await tell(() => turn())
    expect(await task()).toMatchObject({ state: 'RETRY_WAIT', outcome_reason: 'START_DEADLINE' })
  })

  test('give nothing up in a process that has just begun, where nobody had published for a while: it cannot know why', async () => {
    const { tell, world, decider, task, start_deadline_at } = await withOneDispatched()
    // The store may have been away until now, and this process was not there to see it.
    await world.time.pass(start_deadline_at - 1_000 - world.time.now())
    const { turn } = decider('new', { reconcile })
    await tell(() => turn())
    await world.time.pass(2_000)
    await tell(() => turn())
    expect(await task()).toMatchObject({ state: 'DISPATCHED', attempt: 1 })
    await world.time.pass(60_000)
    await tell(() => turn())
    expect(await task()).toMatchObject({ state: 'RETRY_WAIT', outcome_reason: 'START_DEADLINE' })
  })

  test('are not held back again by one process after another that has just begun', async () => {
    const { tell, world, decider, task, start_deadline_at } = await withOneDispatched()
    await world.time.pass(start_deadline_at - 1_000 - world.time.now())
    await tell(() => decider('one', { reconcile }).turn())
    await world.time.pass(61_000)
    await tell(() => decider('two', { reconcile }).turn())
    expect(await task()).toMatchObject({ state: 'RETRY_WAIT', outcome_reason: 'START_DEADLINE' })
  })

  test('give nothing up while workers find no API, and give it up when they had the time to speak again', async () => {
    let unheard: Unheard | undefined
    const { tell, world, turn, task, start_deadline_at } = await withOneDispatched({ unheard: () => unheard })
    await world.time.pass(start_deadline_at + 1_000 - world.time.now())
    unheard = { for_ms: 3_000, over_for_ms: 0, left_ms: 900_000 }
    for (let minute = 0; minute < 3; minute++) {
      await tell(() => turn())
      expect(await task()).toMatchObject({ state: 'DISPATCHED', attempt: 1 })
      await world.time.pass(61_000)
    }
    unheard = { for_ms: 200_000, over_for_ms: 1_000, left_ms: 700_000 }
    await tell(() => turn())
    unheard = undefined
    await world.time.pass(30_000)
    await tell(() => turn())
    expect(await task()).toMatchObject({ state: 'DISPATCHED' })
    await world.time.pass(31_000)
    await tell(() => turn())
    expect(await task()).toMatchObject({ state: 'RETRY_WAIT', outcome_reason: 'START_DEADLINE' })
  })

  test('give up who is silent while others are heard all the while, whatever this process can reach', async () => {
    let unheard: Unheard | undefined
    const { say, writer, tell, world, turn, rows, start_deadline_at } = await withOneDispatched({ unheard: () => unheard })
    await world.time.pass(start_deadline_at - 20_000 - world.time.now())
    const keys = Array.from({ length: 8 }, (_, index) => `other:${index}`)
    await tell(async () => {
      for (const key of keys) await writer(key).append([say.runRequested(key, { assets: { keys: ['c'] } })])
      await turn()
    })
    await world.time.pass(3_000)
    // One after another: an API that is open for a moment hears some of them, and not for so long.
    for (const key of keys) {
      const other = { run_id: runIdOf(key), task_key: 'c', attempt: 1 }
      const started = say.taskStarted(other, { attempt_id: attemptId(SECRET, other) }, { at: world.time.now() })
      await tell(() => writer(`worker of ${key}`).append([started]))
      await world.time.pass(1_500)
    }
    await tell(() => turn())
    await world.time.pass(start_deadline_at + 1_000 - world.time.now())
    // Out of reach from here for longer than it is since the others began to be heard.
    unheard = { for_ms: 25_000, over_for_ms: 0, left_ms: 875_000 }
    await tell(() => turn())
    const states = (await rows('tasks')).map(({ task_key, state }) => [task_key, state])
    expect(states.toSorted()).toEqual([['a', 'RETRY_WAIT'], ...keys.map(() => ['c', 'RUNNING'])])
  })
})
