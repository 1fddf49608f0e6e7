import { describe, expect, it } from '@jest/globals'
import { createPlanStory, eventsAt } from '../../test/fixtures/plan-story.js'
import { createRunStory, told } from '../../test/fixtures/run-story.js'
import { attemptIdOf, NOW } from '../../test/fixtures/say.js'
import { dispatchId } from '../core/keys.js'
import type { AssetDefinition } from '../events/asset.js'
import type { Decision } from './decision.js'
import { reconcileDispatch } from './dispatch.js'

let asked = 0
const identity = {
  secret_key_id: 's1',
  attemptIdOf: ({ run_id, task_key, attempt }: Parameters<Parameters<typeof reconcileDispatch>[1]['attemptIdOf']>[0]) => {
    asked += 1
    return attemptIdOf(run_id, task_key, attempt)
  },
}

const keysIn = (decisions: readonly Decision[]) =>
  decisions.map(({ drafts }) => (drafts[0]?.event_type === 'DispatchRequested' ? drafts[0].payload.task_key : drafts[0]?.event_type))

function createDispatchStory(assets: Readonly<Record<string, Partial<AssetDefinition>>>) {
  const planned = createPlanStory(assets)
  const { story, reconcile, request } = planned
  return {
    ...planned,
    /** A run of all assets that is planned at this instant. */
    run(changes: Parameters<typeof request>[0] = {}, at = NOW): string {
      const run_id = request(changes)
      for (const decision of reconcile()) story.fold(...eventsAt(decision, at))
      return run_id
    },
    dispatch: (now = NOW) => reconcileDispatch({ rows: story.rows, now, publish_interval_ms: 0 }, identity),
    take: (decisions: readonly Decision[], now = NOW) => decisions.flatMap((decision) => story.fold(...eventsAt(decision, now)).map(told)),
  }
}

describe('what is dispatched', () => {
  it('is a batch of its own for each task that is ready, which the fold takes', () => {
    const { run, dispatch, take, story } = createDispatchStory({ a: {}, b: {}, c: { deps: [{ asset_key: 'a' }] } })
    const run_id = run()
    const decisions = dispatch()
    const [name, definition_hash] = [{ run_id, task_key: 'a', attempt: 1 }, story.row('tasks', run_id, 'a')?.definition_hash]
    expect(decisions.map(({ drafts }) => drafts.length)).toEqual([1, 1])
    expect(decisions[0]?.drafts[0]).toMatchObject({
      idempotency_key: dispatchId(name),
      correlation_id: run_id,
      basis: { task_state: 'READY', previous_attempt: 0, definition_hash },
      payload: { ...name, attempt_id: attemptIdOf(run_id, 'a', 1), secret_key_id: 's1', location_name: 'main', worker_queue: 'default' },
    })
    expect(take(decisions)).toEqual(['applied', 'applied'])
    expect(dispatch()).toEqual([])
  })

  it('is by age and priority together: a point of it is worth a minute, so that nothing waits for ever', () => {
    const { run, dispatch } = createDispatchStory({ a: {} })
    const order = (): readonly string[] =>
      dispatch(NOW + 10 * 60_000).map(({ drafts }) => String(drafts[0]?.idempotency_key).split(':')[1] ?? '')
    const old_and_low = run({ priority: -5 }, NOW)
    const younger = run({}, NOW + 4 * 60_000)
    const youngest = run({}, NOW + 6 * 60_000)
    const urgent = run({ priority: 10 }, NOW + 9 * 60_000)
    expect(order()).toEqual([urgent, younger, old_and_low, youngest])
  })

  it('is urgent work first, then old work, then by run and number', () => {
    const { run, dispatch } = createDispatchStory({ b: {}, a: {}, urgent: { priority: 9 } })
    const runs = [run({}, NOW + 5), run({}, NOW + 5), run({}, NOW), run({ priority: 1, assets: { keys: ['a'] } }, NOW + 9)]
    const [first, second] = runs.slice(0, 2).toSorted()
    const names = dispatch(NOW + 10).map(({ drafts }) => String(drafts[0]?.idempotency_key).split(':').slice(1, 3))
    expect(names).toEqual([
      [runs[2], 'urgent'],
      [first, 'urgent'],
      [second, 'urgent'],
      [runs[3], 'a'],
      ...[runs[2], first, second].flatMap((run_id) => [
        [run_id, 'a'],
        [run_id, 'b'],
      ]),
    ])
  })

  it('is a retry from the instant that it is due', () => {
    const told = createRunStory({ a: { definition: { retry: { max_attempts: 2, jitter: 0 } } } })
    told.complete('a', 'FAILED')
    const at = (now: number) => reconcileDispatch({ rows: told.story.rows, now, publish_interval_ms: 0 }, identity)
    const retry_at = told.task('a').retry_at ?? 0
    expect(at(retry_at - 1)).toEqual([])
    expect(at(retry_at)[0]?.drafts[0]).toMatchObject({
      basis: { task_state: 'RETRY_WAIT', previous_attempt: 1 },
      payload: { attempt: 2, attempt_id: attemptIdOf(told.run_id, 'a', 2) },
    })
  })

  it('is nothing of a run that is cancelling', () => {
    const told = createRunStory({ a: {}, b: {} })
    told.dispatch('a')
    // As if a task of it were still ready, which the fold does not leave.
    const rows = told.story.rows
    const [ready] = rows.hotRows('tasks').filter(({ state }) => state === 'READY')
    told.cancel()
    if (ready !== undefined) rows.put('tasks', { ...ready })
    expect(rows.get('tasks', told.run_id, 'b')?.state).toBe('READY')
    expect(reconcileDispatch({ rows, now: NOW, publish_interval_ms: 0 }, identity)).toEqual([])
  })

  it('goes to the location that the asset went to, and into its slots', () => {
    const { run, dispatch, take, fold, say, story } = createDispatchStory({ a: {} })
    run()
    fold(say.assetRemoved('a', story.rows.currentDefinition('a')?.definition_hash ?? ''))
    const other = { worker_queue: 'other-queue', slots: 1 }
    fold(say.locationDeployed('other', 0, other), say.assetDefined('a', {}, 'other', { request: 'r2' }))
    const decisions = dispatch()
    expect(decisions[0]?.drafts[0]?.payload).toMatchObject({ location_name: 'other', worker_queue: 'other-queue' })
    expect(take(decisions)).toEqual(['applied'])
    expect(story.row('pools', 'location:other')?.in_use).toBe(1)
    run()
    expect(dispatch()).toEqual([])
  })

  it('is nothing where nobody knows the location', () => {
    const { run, dispatch, story } = createDispatchStory({ a: {} })
    const run_id = run()
    const task = story.rows.get('tasks', run_id, 'a')
    const current = story.rows.currentDefinition('a')
    if (task === undefined || current === undefined) throw new Error('There is nothing to dispatch.')
    story.rows.put('asset_definitions', { ...current, location_name: 'gone' })
    expect(task.state).toBe('READY')
    expect(dispatch()).toEqual([])
  })
})

describe('room', () => {
  const db = { pools: ['db'] }
  const three = { a: db, b: db, c: {} }

  it.each([
    ['the global cap', 'global', 2, ['a', 'b']],
    ['a pool', 'pool:db', 1, ['a', 'c']],
    ['a pool that is closed', 'pool:db', 0, ['c']],
    ['a cap on the location, before its slots', 'location:main', 1, ['a']],
    ['no cap that is reached', 'global', 3, ['a', 'b', 'c']],
  ])('is bounded by %s, counting what enters in the same round', (_, pool_key, cap, expected) => {
    const { run, dispatch, take, fold, say } = createDispatchStory(three)
    fold(say.poolDefined(pool_key, cap))
    run()
    const decisions = dispatch()
    expect(keysIn(decisions)).toEqual(expected)
    expect(new Set(take(decisions))).toEqual(new Set(['applied']))
    expect(dispatch()).toEqual([])
  })

  it("is a location's slots", () => {
    const { run, dispatch, fold, say } = createDispatchStory(three)
    fold(say.locationDeployed('main', 1, { slots: 2 }))
    run()
    expect(keysIn(dispatch())).toEqual(['a', 'b'])
  })

  it('comes back when a task ends', () => {
    const { run, dispatch, take, fold, say, story } = createDispatchStory({ a: db, b: db })
    fold(say.poolDefined('pool:db', 1))
    const run_id = run()
    take(dispatch())
    expect(dispatch()).toEqual([])
    story.fold(say.taskFinished({ run_id, task_key: 'a', attempt: 1 }, 'SUCCEEDED'))
    expect(keysIn(dispatch())).toEqual(['b'])
  })

  it('is what is paid for: of a thousand ready tasks and eight slots, eight are drafted', () => {
    const assets = { a: { partitions: { type: 'daily', start_date: '2020-01-01' }, partitions_per_task: 1 } } as const
    const { run, dispatch, take, fold, say } = createDispatchStory(assets)
    fold(say.locationDeployed('main', 1, { slots: 8 }))
    run({ partitions: { range: { start: '2020-01-01', end: '2022-09-26' } } })
    asked = 0
    const decisions = dispatch()
    expect([decisions.length, asked]).toEqual([8, 8])
    take(decisions)
    expect([dispatch().length, asked]).toEqual([0, 8])
  })
})
