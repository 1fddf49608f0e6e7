// Assets that are made from others by mappings, over the API: what a run of the last of them makes, what each task is told
// of upstream, and what a rerun makes again.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { DispatchPort } from '../../src/activities/dispatch.js'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, dispatched, type Out } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'
import { until } from '../fixtures/until.js'

const HOURS = { type: 'hourly', start_date: '2024-01-01', timezone: 'Europe/Berlin' }
const DAYS = { type: 'daily', start_date: '2024-01-01', timezone: 'Europe/Berlin' }
const REGIONS = { type: 'static', keys: ['eu', 'us'] }
const GRID = { type: 'multi', dimensions: { date: DAYS, region: REGIONS } }
const from = (asset_key: string, mapping: object) => ({ deps: [{ asset_key, mapping }] })
const assets = [
  definition('hours', { partitions: HOURS, partitions_per_task: 8 }),
  definition('days', { partitions: DAYS, partitions_per_task: 1, ...from('hours', { type: 'time_window' }) }),
  definition('next', { partitions: DAYS, ...from('days', { type: 'time_window', start_offset: -1, end_offset: -1 }) }),
  definition('grid', { partitions: GRID, ...from('days', { type: 'dimension', dimension: 'date' }) }),
  definition('newest', { partitions: REGIONS, ...from('grid', { type: 'dimension', dimension: 'region' }) }),
  definition('total', from('days', { type: 'all' })),
]

const handed: Dispatch[] = []
const port: DispatchPort = {
  port: 'DIRECT',
  async send(_url, dispatches) {
    handed.push(...dispatches)
    return dispatches.map(() => ({ answer: 'ACCEPTED' }))
  },
}

let world: ApiWorld
let ask: Asker
beforeAll(async () => {
  world = createApiWorld({ port })
  ask = createAsker(await world.start())
  const { body } = await ask.post('/code-locations/main/deploy', { worker_url: 'http://127.0.0.1:4100', assets })
  expect(body).toMatchObject({ outcome: { kind: 'applied' } })
})
afterAll(() => world.close())

type Ending = (out: Out) => object | undefined

async function work(endingOf: Ending = () => undefined): Promise<void> {
  await world.turn.run()
  for (let out = await dispatched(world); out.length > 0; out = await dispatched(world)) {
    const ids = out.map(({ claims }) => claims.attempt_id)
    await until('they are handed over', () => ids.every((id) => handed.some(({ attempt_id }) => attempt_id === id)))
    for (const each of out) {
      await ask.post(`${each.path}/started`, { ...each.said, worker_id: 'w1' }, each.headers)
      const ending = endingOf(each) ?? { outcome: 'SUCCEEDED', materialization_id: ulidOf(each.claims.attempt_id) }
      expect(await ask.post(`${each.path}/completed`, { ...each.said, ...ending }, each.headers)).toMatchObject({ status: 200 })
    }
    await world.turn.run()
  }
}

async function run(asked: object, endingOf?: Ending): Promise<string> {
  const { status, body } = await ask.post('/runs?wait=true', asked)
  expect({ status, body }).toMatchObject({ status: 202 })
  await work(endingOf)
  return String(body['run_id'])
}

const partitionsOf = async (run_id: string) => {
  const { body } = await ask.get(`/runs/${run_id}/tasks?fresh=true`)
  const tasks = body['tasks'] as readonly { readonly task_key: string; readonly partitions: unknown }[]
  return Object.fromEntries(tasks.map(({ task_key, partitions }) => [task_key, partitions]))
}

/** What the newest attempt of a task was told of an upstream asset: the keys. */
const toldOf = (run_id: string, task_key: string, upstream: string): readonly string[] =>
  handed
    .findLast((each) => each.run_id === run_id && each.task_key === task_key)
    ?.upstream[upstream]?.map(({ partition_key }) => partition_key) ?? []

const hoursOf = (day: string, first: number, last: number): readonly string[] =>
  Array.from({ length: last - first + 1 }, (_, i) => `${day}-${String(first + i).padStart(2, '0')}:00`)

const fail = { outcome: 'FAILED', error: { code: 'BOOM', message: 'It broke.' } }

describe('a run of a day and of what it is made from', () => {
  test('makes its hours first, and tells the day of them', async () => {
    const run_id = await run({ selection: '+days', partitions: { keys: ['2024-03-31'] } })
    // The day on which clocks were put forward.
    expect(await partitionsOf(run_id)).toEqual({
      'hours#0': { range: { start: '2024-03-31-00:00', end: '2024-03-31-08:00' } },
      'hours#1': { range: { start: '2024-03-31-09:00', end: '2024-03-31-16:00' } },
      'hours#2': { range: { start: '2024-03-31-17:00', end: '2024-03-31-23:00' } },
      'days#0': { keys: ['2024-03-31'] },
    })
    expect(toldOf(run_id, 'days#0', 'hours')).toEqual([...hoursOf('2024-03-31', 0, 1), ...hoursOf('2024-03-31', 3, 23)])
  })

  test('asks for partitions of the day, and says so', async () => {
    expect(await ask.post('/runs', { selection: '+days', partitions: { keys: ['2024-03-31-05:00'] } })).toMatchObject({
      status: 400,
      body: {
        errors: [
          {
            path: 'partitions.keys[0]',
            message:
              'days: "2024-03-31-05:00" is not written as %Y-%m-%d, such as "2024-01-01", the first key. The partitions of a run are those of what it ends with; of hours it makes those that these are made from.',
          },
        ],
      },
    })
  })

  test('that failed in part makes again what is left of each', async () => {
    const parent = await run({ selection: '+days', partitions: { range: { start: '2024-04-01', end: '2024-04-02' } } }, ({ claims }) =>
      claims.task_key === 'hours#4' ? fail : undefined,
    )
    const { body } = await ask.post(`/runs/${parent}/rerun?wait=true`, { mode: 'from_failure' })
    await work()
    expect(await partitionsOf(String(body['run_id']))).toEqual({
      'hours#0': { keys: hoursOf('2024-04-02', 8, 15) },
      'days#0': { keys: ['2024-04-02'] },
    })
    expect((await ask.get(`/runs/${String(body['run_id'])}?fresh=true`)).body).toMatchObject({
      state: 'SUCCEEDED',
      partitions: { keys: ['2024-04-02'] },
    })
    expect(toldOf(String(body['run_id']), 'days#0', 'hours')).toEqual(hoursOf('2024-04-02', 0, 23))
  })
})

describe('what a task is told of upstream', () => {
  beforeAll(async () => {
    await run({ selection: 'days', partitions: { range: { start: '2024-05-10', end: '2024-05-12' } } })
    await run({ selection: 'grid', partitions: { keys: ['2024-05-10|us', '2024-05-11|eu'] } })
  })

  test.each([
    ['next', { keys: ['2024-05-12'] }, 'days', ['2024-05-11']],
    ['grid', { keys: ['2024-05-10|us', '2024-05-12|eu'] }, 'days', ['2024-05-10', '2024-05-12']],
    ['newest', { keys: ['us'] }, 'grid', ['date=2024-05-10|region=us']],
    ['total', undefined, 'days', expect.arrayContaining(['2024-05-10', '2024-05-11', '2024-05-12'])],
  ])('is of the partitions that its own are mapped to: %s', async (asset_key, partitions, upstream, expected) => {
    const run_id = await run({ selection: asset_key, ...(partitions === undefined ? {} : { partitions }) })
    expect(toldOf(run_id, asset_key, upstream)).toEqual(expected)
  })
})

test('a schedule asks for the last complete partition of what its run ends with', async () => {
  const asked = { schedule_name: 'daily', cron_expressions: '0 6 * * *', timezone: 'Europe/Berlin', asset_selection: '+days' }
  const made = await ask.post('/schedules?wait=true', { ...asked, partition_mapping: { type: 'LAST_COMPLETE' } })
  expect(made).toMatchObject({ status: 202, body: { outcome: { kind: 'applied' } } })
  const { body } = await ask.post('/schedules/daily/trigger?wait=true', { instant: '2024-05-02T06:00:00+02:00' })
  await work()
  const run_id = String((body['runs'] as readonly { readonly run_id: string }[])[0]?.run_id)
  expect((await ask.get(`/runs/${run_id}?fresh=true`)).body).toMatchObject({ state: 'SUCCEEDED', partitions: { keys: ['2024-05-01'] } })
  expect(toldOf(run_id, 'days#0', 'hours')).toEqual(hoursOf('2024-05-01', 0, 23))
})
