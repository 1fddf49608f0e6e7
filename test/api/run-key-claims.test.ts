// A run key that its requester chose is claimed before the append: while the first request is not folded yet, a request for
// something else is a conflict, and the same request is the same run.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type ApiWorld, type Asker, createApiWorld, createAsker, MAIN } from '../fixtures/api-world.js'

let world: ApiWorld
let ask: Asker

beforeEach(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  await ask.post('/code-locations/main/deploy', MAIN)
  world.holdTurns()
})
afterEach(() => world.close())

const KEY = { 'idempotency-key': 'k-1' }
const CONFLICT = 'urn:servo:problem:run-key-conflict'

/** As they are once everything is folded. */
async function folded() {
  world.releaseTurns()
  const runs = await ask.get('/runs?fresh=true')
  const conflicts = await ask.get('/run-key-conflicts?fresh=true')
  return { runs: runs.body['runs'] as readonly object[], conflicts: conflicts.body['conflicts'] as readonly object[] }
}

describe('a run key that is claimed by a request that is not folded yet', () => {
  test('refuses another request at once and on each repeat, and the conflict is recorded', async () => {
    const first = await ask.post('/runs', { selection: 'a', run_key: 'rk4' })
    const other = await ask.post('/runs', { selection: 'b', run_key: 'rk4' }, KEY)
    const again = await ask.post('/runs', { selection: 'b', run_key: 'rk4' }, KEY)
    expect(first.status).toBe(202)
    for (const { status, body } of [other, again]) {
      expect({ status, body }).toMatchObject({ status: 409, body: { type: CONFLICT, run_id: first.body['run_id'] } })
    }
    expect(await folded()).toMatchObject({
      runs: [{ run_id: first.body['run_id'], run_key: 'user:rk4' }],
      conflicts: [{ run_key: 'user:rk4', run_id: first.body['run_id'], seen_count: 1 }],
    })
  })

  test('is one run for the same request, through another process too', async () => {
    const first = await ask.post('/runs', { selection: 'a', run_key: 'rk4' })
    const elsewhere = await createAsker(await world.start()).post('/runs', { selection: ['a'], run_key: 'rk4', priority: 5 })
    expect(elsewhere).toMatchObject({ status: 202, body: { run_id: first.body['run_id'], accepted_event_id: expect.any(String) } })
    expect(await folded()).toMatchObject({ runs: [{ run_id: first.body['run_id'], priority: 0 }], conflicts: [] })
  })

  test('has exactly one run of many different requests at once', async () => {
    const apis = [ask, createAsker(await world.start()), createAsker(await world.start())]
    const answers = await Promise.all(
      ['a', 'b', 'c', 'a', 'b', 'c'].map((key, i) => apis[i % 3]?.post('/runs', { selection: 'a', run_key: 'rk4', tags: { key } })),
    )
    const accepted = answers.filter((answer) => answer?.status === 202)
    const refused = answers.filter((answer) => answer?.status === 409)
    expect([accepted.length, refused.length]).toEqual([2, 4])
    const run_ids = new Set(answers.map((answer) => answer?.body['run_id']))
    expect(run_ids.size).toBe(1)
    const { runs, conflicts } = await folded()
    expect(runs).toMatchObject([{ run_id: [...run_ids][0], tags: { key: expect.any(String) } }])
    expect(conflicts).toHaveLength(2)
  })
})

test('a run key whose claim outlived the process that made it has its run before any conflict', async () => {
  world.watchPuts((name) => {
    if (name.startsWith('ledger/')) throw new Error('The process was killed.')
  })
  expect(await ask.post('/runs', { selection: 'a', run_key: 'rk4' })).toMatchObject({ status: 500 })
  world.watchPuts(() => undefined)
  const other = await createAsker(await world.start()).post('/runs', { selection: 'b', run_key: 'rk4' })
  expect(other).toMatchObject({ status: 409, body: { type: CONFLICT } })
  const { runs, conflicts } = await folded()
  expect(runs).toMatchObject([{ run_id: other.body['run_id'], run_key: 'user:rk4', asset_count: 1 }])
  expect(conflicts).toMatchObject([{ run_id: other.body['run_id'], assets: { keys: ['b'] } }])
})

test('a rerun under a chosen key holds it too', async () => {
  // Asked for and cancelled within one turn: nothing of it is dispatched, and it is over.
  const { body } = await ask.post('/runs', { selection: 'a' })
  await ask.post(`/runs/${String(body['run_id'])}/cancel`)
  world.releaseTurns()
  expect(await ask.get('/runs?fresh=true')).toMatchObject({ body: { runs: [{ state: 'CANCELLED' }] } })
  world.holdTurns()
  const rerun = await ask.post(`/runs/${String(body['run_id'])}/rerun`, { mode: 'whole', run_key: 'rk5' })
  expect(rerun).toMatchObject({ status: 202 })
  const other = await ask.post('/runs', { selection: 'b', run_key: 'rk5' })
  expect(other).toMatchObject({ status: 409, body: { type: CONFLICT, run_id: rerun.body['run_id'] } })
})

test('a claim that cannot be read is named, and nothing is appended', async () => {
  await ask.post('/runs', { selection: 'a', run_key: 'rk4' })
  const { objects } = await world.store.list('claims/')
  const [claim] = objects
  if (claim === undefined) throw new Error('There is no claim.')
  await world.store.put(claim.name, Buffer.from('{}'), { if_generation: claim.generation })
  const appended: string[] = []
  world.watchPuts((name) => void appended.push(name))
  const answer = await ask.post('/runs', { selection: 'b', run_key: 'rk4' })
  expect(answer.status).toBeGreaterThanOrEqual(500)
  expect(appended.filter((name) => name.startsWith('ledger/'))).toEqual([])
})
