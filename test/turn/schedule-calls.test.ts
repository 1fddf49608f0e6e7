// Calls of schedules' loops on a real store, with real turns: what they ask for, and what they answer.

import { getEventListeners, setMaxListeners } from 'node:events'
import { expect, test } from '@jest/globals'
import { asyncLocalStorage, type Context } from '@temporalio/activity'
import { createAsk } from '../../src/activities/entities/ask.js'
import { createEntityCalls } from '../../src/activities/entities/kinds.js'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { createAppender } from '../../src/ledger/append.js'
import { createCurrent } from '../../src/readers/current.js'
import type { ScheduleCall } from '../../src/workflows/contract.js'
import { createApiWorld, SECRETS } from '../fixtures/api-world.js'
import { createSpeaker, ulidOf } from '../fixtures/say.js'

const SCHEDULE_ID = ulidOf('hourly')

/** A schedule, hourly as a rule. */
async function world(cron = '0 * * * *', { has_names = false } = {}) {
  const api = createApiWorld()
  const { scope, random, clock } = api.appending
  const appender = createAppender({ ...api.appending, server_time: api.appending.clock.now() })
  const say = createSpeaker()
  const at = { at: appender.now() }
  const definition = { asset_selection: ['a'], cron_expressions: [cron] }
  await appender.append([
    say.locationDeployed('main', 0, {}, at),
    say.assetDefined('a', {}, 'main', at),
    say.scheduleDefined(SCHEDULE_ID, definition, { schedule_name: 'hourly' }, at),
  ])
  const current = createCurrent({ reader: api.reader, clock })
  let pokes = 0
  let turns = 0
  let onPoke: () => void = () => void turn()
  const poke = () => {
    pokes += 1
    onPoke()
  }
  async function turn(): Promise<void> {
    turns += 1
    await api.turn.run()
  }
  const submit = { scope, appender, random, poke }
  const controller = new AbortController()
  const stopping = controller.signal
  setMaxListeners(0, stopping)
  /** Tells the process to end with the next poke, which no turn follows. */
  const stopWithPoke = () => {
    onPoke = () => controller.abort()
  }
  const listeners = () => getEventListeners(stopping, 'abort').length
  const ask = createAsk({ current, poke, stopping })
  const { scheduleTurn } = createEntityCalls({ scope, clock, current, ask, submit, stopping, secrets: SECRETS, has_names } as never)
  const context = { info: { workflowExecution: { workflowId: 'a loop', runId: 'a run' } } } as unknown as Context
  const call = (...commands: ScheduleCall['commands']) =>
    asyncLocalStorage.run(context, () => scheduleTurn({ ...scope, schedule_id: SCHEDULE_ID, commands }))
  const ticks = async () => (await (await current.latest())?.page('schedule_ticks', { limit: 10 }))?.rows ?? []
  const remove = () => appender.append([say.scheduleRemoved(SCHEDULE_ID, { at: appender.now() })])
  return {
    call,
    turn,
    remove,
    stopWithPoke,
    listeners,
    pass: (duration_ms = HOUR_MS) => api.passSeconds(duration_ms / 1_000),
    ticks,
    said: () => ({ pokes, turns }),
  }
}

test('a thousand calls that are due at once share one poke and one turn, and a call after its publish asks for none', async () => {
  const { call, turn, pass, ticks, said, listeners } = await world()
  await turn()
  await call()
  expect(said()).toEqual({ pokes: 0, turns: 1 })
  pass()
  const reports = await Promise.all(Array.from({ length: 1_000 }, () => call()))
  expect(said()).toEqual({ pokes: 1, turns: 2 })
  expect(new Set(reports.map(({ status, page }) => `${status} ${/TRIGGERED/.exec(page?.lines.join() ?? '')?.[0]}`))).toEqual(
    new Set(['ACTIVE TRIGGERED']),
  )
  expect(await ticks()).toHaveLength(1)
  await call()
  expect(said()).toEqual({ pokes: 1, turns: 2 })
  expect(listeners()).toBe(0)
})

test('calls that wait for a turn when their process is about to end leave at once, to another process', async () => {
  const { call, turn, pass, stopWithPoke, listeners } = await world()
  await turn()
  pass()
  stopWithPoke()
  const left = await Promise.allSettled([call(), call()])
  expect(left).toMatchObject([{ reason: { type: 'stopping' } }, { reason: { type: 'stopping' } }])
  expect(listeners()).toBe(0)
})

test('a revision that covers the due instant already asks for no turn, whoever published it', async () => {
  const { call, turn, pass, said } = await world()
  await turn()
  pass()
  await turn()
  expect((await call()).page?.lines.join()).toMatch(/last tick \S+ \S+ \S+ TRIGGERED/)
  expect(said()).toEqual({ pokes: 0, turns: 2 })
})

test('a command is answered, and the page says what the last one came to', async () => {
  const { call, turn, remove, pass } = await world()
  await turn()
  const paused = await call({ kind: 'pause', request_id: 'p-1', requested_by: 'user:7' })
  expect(paused).toMatchObject({ status: 'PAUSED', answers: { 'p-1': { status: 'PAUSED' } }, last_command: 'pause by user:7, done' })
  const again = await call({ kind: 'pause', request_id: 'p-2' }, { kind: 'resume', request_id: 'r-1' })
  expect(again.answers).toEqual({
    'p-2': { problem: 'The pause was not carried out. The schedule was paused already.' },
    'r-1': { status: 'ACTIVE' },
  })
  expect(again.last_command).toBe('pause, refused: The schedule was paused already.')
  expect(await call()).not.toHaveProperty('last_command')
  await remove()
  // Two segments of one millisecond are folded in the order of their names.
  pass()
  const removed = 'The schedule was removed, and stays removed: make another one, which may have its name.'
  expect((await call({ kind: 'pause', request_id: 'p-3' })).last_command).toBe(`pause, refused: ${removed}`)
})

test('an answer carries the settings of the loop, and names the run that called', async () => {
  const { call, turn } = await world()
  await turn()
  expect(await call()).toMatchObject({ settings: { looks_max: 50, next_fire_slack_ms: 0 }, run_id: 'a run' })
})

test('the timer of a loop whose schedule fires often says how often it looks', async () => {
  const { call, turn, pass } = await world('* * * * *')
  await turn()
  // Until then the page has no tick: it looks after the first one.
  expect((await call()).timer).toMatch(/^next fire /)
  pass(MINUTE_MS)
  await turn()
  const { timer, wake_in_ms, settings } = await call()
  expect(timer).toMatch(/^looks every 10 min: next fire \d+ \w+ [\d:]+ UTC$/)
  expect(wake_in_ms).toBeGreaterThanOrEqual(10 * MINUTE_MS)
  expect(settings).toEqual({ looks_max: 50, next_fire_slack_ms: 5 * MINUTE_MS })
  const hourly = await world()
  await hourly.turn()
  expect((await hourly.call()).timer).toMatch(/^next fire /)
})

test('the answer has a name to find the loop by only where the namespace has the attribute', async () => {
  const nameIn = async (options: { readonly has_names: boolean }) => {
    const { call, turn } = await world('0 * * * *', options)
    await turn()
    return (await call()).name
  }
  expect(await nameIn({ has_names: false })).toBeUndefined()
  expect(await nameIn({ has_names: true })).toEqual(expect.any(String))
})
