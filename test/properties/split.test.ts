// Any split of a history into revisions gives the same tables, through real turns, merges, packings and restarts; and at
// every revision base and L0 together are the full fold (I15).

import { describe, expect, test } from '@jest/globals'
import { verify } from '../../src/compactor/verify.js'
import { sha256 } from '../../src/core/hash.js'
import { listName } from '../../src/core/keys.js'
import { floorTo, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { ulidAt } from '../../src/core/ulid.js'
import { type LooseRow, TABLE_NAMES } from '../../src/projections/tables.js'
import { CREATE } from '../../src/storage/object-store.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createHistory, type History, MIXED_TROUBLE } from '../fixtures/history.js'
import type { HistoryBatch } from '../fixtures/history-world.js'
import { createRandom } from '../fixtures/random.js'
import { collect, merge, pack } from '../fixtures/roles.js'
import { createScenario } from '../fixtures/scenario.js'
import { VIRTUAL_START } from '../fixtures/virtual-time.js'

/** A history is folded four times, and every row of it compared; other suites may be beside it. */
const TIMEOUT_MS = 240_000
const SEEDS = Array.from({ length: 4 }, (_, index) => 7_000 + index)
const SPLITS = 3
/** Between two segments: longer than a turn and a merge take, so that stamps are the same whatever happens in between. */
const STEP_MS = 20 * SECOND_MS

type Split = {
  /** How likely a turn comes after a segment. */
  readonly turns: number
  readonly merges: number
  readonly restarts: number
  readonly packings: number
  /** Revisions in a page of the chain. */
  readonly page_revisions: number
}

const ONE_TURN: Split = { turns: 0, merges: 0, restarts: 0, packings: 0, page_revisions: 1 }
/** A story of an hour is long enough for it. */
const LISTING_WINDOW_MS = 10 * MINUTE_MS

const idOf = (text: string): string => ulidAt(VIRTUAL_START, sha256(text).subarray(0, 10))

/** A history can be read once. */
type Told = { readonly lists: History['lists']; readonly batches: readonly HistoryBatch[] }

async function tablesOf(seed: number, history: Told, name: string, split: Split): Promise<readonly LooseRow[]> {
  const random = createRandom(`split/${seed}/${name}`)
  const { turns, merges, restarts, packings, page_revisions } = split
  const { world, decider, tell, plant, rows, expectInvariants } = createScenario({
    seed: `${seed}/${name}`,
    listing_window_ms: LISTING_WINDOW_MS,
  })
  const { time, bucket, scope } = world
  const keeper = world.start('keeper')
  let packed_count = 0
  await tell(async () => {
    for (const [sha, values] of history.lists) {
      await bucket.put(listName(sha), new TextEncoder().encode(JSON.stringify(values)), { if_generation: CREATE })
    }
    let { turn } = decider('turn 0', { reconcile: foldOnly })
    for (const [index, { events }] of history.batches.entries()) {
      await time.sleep(VIRTUAL_START + (index + 1) * STEP_MS - time.now())
      const minute = floorTo(time.now(), MINUTE_MS)
      const segment_name = ulidAt(minute, sha256(`${seed}/${index}`).subarray(0, 10))
      const batches = [{ batch_id: idOf(`batch ${index}`), events }]
      await plant(segment_name, { schema: 'servo-segment-v1', ...scope, write_id: idOf(`write ${index}`), batches })
      if (random.isTrue(turns)) await turn()
      if (random.isTrue(merges)) await merge(keeper, random.isTrue(0.5), page_revisions)
      if (random.isTrue(packings)) packed_count += (await pack(keeper)).segment_count
      if (random.isTrue(restarts)) turn = decider(`turn ${index + 1}`, { reconcile: foldOnly }).turn
    }
    for (let isMore = true; isMore; ) isMore = (await turn()).more
    if (merges > 0) await merge(keeper, false, page_revisions)
    await time.sleep(packings > 0 ? 2 * LISTING_WINDOW_MS : 0)
    if (packings > 0) packed_count += (await pack(keeper)).segment_count
    await collect(keeper)
  })
  await expectInvariants()
  const { problems, segments } = await verify({ store: bucket, files: world.files, scope })
  expect({ problems, packed: segments.packed }).toEqual({ problems: [], packed: packed_count })
  if (packings > 0) expect({ split, isPacked: packed_count > 0 }).toEqual({ split, isPacked: true })
  return (await Promise.all(TABLE_NAMES.map(rows))).flat().map((row) => ({ ...row, row_version: 0 }))
}

describe('I15 any split of a history into revisions', () => {
  test.each(SEEDS)(
    'gives the same tables, seed %i',
    async (seed) => {
      let at = VIRTUAL_START
      const { lists, batches } = createHistory({
        seed,
        assets: 4,
        runs: 6,
        now: () => (at += SECOND_MS),
        trouble: MIXED_TROUBLE,
        changes: 0.05,
      })
      const history = { lists, batches: [...batches] }
      const whole = await tablesOf(seed, history, 'whole', ONE_TURN)
      expect(whole.length).toBeGreaterThan(100)
      for (let split = 0; split < SPLITS; split++) {
        const random = createRandom(`splits/${seed}/${split}`)
        const how = {
          turns: random.next(),
          merges: random.next() / 4,
          restarts: random.next() / 4,
          packings: random.next() / 4,
          page_revisions: 1 + random.below(8),
        }
        const tables = await tablesOf(seed, history, String(split), how)
        expect({ seed, split, how, tables }).toEqual({ seed, split, how, tables: whole })
      }
    },
    TIMEOUT_MS,
  )
})
