// Ticks over the API, with nothing of Temporal there: those of the clock, those that somebody asks for, what became of them,
// and what would.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { tickSaying } from '../../src/cli/schedule/words.js'
import { type Answer, type ApiWorld, type Asker, createApiWorld, createAsker, definition } from '../fixtures/api-world.js'

const DAILY = { type: 'daily', start_date: '2025-01-01' }

let world: ApiWorld
let ask: Asker
beforeAll(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  const assets = [
    definition('a'),
    definition('b', { deps: [{ asset_key: 'a' }] }),
    definition('c', { partitions: { type: 'static', keys: ['x', 'y', 'z'] } }),
    definition('d', { partitions: DAILY }),
    definition('grid', { partitions: { type: 'multi', dimensions: { region: { type: 'static', keys: ['us', 'eu'] }, date: DAILY } } }),
  ]
  expect(await ask.post('/code-locations/main/deploy', { worker_url: 'http://127.0.0.1:4100', assets })).toMatchObject({ status: 202 })
})
afterAll(() => world.close())

const YEARLY = '0 0 1 1 *'
const applied = { status: 202, body: { outcome: { kind: 'applied' } } }
const detail = ({ body }: Answer) => String(body['detail'])

async function create(schedule_name: string, more: object = {}): Promise<string> {
  const made = await ask.post('/schedules?wait=true', { schedule_name, cron_expressions: YEARLY, asset_selection: 'a', ...more })
  expect(made).toMatchObject(applied)
  return String(made.body['schedule_id'])
}

type Tick = Readonly<Record<string, unknown>> & { readonly runs: readonly { readonly run_id: string; readonly state: string }[] }
const ticksOf = async (name: string, query = ''): Promise<readonly Tick[]> =>
  (await ask.get(`/schedules/${name}/ticks?fresh=true${query}`)).body['ticks'] as Tick[]

let passed_ms = 0

/** Lets the clock go on to a second after the next full minute, and turns run: one instant of a schedule of every minute. */
async function nextMinute(): Promise<void> {
  const seconds = 61 - (Math.floor((Date.now() + passed_ms) / 1_000) % 60)
  passed_ms += seconds * 1_000
  world.passSeconds(seconds)
  await world.turn.run()
}

describe('a trigger', () => {
  test('is a tick with its run in one batch, while the schedule is paused, too', async () => {
    const id = await create('held', { asset_selection: '+b', default_status: 'PAUSED', tags: { team: 'core' }, priority: 7 })
    const asked = await ask.post('/schedules/held/trigger?wait=true', { requested_by: 'user:1', reason: 'A trial.' })
    expect(asked).toMatchObject({
      ...applied,
      body: {
        schedule_id: id,
        schedule_name: 'held',
        tick_id: expect.stringMatching(`^${id}:manual:`),
        accepted_event_id: expect.any(String),
      },
    })
    const [run, ...others] = asked.body['runs'] as { run_id: string; run_key: string; partition: null }[]
    expect([run?.partition, run?.run_key, others]).toEqual([null, `sched:${String(asked.body['tick_id'])}`, []])
    expect((await ask.get(`/runs/${run?.run_id}?fresh=true`)).body).toMatchObject({
      trigger_type: 'SCHEDULE',
      assets: { keys: ['a', 'b'] },
      tags: { team: 'core' },
      priority: 7,
      requested_by: 'user:1',
    })
    expect(await ticksOf('held')).toEqual([
      expect.objectContaining({
        tick_id: asked.body['tick_id'],
        kind: 'MANUAL',
        status: 'TRIGGERED',
        definition_version: 1,
        assets: { keys: ['a', 'b'] },
        partitions: null,
        run_count: 1,
        runs: [expect.objectContaining({ run_id: run?.run_id, state: 'PLANNED' })],
        conflict_count: 0,
        error: null,
        requested_by: 'user:1',
        delay_ms: null,
      }),
    ])
    expect((await ask.get('/schedules/held?fresh=true')).body).toMatchObject({ status: 'PAUSED', last_tick_id: null })
  })

  test('of one Idempotency-Key is one tick', async () => {
    await create('once')
    const key = { 'idempotency-key': 'trigger-once' }
    const first = await ask.post('/schedules/once/trigger', {}, key)
    const again = await ask.post('/schedules/once/trigger?wait=true', {}, key)
    expect([again.body['tick_id'], again.body['runs']]).toEqual([first.body['tick_id'], first.body['runs']])
    expect(await ticksOf('once')).toHaveLength(1)
    await ask.post('/schedules/once/trigger', {})
    expect(await ticksOf('once')).toHaveLength(2)
  })

  test('asks for the partition that is named, for the last complete one at an instant, and for each key where there are several', async () => {
    await create('days', { asset_selection: 'd', partition_mapping: { type: 'LAST_COMPLETE' } })
    await create('keys', { asset_selection: 'c', partition_mapping: { type: 'LAST_COMPLETE' } })
    const runs = async (name: string, body: object) =>
      ((await ask.post(`/schedules/${name}/trigger?wait=true`, body)).body['runs'] as { partition: string; run_key: string }[]).map(
        ({ partition, run_key }) => [partition, run_key.split(':').slice(4)],
      )
    expect(await runs('days', { partition: '2025-01-05' })).toEqual([['2025-01-05', []]])
    expect(await runs('days', { instant: '2025-02-03T06:00:00Z' })).toEqual([['2025-02-02', []]])
    expect(await runs('keys', {})).toEqual(['x', 'y', 'z'].map((key) => [key, [key]]))
    const [tick] = await ticksOf('keys')
    expect([tick?.['run_count'], tick?.runs.map(({ state }) => state)]).toEqual([3, ['PLANNED', 'PLANNED', 'PLANNED']])
    expect(await ticksOf('days', '&to=2025-06-01T00:00:00Z')).toEqual([
      expect.objectContaining({ scheduled_for: '2025-02-03T06:00:00.000Z', partitions: { keys: ['2025-02-02'] } }),
    ])
  })

  test.each(['2025-01-15|us', 'region=us|date=2025-01-15', 'date=2025-01-15|region=us'])(
    'writes the one key of several dimensions that %s means, as a request for a run does',
    async (partition) => {
      const name = `grid-${partition.replace(/\W/g, '-')}`
      await create(name, { asset_selection: 'grid', partition_mapping: { type: 'LAST_COMPLETE', dims: { region: { keys: ['eu'] } } } })
      const asked = await ask.post(`/schedules/${name}/trigger?wait=true`, { partition })
      const canonical = 'date=2025-01-15|region=us'
      const [run] = asked.body['runs'] as { run_id: string; partition: string }[]
      expect(run?.partition).toBe(canonical)
      const [tick] = (await world.look('schedule_ticks')).rows.filter(({ tick_id }) => tick_id === asked.body['tick_id'])
      const by_hand = await ask.post('/runs?wait=true', { selection: ['grid'], partitions: { keys: [partition] } })
      const rows = (await world.look('runs')).rows
      const prints = [run?.run_id, by_hand.body['run_id']].map((id) => rows.find(({ run_id }) => run_id === id)?.['request_fingerprint'])
      expect([tick?.['partitions'], tick?.['request_fingerprint'], prints[0]]).toEqual([{ keys: [canonical] }, prints[1], prints[1]])
      const tasks = (await ask.get(`/runs/${run?.run_id}/tasks?fresh=true`)).body['tasks'] as { partitions: object }[]
      expect(tasks.map(({ partitions }) => partitions)).toEqual([{ keys: [canonical] }])
    },
  )

  test('that is too large for one batch is refused as a tick of the clock is, and one partition of it is not', async () => {
    const partitions = { type: 'static', keys: Array.from({ length: 1_000 }, (_, index) => `key-${index}`) }
    const assets = Array.from({ length: 90 }, (_, index) => definition(`${'wide'.repeat(10)}-${index}`, { group: 'wide', partitions }))
    expect(await ask.post('/code-locations/wide/deploy', { worker_url: 'http://127.0.0.1:4100', assets })).toMatchObject({ status: 202 })
    await create('wide', { asset_selection: 'group:wide', partition_mapping: { type: 'LAST_COMPLETE' } })
    const refused = await ask.post('/schedules/wide/trigger', {})
    expect(refused).toMatchObject({ status: 409, body: { code: 'TOO_MANY_RUNS' } })
    expect(detail(refused)).toBe(
      'The schedule wide cannot tick as things are: The tick asks for 1000 runs of these assets, which is more than fits one batch. ' +
        'Make schedules of fewer assets or partitions. Until then name one with partition.',
    )
    expect(await ask.post('/schedules/wide/trigger?wait=true', { partition: 'key-7' })).toMatchObject(applied)
  })

  test.each<[string, object, number, string]>([
    ['days', { partition: '2025-13-01' }, 400, '"2025-13-01"'],
    ['held', { partition: 'x' }, 400, 'None of the selected assets has partitions. Leave them out.'],
    [
      'days',
      { instant: '2024-05-01T00:00:00Z' },
      409,
      'No partition that the schedule days maps to is complete at 2024-05-01T00:00:00.000Z',
    ],
    ['days', { instant: 'yesterday' }, 400, 'an instant of RFC 3339'],
  ])('of %s with %j is %i: %s', async (name, body, status, sentence) => {
    const refused = await ask.post(`/schedules/${name}/trigger`, body)
    expect({ status: refused.status, detail: detail(refused) }).toEqual({ status, detail: expect.stringContaining(sentence) })
  })
})

describe('ticks of the clock', () => {
  test('are listed newest first, with their delay, their runs and their local time, and take filters', async () => {
    await create('minutely', { cron_expressions: '* * * * *', timezone: 'Asia/Kolkata', overlap_policy: 'SKIP' })
    await nextMinute()
    await nextMinute()
    const [second, first, ...others] = await ticksOf('minutely')
    expect(others).toEqual([])
    expect(first).toMatchObject({
      kind: 'CRON',
      status: 'TRIGGERED',
      run_count: 1,
      runs: [{ state: 'PLANNED' }],
      delay_ms: expect.any(Number),
    })
    expect(Number(first?.['delay_ms'])).toBeLessThanOrEqual(61_000)
    expect(first?.['local']).toMatch(/\+05:30$/)
    expect(second).toMatchObject({ status: 'SKIPPED', skip_reasons: { OVERLAP: 1 }, skipped_count: 1, runs: [], delay_ms: null })
    // Who asks why nothing ran is told which run stood in the way.
    expect([first?.['active_run_id'], second?.['active_run_id']]).toEqual([null, first?.runs[0]?.run_id])
    const words = tickSaying(second as unknown as Parameters<typeof tickSaying>[0])
    expect(words).toBe(`1 skipped: OVERLAP 1; ${first?.runs[0]?.run_id} was active`)
    expect(await ticksOf('minutely', '&status=SKIPPED')).toEqual([second])
    expect(await ticksOf('minutely', '&kind=MANUAL')).toEqual([])
    expect(await ticksOf('minutely', `&from=${String(second?.['scheduled_for'])}`)).toEqual([second])
    const page = (await ask.get('/schedules/minutely/ticks?limit=1')).body as { ticks: Tick[]; next_cursor: string }
    const next = (await ask.get(`/schedules/minutely/ticks?limit=1&cursor=${page.next_cursor}`)).body
    expect([page.ticks, next['ticks'], next['next_cursor']]).toEqual([[second], [first], null])
    expect((await ask.get('/schedules/minutely?fresh=true')).body).toMatchObject({ last_tick_status: 'SKIPPED', last_delay_ms: null })
  })
})

describe('previews', () => {
  test('of a cron and of a schedule are its next instants in its own zone, the first included', async () => {
    const query = 'timezone=America/New_York&from=2025-03-08T02:30:00-05:00&count=3'
    const { body } = await ask.get(`/cron-preview?cron=30 2 * * *&cron=@yearly&${query}`)
    const locals = ['2025-03-08T02:30:00-05:00', '2025-03-09T03:00:00-04:00', '2025-03-10T02:30:00-04:00']
    expect((body['fires'] as { local: string }[]).map(({ local }) => local)).toEqual(locals)
    expect((body['fires'] as object[])[0]).toEqual({ scheduled_for: '2025-03-08T07:30:00.000Z', local: locals[0] })
    const stored = await ask.get('/schedules/held/preview?from=2025-06-01T00:00:00Z&count=2')
    expect((stored.body['fires'] as { local: string }[]).map(({ local }) => local)).toEqual([
      '2026-01-01T00:00:00+00:00',
      '2027-01-01T00:00:00+00:00',
    ])
    const wrong = await ask.get('/cron-preview?cron=* * *')
    expect({ status: wrong.status, detail: detail(wrong) }).toEqual({ status: 400, detail: expect.stringContaining('has 3 fields') })
  })

  test('of a tick say what would run, what would be skipped and why, and write nothing', async () => {
    const id = await create('hourly', { cron_expressions: '0 * * * *', asset_selection: 'd', partition_mapping: { type: 'LAST_COMPLETE' } })
    const created = Date.parse(String((await ask.get('/schedules/hourly')).body['created_at']))
    const before = (await world.look('schedule_ticks')).rows.length
    const hour = Math.ceil((created + 1) / 3_600_000) * 3_600_000
    const at = new Date(hour + 9 * 3_600_000 + 60_000).toISOString()
    const { body } = await ask.get(`/schedules/hourly/dry-run?at=${at}`)
    const instants = [7, 8, 9].map((hours) => hour + hours * 3_600_000)
    expect(body).toMatchObject({
      schedule_id: id,
      status: 'ACTIVE',
      at,
      ticks: instants.map((at_ms) => ({
        scheduled_for: new Date(at_ms).toISOString(),
        status: 'TRIGGERED',
        asset_keys: ['d'],
        partitions: { keys: [new Date(Math.floor(at_ms / 86_400_000) * 86_400_000 - 1).toISOString().slice(0, 10)] },
        run_keys: [`sched:${id}:${at_ms / 1_000}`],
        error: null,
      })),
      skipped: [{ skipped_count: 7, skip_reasons: { CATCH_UP: 7 }, first_scheduled_for: new Date(hour).toISOString() }],
      held_count: 0,
      next_fire: { scheduled_for: new Date(hour + 10 * 3_600_000).toISOString() },
    })
    await world.turn.run()
    expect((await world.look('schedule_ticks')).rows).toHaveLength(before)
    await ask.post('/schedules/hourly/pause?wait=true')
    const paused = (await ask.get(`/schedules/hourly/dry-run?fresh=true&at=${at}`)).body
    expect(paused).toMatchObject({ status: 'PAUSED', ticks: [], skipped: [], held_count: 10, next_fire: null })
  })
})
