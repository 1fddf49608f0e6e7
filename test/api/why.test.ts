// Why a task is not running, on tables that real turns made.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, dispatched } from '../fixtures/api-world.js'

const LOCATION = {
  worker_url: 'http://127.0.0.1:4100',
  slots: 1,
  assets: [
    definition('a', { retry: { max_attempts: 2, backoff_seconds: 60, jitter: 0 } }),
    definition('b', { deps: [{ asset_key: 'a' }] }),
    definition('urgent', { priority: 5 }),
    definition('c'),
  ],
}

let world: ApiWorld
let ask: Asker
beforeAll(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  await ask.post('/code-locations/main/deploy', LOCATION)
})
afterAll(() => world.close())

const why = async (run_id: string, task_key: string) => (await ask.get(`/runs/${run_id}/tasks/${task_key}/why?fresh=true`)).body

test('a task is told what it waits for, from its request to its end', async () => {
  world.holdTurns()
  const { body } = await ask.post('/runs', { selection: ['a', 'b'], priority: 9 })
  world.releaseTurns()
  const run_id = String(body['run_id'])
  await world.turn.run()
  expect(await why(run_id, 'a')).toMatchObject({ state: 'DISPATCHED', code: 'NOT_HANDED_OVER', due_at: expect.any(String) })
  expect(await why(run_id, 'b')).toMatchObject({ code: 'UPSTREAM', upstream: [{ task_key: 'a', state: 'DISPATCHED' }] })

  const other = String((await ask.post('/runs?wait=true', { selection: ['c', 'urgent'] })).body['run_id'])
  await world.turn.run()
  const room = { pool_key: 'location:main', in_use: 1, max_running: 1 }
  expect(await why(other, 'urgent')).toMatchObject({ code: 'NO_ROOM', full_pools: [room], waiting_before: 0 })
  expect(await why(other, 'c')).toMatchObject({ code: 'NO_ROOM', full_pools: [room], waiting_before: 1 })

  const [out] = await dispatched(world)
  if (out === undefined) throw new Error('Nothing was dispatched.')
  const say = async (verb: string, more: object) => {
    expect(await ask.post(`${out.path}/${verb}`, { ...out.said, ...more }, out.headers)).toMatchObject({ status: 200 })
    await world.turn.run()
  }
  await say('started', { worker_id: 'w1' })
  expect(await why(run_id, 'a')).toMatchObject({ code: 'RUNNING', sentence: expect.stringContaining('on worker w1') })
  await say('completed', { outcome: 'FAILED', error: { code: 'BOOM', message: 'It broke.' } })
  expect(await why(run_id, 'a')).toMatchObject({ code: 'RETRY_LATER', sentence: expect.stringContaining('its code failed: It broke') })
  expect(await why(other, 'urgent')).toMatchObject({ state: 'DISPATCHED' })

  await ask.post(`/runs/${run_id}/cancel?wait=true`)
  expect(await why(run_id, 'b')).toMatchObject({ state: 'CANCELLED', code: 'OVER', waiting_before: null })
})

test('a run without tasks says so for any of them, and what is not there is 404', async () => {
  const { body } = await ask.post('/runs?wait=true', { selection: 'c' })
  const run_id = String(body['run_id'])
  await world.turn.run()
  expect((await ask.get(`/runs/${run_id}/tasks/nobody/why?fresh=true`)).status).toBe(404)
  expect((await ask.get('/runs/run_none/tasks/c/why')).status).toBe(404)
  world.holdTurns()
  const gone = await ask.post('/runs', { selection: 'b' })
  const assets = LOCATION.assets.filter(({ asset_key }) => asset_key !== 'b')
  await ask.post('/code-locations/main/deploy?wait=false', { ...LOCATION, assets })
  world.releaseTurns()
  expect(await why(String(gone.body['run_id']), 'b')).toMatchObject({
    state: null,
    code: 'RUN_WITHOUT_TASKS',
    sentence: expect.stringContaining('This asset is not defined: b'),
  })
})
