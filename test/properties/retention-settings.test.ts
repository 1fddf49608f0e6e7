// Settings that change in the middle of histories over months: the same tables come of any split into revisions, with merges
// in any place, what has expired never comes back, and a replay finds what the live tables have.

import { describe, expect, test } from '@jest/globals'
import { sha256 } from '../../src/core/hash.js'
import { DAY_MS, floorTo, HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { ulidAt } from '../../src/core/ulid.js'
import type { LedgerEvent } from '../../src/events/event.js'
import { isExpired } from '../../src/projections/retention.js'
import { type LooseRow, TABLE_NAMES } from '../../src/projections/tables.js'
import { createReader } from '../../src/readers/reader.js'
import { readPointer, readRevision } from '../../src/tables/snapshot.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createRandom, type Random } from '../fixtures/random.js'
import { collect, merge } from '../fixtures/roles.js'
import { createSpeaker } from '../fixtures/say.js'
import { createScenario } from '../fixtures/scenario.js'
import { drawSettings } from '../fixtures/settings.js'
import { VIRTUAL_START } from '../fixtures/virtual-time.js'

const SEEDS = [1, 2, 3, 4]
const STEPS = 40
const SPLITS = 3

type Step = { readonly at: number; readonly batches: readonly (readonly LedgerEvent[])[] }

/** Caps of pools, some of them said again after days, some refused, and settings in batches of their own or among others. */
function drawHistory(seed: number): readonly Step[] {
  const random = createRandom(`retention history ${seed}`)
  const say = createSpeaker()
  let at = VIRTUAL_START
  const said: LedgerEvent[] = []
  return Array.from({ length: STEPS }, () => {
    at += random.pick([20 * MINUTE_MS, 5 * HOUR_MS, DAY_MS, 3 * DAY_MS])
    const batches = Array.from({ length: 1 + random.below(4) }, () =>
      Array.from({ length: 1 + random.below(3) }, () => drawEvent(random, say, at, said)),
    )
    return { at, batches }
  })
}

function drawEvent(random: Random, say: ReturnType<typeof createSpeaker>, at: number, said: LedgerEvent[]): LedgerEvent {
  const request = String(random.below(1_000_000))
  const draw = random.below(10)
  if (draw < 3) return say.retentionChanged(drawSettings(random), { at, request })
  if (draw < 5) return say.poolRemoved('global', { at, request })
  const before = said.length > 0 && draw < 8 ? random.pick(said) : undefined
  if (before !== undefined) return { ...before, event_id: say.poolDefined('pool:x', 1, { at }).event_id }
  const event = say.poolDefined(`pool:${random.below(3)}`, random.below(50), { at, request })
  said.push(event)
  return event
}

type Split = { readonly turns: number; readonly merges: number; readonly restarts: number }
const ONE_TURN: Split = { turns: 0, merges: 0, restarts: 0 }

type Outcome = { readonly rows: readonly LooseRow[]; readonly retention: unknown }

async function tablesOf(seed: number, history: readonly Step[], name: string, split: Split): Promise<Outcome> {
  const random = createRandom(`retention split ${seed} ${name}`)
  const { world, decider, tell, plant, expectInvariants } = createScenario({
    seed: `retention ${seed} ${name}`,
    listing_window_ms: 500 * DAY_MS,
  })
  const { time, scope } = world
  const keeper = world.start('keeper')
  await tell(async () => {
    let { turn } = decider('turn 0', { reconcile: foldOnly })
    for (const [index, { at, batches }] of history.entries()) {
      await time.sleep(at - time.now())
      const segment_name = ulidAt(floorTo(at, MINUTE_MS), sha256(`${seed} ${index}`).subarray(0, 10))
      const idOf = (text: string): string => ulidAt(at, sha256(`${index} ${text}`).subarray(0, 10))
      const planted = batches.map((events, i) => ({ batch_id: idOf(`batch ${i}`), events }))
      await plant(segment_name, { schema: 'servo-segment-v1', ...scope, write_id: idOf('write'), batches: planted })
      if (random.isTrue(split.turns)) while ((await turn()).more);
      if (random.isTrue(split.merges)) await merge(keeper, random.isTrue(0.5))
      if (random.isTrue(split.restarts)) turn = decider(`turn ${index + 1}`, { reconcile: foldOnly }).turn
    }
    while ((await turn()).more);
    if (split.merges > 0) await merge(keeper, true)
    await collect(keeper)
  })
  await expectInvariants()
  const view = await createReader({ store: world.bucket, files: world.files }).latest()
  if (view === undefined) throw new Error('Nothing was published.')
  const { published } = await readPointer(world.bucket)
  const { revision, sequence } = published?.pointer ?? { revision: '', sequence: 0 }
  const { retention, fold_time } = await readRevision(world.bucket, sequence, revision)
  const rows: LooseRow[] = []
  for (const table of TABLE_NAMES) rows.push(...(await view.page(table, { limit: 10_000 })).rows)
  expect(rows.filter((row) => 'folded_hour_at' in row && isExpired('idempotency_keys', row, Date.parse(fold_time), retention))).toEqual([])
  // When the tiers of as_of were made longer is a matter of when it was published.
  const { as_of_minutes_hours: _minutes, as_of_hours_days: _days, ...gone_before } = retention.gone_before ?? {}
  return { rows: rows.map((row) => ({ ...row, row_version: 0 })), retention: { ...retention, gone_before } }
}

describe('I15 I4 settings that change in the middle', () => {
  test.each(SEEDS)('seed %i: any split into revisions and any merges give the same tables, and the replay of them', async (seed) => {
    const history = drawHistory(seed)
    const whole = await tablesOf(seed, history, 'whole', ONE_TURN)
    expect(whole.rows.length).toBeGreaterThan(20)
    for (let split = 0; split < SPLITS; split++) {
      const random = createRandom(`retention splits ${seed} ${split}`)
      const how = { turns: random.next(), merges: random.next() / 2, restarts: random.next() / 4 }
      expect({ seed, how, ...(await tablesOf(seed, history, String(split), how)) }).toEqual({ seed, how, ...whole })
    }
  })
})
