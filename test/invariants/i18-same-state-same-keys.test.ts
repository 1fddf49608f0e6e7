// What controllers say is a function of the rows and of T0: not of the order in which rows came to memory, not of how
// often they are asked, and not of what the process did before. And what they say fits.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Decision } from '../../src/controllers/decision.js'
import { canonicalJson } from '../../src/core/canonical.js'
import { HOUR_MS, SECOND_MS } from '../../src/core/time.js'
import { parseEvent } from '../../src/events/event.js'
import type { BatchEntry } from '../../src/projections/outcome.js'
import { capOf, poolSourceOf } from '../../src/projections/pool.js'
import { createReconcile } from '../../src/turn/controllers.js'
import type { Reconcile } from '../../src/turn/reconcile.js'
import { createStory, type Story } from '../fixtures/fold-story.js'
import { createHistory } from '../fixtures/history.js'
import { createPlanStory, eventsAt, loadPlanNeeds } from '../fixtures/plan-story.js'
import { createRandom, type Random } from '../fixtures/random.js'
import { told } from '../fixtures/run-story.js'
import { NOW, TENANT_ID, ulidOf, WORKSPACE_ID } from '../fixtures/say.js'
import { createScheduleStory } from '../fixtures/schedule-story.js'

const SEED = Number(process.env['SERVO_TEST_SEED'] ?? 20_250_115)
const seeds = fc.integer({ min: 0, max: 1_000_000 })
const secret = { secret_key_id: 's1', secret: 'servo-golden-secret' }
const SCOPE = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
const reconcile = createReconcile({ secret })

/** Asked with everything loaded that it names. */
function ask(
  story: Story,
  now: number,
  decider: Reconcile = reconcile,
): { readonly decisions: readonly Decision[]; readonly wake_at: number | null } {
  loadPlanNeeds(story)
  const state = { rows: story.rows, now, lag_ms: 0, hold_until: null, publish_interval_ms: 1_000, scope: SCOPE }
  return { decisions: decider.decide(state), wake_at: decider.wakeAt(state) }
}

const entryOf = (event: unknown): BatchEntry => {
  const raw = JSON.stringify(event)
  const parsed = parseEvent(JSON.parse(raw), { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID })
  return parsed.kind === 'event' ? parsed : { ...parsed, raw }
}

/** How much was said over a history, by whom: a test in which nobody speaks proves nothing. */
type Spoken = Map<string, number>

function compareOverHistory(seed: number, spoken: Spoken, decider: Reconcile = reconcile): void {
  let at = NOW
  const habits = { losses: 0.2, cancels: 0.04, failures: 0.25 }
  const history = createHistory({ seed, assets: 5, runs: 8, now: () => (at += SECOND_MS), changes: 0.06, habits })
  const [live, restarted] = [createStory(), createStory()]
  for (const story of [live, restarted]) for (const [sha256, values] of history.lists) story.lists.set(sha256, values)
  let number = 0
  for (const { events } of history.batches) {
    number += 1
    const batch = { entries: events.map(entryOf), fold_time: at, segment_name: `segment-${String(number).padStart(6, '0')}` }
    live.foldTogether([batch])
    restarted.foldTogether([batch])
    // The one keeps its memory and publishes now and then; the other starts anew every time.
    if (number % 7 === 0) live.publish()
    restarted.publish()
    restarted.restart()
    // Deadlines that are to come have passed at some of these instants.
    for (const now of [at, at + HOUR_MS]) {
      const said = ask(live, now, decider)
      expect(canonicalJson(said)).toBe(canonicalJson(ask(live, now, decider)))
      expect(canonicalJson(said)).toBe(canonicalJson(ask(restarted, now, decider)))
      for (const { said_by } of said.decisions) spoken.set(said_by, (spoken.get(said_by) ?? 0) + 1)
    }
  }
}

describe('I18 a controller says the same keys for the same state', () => {
  test('over generated histories, in a process that lives and in one that has just begun', () => {
    const spoken: Spoken = new Map()
    fc.assert(
      fc.property(seeds, (seed) => compareOverHistory(seed, spoken)),
      { seed: SEED, numRuns: 5 },
    )
    expect([...spoken.keys()].sort()).toEqual(['dispatch', 'lost', 'plan', 'schedules'])
  })

  test('and one that goes by the order in which rows arrived is noticed', () => {
    const byArrival: Reconcile = {
      decide: ({ rows }) => rows.hotRows('tasks').map(({ run_id, task_key }) => ({ said_by: `${run_id} ${task_key}`, drafts: [] })),
      wakeAt: () => null,
    }
    expect(() => compareOverHistory(SEED, new Map(), byArrival)).toThrow()
  })
})

const POOLS = ['db', 'api', 'disk']

/** Assets in pools that are too small for them, so that most of what is ready has to wait. */
function crowdedStory(random: Random) {
  const assets = Object.fromEntries(
    Array.from({ length: 6 }, (_, i) => [
      `asset_${i}`,
      {
        deps: random.isTrue(0.4) && i > 0 ? [{ asset_key: `asset_${random.below(i)}` }] : [],
        pools: POOLS.filter(() => random.isTrue(0.4)),
        priority: random.below(3),
        retry: { max_attempts: 2, backoff_seconds: 1, jitter: 0 },
        ...(random.isTrue(0.5)
          ? { partitions: { type: 'daily', start_date: '2025-01-01' } as const, partitions_per_task: 1 + random.below(3) }
          : {}),
      },
    ]),
  )
  const story = createPlanStory(assets)
  story.fold(story.say.locationDeployed('main', 1, { slots: 2 + random.below(8) }))
  const capped = [...POOLS.map((name) => `pool:${name}`), ...(random.isTrue(0.5) ? ['global'] : [])]
  story.fold(...capped.map((pool_key) => story.say.poolDefined(pool_key, random.isTrue(0.1) ? 0 : 1 + random.below(4))))
  return story
}

describe('what is dispatched', () => {
  test('exceeds no cap, whatever the pools, and the fold takes all of it', () => {
    let dispatched = 0
    fc.assert(
      fc.property(seeds, (seed) => {
        const random = createRandom(`caps/${seed}`)
        const { story, request, say } = crowdedStory(random)
        let now = NOW
        for (let round = 0; round < 15; round++) {
          now += 5 * SECOND_MS
          if (round % 4 === 0) request({ priority: random.below(3), partitions: { range: { start: '2025-01-01', end: '2025-01-09' } } })
          for (const decision of ask(story, now).decisions) {
            expect(story.fold(...eventsAt(decision, now)).map(told)).toEqual(decision.drafts.map(() => 'applied'))
            if (decision.said_by === 'dispatch') dispatched += 1
          }
          for (const { pool_key, in_use } of story.rows.hotRows('pools')) {
            expect({ pool_key, in_use, fits: in_use <= (capOf(poolSourceOf(story.rows), pool_key) ?? in_use) }).toMatchObject({
              fits: true,
            })
          }
          for (const { run_id, task_key, attempt, attempt_id, state } of story.rows.hotRows('tasks')) {
            if (state !== 'DISPATCHED' || attempt_id === null || random.isTrue(0.5)) continue
            const outcome = random.isTrue(0.2) ? 'FAILED' : 'SUCCEEDED'
            expect(story.fold(say.taskFinished({ run_id, task_key, attempt }, outcome, { attempt_id }, { at: now })).map(told)).toEqual([
              'applied',
            ])
          }
        }
      }),
      { seed: SEED, numRuns: 30 },
    )
    expect(dispatched).toBeGreaterThan(500)
  })
})

test('I18 schedules are decided the same from rows in any order, asked once or again, and wake at the same instant', () => {
  const story = createScheduleStory({ a: {}, b: { deps: [{ asset_key: 'a' }] } })
  const ids = ['one', 'two', 'three', 'four'].map(ulidOf)
  for (const [index, id] of ids.entries()) {
    const crons = { cron_expressions: [`*/${index + 1} * * * *`], overlap_policy: 'SKIP', asset_selection: ['*'] } as const
    story.define(NOW - HOUR_MS, crons, id)
  }
  story.decide(NOW)
  story.define(NOW + SECOND_MS, { cron_expressions: ['0 0 * * *'] }, ids[0])
  const now = NOW + HOUR_MS
  const askAll = () => canonicalJson(ask(story.story, now))
  const said = askAll()
  expect(said).toMatch(/ScheduleTicked.*OVERLAP/)
  expect(askAll()).toBe(said)
  story.story.restart()
  expect(askAll()).toBe(said)
})
