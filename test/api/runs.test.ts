// A run over the API: asked for, planned by real turns, worked off over the callbacks, and looked at.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ApiWorld, type Asker, createApiWorld, createAsker, dispatched, MAIN } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'
import { until } from '../fixtures/until.js'

let world: ApiWorld
let ask: Asker

beforeAll(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start({ ui_url: 'http://127.0.0.1:4000' }))
  expect((await ask.post('/code-locations/main/deploy', MAIN)).body).toMatchObject({ location_version: 1, outcome: { kind: 'applied' } })
})
afterAll(() => world.close())

/** Starts and finishes all that is out, until nothing is. */
async function work(outcome = 'SUCCEEDED'): Promise<void> {
  for (let out = await dispatched(world); out.length > 0; out = await dispatched(world)) {
    for (const { claims, headers, path, said } of out) {
      await ask.post(`${path}/started`, { ...said, worker_id: 'w1' }, headers)
      const completed = {
        ...said,
        outcome,
        ...(outcome === 'FAILED' ? { error: { code: 'BOOM', message: 'It broke.' } } : { materialization_id: ulidOf(claims.attempt_id) }),
      }
      expect(await ask.post(`${path}/completed`, completed, headers)).toMatchObject({ status: 200 })
    }
    await world.turn.run()
  }
}

describe('a run', () => {
  test('is accepted, planned, worked off, and told in full', async () => {
    const asked = { selection: ['b', '+b'], tags: { team: 'core' }, run_key: 'whole', requested_by: 'ada', reason: 'to see' }
    const { status, body } = await ask.post('/runs?wait=true', asked)
    expect(status).toBe(202)
    expect(body).toMatchObject({ run_key: 'user:whole', asset_count: 2, outcome: { kind: 'applied', event_id: body['accepted_event_id'] } })
    const { run_id } = body
    expect(body['ui']).toBe(`http://127.0.0.1:4000/runs/${String(run_id)}`)
    await work()
    const run = await ask.get(`/runs/${String(run_id)}`)
    expect(run.body).toMatchObject({ state: 'SUCCEEDED', tasks_succeeded: 2, requested_by: 'ada', tags: { team: 'core' }, error: null })
    expect(run.body).not.toHaveProperty('secret_key_id')
    expect(Number(run.headers['servo-sequence'])).toBeGreaterThan(0)
    const tasks = await ask.get(`/runs/${String(run_id)}/tasks?limit=1`)
    expect(tasks.body).toMatchObject({ tasks: [{ task_key: 'a', state: 'SUCCEEDED', attempt: 1 }] })
    const rest = await ask.get(`/runs/${String(run_id)}/tasks?limit=1&cursor=${String(tasks.body['next_cursor'])}`)
    expect(rest.body).toMatchObject({ tasks: [{ task_key: 'b' }] })
    expect((await ask.get(`/runs/${String(run_id)}/tasks/b`)).body).toMatchObject({ task_key: 'b', deps_satisfied_count: 1 })
    const told = (await ask.get(`/runs/${String(run_id)}/events`)).body['events'] as readonly { event_type: string; task_key?: string }[]
    expect(told.map(({ event_type, task_key = '' }) => `${event_type} ${task_key}`.trim())).toEqual([
      'RunRequested',
      'PlanCreated',
      'DispatchRequested a',
      'TaskStarted a',
      'TaskFinished a',
      'DispatchRequested b',
      'TaskStarted b',
      'TaskFinished b',
    ])
    const asset = await ask.get('/assets/a')
    expect(asset.body).toMatchObject({ partition_counts: { materialized: 1, failed: 0, total: 1 }, last_materialization: { run_id } })
  })

  test('with the same key and request is the same run; with another it is 409, and recorded', async () => {
    const first = await ask.post('/runs?wait=true', { selection: 'a', run_key: 'twice' })
    const again = await ask.post('/runs?wait=true', { selection: ['a'], run_key: 'twice' })
    expect(again).toMatchObject({ status: 202, body: { run_id: first.body['run_id'] } })
    expect(['applied', 'duplicate']).toContain((again.body['outcome'] as { kind: string }).kind)
    const other = await ask.post('/runs', { selection: 'b', run_key: 'twice' })
    expect(other.status).toBe(409)
    expect(other.body).toMatchObject({ type: 'urn:servo:problem:run-key-conflict', run_id: first.body['run_id'] })
    expect(other.body['detail']).toBe(
      `The run key "twice" belongs to run ${String(first.body['run_id'])}, which was asked for with other assets, partitions or tags. That run stands, and this request is recorded as a conflict. Choose another key, or ask for the same.`,
    )
    const conflicts = await ask.get('/run-key-conflicts?fresh=true')
    expect(conflicts.headers['servo-fresh']).toBe('true')
    expect(conflicts.body).toMatchObject({
      conflicts: [{ run_key: 'user:twice', run_id: first.body['run_id'], seen_count: 1 }],
      next_cursor: null,
    })
  })

  test('that nobody waits for is pending, and its outcome can be asked for', async () => {
    world.holdTurns()
    const { body } = await ask.post('/runs?wait=true&wait_ms=0', { selection: 'a' })
    expect(body['outcome']).toEqual({ kind: 'pending' })
    world.releaseTurns()
    const outcome = await ask.get(`/outcomes?event_id=${String(body['accepted_event_id'])}&wait_ms=20000`)
    expect(outcome.body).toMatchObject({ outcome: { kind: 'applied' } })
  })

  test('is cancelled, and a run that is over is not', async () => {
    const { body } = await ask.post('/runs?wait=true', { selection: 'a' })
    const path = `/runs/${String(body['run_id'])}/cancel?wait=true`
    await world.turn.run()
    const out = (await dispatched(world)).find(({ claims }) => claims.run_id === body['run_id'])
    if (out === undefined) throw new Error('Nothing was dispatched.')
    const say = (verb: string, more: object) => ask.post(`${out.path}/${verb}`, { ...out.said, ...more }, out.headers)
    expect(await say('started', { worker_id: 'w1' })).toMatchObject({ status: 200 })
    expect(await ask.post(path, { requested_by: 'ada' })).toMatchObject({ status: 202, body: { outcome: { kind: 'applied' } } })
    await ask.get('/runs?fresh=true')
    expect((await say('heartbeat', { seq: 0 })).body).toEqual({ cancel: true })
    await say('completed', { outcome: 'CANCELLED' })
    await world.turn.run()
    const late = await ask.post(path)
    expect(late.status).toBe(409)
    expect(late.body['detail']).toBe(`Run ${String(body['run_id'])} is over: it is CANCELLED, and nothing of it is left to cancel.`)
    expect(await ask.post('/runs/run_none/cancel')).toMatchObject({ status: 404 })
  })

  test('is cancelled right after its request, though it may not be published yet', async () => {
    const { body } = await ask.post('/runs', { selection: 'a' })
    const cancelled = await ask.post(`/runs/${String(body['run_id'])}/cancel?wait=true`)
    expect(cancelled).toMatchObject({ status: 202, body: { outcome: { kind: 'applied' } } })
  })

  test('runs are cancelled by a filter, and a second call finds none', async () => {
    const tags = { batch: 'one' }
    for (const run_key of ['m1', 'm2', 'm3']) await ask.post('/runs', { selection: 'a', run_key, tags })
    await ask.post('/runs', { selection: 'a', run_key: 'm4', tags: { batch: 'two' } })
    const cancelled = await ask.post('/runs/cancel?wait=true', { filter: { tag: 'batch=one' }, reason: 'wrong data' })
    expect(cancelled).toMatchObject({ status: 202, body: { matched_count: 3, more: false, outcome: { kind: 'applied' } } })
    expect(cancelled.body['outcome']).toMatchObject({ event_id: cancelled.body['accepted_event_id'] })
    const told = await ask.get('/runs?tag=batch%3Done')
    expect((told.body['runs'] as { cancel_requested_at: unknown }[]).map((run) => run.cancel_requested_at)).not.toContain(null)
    const again = await ask.post('/runs/cancel?wait=true', { filter: { tag: 'batch=one' } })
    expect(again).toMatchObject({ status: 202, body: { run_ids: [], matched_count: 0, more: false } })
    expect(Object.keys(again.body)).toEqual(['run_ids', 'matched_count', 'more'])
    const kept = await ask.get('/runs?tag=batch%3Dtwo&fresh=true')
    expect(kept.body).toMatchObject({ runs: [{ run_key: 'user:m4', cancel_requested_at: null }] })
  })
})

describe('many runs', () => {
  const MANY = 150
  const cancel = () => ask.post('/runs/cancel', { filter: { tag: 'many=yes' } }, { 'idempotency-key': 'cancel-many' })

  test('are cancelled by one call in one batch, and by the same call again no more than that', async () => {
    world.holdTurns()
    const asked = await Promise.all(
      Array.from({ length: MANY }, (_, i) => ask.post('/runs', { selection: 'a', run_key: `many-${i}`, tags: { many: 'yes' } })),
    )
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([202]))
    world.releaseTurns()
    // What turns say of these runs is said before anything is counted.
    await until('all of them are planned', async () => {
      const { more } = await world.turn.run()
      const { rows } = await world.look('runs')
      return !more && rows.filter(({ state }) => state === 'PENDING').length === 0
    })
    world.holdTurns()
    await world.turn.run()
    let segments = 0
    world.watchPuts((name) => {
      if (name.startsWith('ledger/')) segments += 1
    })
    const [first, second] = await Promise.all([cancel(), cancel()])
    expect(first).toMatchObject({ status: 202, body: { matched_count: MANY, more: false } })
    expect(second.body).toEqual(first.body)
    // The second one finds the claim of the first, and appends the same batch under the same name.
    expect(segments).toBeLessThanOrEqual(2)
    world.watchPuts(() => undefined)
    await ask.post('/runs', { selection: 'a', run_key: 'many-later', tags: { many: 'yes' } })
    world.releaseTurns()
    await world.turn.run()
    expect((await cancel()).body).toEqual(first.body)
    await world.turn.run()
    const { rows } = await world.look('runs')
    const states = rows.filter(({ tags }) => (tags as { many?: string }).many === 'yes').map(({ run_key, state }) => [run_key, state])
    expect(states.filter(([, state]) => state === 'CANCELLED' || state === 'CANCELLING')).toHaveLength(MANY)
    expect(states.filter(([run_key]) => run_key === 'user:many-later')).not.toContainEqual(['user:many-later', 'CANCELLED'])
  })
})

describe('the list of runs', () => {
  test('is newest first, by pages that writes do not move', async () => {
    for (const key of ['p1', 'p2', 'p3', 'p4']) {
      expect((await ask.post('/runs?wait=true', { selection: 'a', run_key: key, tags: { page: 'yes' } })).status).toBe(202)
    }
    const first = await ask.get('/runs?tag=page%3Dyes&limit=2')
    expect(keysOf(first.body)).toEqual(['user:p4', 'user:p3'])
    await ask.post('/runs?wait=true', { selection: 'a', run_key: 'p5', tags: { page: 'yes' } })
    const second = await ask.get(`/runs?tag=page%3Dyes&limit=2&cursor=${String(first.body['next_cursor'])}`)
    expect(keysOf(second.body)).toEqual(['user:p2', 'user:p1'])
    expect(second.body['next_cursor']).toBeNull()
  })

  test.each([
    ['run_key=p1', ['user:p1']],
    ['run_key=user%3Ap1', ['user:p1']],
    ['asset=b&run_key=p1', []],
    ['asset=a&run_key=p1', ['user:p1']],
    ['to=2000-01-01T00:00:00Z', []],
    ['from=2000-01-01T00:00:00Z&run_key=p1', ['user:p1']],
    ['tag=page%3Dyes&tag=other%3Dno', []],
    ['state=PENDING&run_key=p1', []],
  ])('with %s is %j', async (query, keys) => {
    expect(keysOf((await ask.get(`/runs?${query}`)).body)).toEqual(keys)
  })
})

const keysOf = (body: object): readonly string[] => (body as { runs: readonly { run_key: string }[] }).runs.map(({ run_key }) => run_key)
