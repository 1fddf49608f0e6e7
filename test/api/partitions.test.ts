// Assets of every kind of partitions over the API: deployed, run by keys and by ranges, and what is then known of each
// partition.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, dispatched } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'

const ZONE = { timezone: 'America/New_York' }
const date = { type: 'daily', start_date: '2024-01-01', ...ZONE }
const PARTITIONS: Readonly<Record<string, object>> = {
  hours: { type: 'hourly', start_date: '2024-11-01', ...ZONE },
  weeks: { type: 'weekly', start_date: '2024-01-01', day_offset: 1, ...ZONE },
  months: { type: 'monthly', start_date: '2024-01', fmt: '%Y-%m', ...ZONE },
  shifts: { type: 'cron', start: '2024-01-01', cron_schedule: '0 6,18 * * *', exclusions: ['0 18 * * 0'], ...ZONE },
  grid: { type: 'multi', dimensions: { region: { type: 'static', keys: ['us', 'eu'] }, date } },
}
const assets = Object.entries(PARTITIONS).map(([key, partitions]) => definition(key, { partitions, partitions_per_task: 2 }))

let world: ApiWorld
let ask: Asker
beforeAll(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  const { body } = await ask.post('/code-locations/main/deploy', { worker_url: 'http://127.0.0.1:4100', assets })
  expect(body).toMatchObject({ outcome: { kind: 'applied' } })
})
afterAll(() => world.close())

async function work(): Promise<void> {
  for (let out = await dispatched(world); out.length > 0; out = await dispatched(world)) {
    for (const { claims, headers, path, said } of out) {
      await ask.post(`${path}/started`, { ...said, worker_id: 'w1' }, headers)
      const completed = { ...said, outcome: 'SUCCEEDED', materialization_id: ulidOf(claims.attempt_id) }
      expect(await ask.post(`${path}/completed`, completed, headers)).toMatchObject({ status: 200 })
    }
    await world.turn.run()
  }
}

/** Runs it, and answers the tasks' partitions and the keys and sort keys that are known of afterwards. */
async function run(asset_key: string, partitions: object) {
  const { body } = await ask.post('/runs?wait=true', { selection: [asset_key], partitions })
  expect(body).toMatchObject({ outcome: { kind: 'applied' } })
  await work()
  const tasks = (await ask.get(`/runs/${String(body['run_id'])}/tasks`)).body['tasks'] as readonly { partitions: unknown; state: string }[]
  expect(tasks.every(({ state }) => state === 'SUCCEEDED')).toBe(true)
  const { rows } = await world.look('partition_status')
  const known = rows.filter((row) => row['asset_key'] === asset_key).map((row) => [row['partition_key'], row['sort_key']])
  return { tasks: tasks.map((task) => task.partitions), known }
}

describe('a run of partitions', () => {
  test('by the hour sorts the two passes of a doubled hour by time', async () => {
    expect(await run('hours', { range: { start: '2024-11-03-01:00', end: '2024-11-03-02:00' } })).toEqual({
      tasks: [{ range: { start: '2024-11-03-01:00', end: '2024-11-03-01:00-0500' } }, { keys: ['2024-11-03-02:00'] }],
      known: [
        ['2024-11-03-01:00', '2024-11-03T05:00:00.000Z'],
        ['2024-11-03-01:00-0500', '2024-11-03T06:00:00.000Z'],
        ['2024-11-03-02:00', '2024-11-03T07:00:00.000Z'],
      ],
    })
  })

  test.each([
    ['weeks', '2024-03-04', '2024-03-11', ['2024-03-04T05:00:00.000Z', '2024-03-11T04:00:00.000Z']],
    ['months', '2024-03', '2024-04', ['2024-03-01T05:00:00.000Z', '2024-04-01T04:00:00.000Z']],
    ['shifts', '2024-03-10-06:00', '2024-03-11-06:00', ['2024-03-10T10:00:00.000Z', '2024-03-11T10:00:00.000Z']],
  ])('of %s', async (asset_key, start, end, sort_keys) => {
    expect(await run(asset_key, { range: { start, end } })).toEqual({
      tasks: [{ range: { start, end } }],
      known: [
        [start, sort_keys[0]],
        [end, sort_keys[1]],
      ],
    })
  })

  test('of several dimensions takes the short form of keys, and keeps the long one', async () => {
    expect(await run('grid', { keys: ['2024-02-01|us', 'date=2024-02-01|region=eu', 'region=us|date=2024-01-31'] })).toEqual({
      tasks: [{ keys: ['date=2024-01-31|region=us', 'date=2024-02-01|region=eu'] }, { keys: ['date=2024-02-01|region=us'] }],
      known: [
        ['date=2024-01-31|region=us', 'date=2024-01-31T05:00:00.000Z|region=us'],
        ['date=2024-02-01|region=eu', 'date=2024-02-01T05:00:00.000Z|region=eu'],
        ['date=2024-02-01|region=us', 'date=2024-02-01T05:00:00.000Z|region=us'],
      ],
    })
    const { rows } = await world.look('partition_status')
    expect(rows.find((row) => row['partition_key'] === 'date=2024-01-31|region=us')?.['partition_values']).toEqual({
      date: '2024-01-31',
      region: 'us',
    })
    expect((await ask.get('/assets/grid')).body).toMatchObject({
      partitions: expect.stringContaining('each of date: the days from "2024-01-01" on'),
    })
  })
})

test('what is no key is refused with the nearest one', async () => {
  const { status, body } = await ask.post('/runs', { selection: ['weeks'], partitions: { keys: ['2024-03-05'] } })
  expect({ status, detail: body['detail'] }).toMatchObject({
    status: 400,
    detail: expect.stringContaining('The nearest key is "2024-03-04".'),
  })
})

test('a zone that is none is refused with the one that was probably meant', async () => {
  const deploy = async (timezone: string) => {
    const assets = [definition('z', { partitions: { ...date, timezone } })]
    const { status, body } = await ask.post('/code-locations/other/deploy', { worker_url: 'http://127.0.0.1:4100', assets })
    return `${status} ${JSON.stringify(body['errors'])}`
  }
  const path = 'assets[0].partitions.timezone'
  expect(await deploy('Europe/Berln')).toContain(`${path} is \\"Europe/Berln\\". Give it \\"Europe/Berlin\\", or another name of the IANA`)
  expect(await deploy('Mars/Base')).toContain('Give it a name of the IANA time zone database, such as Europe/Berlin.')
})

test('dynamic partitions are refused, and so is a member that their type does not have', async () => {
  const deploy = async (partitions: object) => {
    const { status, body } = await ask.post('/code-locations/other/deploy', {
      worker_url: 'http://127.0.0.1:4100',
      assets: [definition('o', { partitions })],
    })
    return `${status} ${JSON.stringify(body)}`
  }
  expect(await deploy({ type: 'dynamic', name: 'customers' })).toContain('other types need a later version of Servo')
  expect(await deploy({ ...date, day_offset: 1 })).toContain('day_offset')
  expect(await deploy({ type: 'multi', dimensions: { date: { ...date, day_offset: 1 } } })).toContain('day_offset')
})
