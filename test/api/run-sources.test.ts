// What requested a run, who asked for it or cancelled it, and why; and lists of runs by all of these.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition } from '../fixtures/api-world.js'

let world: ApiWorld
let ask: Asker

beforeAll(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  const asked = { worker_url: 'http://127.0.0.1:4100', assets: [definition('a'), definition('b')] }
  expect((await ask.post('/code-locations/main/deploy?wait=true', asked)).body).toMatchObject({ outcome: { kind: 'applied' } })
  const schedule = { schedule_name: 'nightly', cron_expressions: '0 0 1 1 *', asset_selection: 'a', default_status: 'PAUSED' }
  expect(await ask.post('/schedules?wait=true', schedule)).toMatchObject({ status: 202 })
  expect(await ask.post('/schedules/nightly/trigger?wait=true', { requested_by: 'ben' })).toMatchObject({ status: 202 })
  const manual = { selection: 'b', run_key: 'by-hand', requested_by: 'ada', reason: 'the source was late', tags: { team: 'core' } }
  expect(await ask.post('/runs?wait=true', manual)).toMatchObject({ status: 202 })
})
afterAll(() => world.close())

type Run = Readonly<Record<string, unknown>>
const listed = async (query: string): Promise<readonly Run[]> => (await ask.get(`/runs?${query}`)).body['runs'] as readonly Run[]
const keysOf = async (query: string) => (await listed(query)).map(({ schedule_name, run_key }) => schedule_name ?? run_key).sort()

test('a run names its schedule and tick, and one that a person asked for who and why', async () => {
  const [ticked] = await listed('trigger_type=SCHEDULE')
  expect(ticked).toMatchObject({ schedule_name: 'nightly', trigger_type: 'SCHEDULE', requested_by: 'ben', reason: null, sensor_id: null })
  expect(ticked?.['tick_id']).toContain(String(ticked?.['schedule_id']))
  const [manual] = await listed('run_key=by-hand')
  expect(manual).toMatchObject({
    schedule_name: null,
    tick_id: null,
    requested_by: 'ada',
    reason: 'the source was late',
    cancel_reason: null,
  })
  expect((await ask.get(`/runs/${String(manual?.['run_id'])}`)).body).toEqual(manual)
})

test.each([
  ['schedule=nightly', ['nightly']],
  ['trigger_type=MANUAL', ['user:by-hand']],
  ['requested_by=ada', ['user:by-hand']],
  ['requested_by=ben', ['nightly']],
  ['requested_by=nemo', []],
  ['asset=a', ['nightly']],
  ['tag=team=core', ['user:by-hand']],
  ['schedule=nightly&requested_by=ada', []],
])('runs are listed by %s', async (query, keys) => {
  expect(await keysOf(query)).toEqual(keys)
})

test('runs are listed by the id of their schedule and by their tick', async () => {
  const [{ schedule_id, tick_id } = {}] = await listed('schedule=nightly')
  expect(await keysOf(`schedule=${String(schedule_id)}`)).toEqual(['nightly'])
  expect(await keysOf(`tick_id=${encodeURIComponent(String(tick_id))}`)).toEqual(['nightly'])
})

test('a schedule that is not there is a mistake, and not a list without runs', async () => {
  const { status, body } = await ask.get('/runs?schedule=nightley')
  expect(status).toBe(404)
  expect(body['detail']).toContain('nightly')
})

test('a cancel says who and why, by a filter as well', async () => {
  const asked = { filter: { requested_by: 'ada' }, requested_by: 'eve', reason: 'the warehouse is full' }
  expect((await ask.post('/runs/cancel?wait=true', asked)).body).toMatchObject({ matched_count: 1, outcome: { kind: 'applied' } })
  expect((await listed('run_key=by-hand'))[0]).toMatchObject({ cancel_requested_by: 'eve', cancel_reason: 'the warehouse is full' })
})

test('the cap of a pool says who set it and why', async () => {
  const asked = { max_running: 2, requested_by: 'ada', reason: 'the database is small' }
  expect(await ask.put('/pools/pool%3Adb?wait=true', asked)).toMatchObject({ status: 202 })
  expect((await ask.get('/pools/pool%3Adb')).body).toMatchObject({ cap: { set_by: 'ada', reason: 'the database is small' } })
})
