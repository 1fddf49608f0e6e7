// A run may name the partitions that exist when it is requested, and nothing else: over the API, by every way to name them, by
// schedules and in reruns. A schedule whose mapping has a positive offset is the exception, and its runs record it.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { DAY_MS, HOUR_MS } from '../../src/core/time.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, dispatched } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'

let world: ApiWorld
let ask: Asker
/** Noon: no window begins or ends while the tests run. */
let today = 0
const day = (offset: number): string => new Date(today + offset * DAY_MS).toISOString().slice(0, 10)

const REGIONS = { type: 'static', keys: ['eu', 'us'] }
const daily = (first: number, end?: number, more: object = {}) => ({
  type: 'daily',
  start_date: day(first),
  ...(end === undefined ? {} : { end_date: day(end) }),
  ...more,
})
const from = (asset_key: string, mapping: object) => ({ deps: [{ asset_key, mapping }] })

beforeAll(async () => {
  world = createApiWorld()
  const now = world.appending.clock.now()
  const noon = Math.ceil(now / DAY_MS) * DAY_MS + DAY_MS / 2
  world.passSeconds((noon - now) / 1_000)
  today = noon
  ask = createAsker(await world.start())
  const assets = [
    definition('days', { partitions: daily(-5), partitions_per_task: 1 }),
    definition('ended', { partitions: daily(-5, 5) }),
    definition('held', { partitions: daily(-20, -5, { end_offset: -10 }) }),
    definition('later', { partitions: daily(30, 60) }),
    definition('hours', { partitions: { type: 'hourly', start_date: day(-2) } }),
    definition('noons', {
      partitions: { type: 'cron', start: day(-9), cron_schedule: '0 12 * * *', exclusions: [day(-2)], fmt: '%Y-%m-%d' },
    }),
    definition('grid', { partitions: { type: 'multi', dimensions: { area: REGIONS, date: daily(-3) } } }),
    definition('week', { partitions: { type: 'multi', dimensions: { area: REGIONS, date: daily(-3, 4) } } }),
    definition('next', { partitions: daily(-5), ...from('days', { type: 'time_window', start_offset: 1, end_offset: 1 }) }),
    definition('total', from('days', { type: 'all' })),
  ]
  const { body } = await ask.post('/code-locations/main/deploy', { worker_url: 'http://127.0.0.1:4100', assets })
  expect(body).toMatchObject({ outcome: { kind: 'applied' } })
})
afterAll(() => world.close())

async function work(failing: readonly string[] = []): Promise<void> {
  await world.turn.run()
  for (let out = await dispatched(world); out.length > 0; out = await dispatched(world)) {
    for (const { claims, headers, path, said } of out) {
      await ask.post(`${path}/started`, { ...said, worker_id: 'w1' }, headers)
      const ending = failing.includes(claims.task_key)
        ? { outcome: 'FAILED', error: { code: 'BOOM', message: 'It broke.' } }
        : { outcome: 'SUCCEEDED', materialization_id: ulidOf(claims.attempt_id) }
      expect(await ask.post(`${path}/completed`, { ...said, ...ending }, headers)).toMatchObject({ status: 200 })
    }
    await world.turn.run()
  }
}

async function made(asked: object): Promise<readonly unknown[]> {
  const { status, body } = await ask.post('/runs?wait=true', asked)
  expect({ status, body }).toMatchObject({ status: 202, body: { outcome: { kind: 'applied' } } })
  await world.turn.run()
  const { tasks } = (await ask.get(`/runs/${String(body['run_id'])}/tasks?fresh=true`)).body as {
    readonly tasks: readonly { readonly partitions: unknown }[]
  }
  await work()
  return tasks.map(({ partitions }) => partitions)
}

type Fault = readonly [asset_key: string, partitions: () => object, path: string, sentence: () => string]

describe('a run may not name', () => {
  test.each<Fault>([
    [
      'days',
      () => ({ keys: [day(0)] }),
      'partitions.keys[0]',
      () => `"${day(0)}" is none of the days from "${day(-5)}" to "${day(-1)}" in UTC`,
    ],
    ['days', () => ({ keys: [day(-1), day(90)] }), 'partitions.keys[1]', () => `"${day(90)}"`],
    ['days', () => ({ range: { start: day(-3), end: day(0) } }), 'partitions.range', () => `The range's end "${day(0)}"`],
    ['days', () => ({ range: { start: day(10), end: day(20) } }), 'partitions.range', () => `The range's start "${day(10)}"`],
    ['days', () => ({ all: true }), 'partitions.all', () => 'has no end. Name a range.'],
    ['ended', () => ({ range: { start: day(-3), end: day(4) } }), 'partitions.range', () => `The nearest key is "${day(-1)}"`],
    ['held', () => ({ keys: [day(-14)] }), 'partitions.keys[0]', () => `to "${day(-16)}" in UTC`],
    ['later', () => ({ all: true }), 'partitions.all', () => 'There is nothing to run: later has no day yet.'],
    ['later', () => ({ keys: [day(30)] }), 'partitions.keys[0]', () => `there is none yet. The definition begins with "${day(30)}"`],
    ['hours', () => ({ keys: [`${day(0)}-12:00`] }), 'partitions.keys[0]', () => `The nearest key is "${day(0)}-11:00"`],
    ['noons', () => ({ keys: [day(0)] }), 'partitions.keys[0]', () => `to "${day(-1)}" in UTC`],
    ['noons', () => ({ keys: [day(-2)] }), 'partitions.keys[0]', () => 'The nearest key is'],
    ['grid', () => ({ keys: [`eu|${day(0)}`] }), 'partitions.keys[0]', () => `its date "${day(0)}" is none`],
    ['grid', () => ({ range: { start: `eu|${day(-2)}`, end: `us|${day(0)}` } }), 'partitions.range', () => `its date "${day(0)}" is none`],
    ['week', () => ({ keys: [`us|${day(2)}`] }), 'partitions.keys[0]', () => `its date "${day(2)}" is none`],
    ['next', () => ({ keys: [day(0)] }), 'partitions.keys[0]', () => `"${day(0)}" is none`],
    // The one that is anchored is asked; what it is made from does not exist either.
    ['+next', () => ({ keys: [day(1)] }), 'partitions.keys[0]', () => `"${day(1)}" is none`],
  ])('of %s what does not exist: %#', async (selection, partitions, path, sentence) => {
    const { status, body } = await ask.post('/runs', { selection, partitions: partitions() })
    expect({ status, errors: body['errors'] }).toEqual({ status: 400, errors: [{ path, message: expect.stringContaining(sentence()) }] })
  })
})

describe('a run may name', () => {
  test.each<readonly [string, () => object, () => readonly unknown[]]>([
    ['days', () => ({ keys: [day(-1)] }), () => [{ keys: [day(-1)] }]],
    ['ended', () => ({ all: true }), () => [{ range: { start: day(-5), end: day(-1) } }]],
    ['held', () => ({ all: true }), () => [{ all: true }]],
    ['hours', () => ({ keys: [`${day(0)}-11:00`] }), () => [{ keys: [`${day(0)}-11:00`] }]],
    // Yesterday's is over at noon.
    ['noons', () => ({ range: { start: day(-3), end: day(-1) } }), () => [{ range: { start: day(-3), end: day(-1) } }]],
    [
      'grid',
      () => ({ range: { start: `eu|${day(-2)}`, end: `us|${day(-3)}` } }),
      () => [{ keys: [`area=eu|date=${day(-2)}`, `area=eu|date=${day(-1)}`, `area=us|date=${day(-3)}`] }],
    ],
    [
      'week',
      () => ({ all: true }),
      () => [{ keys: ['eu', 'us'].flatMap((area) => [-3, -2, -1].map((each) => `area=${area}|date=${day(each)}`)) }],
    ],
    // Tomorrow of the last day is not there yet: it is left out.
    ['+next', () => ({ keys: [day(-1)] }), () => [{ keys: [day(-1)] }]],
  ])('of %s what exists: %#', async (selection, partitions, expected) => {
    expect(await made({ selection, partitions: partitions() })).toEqual(expected())
  })

  test('and an asset counts no more than it has', async () => {
    expect((await ask.get('/assets/held?fresh=true')).body).toMatchObject({
      partitions: `the days from "${day(-20)}" to "${day(-16)}" in UTC`,
      partition_counts: { materialized: 5, total: 5 },
    })
    expect((await ask.get('/assets/ended?fresh=true')).body).toMatchObject({ partition_counts: { materialized: 5, total: 10 } })
  })
})

describe('a schedule', () => {
  /** Two months from now, and at none of the instants that a test lives through. */
  const yearly = () => `0 0 1 ${((new Date(today).getUTCMonth() + 2) % 12) + 1} *`
  const create = (schedule_name: string, asset_selection: string, mapping: object) =>
    ask.post('/schedules?wait=true', {
      schedule_name,
      cron_expressions: yearly(),
      asset_selection,
      partition_mapping: { type: 'LAST_COMPLETE', ...mapping },
    })
  const trigger = (name: string, body: object = {}) => ask.post(`/schedules/${name}/trigger?wait=true`, body)
  const runOf = async (run_id: unknown) => (await ask.get(`/runs/${String(run_id)}?fresh=true`)).body
  const firstRun = (body: Readonly<Record<string, unknown>>) => String((body['runs'] as readonly { readonly run_id: string }[])[0]?.run_id)

  test('asks for what exists, whatever instant or partition it is triggered for', async () => {
    expect(await create('plain', 'days', {})).toMatchObject({ status: 202 })
    const future = { instant: new Date(today + 3 * DAY_MS).toISOString() }
    expect(await trigger('plain', future)).toMatchObject({ status: 400, body: { errors: [{ path: 'instant' }] } })
    expect(await trigger('plain', { partition: day(0) })).toMatchObject({ status: 400, body: { errors: [{ path: 'partition' }] } })
    const { status, body } = await trigger('plain', { instant: new Date(today - DAY_MS).toISOString() })
    expect({ status, runs: body['runs'] }).toMatchObject({ status: 202, runs: [{ partition: day(-2) }] })
    const { body: now } = await trigger('plain')
    expect(now['runs']).toMatchObject([{ partition: day(-1) }])
    // An instant to come is none for what has no partitions.
    expect(
      await ask.post('/schedules?wait=true', { schedule_name: 'bare', cron_expressions: yearly(), asset_selection: 'total' }),
    ).toMatchObject({ status: 202 })
    expect(await trigger('bare', future)).toMatchObject({ status: 202 })
    await work()
    expect(await runOf(firstRun(body))).toMatchObject({ state: 'SUCCEEDED', partition_end_offset: null })
  })

  test('may not name keys of a dimension that do not exist when it ticks', async () => {
    const range = (end: number) => ({ dims: { date: { range: { start: day(-2), end: day(end) } }, area: { keys: ['eu'] } } })
    const never = await create('never', 'grid', range(200))
    expect(never).toMatchObject({ status: 400, body: { errors: [{ path: 'partition_mapping' }] } })
    // It will be there when the schedule ticks by itself, and is not there yet when somebody triggers it.
    expect(await create('dims', 'grid', range(2))).toMatchObject({ status: 202 })
    expect(await trigger('dims')).toMatchObject({ status: 409, body: { code: 'BAD_PARTITIONS' } })
  })

  test('with a positive offset is the exception: its runs record it, and reruns inherit it', async () => {
    expect(await create('ahead', 'days', { end_offset: 1 })).toMatchObject({ status: 202 })
    const { body } = await trigger('ahead')
    expect(body['runs']).toMatchObject([{ partition: day(0) }])
    expect(await trigger('ahead', { partition: day(1) })).toMatchObject({ status: 400 })
    expect(await trigger('ahead', { instant: new Date(today + DAY_MS).toISOString() })).toMatchObject({ status: 400 })
    await work(['days#0'])
    const first = firstRun(body)
    expect(await runOf(first)).toMatchObject({ state: 'FAILED', partition_end_offset: 1, partitions: { keys: [day(0)] } })
    for (const mode of ['from_failure', 'whole']) {
      const again = await ask.post(`/runs/${first}/rerun?wait=true`, { mode })
      expect(again).toMatchObject({ status: 202 })
      await work(mode === 'whole' ? [] : ['days#0'])
      expect(await runOf(again.body['run_id'])).toMatchObject({
        state: mode === 'whole' ? 'SUCCEEDED' : 'FAILED',
        partition_end_offset: 1,
        partitions: { keys: [day(0)] },
      })
      if (mode === 'whole') continue
      const once_more = await ask.post(`/runs/${String(again.body['run_id'])}/rerun?wait=true`, { mode })
      expect(once_more).toMatchObject({ status: 202 })
      await work(['days#0'])
      expect(await runOf(once_more.body['run_id'])).toMatchObject({ partition_end_offset: 1 })
    }
    // Of anybody else it is no more than before.
    expect(await ask.post('/runs', { selection: 'days', partitions: { keys: [day(0)] } })).toMatchObject({ status: 400 })
  })
})

describe('a rerun', () => {
  test('is refused where its partitions do not exist by the definition of now', async () => {
    const deploy = (end_offset: number) =>
      ask.post('/code-locations/other/deploy', {
        worker_url: 'http://127.0.0.1:4100',
        assets: [definition('moved', { partitions: daily(-5, undefined, { end_offset }) })],
      })
    expect(await deploy(2)).toMatchObject({ status: 202 })
    const { body } = await ask.post('/runs?wait=true', { selection: 'moved', partitions: { keys: [day(1)] } })
    await work(['moved'])
    expect(await deploy(0)).toMatchObject({ status: 202 })
    for (const mode of ['from_failure', 'whole']) {
      const { status, body: refused } = await ask.post(`/runs/${String(body['run_id'])}/rerun`, { mode })
      expect({ status, detail: refused['detail'] }).toEqual({
        status: 409,
        detail: expect.stringContaining(`moved: "${day(1)}" is none of the days from "${day(-5)}" to "${day(-1)}"`),
      })
    }
    world.passSeconds((2 * DAY_MS + HOUR_MS) / 1_000)
    expect(await ask.post(`/runs/${String(body['run_id'])}/rerun?wait=true`, { mode: 'whole' })).toMatchObject({ status: 202 })
    await work()
  })
})
