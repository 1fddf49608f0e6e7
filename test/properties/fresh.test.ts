// What a fresh read folds by itself is what the turn publishes when it folds the same segments: through turns, merges,
// further segments and some that come late, whatever revision the reader's memory stood on.

import { describe, expect, test } from '@jest/globals'
import { canonicalJson } from '../../src/core/canonical.js'
import { sha256 } from '../../src/core/hash.js'
import { listName } from '../../src/core/keys.js'
import { floorTo, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { ulidAt } from '../../src/core/ulid.js'
import { TABLE_NAMES } from '../../src/projections/tables.js'
import type { View } from '../../src/readers/reader.js'
import { CREATE } from '../../src/storage/object-store.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createHistory, MIXED_TROUBLE } from '../fixtures/history.js'
import { createRandom } from '../fixtures/random.js'
import { merge } from '../fixtures/roles.js'
import { createScenario } from '../fixtures/scenario.js'
import { freshTailOf } from '../fixtures/tail.js'
import { VIRTUAL_START } from '../fixtures/virtual-time.js'

const SEEDS = Array.from({ length: 4 }, (_, index) => 8_100 + index)
const ROWS_MAX = 100_000

const idOf = (text: string): string => ulidAt(VIRTUAL_START, sha256(text).subarray(0, 10))

/** A line for each row: lines are compared in a moment, and shown where they differ. */
async function linesOf(view: View | undefined): Promise<readonly string[]> {
  const pages = await Promise.all(TABLE_NAMES.map(async (table) => ({ table, page: await view?.page(table, { limit: ROWS_MAX }) })))
  return pages.flatMap(({ table, page }) => (page?.rows ?? []).map((row) => `${table} ${canonicalJson(row)}`))
}

const differing = (left: readonly string[], right: readonly string[]): readonly string[] => {
  const [these, those] = [new Set(left), new Set(right)]
  return [...left.filter((line) => !those.has(line)), ...right.filter((line) => !these.has(line))]
}

describe('a fresh view without a turn', () => {
  test.each(SEEDS)('is what the turn publishes of the same segments, seed %i', async (seed) => {
    const random = createRandom(`fresh/${seed}`)
    const { world, decider, reader, tell, plant, expectInvariants } = createScenario({ seed: `fresh/${seed}` })
    const { time, bucket, scope } = world
    let at = VIRTUAL_START
    const { lists, batches } = createHistory({
      seed,
      assets: 4,
      runs: 4,
      now: () => (at += SECOND_MS),
      trouble: MIXED_TROUBLE,
      changes: 0.05,
    })
    const keeper = world.start('keeper')
    const { reader: published, process } = reader()
    const tail = freshTailOf(world, process, published)
    let compared = 0
    await tell(async () => {
      for (const [sha, values] of lists) {
        await bucket.put(listName(sha), new TextEncoder().encode(JSON.stringify(values)), { if_generation: CREATE })
      }
      const { turn } = decider('turn', { reconcile: foldOnly })
      await turn()
      for (const [index, { events }] of [...batches].entries()) {
        // Some at the same instant as the one before: then their names say which is folded first.
        if (random.isTrue(0.8)) await time.sleep(SECOND_MS)
        const segment_name = ulidAt(floorTo(time.now(), MINUTE_MS), sha256(`${seed}/${index}`).subarray(0, 10))
        const stored = [{ batch_id: idOf(`batch ${index}`), events }]
        await plant(segment_name, { schema: 'servo-segment-v1', ...scope, write_id: idOf(`write ${index}`), batches: stored })
        if (random.isTrue(0.1)) await merge(keeper, random.isTrue(0.5))
        if (random.isTrue(0.4)) await tail.read()
        if (random.isTrue(0.75)) continue
        const answer = await tail.read()
        expect({ seed, index, missing: answer.missing.size }).toEqual({ seed, index, missing: 0 })
        expect(answer.view?.snapshot.unpublished).toBeDefined()
        const seen = await linesOf(answer.view)
        await turn()
        const newest = await published.latest()
        expect({ seed, index, differing: differing(seen, await linesOf(newest)) }).toEqual({ seed, index, differing: [] })
        expect(answer.view?.snapshot.revision.fold_time).toBe(newest?.snapshot.revision.fold_time)
        // Who holds it sees it alone, whatever is folded and published after it.
        expect(differing(seen, await linesOf(answer.view))).toEqual([])
        expect((await tail.read()).view?.snapshot.unpublished).toBeUndefined()
        compared += 1
      }
    })
    expect(compared).toBeGreaterThan(5)
    await expectInvariants()
  })
})
