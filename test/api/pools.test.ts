// Pools over the API: what is shown of them, commands that set caps and take them away, and what these change for tasks.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Answer, type ApiWorld, type Asker, createApiWorld, createAsker, definition, dispatched } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'

const LOCATION = {
  worker_url: 'http://127.0.0.1:4100',
  slots: 6,
  requested_by: 'user:deployer',
  assets: [
    definition('a', { pools: ['db'] }),
    definition('b', { pools: ['db'] }),
    definition('c', { pools: ['unused'] }),
    definition('split', { partitions: { type: 'static', keys: ['1', '2', '3', '4'] }, partitions_per_task: 1 }),
  ],
}

let world: ApiWorld
let ask: Asker
beforeAll(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  expect(await ask.post('/code-locations/main/deploy', LOCATION)).toMatchObject({ status: 202 })
})
afterAll(() => world.close())

const path = (pool_key: string): string => `/pools/${encodeURIComponent(pool_key)}`
const show = async (pool_key: string) => (await ask.get(`${path(pool_key)}?fresh=true&waiting=true`)).body
const set = (pool_key: string, max_running: number, more: object = {}): Promise<Answer> =>
  ask.put(`${path(pool_key)}?wait=true`, { max_running, ...more })
const remove = (pool_key: string): Promise<Answer> => ask.delete(`${path(pool_key)}?wait=true`)
const detail = ({ body }: Answer) => String(body['detail'])
const applied = { status: 202, body: { outcome: { kind: 'applied' } } }

async function start(asked: object): Promise<string> {
  const { status, body } = await ask.post('/runs?wait=true', asked)
  expect({ status, body }).toMatchObject({ status: 202 })
  await world.turn.run()
  return String(body['run_id'])
}

/** Ends all that is out, until nothing is. */
async function drain(): Promise<void> {
  for (let out = await dispatched(world); out.length > 0; out = await dispatched(world)) {
    for (const each of out) {
      await ask.post(`${each.path}/started`, { ...each.said, worker_id: 'w1' }, each.headers)
      const completed = { ...each.said, outcome: 'SUCCEEDED', materialization_id: ulidOf(each.claims.attempt_id) }
      await ask.post(`${each.path}/completed`, completed, each.headers)
    }
    await world.turn.run()
  }
}

const keysOut = async (): Promise<readonly string[]> => (await dispatched(world)).map(({ claims }) => claims.task_key).sort()

describe('a pool', () => {
  test('is there from the start, with the cap that holds and where it comes from', async () => {
    const { body } = await ask.get('/pools?fresh=true')
    expect(body).toEqual({
      pools: [
        {
          pool_key: 'global',
          kind: 'GLOBAL',
          in_use: 0,
          max_running: null,
          waiting: null,
          cap: { max_running: 1_000, source: 'DEFAULT', set_by: null, set_at: null, reason: null },
        },
        {
          pool_key: 'location:main',
          kind: 'LOCATION',
          in_use: 0,
          max_running: null,
          waiting: null,
          cap: { max_running: 6, source: 'SLOTS', set_by: 'user:deployer', set_at: expect.any(String), reason: null },
        },
        { pool_key: 'pool:db', kind: 'POOL', in_use: 0, max_running: null, waiting: null, cap: null },
        { pool_key: 'pool:unused', kind: 'POOL', in_use: 0, max_running: null, waiting: null, cap: null },
      ],
      next_cursor: null,
    })
  })

  test('is listed page by page, in the order of the keys', async () => {
    const first = (await ask.get('/pools?limit=3')).body as { pools: { pool_key: string }[]; next_cursor: string }
    const second = (await ask.get(`/pools?limit=3&cursor=${first.next_cursor}`)).body as typeof first
    expect([first, second].map(({ pools }) => pools.map(({ pool_key }) => pool_key))).toEqual([
      ['global', 'location:main', 'pool:db'],
      ['pool:unused'],
    ])
    expect(second.next_cursor).toBeNull()
    expect((await ask.get('/runs?limit=3')).body['next_cursor']).toBeNull()
    expect((await ask.get(`/runs?cursor=${first.next_cursor}`)).status).toBe(400)
  })

  test('that gets a cap lets no more start than that, and says how many wait', async () => {
    const accepted = await set('pool:db', 1, { requested_by: 'user:1', reason: 'The database is slow.' })
    expect(accepted).toMatchObject({ ...applied, body: { pool_key: 'pool:db', max_running: 1, accepted_event_id: expect.any(String) } })
    await start({ selection: ['a', 'b', 'c'] })
    expect(await keysOut()).toEqual(['a', 'c'])
    expect(await show('pool:db')).toEqual({
      pool_key: 'pool:db',
      kind: 'POOL',
      in_use: 1,
      max_running: 1,
      cap: { max_running: 1, source: 'OWN', set_by: 'user:1', set_at: expect.any(String), reason: 'The database is slow.' },
      waiting: 1,
    })
    expect(await show('location:main')).toMatchObject({ in_use: 2, waiting: 1 })
    await set('pool:db', 2)
    await world.turn.run()
    expect(await keysOut()).toEqual(['a', 'b', 'c'])
    // A lower cap stops nothing that runs.
    expect(await set('pool:db', 0)).toMatchObject(applied)
    expect(await show('pool:db')).toMatchObject({ in_use: 2, max_running: 0, waiting: 0 })
    await drain()
    expect(await remove('pool:db')).toMatchObject({ ...applied, body: { pool_key: 'pool:db', max_running: null } })
    expect(await show('pool:db')).toMatchObject({ in_use: 0, max_running: null, cap: null })
  })

  test('whose cap is 0 is drained: nothing new starts, whoever asks is told so, and it goes on when it is opened', async () => {
    await set('global', 0)
    const run_id = await start({ selection: ['a'] })
    expect(await keysOut()).toEqual([])
    const why = async () => (await ask.get(`/runs/${run_id}/tasks/a/why?fresh=true`)).body
    expect(await why()).toMatchObject({
      code: 'NO_ROOM',
      full_pools: [{ pool_key: 'global', in_use: 0, max_running: 0, cap_source: 'OWN' }],
      sentence: expect.stringContaining('the workspace (global) is closed: its cap is 0. `servo pool set global NUMBER` opens it again.'),
    })
    await set('global', 1_000)
    await world.turn.run()
    expect(await keysOut()).toEqual(['a'])
    await drain()
  })

  test("of a location has its own cap before the slots, and the slots' again without it", async () => {
    await set('location:main', 2)
    await start({ selection: ['split'], partitions: { all: true } })
    expect((await keysOut()).length).toBe(2)
    expect(await show('location:main')).toMatchObject({ in_use: 2, waiting: 2, cap: { max_running: 2, source: 'OWN' } })
    await remove('location:main')
    await world.turn.run()
    expect((await keysOut()).length).toBe(4)
    expect(await show('location:main')).toMatchObject({ max_running: null, cap: { max_running: 6, source: 'SLOTS' } })
    await drain()
  })
})

describe('a tag', () => {
  const tags = { team: 'data science/é', tier: '1' }
  const VALUE = 'tag:team=data science/é'

  test('has a cap for each value, and one value another', async () => {
    expect(await set('tag:team', 1)).toMatchObject(applied)
    const run_id = await start({ selection: ['split'], partitions: { all: true }, tags })
    await start({ selection: ['split'], partitions: { keys: ['1'] }, tags: { team: 'core' } })
    expect((await dispatched(world)).length).toBe(2)
    expect(await show(VALUE)).toMatchObject({
      kind: 'TAG_VALUE',
      in_use: 1,
      max_running: null,
      waiting: 3,
      cap: { max_running: 1, source: 'TAG' },
    })
    expect(await show('tag:team')).toMatchObject({
      kind: 'TAG',
      in_use: null,
      max_running: 1,
      waiting: null,
      cap: { max_running: 1, source: 'OWN' },
    })
    const waiting = (await ask.get(`/runs/${run_id}/tasks?state=READY`)).body as { tasks: { task_key: string }[] }
    const last = encodeURIComponent(String(waiting.tasks.at(-1)?.task_key))
    expect((await ask.get(`/runs/${run_id}/tasks/${last}/why`)).body).toMatchObject({
      code: 'NO_ROOM',
      waiting_before: 2,
      sentence: expect.stringContaining(`${VALUE} is full: 1 of 1 run, as tag:team has it for each value. 2 tasks are before it.`),
    })
    expect(await set(VALUE, 3)).toMatchObject(applied)
    await world.turn.run()
    expect(await show(VALUE)).toMatchObject({ in_use: 3, waiting: 1, cap: { max_running: 3, source: 'OWN' } })
    await drain()
  })

  test('whose caps are gone is not counted, and leaves the list', async () => {
    await remove(VALUE)
    await remove('tag:team')
    await world.turn.run()
    const keys = ((await ask.get('/pools?fresh=true')).body as { pools: { pool_key: string }[] }).pools.map(({ pool_key }) => pool_key)
    expect(keys).toEqual(['global', 'location:main', 'pool:db', 'pool:unused'])
    expect((await ask.get(`${path(VALUE)}?fresh=true`)).status).toBe(404)
  })
})

describe('a command', () => {
  test('with an idempotency key is carried out once, with another body it is 422', async () => {
    const key = { 'idempotency-key': 'pool-1' }
    const first = await ask.put(path('pool:once'), { max_running: 3 }, key)
    const again = await ask.put(path('pool:once'), { max_running: 3 }, key)
    expect(again.body['accepted_event_id']).toBe(first.body['accepted_event_id'])
    expect((await ask.put(path('pool:once'), { max_running: 4 }, key)).status).toBe(422)
    expect((await ask.put(path('pool:other'), { max_running: 3 }, key)).status).toBe(422)
    const gone = await ask.delete(`${path('pool:once')}?wait=true`, undefined, key)
    expect(gone).toMatchObject({ status: 202, body: { max_running: null } })
    expect((await ask.delete(`${path('pool:once')}?wait=true`, {}, key)).body).toMatchObject({
      accepted_event_id: gone.body['accepted_event_id'],
    })
    expect((await ask.delete(path('pool:once'))).status).toBe(404)
  })

  test('keeps who said it, and why, in the ledger', async () => {
    await set('pool:said', 3, { requested_by: 'user:7', reason: 'A test.' })
    expect(await show('pool:said')).toMatchObject({ cap: { set_by: 'user:7' } })
    await ask.delete(`${path('pool:said')}?wait=true`, { requested_by: 'user:8', reason: 'It is over.' })
    expect((await world.look('pools')).rows.find(({ pool_key }) => pool_key === 'pool:said')).toMatchObject({
      updated_by: 'user:8',
      max_running: null,
    })
  })

  const KEYS = '"global", "pool:" and a name, "location:" and a name, "tag:key=value", or "tag:key" for each value of the key'
  test.each([
    ['PUT', '/pools/db', { max_running: 1 }, 400, `pool_key is "db". Give it ${KEYS}.`],
    ['GET', '/pools/tag%3A', undefined, 400, `pool_key is "tag:". Give it ${KEYS}.`],
    ['PUT', '/pools/pool%3Adb', { max_running: -1 }, 400, 'max_running is -1. Give it a whole number from 0 to 2147483647.'],
    ['PUT', '/pools/pool%3Adb', { max_running: 1.5 }, 400, 'max_running is 1.5. Give it a whole number from 0 to 2147483647.'],
    ['PUT', '/pools/pool%3Adb', {}, 400, 'max_running is missing. Give it a whole number from 0 to 2147483647.'],
    [
      'PUT',
      '/pools/pool%3Adb',
      { max_runing: 1, max_running: 1 },
      400,
      'It has a member that nobody knows here: max_runing. Correct the spelling, or leave it out.',
    ],
    [
      'GET',
      '/pools/pool%3Anobody',
      undefined,
      404,
      'There is no pool pool:nobody: it has no cap, and no asset names it. `servo pool list` shows all.',
    ],
    [
      'DELETE',
      '/pools/global',
      undefined,
      409,
      'The workspace always has a cap: global cannot be removed. Set it to another number instead.',
    ],
    [
      'DELETE',
      '/pools/pool%3Adb',
      undefined,
      404,
      'pool:db has no cap of its own, so there is none to remove. `servo pool list` shows which pools have one.',
    ],
    [
      'DELETE',
      '/pools/location%3Amain',
      undefined,
      404,
      'location:main has no cap of its own, so there is none to remove. `servo pool list` shows which pools have one.',
    ],
  ])('%s %s %j is %i: %s', async (method, url, body, status, sentence) => {
    const answer = method === 'GET' ? await ask.get(url) : method === 'PUT' ? await ask.put(url, body) : await ask.delete(url)
    expect([answer.status, detail(answer)]).toEqual([status, sentence])
  })

  test('names any tag that a run can have, however long', async () => {
    const pool_key = `tag:${'é'.repeat(128)}=${'%/ü'.repeat(85)}`
    expect(await set(pool_key, 2)).toMatchObject(applied)
    expect(await show(pool_key)).toMatchObject({ pool_key, max_running: 2 })
    expect(await remove(pool_key)).toMatchObject(applied)
  })
})
