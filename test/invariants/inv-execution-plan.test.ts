// The invariants that the older plans numbered, each by its name and on what does its part here. docs/invariants.md says
// which of the newer ones cover them over whole histories.

import { describe, expect, test } from '@jest/globals'
import { canonicalJson } from '../../src/core/canonical.js'
import { sha256Hex } from '../../src/core/hash.js'
import { runId } from '../../src/core/run-id.js'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import type { LedgerEvent } from '../../src/events/event.js'
import { createReconcile } from '../../src/turn/controllers.js'
import { loadPlanNeeds } from '../fixtures/plan-story.js'
import { createRunStory, type RunStory } from '../fixtures/run-story.js'
import { NOW, runIdOf, TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { createScenario } from '../fixtures/scenario.js'
import { createExecutionStory } from '../simulation/execution/story.js'

const SECRET = { secret_key_id: 's1', secret: 'servo-golden-secret' }
const SCOPE = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
const reconcile = createReconcile({ secret: SECRET })
const CHAIN = { a: {}, b: { needs: ['a'] }, c: { needs: ['b'] } }

const orders = <T>(values: readonly T[]): readonly (readonly T[])[] =>
  values.length < 2 ? [values] : values.flatMap((value, at) => orders(values.toSpliced(at, 1)).map((rest) => [value, ...rest]))

describe('the execution plan', () => {
  test('INV-1 events that commute give the same rows in any order', () => {
    const tasks = { a: {}, b: {}, c: {}, d: { needs: ['a', 'b', 'c'] } }
    const seen = orders(['a', 'b', 'c']).map((order) => {
      const story = createRunStory(tasks)
      for (const task_key of ['a', 'b', 'c']) story.dispatch(task_key)
      const finished = ['a', 'b', 'c'].map((task_key) => [task_key, story.say.taskFinished(story.name(task_key), 'SUCCEEDED')] as const)
      for (const task_key of order) expect(story.fold(new Map(finished).get(task_key) as LedgerEvent)).toBe('applied')
      // Which event was the last one, and how many came before it, is all that an order is told by.
      const rows = canonicalJson([story.run(), ...Object.keys(tasks).map(story.task), story.pool('global'), story.edge('d', 'a')])
      return rows.replaceAll(/"last_event_id":"\w+"/g, '')
    })
    expect(new Set(seen).size).toBe(1)
  })

  test('INV-2 an event that comes twice changes nothing the second time', () => {
    const story = createRunStory(CHAIN)
    story.dispatch('a')
    const finished = story.say.taskFinished(story.name('a'), 'SUCCEEDED')
    expect(story.fold(finished)).toBe('applied')
    const once = story.story.everything()
    expect(story.fold(finished)).toBe('duplicate')
    expect(story.story.everything()).toEqual(once)
  })

  test('INV-3 controllers asked twice about one state say the same keys', () => {
    const story = createRunStory({ a: {}, b: {}, c: { needs: ['b'] } })
    loadPlanNeeds(story.story)
    const state = { rows: story.story.rows, now: NOW + MINUTE_MS, lag_ms: 0, hold_until: null, publish_interval_ms: 0, scope: SCOPE }
    const ask = () => reconcile.decide(state)
    const keys = ask().flatMap(({ drafts }) => drafts.map(({ idempotency_key }) => idempotency_key))
    expect(keys).toEqual([`dispatch:${story.run_id}:a:1`, `dispatch:${story.run_id}:b:1`])
    expect(ask()).toEqual(ask())
  })

  test('INV-4 an attempt that is handed over again and again, to several workers, runs its code once', async () => {
    const story = createExecutionStory()
    const { tell, automation, api, begin, turn, out, world, site, dispatchOf, expectInvariants } = story
    await tell(async () => {
      const [one, two] = [automation('one'), automation('two')]
      await begin(one, ['e'])
      await world.time.sleep(6 * SECOND_MS)
      await two.hand_over.sweep()
      await one.hand_over.sweep()
      const doors = [await api('api one'), await api('api two')] as const
      expect(out.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
      const answers = await Promise.all(out.map((dispatch, at) => story.start(doors[at % 2 === 0 ? 0 : 1], dispatch, `execution ${at}`)))
      expect(answers.toSorted()).toEqual([200, 409, 409])
      const owner = site.witness.starts[0]?.worker ?? ''
      await story.succeed(doors[1], dispatchOf('e'), owner)
      await turn(one)
    })
    expect(site.witness.starts).toHaveLength(1)
    await expectInvariants()
  })

  test('INV-5 a dispatch that was published and handed to nobody is found, and runs', async () => {
    const story = createExecutionStory()
    const { tell, automation, api, begin, turn, out, world, rows, person, expectInvariants } = story
    await tell(async () => {
      const doomed = automation('doomed')
      await begin(doomed)
      await person.askForRun(['e'])
      // It publishes, and dies with that.
      const stop = world.intercept(({ process, phase, operation, name, kill }) => {
        if (process === 'doomed' && phase === 'after' && operation === 'put' && name.endsWith('orchestration.manifest.json')) kill()
      })
      await Promise.race([turn(doomed), doomed.process.gone])
      stop()
      expect([out.length, (await rows('dispatch_outbox')).length]).toEqual([0, 1])
      await world.time.sleep(6 * SECOND_MS)
      const other = automation('other')
      await other.hand_over.sweep()
      expect(out.map(({ task_key }) => task_key)).toEqual(['e'])
      const door = await api()
      await story.start(door, story.dispatchOf('e'))
      await story.succeed(door, story.dispatchOf('e'))
      await turn(other)
    })
    await expectInvariants()
  })

  test('INV-6 a task is ready when all that it depends on has succeeded, and not before', () => {
    const story = createRunStory(CHAIN)
    expect(story.states()).toEqual({ a: 'READY', b: 'BLOCKED', c: 'BLOCKED' })
    expect(story.dispatch('b')).not.toBe('applied')
    story.complete('a')
    expect(story.states()).toEqual({ a: 'SUCCEEDED', b: 'READY', c: 'BLOCKED' })
  })

  test('INV-7 controllers decide by rows alone: while they do, nobody asks the store for anything', async () => {
    const { say, writer, decider, tell, world, defineAssets } = createScenario()
    const calls: number[] = []
    const counted: typeof reconcile = {
      ...reconcile,
      decide(state) {
        const before = world.callCount()
        const decisions = reconcile.decide(state)
        calls.push(world.callCount() - before)
        return decisions
      },
    }
    await tell(async () => {
      await defineAssets()
      await writer().append([say.runRequested('user:1', { assets: { keys: ['a', 'b'] } })])
      await decider('turn', { reconcile: counted }).turn()
    })
    expect(calls.length).toBeGreaterThan(1)
    expect(new Set(calls)).toEqual(new Set([0]))
    expect(world.oracle.problems).toEqual([])
  })

  test('INV-8 a late word of an earlier attempt changes nothing of the one that runs', () => {
    const story = createRunStory({ a: { definition: { retry: { max_attempts: 3, backoff_seconds: 0 } } } })
    story.dispatch('a')
    const first = story.name('a')
    story.start('a')
    story.lose('a', 'HEARTBEAT')
    const retry_at = story.task('a').retry_at ?? 0
    story.dispatch('a', { at: retry_at })
    story.start('a', { at: retry_at })
    const before = story.task('a')
    expect(before).toMatchObject({ state: 'RUNNING', attempt: 2 })
    for (const outcome of ['FAILED', 'SUCCEEDED'] as const) {
      expect(story.fold(story.say.taskFinished(first, outcome, {}, { request: outcome }))).toBe('STALE_ATTEMPT')
    }
    expect(story.task('a')).toEqual(before)
    expect(story.outbox('a', 3)).toBeUndefined()
  })

  test('INV-10 a failure that is final skips all that comes after it', () => {
    const story = createRunStory(CHAIN)
    story.complete('a', 'FAILED')
    expect(story.states()).toEqual({ a: 'FAILED', b: 'SKIPPED', c: 'SKIPPED' })
    expect([story.edge('b', 'a')?.resolution, story.edge('c', 'b')?.resolution]).toEqual(['FAILED', 'SKIPPED'])
  })
})

// The plan let a retry wait until the tables were fresh: what its timer had not seen might have ended the run. Here a turn
// asks controllers only when all that it listed is folded, so a retry that is due rests on everything that was acknowledged
// before it, however far behind the turn was when it began. Nobody's attempt is given up by it either: the task has none. So
// it is not held back for lag, which would cost time and save nothing. A loss is: a worker may have been told late to speak.
describe('INV-9 a turn that is far behind', () => {
  /** A retry is due, and for three quarters of a minute nobody has folded what was said meanwhile. */
  async function behind(meanwhile: (story: RunStoryOf) => readonly LedgerEvent[]) {
    const scenario = createScenario()
    const { say, writer, decider, tell, world, rows } = scenario
    const lag = 45 * SECOND_MS
    await tell(async () => {
      const definition = { retry: { max_attempts: 3, backoff_seconds: 20, jitter: 0 } }
      const [a, c] = [say.assetDefined('a', definition), say.assetDefined('c', { heartbeat_timeout_seconds: 30 })]
      await writer().append([say.locationDeployed('main', 0), a, c])
      await decider('first', { reconcile }).turn()
      await writer().append([say.runRequested('user:1', { assets: { keys: ['a', 'c'] } })])
      await decider('second', { reconcile }).turn()
      const out = await rows('dispatch_outbox')
      const nameOf = (task_key: string) => {
        const row = out.find((each) => each['task_key'] === task_key)
        return { name: { run_id: runIdOf('user:1'), task_key, attempt: 1 }, ids: { attempt_id: String(row?.['attempt_id']) } }
      }
      const [one, two] = [nameOf('a'), nameOf('c')]
      const at = world.time.now()
      await writer().append([say.taskFinished(one.name, 'FAILED', one.ids, { at }), say.taskStarted(two.name, two.ids, { at })])
      await decider('third', { reconcile }).turn()
      await writer().append(meanwhile({ say, at: world.time.now() }))
      await world.time.sleep(lag)
      await decider('late', { reconcile }).turn()
    })
    return Object.fromEntries((await rows('tasks')).map(({ task_key, state, attempt }) => [task_key, [state, attempt]]))
  }
  type RunStoryOf = { readonly say: RunStory['say']; readonly at: number }

  test('INV-9 tries again what is due, with all that was said meanwhile folded, and gives up nobody', async () => {
    const tasks = await behind(({ say, at }) => [say.poolDefined('pool:x', 1, { at })])
    expect(tasks).toEqual({ a: ['DISPATCHED', 2], c: ['RUNNING', 1] })
  })

  test('INV-9 tries nothing again that a cancel has ended meanwhile', async () => {
    const tasks = await behind(({ say, at }) => [say.runCancelRequested(runIdOf('user:1'), { at })])
    expect(tasks['a']).toEqual(['CANCELLED', 1])
  })
})

describe('the plan of automation', () => {
  const request = { request_fingerprint: sha256Hex('a'), assets: { keys: ['a'] } }

  test('L2-INV-4 the same run key with the same request is the same run', async () => {
    const { say, writer, decider, tell, defineAssets, rows, expectInvariants } = createScenario()
    const counts = await tell(async () => {
      await defineAssets()
      await writer('one').append([say.runRequested('user:1', request)])
      await decider('one').turn()
      // Of another process, a minute later: another segment, and the same key.
      await writer('two').append([say.poolDefined('pool:x', 1), say.runRequested('user:1', request)])
      return (await decider('two').turn()).counts
    })
    expect(counts).toMatchObject({ duplicate: 1, refused: 0 })
    expect(await rows('runs')).toMatchObject([{ run_id: runIdOf('user:1'), run_key: 'user:1' }])
    expect(await rows('run_key_conflicts')).toEqual([])
    await expectInvariants()
  })

  test('L2-INV-5 the same run key with another request is a conflict that is kept, and the first run stands', async () => {
    const { say, writer, decider, tell, defineAssets, rows, expectInvariants } = createScenario()
    const other = { request_fingerprint: sha256Hex('c'), assets: { keys: ['c'] } }
    await tell(async () => {
      await defineAssets()
      await writer().append([say.runRequested('user:1', request)])
      await writer().append([say.runRequested('user:1', other)])
      await decider().turn()
    })
    expect(await rows('runs')).toMatchObject([{ assets: { keys: ['a'] } }])
    expect(await rows('run_key_conflicts')).toMatchObject([
      { existing_fingerprint: request.request_fingerprint, conflicting_fingerprint: other.request_fingerprint, seen_count: 1 },
    ])
    await expectInvariants()
  })

  test('L2-INV-9 a run id is a function of secret, scope and run key, and of nothing else', () => {
    const scope = { tenant_id: 'acme', workspace_id: 'prod' }
    const run_key = 'sched:01JZ8M5Q3R7T9V0W2X4Y6ZABCD:1736935200'
    expect(runId(SECRET, scope, run_key)).toBe('run_ywyvhmgqjsi3naar7smdnlfsve')
    const ids = [
      runId(SECRET, scope, run_key),
      runId({ ...SECRET, secret_key_id: 's2' }, scope, run_key),
      runId({ ...SECRET, secret: 'another' }, scope, run_key),
      runId(SECRET, { ...scope, workspace_id: 'test' }, run_key),
      runId(SECRET, { ...scope, tenant_id: 'other' }, run_key),
      runId(SECRET, scope, `${run_key}0`),
    ]
    expect(new Set(ids).size).toBe(5)
  })
})
