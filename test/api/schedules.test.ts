// Schedules over the API, with nothing of Temporal there: made, changed, paused, removed, by id and by name.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Answer, type ApiWorld, type Asker, createApiWorld, createAsker, definition, MAIN } from '../fixtures/api-world.js'

const DAILY = { type: 'daily', start_date: '2025-01-01' }
const PARTITIONS: Readonly<Record<string, object>> = {
  d: DAILY,
  'd-tokyo': { ...DAILY, timezone: 'Asia/Tokyo' },
  hours: { type: 'hourly', start_date: '2025-01-01' },
  later: { ...DAILY, start_date: '2150-01-01' },
  grid: { type: 'multi', dimensions: { region: { type: 'static', keys: ['us', 'eu'] }, date: DAILY } },
}
const mapped = (dims?: object) => ({ partition_mapping: { type: 'LAST_COMPLETE', ...(dims === undefined ? {} : { dims }) } })

let world: ApiWorld
let ask: Asker
beforeAll(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  const assets = [...MAIN.assets, ...Object.entries(PARTITIONS).map(([key, partitions]) => definition(key, { partitions }))]
  expect(await ask.post('/code-locations/main/deploy', { ...MAIN, assets })).toMatchObject({ status: 202 })
})
afterAll(() => world.close())

/** Fires at none of the instants that a test lives through. */
const YEARLY = '0 0 1 1 *'
const applied = { status: 202, body: { outcome: { kind: 'applied' } } }
const create = (schedule_name: string, more: object = {}): Promise<Answer> =>
  ask.post('/schedules?wait=true', { schedule_name, cron_expressions: YEARLY, asset_selection: 'a', ...more })
const show = async (id_or_name: string) => (await ask.get(`/schedules/${id_or_name}?fresh=true`)).body
const detail = ({ body }: Answer) => String(body['detail'])
const idOf = ({ body }: Answer) => String(body['schedule_id'])

describe('a schedule', () => {
  test('is made with what is left out filled in, and shown by its id and by its name', async () => {
    const made = await create('nightly', { timezone: 'Europe/Berlin', requested_by: 'user:1' })
    expect(made).toMatchObject({ ...applied, body: { schedule_name: 'nightly', accepted_event_id: expect.any(String) } })
    const shown = await show('nightly')
    expect(shown).toEqual({
      schedule_id: idOf(made),
      schedule_name: 'nightly',
      location_name: null,
      status: 'ACTIVE',
      state_version: 1,
      definition_version: 1,
      definition_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      cron_expressions: [YEARLY],
      timezone: 'Europe/Berlin',
      asset_selection: ['a'],
      partition_mapping: null,
      catchup_window_minutes: 1_440,
      max_catchup_ticks: 3,
      catch_up_on_resume: false,
      overlap_policy: 'ALLOW',
      tags: {},
      priority: 0,
      description: null,
      default_status: 'ACTIVE',
      created_at: expect.any(String),
      updated_at: expect.any(String),
      cron_changed_at: expect.any(String),
      removed_at: null,
      enabled_at: expect.any(String),
      paused_at: null,
      status_changed_by: null,
      status_reason: null,
      last_scheduled_for: null,
      last_tick_id: null,
      last_tick_status: null,
      last_run_key: null,
      last_decided_at: null,
      last_delay_ms: null,
      consecutive_failures: 0,
      next_fire: { scheduled_for: expect.stringMatching(/-12-31T23:00:00.000Z$/), local: expect.stringMatching(/-01-01T00:00:00\+01:00$/) },
      row_version: expect.any(Number),
    })
    expect(await show(idOf(made))).toEqual(shown)
  })

  test('is made once by one Idempotency-Key, and its key is 422 with another body', async () => {
    const body = { schedule_name: 'once', cron_expressions: [YEARLY], asset_selection: ['a'] }
    const key = { 'idempotency-key': 'make-once' }
    const first = await ask.post('/schedules?wait=true', body, key)
    const again = await ask.post('/schedules?wait=true', body, key)
    expect([idOf(again), again.body['accepted_event_id']]).toEqual([idOf(first), first.body['accepted_event_id']])
    expect((await ask.post('/schedules', { ...body, timezone: 'Asia/Tokyo' }, key)).status).toBe(422)
    expect((await ask.get('/schedules?name_prefix=once&fresh=true')).body['schedules']).toHaveLength(1)
  })

  test('that is not there is 404, with the name that was probably meant', async () => {
    const missing = await ask.get('/schedules/nihgtly?fresh=true')
    expect(missing).toMatchObject({ status: 404, body: { type: 'urn:servo:problem:not-found' } })
    expect(detail(missing)).toContain('There is no schedule nihgtly. Did you mean nightly?')
    for (const path of ['ticks', 'pause', 'resume', 'trigger']) {
      const answer = path === 'ticks' ? await ask.get(`/schedules/nobody/${path}`) : await ask.post(`/schedules/nobody/${path}`, {})
      expect({ path, status: answer.status, detail: detail(answer) }).toEqual({
        path,
        status: 404,
        detail: expect.stringContaining('There is no schedule nobody.'),
      })
    }
  })

  test.each<[string, object, string, string]>([
    ['a cron', { cron_expressions: '0 25 * * *' }, 'cron_expressions', '"0 25 * * *" is not understood'],
    ['a cron that never fires', { cron_expressions: '0 0 30 2 *' }, 'cron_expressions', 'can never match'],
    ['a zone', { timezone: 'Europe/Berln' }, 'timezone', 'Did you mean "Europe/Berlin"?'],
    ['an asset', { asset_selection: ['a', 'bb'] }, 'asset_selection[1]', 'bb is not defined.'],
    ['assets with partitions, and no mapping', { asset_selection: 'c' }, 'partition_mapping', 'c has partitions: say which'],
    ['a mapping, and no partitions', { partition_mapping: { type: 'LAST_COMPLETE' } }, 'partition_mapping', 'Leave partition_mapping out.'],
    ['a dimension that is none', { asset_selection: 'grid', ...mapped({ regoin: { all: true } }) }, 'partition_mapping', '"regoin"'],
    ['a key that is none', { asset_selection: 'grid', ...mapped({ region: { keys: ['uk'] } }) }, 'partition_mapping', '"uk"'],
    ['dimensions of days', { asset_selection: 'd', ...mapped({ region: { all: true } }) }, 'partition_mapping', 'Leave dims out.'],
    ['hours and days', { asset_selection: ['d', 'hours'], ...mapped() }, 'partition_mapping', 'Make a schedule for each.'],
    ['a window', { catchup_window_minutes: 0 }, 'catchup_window_minutes', 'a whole number from 1'],
    ['a policy', { overlap_policy: 'QUEUE' }, 'overlap_policy', 'ALLOW, or SKIP'],
    ['a member that nobody knows', { cron: '* * * * *' }, '', 'cron'],
  ])('with %s that cannot be meant is refused, and says what to do', async (_, more, path, message) => {
    const refused = await create('wrong', more)
    expect({ status: refused.status, detail: detail(refused) }).toEqual({ status: 400, detail: expect.stringContaining(message) })
    if (path !== '') expect(refused.body['errors']).toEqual([expect.objectContaining({ path })])
    expect((await ask.get('/schedules/wrong')).status).toBe(404)
  })

  test('that maps to partitions which are still to come is taken', async () => {
    expect(await create('to-come', { asset_selection: 'later', ...mapped() })).toMatchObject(applied)
    // Ticks of noon alone find the same day in both zones.
    const noon = { cron_expressions: '0 12 * * *', asset_selection: ['d', 'd-tokyo'], ...mapped() }
    expect(await create('zones', noon)).toMatchObject(applied)
    expect(await create('zones-apart', { ...noon, cron_expressions: '0 18 * * *' })).toMatchObject({ status: 400 })
  })

  test('whose name is taken, or looks like an id, is refused', async () => {
    const taken = await create('nightly')
    expect(taken).toMatchObject({ status: 409, body: { schedule_id: (await show('nightly'))['schedule_id'] } })
    expect(detail(taken)).toContain('The name nightly belongs to the schedule')
    expect(detail(await create('01JZ8M5Q3R7T9V0W2X4Y6ZABCD'))).toContain('would be taken for the id of a schedule')
  })

  test('whose cron means something else than it seems to is taken, with a warning', async () => {
    const made = await create('warned', { cron_expressions: '*/90 * * * *', default_status: 'PAUSED' })
    expect(made).toMatchObject({ ...applied, body: { warnings: [expect.stringContaining('steps start anew with each hour')] } })
    expect(await show('warned')).toMatchObject({ status: 'PAUSED', next_fire: null, paused_at: expect.any(String) })
  })
})

describe('a change', () => {
  test('keeps what it does not name, takes away what is null, and moves the version', async () => {
    await create('changing', { description: 'As it was.', tags: { team: 'core' }, priority: 5, max_catchup_ticks: 7 })
    const body = { cron_expressions: ['@daily'], tags: null, expected_definition_version: 1 }
    expect(await ask.patch('/schedules/changing?wait=true', body)).toMatchObject(applied)
    expect(await show('changing')).toMatchObject({
      definition_version: 2,
      cron_expressions: ['@daily'],
      tags: {},
      priority: 5,
      max_catchup_ticks: 7,
      description: 'As it was.',
    })
    const stale = await ask.patch('/schedules/changing', { timezone: 'Asia/Tokyo', expected_definition_version: 1 })
    expect(stale).toMatchObject({ status: 409, body: { definition_version: 2 } })
    expect(detail(stale)).toContain('is at definition version 2, and this change was made for version 1')
  })

  test('of the whole definition gives what it leaves out its default', async () => {
    expect(await ask.put('/schedules/changing?wait=true', { cron_expressions: '@daily', asset_selection: 'b' })).toMatchObject(applied)
    expect(await show('changing')).toMatchObject({
      schedule_name: 'changing',
      definition_version: 3,
      asset_selection: ['b'],
      priority: 0,
      max_catchup_ticks: 3,
      description: null,
    })
  })

  test.each([
    ['utc', 'UTC', 'uTC'],
    ['Europe/berlin', 'Europe/Berlin', 'EUROPE/BERLIN'],
    // A link stays one.
    ['us/eastern', 'US/Eastern', 'US/EASTERN'],
  ])('of the zone %s writes %s, and %s is the same zone', async (typed, zone, again) => {
    const name = `zone-${zone.replace('/', '-')}`
    await create(name, { timezone: typed })
    expect(await show(name)).toMatchObject({ timezone: zone, definition_version: 1 })
    const changed = await ask.patch(`/schedules/${name}?wait=true`, { timezone: again })
    expect(changed).toMatchObject({ status: 202, body: { accepted_event_id: null } })
    expect(await show(name)).toMatchObject({ timezone: zone, definition_version: 1 })
  })

  test('of the name alone keeps id and version, and frees the old name', async () => {
    const before = await show('changing')
    expect(await ask.patch('/schedules/changing?wait=true', { schedule_name: 'changed' })).toMatchObject(applied)
    expect(await show('changed')).toMatchObject({ schedule_id: before['schedule_id'], definition_version: 3 })
    expect((await ask.get('/schedules/changing?fresh=true')).status).toBe(404)
    expect((await ask.patch('/schedules/changed', { schedule_name: 'nightly' })).status).toBe(409)
  })

  test('that changes nothing appends nothing', async () => {
    const before = await show('changed')
    const { status, body } = await ask.patch('/schedules/changed?wait=true', { cron_expressions: ['@daily'] })
    expect({ status, body }).toEqual({
      status: 202,
      body: { schedule_id: before['schedule_id'], schedule_name: 'changed', accepted_event_id: null },
    })
    expect(await show('changed')).toEqual(before)
  })
})

describe('pause and resume', () => {
  test('say by whom and why, move the state, and are refused where they are so already', async () => {
    await create('held')
    const paused = await ask.post('/schedules/held/pause?wait=true', { requested_by: 'user:2', reason: 'The source is down.' })
    expect(paused).toMatchObject(applied)
    expect(await show('held')).toMatchObject({
      status: 'PAUSED',
      state_version: 2,
      status_changed_by: 'user:2',
      status_reason: 'The source is down.',
      paused_at: expect.any(String),
      next_fire: null,
    })
    const again = await ask.post('/schedules/held/pause')
    expect(again).toMatchObject({ status: 409, body: { schedule_status: 'PAUSED' } })
    expect(detail(again)).toMatch(
      /is paused already, since \S+ by user:2: The source is down\. There is nothing to do; to let it fire again, resume it\.$/,
    )
    const stale = await ask.post('/schedules/held/resume', { expected_state_version: 1 })
    expect(stale).toMatchObject({ status: 409, body: { state_version: 2 } })
    expect(await ask.post('/schedules/held/resume?wait=true', { expected_state_version: 2 })).toMatchObject(applied)
    expect(await show('held')).toMatchObject({ status: 'ACTIVE', state_version: 3, paused_at: null, status_changed_by: null })
    expect(detail(await ask.post('/schedules/held/resume'))).toContain(
      'is active already. There is nothing to do; to hold it back, pause it.',
    )
  })
})

describe('removal', () => {
  test('leaves a tombstone that is found by its id, and frees the name', async () => {
    const id = idOf(await create('short-lived'))
    expect(await ask.delete('/schedules/short-lived?wait=true', { reason: 'Not needed.' })).toMatchObject(applied)
    expect((await ask.get('/schedules/short-lived?fresh=true')).status).toBe(404)
    expect(await show(id)).toMatchObject({ status: 'REMOVED', removed_at: expect.any(String), next_fire: null })
    const gone = await ask.post(`/schedules/${id}/resume`)
    expect({ status: gone.status, detail: detail(gone) }).toEqual({ status: 409, detail: expect.stringContaining('was removed') })
    expect(idOf(await create('short-lived'))).not.toBe(id)
    const removed = (await ask.get('/schedules?status=REMOVED&fresh=true')).body['schedules'] as { schedule_id: string }[]
    expect(removed.map(({ schedule_id }) => schedule_id)).toEqual([id])
  })
})

describe('the list', () => {
  const names = async (query: string) =>
    ((await ask.get(`/schedules?fresh=true&${query}`)).body['schedules'] as { schedule_name: string }[]).map((each) => each.schedule_name)

  test('is by name, page by page, and takes filters', async () => {
    await create('by-asset', { asset_selection: '+b', default_status: 'PAUSED' })
    const all = await names('')
    expect(all).toEqual([...all].sort())
    const first = (await ask.get('/schedules?limit=2&fresh=true')).body as { schedules: object[]; next_cursor: string }
    await create('aaa-between-pages')
    const second = await ask.get(`/schedules?limit=100&fresh=true&cursor=${first.next_cursor}`)
    expect(first.schedules).toHaveLength(2)
    expect((second.body['schedules'] as { schedule_name: string }[]).map((each) => each.schedule_name)).toEqual(all.slice(2))
    expect(await names('name_prefix=by-')).toEqual(['by-asset'])
    expect(await names('status=PAUSED')).toEqual(['by-asset', 'warned'])
    expect(await names('asset=b')).toEqual(['by-asset', 'changed'])
    expect(await names('location_name=main')).toEqual([])
    expect((await ask.get('/schedules?status=paused')).status).toBe(400)
  })
})
