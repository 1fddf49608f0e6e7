// What the API says while no automation takes turns: a turn that is overdue makes it degraded, and a wake-up that passed and found
// nothing to do does not.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { readReadiness } from '../../src/bin/api-health.js'
import { instantMs } from '../../src/core/time.js'
import { createCurrent } from '../../src/readers/current.js'
import { findOverdueTurn, turnOverdueMs } from '../../src/readers/turn-overdue.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, dispatched, MAIN } from '../fixtures/api-world.js'

let world: ApiWorld
let ask: Asker

beforeEach(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  await ask.post('/code-locations/main/deploy', MAIN)
})
afterEach(() => world.close())

async function newest() {
  const view = await world.reader.latest()
  if (view === undefined) throw new Error('Nothing is published.')
  return view
}

const checksAt = async (now: number) =>
  readReadiness(createCurrent({ reader: world.reader, clock: world.appending.clock }), { now: () => now })

describe('a turn that is due and does not come', () => {
  test('makes the API degraded, with the instant and what to do; before that it is ready', async () => {
    await ask.post('/schedules?wait=true', { schedule_name: 'minutely', cron_expressions: '* * * * *', asset_selection: 'a' })
    const wake_at = (await newest()).snapshot.revision.watermarks.wake_at
    if (wake_at === null) throw new Error('Nothing is due.')
    const due_at = instantMs(wake_at)
    expect(await checksAt(due_at + 29_999)).toMatchObject([
      { name: 'store', ok: true },
      { name: 'automation', ok: true, needed: false },
    ])
    expect(turnOverdueMs(await newest(), due_at - 1)).toBe(0)
    expect(turnOverdueMs(await newest(), due_at + 7_000)).toBe(7_000)
    const [, automation] = await checksAt(due_at + 420_000)
    expect(automation).toMatchObject({ name: 'automation', ok: false, needed: false })
    expect(automation?.detail).toMatch(
      /^A turn was due at \S+, 420 s ago, and has not come: schedules do not fire, .* Start `servo automation`/,
    )
  })
})

test('a wake-up that passed and found nothing to do is replaced, so that a healthy workspace is not called overdue', async () => {
  // A retry that is due waits for room: the pool is closed meanwhile.
  await ask.post('/code-locations/main/deploy', { ...MAIN, assets: [definition('a', { retry: { max_attempts: 2 } })] })
  await ask.post('/runs?wait=true', { selection: 'a' })
  await world.turn.run()
  const [out] = await dispatched(world)
  if (out === undefined) throw new Error('Nothing was dispatched.')
  await ask.post(`${out.path}/started`, { ...out.said, worker_id: 'w1' }, out.headers)
  await ask.post(
    `${out.path}/completed`,
    { ...out.said, outcome: 'FAILED', error: { code: 'X', message: 'x' }, retry_after_seconds: 60 },
    out.headers,
  )
  await ask.put('/pools/global?wait=true', { max_running: 0 })
  await world.turn.run()
  const retry_at = (await newest()).snapshot.revision.watermarks.wake_at
  expect(retry_at).not.toBeNull()
  world.passSeconds(120)
  await world.turn.run()
  expect(findOverdueTurn(await newest(), world.appending.clock.now())).toBeUndefined()
  const { sequence } = await newest()
  await world.turn.run()
  expect((await newest()).sequence).toBe(sequence)
})
