// How long a workspace keeps what, over the API: what holds, changes of it, and what a change would do.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ApiWorld, type Asker, createApiWorld, createAsker, MAIN } from '../fixtures/api-world.js'

let world: ApiWorld
let ask: Asker
beforeAll(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
})
afterAll(() => world.close())

type Setting = { readonly setting: string }
const setting = async (name: string) =>
  ((await ask.get('/retention?fresh=true')).body['settings'] as Setting[]).find((one) => one.setting === name)

describe('the settings of a workspace', () => {
  test('are there before anything was published, and cannot be changed before a turn knows how', async () => {
    const { status, body } = await ask.get('/retention')
    expect({ status, settings: body['settings'] }).toMatchObject({ status: 200, settings: expect.arrayContaining([]) })
    expect(body['settings']).toHaveLength(8)
    expect((body['settings'] as object[])[0]).toEqual({
      setting: 'idempotency_hours',
      value: 168,
      default_value: 168,
      minimum: 168,
      maximum: 744,
      changed_at: null,
      changed_by: null,
      reason: null,
    })
    expect(await ask.get('/retention/dry-run?outbox_days=3')).toMatchObject({
      status: 200,
      body: { sequence: 0, changes: [{ setting: 'outbox_days', from: 30, to: 3 }], expiring: [], as_of: null },
    })
    world.holdTurns()
    const refused = await ask.patch('/retention', { outbox_days: 3 })
    expect(refused).toMatchObject({ status: 503, body: { fold_version: 1, needed: 4 } })
    world.releaseTurns()
    expect(await ask.post('/code-locations/main/deploy', MAIN)).toMatchObject({ status: 202 })
  })

  test('change one by one, and say since when, by whom and why', async () => {
    const asked = { refusals_days: 14, requested_by: 'user:1', reason: 'Two weeks are enough.' }
    const changed = await ask.patch('/retention?wait=true', asked, { 'idempotency-key': 'k-1' })
    expect(changed).toMatchObject({ status: 202, body: { settings: { refusals_days: 14 }, outcome: { kind: 'applied' } } })
    expect(await setting('refusals_days')).toMatchObject({
      value: 14,
      default_value: 30,
      changed_at: expect.any(String),
      changed_by: 'user:1',
      reason: 'Two weeks are enough.',
    })
    expect(await setting('outbox_days')).toMatchObject({ value: 30, changed_at: null })
    expect((await world.look('retention_settings')).rows).toMatchObject([{ setting: 'refusals_days', value: 14, changed_by: 'user:1' }])
  })

  test('change once by one key, however often it is sent', async () => {
    const again = await ask.patch('/retention', { refusals_days: 14, reason: 'Two weeks are enough.' }, { 'idempotency-key': 'k-1' })
    expect(again).toMatchObject({ status: 202, body: { settings: { refusals_days: 14 } } })
    expect(await ask.patch('/retention', { refusals_days: 15 }, { 'idempotency-key': 'k-1' })).toMatchObject({ status: 422 })
    expect(await setting('refusals_days')).toMatchObject({ value: 14, changed_by: 'user:1' })
  })

  test.each([
    [
      { idempotency_hours: 167 },
      'idempotency_hours is 167. Give it a whole number from 168 to 744: a repeat of a request is appended for six days',
    ],
    [{ idempotency_hours: 745 }, 'idempotency_hours is 745. Give it a whole number from 168 to 744'],
    [{ refusals_days: 6 }, 'refusals_days is 6. Give it a whole number from 7 to 3660'],
    [{ outbox_days: 1.5 }, 'outbox_days is 1.5. Give it a whole number from 1 to 3660'],
    [{ as_of_minutes_hours: 0 }, 'as_of_minutes_hours is 0. Give it a whole number from 1 to 168: the last hour is kept whole'],
    [{ as_of_hours_days: 367 }, 'as_of_hours_days is 367. Give it a whole number from 1 to 366'],
    [{ cold_days: 3 }, 'cold_days'],
    [{}, 'No setting was named. Give at least one of idempotency_hours'],
  ])('%j is refused, with what to do', async (asked, said) => {
    const { status, body } = await ask.patch('/retention', asked)
    expect({ status, detail: body['detail'] }).toEqual({ status: 400, detail: expect.stringContaining(said) })
    const query = Object.entries(asked).map((pair) => pair.join('='))
    // In a query everything is text.
    const told = expect.stringContaining(said.replace(/^.* is \S+\. /, ''))
    expect(await ask.get(`/retention/dry-run?${query.join('&')}`)).toMatchObject({ status: 400, body: { detail: told } })
  })

  test('are shown with what a change would do, and nothing is changed by that', async () => {
    const { sequence } = await world.look('retention_settings')
    const { status, body } = await ask.get('/retention/dry-run?refusals_days=7&as_of_hours_days=10&cold_after_days=3&fresh=true')
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        sequence,
        changes: [
          { setting: 'refusals_days', from: 14, to: 7 },
          { setting: 'cold_after_days', from: 7, to: 3 },
          { setting: 'as_of_hours_days', from: 30, to: 10 },
        ],
        expiring: [{ table: 'refusals', column: 'folded_at', rows: 0, files: 0, bytes: 0 }],
        as_of: { now: { revisions: 0 }, then: { revisions: 0 } },
      },
    })
    expect((body['moving'] as { readonly table: string }[]).map(({ table }) => table)).toEqual([
      'runs',
      'tasks',
      'dispatch_outbox',
      'schedule_ticks',
    ])
    expect((await world.look('retention_settings')).sequence).toBe(sequence)
  })
})
