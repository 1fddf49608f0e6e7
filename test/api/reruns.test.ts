// Reruns over the API: what they select, what they refuse, and that the same one is one run.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, dispatched, type Out } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'

/** A chain a > b > c, d beside it (needs a), and two assets with a task a partition, f after e. */
const split = { partitions: { type: 'static', keys: ['x', 'y', 'z'] }, partitions_per_task: 1 }
const LOCATION = {
  worker_url: 'http://127.0.0.1:4100',
  assets: [
    definition('a'),
    definition('b', { deps: [{ asset_key: 'a' }] }),
    definition('c', { deps: [{ asset_key: 'b' }] }),
    definition('d', { deps: [{ asset_key: 'a' }] }),
    definition('e', split),
    definition('f', { ...split, deps: [{ asset_key: 'e' }] }),
  ],
}
const withoutD = { ...LOCATION, assets: LOCATION.assets.filter(({ asset_key }) => asset_key !== 'd') }

let world: ApiWorld
let ask: Asker
beforeAll(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  expect((await ask.post('/code-locations/main/deploy', LOCATION)).body).toMatchObject({ outcome: { kind: 'applied' } })
})
afterAll(() => world.close())

type Ending = (out: Out) => object | undefined
const fail = { outcome: 'FAILED', error: { code: 'BOOM', message: 'It broke.' } }
const failing =
  (...task_keys: readonly string[]): Ending =>
  ({ claims }) =>
    task_keys.includes(claims.task_key) ? fail : undefined

/** Starts and ends all that is out, until nothing is; answers what was started. */
async function work(endingOf: Ending = () => undefined): Promise<readonly string[]> {
  const started: string[] = []
  await world.turn.run()
  for (let out = await dispatched(world); out.length > 0; out = await dispatched(world)) {
    for (const each of out) {
      started.push(each.claims.task_key)
      await ask.post(`${each.path}/started`, { ...each.said, worker_id: 'w1' }, each.headers)
      const ending = endingOf(each) ?? { outcome: 'SUCCEEDED', materialization_id: ulidOf(each.claims.attempt_id) }
      expect(await ask.post(`${each.path}/completed`, { ...each.said, ...ending }, each.headers)).toMatchObject({ status: 200 })
    }
    await world.turn.run()
  }
  return started.sort()
}

async function over(asked: object, ending?: Ending): Promise<string> {
  const { status, body } = await ask.post('/runs?wait=true', asked)
  expect({ status, body }).toMatchObject({ status: 202 })
  await work(ending)
  return String(body['run_id'])
}

/** Of the run's tasks one is started, and ends because of the cancel; the others have not begun. */
async function cancelUnderWay(run_id: unknown): Promise<void> {
  await world.turn.run()
  const [out, ...others] = await dispatched(world)
  if (out === undefined || others.length > 0) throw new Error(`${others.length + 1} attempts are out, and one was expected.`)
  await ask.post(`${out.path}/started`, { ...out.said, worker_id: 'w1' }, out.headers)
  expect(await ask.post(`/runs/${String(run_id)}/cancel?wait=true`)).toMatchObject({ status: 202 })
  expect(await ask.post(`${out.path}/completed`, { ...out.said, outcome: 'CANCELLED' }, out.headers)).toMatchObject({ status: 200 })
  expect(await runOf(run_id)).toMatchObject({ state: 'CANCELLED', tasks_cancelled: 101 })
}

const rerun = (run_id: string, body: object = {}, headers?: Readonly<Record<string, string>>) =>
  ask.post(`/runs/${run_id}/rerun?wait=true`, { mode: 'from_failure', ...body }, headers)
const runOf = async (run_id: unknown) => (await ask.get(`/runs/${String(run_id)}?fresh=true`)).body

describe('a rerun from failure', () => {
  test('runs what failed and what was skipped because of it, and nothing that succeeded', async () => {
    const parent = await over({ selection: 'a+', tags: { team: 'core' }, priority: 7 }, failing('b'))
    expect(await runOf(parent)).toMatchObject({ state: 'FAILED', tasks_succeeded: 2, parent_run_id: null })
    const { status, body } = await rerun(parent, { tags: { why: 'again' }, requested_by: 'ada' })
    expect({ status, body }).toMatchObject({ status: 202, body: { run_key: `rerun:${parent}:FROM_FAILURE`, asset_count: 2 } })
    expect(await work()).toEqual(['b', 'c'])
    expect(await runOf(body['run_id'])).toMatchObject({
      state: 'SUCCEEDED',
      trigger_type: 'RERUN',
      parent_run_id: parent,
      root_run_id: parent,
      rerun_mode: 'FROM_FAILURE',
      assets: { keys: ['b', 'c'] },
      tags: { team: 'core', why: 'again' },
      priority: 7,
      requested_by: 'ada',
    })
  })

  test('takes the definitions that are current then', async () => {
    const parent = await over({ selection: 'a' }, failing('a'))
    const assets = LOCATION.assets.map((each) => (each.asset_key === 'a' ? { ...each, code_version: 'v2' } : each))
    await ask.post('/code-locations/main/deploy', { ...LOCATION, assets })
    const { body } = await rerun(parent)
    expect(await work()).toEqual(['a'])
    expect((await ask.get(`/runs/${String(body['run_id'])}/tasks/a`)).body).toMatchObject({ state: 'SUCCEEDED', code_version: 'v2' })
  })

  test('has of each asset the partitions that are left, and nothing that succeeded', async () => {
    const partitions = { range: { start: 'x', end: 'z' } }
    const one = await rerun(await over({ selection: 'e', partitions }, failing('e#1')))
    expect(await runOf(one.body['run_id'])).toMatchObject({ assets: { keys: ['e'] }, partitions: { keys: ['y'] } })
    expect(await work()).toEqual(['e#0'])
    const both = await rerun(await over({ selection: ['e', 'f'], partitions }, failing('e#0', 'f#2')))
    expect(await runOf(both.body['run_id'])).toMatchObject({ assets: { keys: ['e', 'f'] }, partitions: { keys: ['x', 'z'] } })
    // The request is the union, and the plan is not: f#0 was skipped with e#0, and e has nothing left to do for z.
    expect(await work(failing('f#1'))).toEqual(['e#0', 'f#0', 'f#1'])
    const again = await rerun(String(both.body['run_id']))
    expect(await runOf(again.body['run_id'])).toMatchObject({ asset_count: 1 })
    expect(await work()).toEqual(['f#0'])
    const all = await rerun(await over({ selection: 'f', partitions }, failing('f#0', 'f#1', 'f#2')))
    expect(await runOf(all.body['run_id'])).toMatchObject({ partitions })
    await work()
  })

  test('is refused where what is left of one asset cannot be named, and of another all is', async () => {
    const days = { partitions: { type: 'daily', start_date: '1970-01-01' }, partitions_per_task: 5_000 }
    const assets = [definition('days_in_part', days), definition('days_in_all', days)]
    expect(await ask.post('/code-locations/days/deploy', { ...LOCATION, assets })).toMatchObject({ status: 202 })
    const asked = { selection: ['days_in_part', 'days_in_all'], partitions: { range: { start: '1970-01-01', end: '2024-10-03' } } }
    const failed = [
      ...['0', '1', '2'].map((index) => `days_in_part#${index}`),
      ...['0', '1', '2', '3'].map((index) => `days_in_all#${index}`),
    ]
    const parent = await over(asked, failing(...failed))
    expect(await rerun(parent)).toMatchObject({
      status: 409,
      body: {
        detail: expect.stringMatching(
          /^15000 partitions of run \w+ did not succeed, and 10000 is the most that a rerun of days_in_part names/,
        ),
      },
    })
  })

  test('leaves out what its own code skipped, and is refused where nothing else is left', async () => {
    const parent = await over({ selection: ['a', 'b', 'c'] }, ({ claims }) =>
      claims.task_key === 'b' ? { outcome: 'SKIPPED', skip_reason: 'Nothing new.' } : undefined,
    )
    expect(await rerun(parent)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(`Nothing of run ${parent} is left to run again: 1 of its 3 tasks succeeded`) },
    })
  })

  test('of a run that could not be planned has all of it', async () => {
    world.holdTurns()
    const asked = await ask.post('/runs', { selection: ['a', 'd'] })
    await ask.post('/code-locations/main/deploy?wait=false', withoutD)
    world.releaseTurns()
    const run_id = String(asked.body['run_id'])
    expect(await runOf(run_id)).toMatchObject({ state: 'FAILED', tasks_total: 0, error: { code: 'UNKNOWN_ASSET' } })
    await ask.post('/code-locations/main/deploy', LOCATION)
    expect(await rerun(run_id)).toMatchObject({ status: 202, body: { asset_count: 2 } })
    expect(await work()).toEqual(['a', 'd'])
  })
})

describe('a rerun of a cancelled run', () => {
  test('has what was cancelled, wherever it was, and nothing that had succeeded', async () => {
    const { body } = await ask.post('/runs?wait=true', { selection: ['a', 'b', 'c', 'd'] })
    const run_id = String(body['run_id'])
    const out = async () => (await dispatched(world)).filter(({ claims }) => claims.run_id === run_id)
    await world.turn.run()
    const [first] = await out()
    if (first === undefined) throw new Error('Nothing was dispatched.')
    await ask.post(`${first.path}/started`, { ...first.said, worker_id: 'w1' }, first.headers)
    const done = { outcome: 'SUCCEEDED', materialization_id: ulidOf(first.claims.attempt_id) }
    await ask.post(`${first.path}/completed`, { ...first.said, ...done }, first.headers)
    await world.turn.run()
    // b runs, d is dispatched and has not started, c waits for b.
    const [b, d] = (await out()).toSorted((left, right) => (left.claims.task_key < right.claims.task_key ? -1 : 1))
    if (b === undefined || d === undefined) throw new Error('b and d were not dispatched.')
    await ask.post(`${b.path}/started`, { ...b.said, worker_id: 'w1' }, b.headers)
    await ask.post(`/runs/${run_id}/cancel?wait=true`)
    expect((await rerun(run_id)).body['detail']).toMatch(/is not over: it is CANCELLING\. Wait until it is/)
    expect(await ask.post(`${d.path}/started`, { ...d.said, worker_id: 'w1' }, d.headers)).toMatchObject({ status: 409 })
    await ask.post(`${b.path}/completed`, { ...b.said, outcome: 'CANCELLED' }, b.headers)
    await world.turn.run()
    expect(await runOf(run_id)).toMatchObject({ state: 'CANCELLED', tasks_succeeded: 1, tasks_cancelled: 3 })
    const again = await rerun(run_id)
    expect(await work()).toEqual(['b', 'c', 'd'])
    expect(await runOf(again.body['run_id'])).toMatchObject({ state: 'SUCCEEDED', parent_run_id: run_id, rerun_mode: 'FROM_FAILURE' })
  })

  test('that was cancelled before anything of it began has all of it', async () => {
    const { body } = await ask.post('/runs?wait=true', { selection: ['a', 'b'] })
    const run_id = String(body['run_id'])
    await world.turn.run()
    await ask.post(`/runs/${run_id}/cancel?wait=true`)
    for (const out of await dispatched(world)) await ask.post(`${out.path}/started`, { ...out.said, worker_id: 'w1' }, out.headers)
    await world.turn.run()
    expect(await runOf(run_id)).toMatchObject({ state: 'CANCELLED' })
    await rerun(run_id)
    expect(await work()).toEqual(['a', 'b'])
  })
})

test('a rerun of the whole runs what succeeded too', async () => {
  const parent = await over({ selection: ['a', 'b'] }, failing('b'))
  const { body } = await rerun(parent, { mode: 'whole' })
  expect(await work()).toEqual(['a', 'b'])
  expect(await runOf(body['run_id'])).toMatchObject({ state: 'SUCCEEDED', parent_run_id: parent, rerun_mode: 'ALL' })
})

test('a rerun reads long lists, of partitions and of assets', async () => {
  const keys = Array.from({ length: 120 }, (_, index) => `k${String(index).padStart(3, '0')}`)
  const wide = definition('wide', { partitions: { type: 'static', keys }, partitions_per_task: 60 })
  const many = Array.from({ length: 101 }, (_, index) => definition(`many${index}`, { group: 'many' }))
  const location = { ...LOCATION, slots: 1, assets: [wide, ...many] }
  expect(await ask.post('/code-locations/wide/deploy', location)).toMatchObject({ status: 202 })
  const parent = await over({ selection: 'wide', partitions: { keys } }, failing('wide#1'))
  const left = await rerun(parent)
  expect(await runOf(left.body['run_id'])).toMatchObject({ partitions: { keys: keys.slice(60) } })
  expect(await work()).toEqual(['wide#0'])
  const whole = await rerun(parent, { mode: 'whole' })
  expect(await runOf(whole.body['run_id'])).toMatchObject({ partitions: { list: { count: 120 } } })
  await work()

  const asked = await ask.post('/runs?wait=true', { selection: 'group:many' })
  await cancelUnderWay(asked.body['run_id'])
  for (const mode of ['whole', 'from_failure']) {
    const again = await rerun(String(asked.body['run_id']), { mode })
    expect(await runOf(again.body['run_id'])).toMatchObject({ assets: { list: { count: 101 } }, partitions: null })
    await cancelUnderWay(again.body['run_id'])
  }
})

describe('the same rerun', () => {
  test('is the same run while it is open and when it succeeded; where it failed, that one is to be run again', async () => {
    const parent = await over({ selection: 'a' }, failing('a'))
    const first = await rerun(parent)
    expect(await rerun(parent)).toMatchObject({ status: 202, body: { run_id: first.body['run_id'] } })
    expect(await work(failing('a'))).toEqual(['a'])
    const refused = await rerun(parent)
    expect(refused).toMatchObject({ status: 409, body: { run_id: first.body['run_id'], state: 'FAILED' } })
    expect(refused.body['detail']).toBe(
      `Run ${parent} was run again as ${String(first.body['run_id'])}, which is FAILED. Rerun that one, or choose a run key for another rerun of this one.`,
    )
    const second = await rerun(String(first.body['run_id']))
    expect(await work()).toEqual(['a'])
    expect(await runOf(second.body['run_id'])).toMatchObject({ parent_run_id: first.body['run_id'], root_run_id: parent })
    expect(await rerun(String(first.body['run_id']))).toMatchObject({ status: 202, body: { run_id: second.body['run_id'] } })
    expect(await work()).toEqual([])
    const other = await rerun(parent, { run_key: 'third' })
    expect(other).toMatchObject({ status: 202, body: { run_key: 'user:third' } })
    expect(await work()).toEqual(['a'])
  })

  test('asked for by several at once is one run', async () => {
    const parent = await over({ selection: 'a' }, failing('a'))
    const answers = await Promise.all(Array.from({ length: 5 }, () => rerun(parent)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect(new Set(answers.map(({ body }) => body['run_id'])).size).toBe(1)
    expect(await work()).toEqual(['a'])
    const { rows } = await world.look('runs')
    expect(rows.filter(({ parent_run_id }) => parent_run_id === parent)).toHaveLength(1)
  })

  test('under the same idempotency key has the same answer, whatever became of it; another body is 422', async () => {
    const parent = await over({ selection: 'a' }, failing('a'))
    const key = { 'idempotency-key': 'rerun-once' }
    const first = await rerun(parent, {}, key)
    await work(failing('a'))
    expect(await rerun(parent, {}, key)).toMatchObject({ status: 202, body: { run_id: first.body['run_id'] } })
    expect(await work()).toEqual([])
    expect(await rerun(parent, { mode: 'whole' }, key)).toMatchObject({ status: 422 })
  })

  test('with other tags is a conflict', async () => {
    const parent = await over({ selection: 'a' }, failing('a'))
    const { body } = await rerun(parent)
    expect(await rerun(parent, { tags: { other: 'yes' } })).toMatchObject({ status: 409, body: { run_id: body['run_id'] } })
    await work()
  })
})

describe('a rerun is refused', () => {
  test('of a run that is not there, and of one that is not over', async () => {
    expect(await rerun('run_none')).toMatchObject({ status: 404 })
    const { body } = await ask.post('/runs?wait=true', { selection: 'a' })
    const refused = await rerun(String(body['run_id']))
    expect(refused.status).toBe(409)
    expect(refused.body['detail']).toMatch(/^Run run_\w+ is not over: it is (PENDING|PLANNED)\. Wait until it is, or cancel it first\.$/)
    await work()
  })

  test('where all of it succeeded', async () => {
    const parent = await over({ selection: 'a' })
    expect((await rerun(parent)).body['detail']).toBe(
      `Nothing of run ${parent} is left to run again: all of its tasks succeeded. Ask for the whole of it with the mode "whole".`,
    )
  })

  test('with a mode that is none', async () => {
    const parent = await over({ selection: 'a' })
    expect(await rerun(parent, { mode: 'half' })).toMatchObject({ status: 400, body: { errors: [{ path: 'mode' }] } })
  })

  test('where what it selected is gone', async () => {
    const parent = await over({ selection: 'd' }, failing('d'))
    await ask.post('/code-locations/main/deploy', withoutD)
    expect(await rerun(parent)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(`Run ${parent} cannot be run again as it was: d is not defined any more.`) },
    })
  })
})
