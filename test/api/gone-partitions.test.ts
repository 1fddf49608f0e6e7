// Partitions that the definition of an asset does not have any more: they are history, and neither counted nor handed on. The
// dry run of a deploy says how many of them there will be.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { DispatchPort } from '../../src/activities/dispatch.js'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { UPSTREAM_SCANNED_ROWS_MAX } from '../../src/core/limits.js'
import { DAY_MS } from '../../src/core/time.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, dispatched } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'
import { until } from '../fixtures/until.js'

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
/** Noon: no window begins or ends while the tests run. */
let today = 0
const day = (offset: number): string => new Date(today + offset * DAY_MS).toISOString().slice(0, 10)
const daily = (more: object = {}) => ({ type: 'daily', start_date: day(-10), ...more })
const listed = (...keys: readonly string[]) => ({ type: 'static', keys })

beforeAll(async () => {
  world = createApiWorld({ port })
  const now = world.appending.clock.now()
  today = Math.ceil(now / DAY_MS) * DAY_MS + DAY_MS / 2
  world.passSeconds((today - now) / 1_000)
  ask = createAsker(await world.start())
})
afterAll(() => world.close())

const deploy = (location: string, assets: readonly object[], query = '') =>
  ask.post(`/code-locations/${location}/deploy?wait=true${query}`, { worker_url: 'http://127.0.0.1:4100', assets })

async function deployed(location: string, ...assets: readonly object[]): Promise<void> {
  expect((await deploy(location, assets)).body).toMatchObject({ outcome: { kind: 'applied' } })
}

/** What a dry run says of the keys of the first asset that changes. */
async function keysOfDryRun(location: string, ...assets: readonly object[]) {
  const { status, body } = await deploy(location, assets, '&dry_run=true')
  expect(status).toBe(200)
  return (body['diff'] as { readonly changed: readonly { readonly partition_keys?: object }[] }).changed[0]?.partition_keys
}

async function work(): Promise<void> {
  await world.turn.run()
  for (let out = await dispatched(world); out.length > 0; out = await dispatched(world)) {
    const ids = out.map(({ claims }) => claims.attempt_id)
    await until('they are handed over', () => ids.every((id) => handed.some(({ attempt_id }) => attempt_id === id)))
    for (const { claims, headers, path, said } of out) {
      await ask.post(`${path}/started`, { ...said, worker_id: 'w1' }, headers)
      const completed = { ...said, outcome: 'SUCCEEDED', materialization_id: ulidOf(claims.attempt_id) }
      expect(await ask.post(`${path}/completed`, completed, headers)).toMatchObject({ status: 200 })
    }
    await world.turn.run()
  }
}

async function run(selection: string, partitions?: object): Promise<string> {
  const { status, body } = await ask.post('/runs?wait=true', { selection, ...(partitions === undefined ? {} : { partitions }) })
  expect({ status, body }).toMatchObject({ status: 202 })
  await work()
  return String(body['run_id'])
}

async function counts(asset_key: string) {
  const { body } = await ask.get(`/assets/${asset_key}?fresh=true`)
  const { materialized, total } = body['partition_counts'] as { readonly materialized: number; readonly total: number | null }
  return { materialized, total, last: (body['last_materialization'] as { readonly partition_key: string } | null)?.partition_key ?? null }
}

/** What a task that needs another asset is told of it. */
async function told(selection: string, upstream: string, partitions?: object): Promise<readonly string[]> {
  const run_id = await run(selection, partitions)
  return handed.findLast((each) => each.run_id === run_id)?.upstream[upstream]?.map(({ partition_key }) => partition_key) ?? []
}

const rowsOf = async (asset_key: string): Promise<number> =>
  (await world.look('partition_status')).rows.filter((row) => row['asset_key'] === asset_key).length

describe('a key that is not listed any more', () => {
  const users = [
    definition('report', { deps: [{ asset_key: 'sales' }] }),
    definition('sum', { deps: [{ asset_key: 'sales', mapping: { type: 'all' } }] }),
  ]
  const sales = (...keys: readonly string[]) => [definition('sales', { partitions: listed(...keys) }), ...users]

  beforeAll(async () => {
    await deployed('sales', ...sales('eu', 'us', 'apac'))
    await run('sales', { all: true })
  })

  test('is counted until it is gone, told by a dry run, and neither counted nor handed on then', async () => {
    expect(await counts('sales')).toEqual({ materialized: 3, total: 3, last: expect.any(String) })
    expect(await told('report', 'sales')).toEqual(['apac', 'eu', 'us'])
    expect(await keysOfDryRun('sales', ...sales('eu', 'us', 'asia'))).toEqual({
      materialized_ended: 1,
      materialized_begun: 0,
      begun: 1,
      is_complete: true,
    })
    await deployed('sales', ...sales('eu', 'us', 'asia'))
    expect(await counts('sales')).toEqual({ materialized: 2, total: 3, last: expect.stringMatching(/^(eu|us)$/) })
    expect(await told('report', 'sales')).toEqual(['eu', 'us'])
    expect(await told('sum', 'sales')).toEqual(['eu', 'us'])
    expect(await rowsOf('sales')).toBe(3)
  })

  test('counts again where it comes back: its row is history', async () => {
    expect(await keysOfDryRun('sales', ...sales('apac'))).toEqual({
      materialized_ended: 2,
      materialized_begun: 1,
      begun: 1,
      is_complete: true,
    })
    await deployed('sales', ...sales('apac'))
    expect(await counts('sales')).toEqual({ materialized: 1, total: 1, last: 'apac' })
    expect(await told('report', 'sales')).toEqual(['apac'])
  })
})

describe('after a change of the definition', () => {
  const grid = (name: string) => ({ type: 'multi', dimensions: { [name]: listed('eu', 'us'), date: daily() } })

  test.each<[string, () => object, () => object, object, object]>([
    [
      'a dimension that is renamed',
      () => grid('area'),
      () => grid('region'),
      { materialized_ended: 6, materialized_begun: 0, begun: 20 },
      { materialized: 0, told: [] },
    ],
    [
      'another zone',
      () => daily(),
      () => daily({ timezone: 'Asia/Tokyo' }),
      { materialized_ended: 3, materialized_begun: 0, begun: 10 },
      { materialized: 0, told: [] },
    ],
    [
      'a later start',
      () => daily(),
      () => daily({ start_date: day(-2) }),
      { materialized_ended: 1, materialized_begun: 0, begun: 0 },
      { materialized: 2, told: [-2, -1] },
    ],
    [
      'an offset that holds some back',
      () => daily(),
      () => daily({ end_offset: -1 }),
      { materialized_ended: 1, materialized_begun: 0, begun: 0 },
      { materialized: 2, told: [-3, -2] },
    ],
    [
      'an offset that is taken away',
      () => daily({ end_offset: 3 }),
      () => daily(),
      { materialized_ended: 0, materialized_begun: 0, begun: 0 },
      { materialized: 3, told: [-3, -2, -1] },
    ],
    [
      'another member alone',
      () => daily(),
      () => daily({ end_date: day(100) }),
      { materialized_ended: 0, materialized_begun: 0, begun: 0 },
      { materialized: 3, told: [-3, -2, -1] },
    ],
  ])('%s', async (name, before, after, changes, expected) => {
    const key = name.replaceAll(' ', '-')
    const user = definition(`${key}-user`, { deps: [{ asset_key: key }] })
    await deployed(key, definition(key, { partitions: before() }), user)
    const [start, end] = name.includes('dimension') ? [`${day(-3)}|eu`, `${day(-1)}|us`] : [day(-3), day(-1)]
    const keys = name.includes('dimension')
      ? ['eu', 'us'].flatMap((area) => [-3, -2, -1].map((each) => `area=${area}|date=${day(each)}`))
      : undefined
    await run(key, keys === undefined ? { range: { start, end } } : { keys })
    expect(await keysOfDryRun(key, definition(key, { partitions: after() }), user)).toEqual({ ...changes, is_complete: true })
    await deployed(key, definition(key, { partitions: after() }), user)
    const { materialized, told: days } = expected as { readonly materialized: number; readonly told: readonly number[] }
    expect((await counts(key)).materialized).toBe(materialized)
    expect(await told(`${key}-user`, key)).toEqual(days.map(day))
    expect(await rowsOf(key)).toBe(name.includes('dimension') ? 6 : 3)
  })

  test('an asset that gets its first partitions, and one that has none any more', async () => {
    const user = definition('bare-user', { deps: [{ asset_key: 'bare' }] })
    await deployed('bare', definition('bare'), user)
    await run('bare')
    expect(await counts('bare')).toEqual({ materialized: 1, total: 1, last: '' })
    expect(await keysOfDryRun('bare', definition('bare', { partitions: listed('x', 'y') }), user)).toMatchObject({
      materialized_ended: 1,
      begun: 2,
    })
    await deployed('bare', definition('bare', { partitions: listed('x', 'y') }), user)
    expect(await counts('bare')).toEqual({ materialized: 0, total: 2, last: null })
    expect(await told('bare-user', 'bare')).toEqual([])
    await run('bare', { keys: ['x'] })
    expect(await told('bare-user', 'bare')).toEqual(['x'])
    await deployed('bare', definition('bare'), user)
    // What it was before its partitions is its own key again.
    expect(await counts('bare')).toEqual({ materialized: 1, total: 1, last: '' })
    expect(await told('bare-user', 'bare')).toEqual([''])
  })

  test('a change that is none of the partitions says nothing of keys', async () => {
    await deployed('plain', definition('plain', { partitions: listed('x') }))
    expect(await keysOfDryRun('plain', definition('plain', { partitions: listed('x'), code_version: '2' }))).toBeUndefined()
  })
})

describe('a partition ahead', () => {
  test('that a schedule may ask for counts and is handed on, and one that an older offset allowed does not until it exists', async () => {
    const users = [definition('ahead-user', { deps: [{ asset_key: 'ahead' }] })]
    await deployed('ahead', definition('ahead', { partitions: daily({ end_offset: 2 }) }), ...users)
    await run('ahead', { keys: [day(1)] })
    await deployed('ahead', definition('ahead', { partitions: daily() }), ...users)
    expect(await counts('ahead')).toEqual({ materialized: 0, total: null, last: null })
    const asked = { schedule_name: 'ahead', cron_expressions: '0 0 1 1 *', asset_selection: 'ahead' }
    const mapped = { partition_mapping: { type: 'LAST_COMPLETE', end_offset: 1 } }
    expect(await ask.post('/schedules?wait=true', { ...asked, ...mapped, default_status: 'PAUSED' })).toMatchObject({ status: 202 })
    expect(await ask.post('/schedules/ahead/trigger?wait=true')).toMatchObject({ status: 202 })
    await work()
    expect(await counts('ahead')).toEqual({ materialized: 1, total: null, last: day(0) })
    expect(await told('ahead-user', 'ahead')).toEqual([day(0)])
    expect(await rowsOf('ahead')).toBe(2)
  })
})

test('what exists is found behind more rows of older keys than are read past', async () => {
  const side = Math.ceil(Math.sqrt(UPSTREAM_SCANNED_ROWS_MAX))
  const numbered = listed(...Array.from({ length: side }, (_, number) => `n${number}`))
  const user = definition('many-user', { deps: [{ asset_key: 'many' }] })
  await deployed('many', definition('many', { partitions: { type: 'multi', dimensions: { a: numbered, b: numbered } } }), user)
  await run('many', { all: true })
  await deployed('many', definition('many', { partitions: listed('y', 'z') }), user)
  await run('many', { keys: ['z'] })
  expect(await counts('many')).toEqual({ materialized: 1, total: 2, last: 'z' })
  expect(await told('many-user', 'many')).toEqual(['z'])
}, 120_000)
