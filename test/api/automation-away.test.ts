// What the API says while no automation takes turns: a turn that is overdue makes it degraded, by the clock or because something
// accepted waits for one. A wake-up that passed and found nothing to do does not, and neither does a system that is busy.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { openGauges, readReadiness } from '../../src/bin/api-health.js'
import { instantMs } from '../../src/core/time.js'
import { createCurrent } from '../../src/readers/current.js'
import { createOldestUnfolded } from '../../src/readers/oldest-unfolded.js'
import { createReader } from '../../src/readers/reader.js'
import { findOverdueTurn, turnOverdue } from '../../src/readers/turn-overdue.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, dispatched, MAIN } from '../fixtures/api-world.js'
import { createPlainFiles } from '../fixtures/plain-files.js'

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

const checksAt = async (now: number) => watching(() => now).readiness()

/** What an API process has, with the listings of the ledger and the pokes that its probes and scrapes cost. */
function watching(now: () => number = () => world.appending.clock.now()) {
  const { clock } = world.appending
  const cost = { listings: 0, gets: 0, pokes: 0 }
  const store: typeof world.store = {
    ...world.store,
    get(name) {
      cost.gets += 1
      return world.store.get(name)
    },
    list(prefix, ...rest) {
      if (prefix.startsWith('ledger/')) cost.listings += 1
      return world.store.list(prefix, ...rest)
    },
  }
  const reader = createReader({ store, files: createPlainFiles({ store }) })
  const unfolded = createOldestUnfolded({ reader, clock, now, onLate: () => (cost.pokes += 1) })
  const current = createCurrent({ reader, clock })
  return {
    cost,
    readiness: () => readReadiness(current, { now }, unfolded),
    gauges: openGauges({ reader, clock, now, unfolded }),
  }
}

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
    expect(turnOverdue(await newest(), null, due_at - 1)).toBeUndefined()
    expect(turnOverdue(await newest(), null, due_at + 7_000)).toEqual({ reason: 'wake_up', since: wake_at, overdue_ms: 7_000 })
    const [, automation] = await checksAt(due_at + 420_000)
    expect(automation).toMatchObject({ name: 'automation', ok: false, needed: false })
    expect(automation?.detail).toMatch(
      /^A turn was due at \S+, 420 s ago, and has not come: schedules do not fire, .* Start `servo automation`/,
    )
  })
})

describe('what was accepted while nothing is due by the clock', () => {
  async function acceptWhileAway() {
    await ask.post('/code-locations/main/deploy?wait=true', MAIN)
    expect((await newest()).snapshot.revision.watermarks.wake_at).toBeNull()
    world.holdTurns()
    expect(await ask.post('/runs', { selection: ['a'] })).toMatchObject({ status: 202 })
  }

  test('makes the API degraded and the gauge rise, when no turn takes it up', async () => {
    await acceptWhileAway()
    const api = watching()
    world.passSeconds(9)
    expect(await api.gauges()).toMatchObject({ turn_overdue_ms: 0, unfolded_events: 1 })
    expect(await api.readiness()).toMatchObject([{ name: 'store' }, { name: 'automation', ok: true }])
    world.passSeconds(53)
    const [, automation] = await api.readiness()
    expect(automation).toMatchObject({ name: 'automation', ok: false, needed: false })
    expect(automation?.detail).toMatch(
      /^No turn has come for 62 s, and what was accepted at 20\S+Z waits for one: runs do not start .* Start `servo automation`/,
    )
    const gauges = await api.gauges()
    expect(gauges?.turn_overdue_ms).toBeGreaterThanOrEqual(62_000)
    expect(gauges?.turn_overdue_ms).toBeLessThan(70_000)
    world.releaseTurns()
    await world.turn.run()
    expect(await api.readiness()).toMatchObject([{ name: 'store' }, { name: 'automation', ok: true }])
    expect(await api.gauges()).toMatchObject({ turn_overdue_ms: 0, unfolded_events: 0 })
  })

  test('is not overdue while revisions are published, however much a turn has to catch up with', async () => {
    await ask.post('/code-locations/main/deploy?wait=true', MAIN)
    const view = await newest()
    const published_at = instantMs(view.snapshot.revision.published_at)
    const an_hour_before = published_at - 3_600_000
    expect(turnOverdue(view, an_hour_before, published_at + 9_999)).toBeUndefined()
    expect(turnOverdue(view, an_hour_before, published_at + 10_000)).toMatchObject({ reason: 'unfolded', overdue_ms: 10_000 })
    expect(findOverdueTurn(view, an_hour_before, published_at + 29_999)).toBeUndefined()
    expect(findOverdueTurn(view, an_hour_before, published_at + 30_000)).toMatchObject({ reason: 'unfolded' })
  })

  test('is looked for by scrapes with a listing a minute at most, and what is folded meanwhile is taken off at once', async () => {
    await ask.post('/code-locations/main/deploy?wait=true', MAIN)
    world.passSeconds(120)
    const api = watching()
    const scrapeFor = async (seconds: number) => {
      const before = { ...api.cost }
      for (let passed = 0; passed < seconds; passed += 15) {
        await api.gauges()
        world.passSeconds(15)
      }
      return { listings: api.cost.listings - before.listings, gets: api.cost.gets - before.gets }
    }
    const first = await scrapeFor(60)
    expect(first.listings).toBeGreaterThan(0)
    // Idle: in the other minutes nothing is read but once.
    expect(await scrapeFor(600)).toEqual({ listings: 10 * first.listings, gets: 10 })
    await acceptWhileAway()
    world.passSeconds(60)
    const { sequence } = await newest()
    expect(await api.gauges()).toMatchObject({ unfolded_events: 1, sequence })
    const { listings } = api.cost
    world.releaseTurns()
    await world.turn.run()
    expect(await api.gauges()).toMatchObject({ unfolded_events: 0, lag_ms: 0, sequence: (await newest()).sequence })
    expect(api.cost.listings).toBe(listings)
  })

  test('is looked for by probes with a listing every 15 s at most, with none after a scrape or where something waits, and poked for once', async () => {
    await ask.post('/code-locations/main/deploy?wait=true', MAIN)
    const api = watching()
    const probe = async (times: number) => {
      for (let each = 0; each < times; each++) await Promise.all([api.readiness(), api.readiness()])
    }
    await probe(10)
    expect(api.cost.listings).toBe(0)
    world.passSeconds(3_600)
    await probe(10)
    const a_listing = api.cost.listings
    expect(a_listing).toBeGreaterThan(0)
    world.passSeconds(10)
    await probe(10)
    expect(api.cost.listings).toBe(a_listing)
    world.passSeconds(10)
    await probe(10)
    expect(api.cost.listings).toBeLessThanOrEqual(2 * a_listing)
    world.passSeconds(60)
    await api.gauges()
    const scraped = api.cost.listings
    await probe(10)
    expect(api.cost.listings).toBe(scraped)
    await acceptWhileAway()
    for (let minutes = 0; minutes < 10; minutes++) {
      world.passSeconds(60)
      await probe(3)
    }
    expect(api.cost.listings).toBeLessThanOrEqual(scraped + a_listing)
    await api.gauges()
    await api.gauges()
    expect(api.cost.pokes).toBe(1)
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
  expect(findOverdueTurn(await newest(), null, world.appending.clock.now())).toBeUndefined()
  const { sequence } = await newest()
  await world.turn.run()
  expect((await newest()).sequence).toBe(sequence)
})
