// A process that follows the hot state by deltas has what a fresh load would give it, through merges and collections, and
// takes a workspace over without reading the base again.

import { describe, expect, test } from '@jest/globals'
import { unavailable } from '../../src/core/errors.js'
import { sha256 } from '../../src/core/hash.js'
import { listName } from '../../src/core/keys.js'
import { floorTo, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { ulidAt } from '../../src/core/ulid.js'
import { CREATE } from '../../src/storage/object-store.js'
import { listOf } from '../../src/tables/folded-names.js'
import { openSegmentNames } from '../../src/tables/snapshot.js'
import { differingHotRows, loadHotState } from '../../src/turn/hot-state.js'
import { keepFollowing } from '../../src/turn/keep-following.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import type { Workspace } from '../../src/turn/workspace.js'
import { createHistory, MIXED_TROUBLE } from '../fixtures/history.js'
import { createRandom } from '../fixtures/random.js'
import { collect, merge } from '../fixtures/roles.js'
import { createScenario, once } from '../fixtures/scenario.js'
import { VIRTUAL_START } from '../fixtures/virtual-time.js'
import type { World } from '../fixtures/world.js'

/** What a process asked the store for. */
function watchReads(world: World, process: string): { readonly since: () => readonly string[] } {
  let names: string[] = []
  world.intercept((call) => {
    if (call.phase === 'before' && call.process === process && call.operation === 'get') names.push(call.name)
    return undefined
  })
  return {
    since() {
      const since = names
      names = []
      return since
    },
  }
}

const baseFiles = (names: readonly string[]): readonly string[] => names.filter((name) => name.includes('/base/'))

/** What differs between the memory and a whole load of its revision. */
async function drift({ bucket, files }: World, { snapshot, rows, folded }: Workspace): Promise<readonly string[]> {
  if (snapshot === undefined) return ['It stands on nothing.']
  const loaded = await loadHotState({ store: bucket, files }, snapshot)
  const [open, remembered] = [openSegmentNames(snapshot), folded].map((names) => new Set(listOf(names))) as [Set<string>, Set<string>]
  return [
    ...differingHotRows(rows, loaded),
    ...[...open].filter((name) => !remembered.has(name)).map((name) => `not folded ${name}`),
    ...[...remembered].filter((name) => !open.has(name)).map((name) => `folded ${name}`),
    ...(rows.appliedTotal() === loaded.appliedTotal() ? [] : ['applied total']),
  ]
}

describe('a process that follows', () => {
  test.each(Array.from({ length: 3 }, (_, index) => 8_200 + index))('has what a load would give it, seed %i', async (seed) => {
    const random = createRandom(`follow/${seed}`)
    const { world, decider, tell, plant, expectInvariants } = createScenario({ seed: `follow/${seed}` })
    const { time, bucket, scope } = world
    let at = VIRTUAL_START
    const { lists, batches } = createHistory({
      seed,
      assets: 4,
      runs: 5,
      now: () => (at += SECOND_MS),
      trouble: MIXED_TROUBLE,
      changes: 0.05,
    })
    const keeper = world.start('keeper')
    const follower = decider('follower', { reconcile: foldOnly })
    const reads = watchReads(world, 'follower')
    let merges = 0
    let survived = 0
    await tell(async () => {
      for (const [sha, values] of lists) {
        await bucket.put(listName(sha), new TextEncoder().encode(JSON.stringify(values)), { if_generation: CREATE })
      }
      const { turn } = decider('turn', { reconcile: foldOnly })
      await turn()
      await follower.follow()
      for (const [index, { events }] of [...batches].entries()) {
        await time.sleep(SECOND_MS)
        const segment_name = ulidAt(floorTo(time.now(), MINUTE_MS), sha256(`${seed}/${index}`).subarray(0, 10))
        const stored = [{ batch_id: ulidAt(VIRTUAL_START + index, new Uint8Array(10)), events }]
        const write_id = ulidAt(VIRTUAL_START + index, new Uint8Array(10).fill(1))
        await plant(segment_name, { schema: 'servo-segment-v1', ...scope, write_id, batches: stored })
        if (random.isTrue(0.5)) await turn()
        if (random.isTrue(0.15) && (await merge(keeper, random.isTrue(0.5))).kind === 'merged') merges += 1
        if (random.isTrue(0.7)) continue
        // Now and then it takes the turn itself.
        if (random.isTrue(0.2)) await follower.turn()
        else await follower.follow()
        expect({ seed, index, drift: await drift(world, follower.workspace()) }).toEqual({ seed, index, drift: [] })
        survived += merges
        merges = 0
        if (random.isTrue(0.05)) await time.sleep(2 * HOUR_MS)
        if (random.isTrue(0.1)) await collect(keeper)
      }
    })
    expect(survived).toBeGreaterThan(1)
    expect(reads.since().some((name) => name.includes('/l0/'))).toBe(true)
    await expectInvariants()
  })

  test('reads what changed since, and the base no more, also where a merge has taken it in', async () => {
    const { say, writer, decider, tell, world, defineAssets } = createScenario()
    const { append } = writer()
    const { turn } = decider('turn', { reconcile: foldOnly })
    const follower = decider('follower', { reconcile: foldOnly })
    const reads = watchReads(world, 'follower')
    const keeper = world.start('keeper')
    await tell(async () => {
      await defineAssets()
      await merge(keeper, true)
      expect(await follower.follow()).toBe(true)
      expect(baseFiles(reads.since())).not.toEqual([])
      for (let run = 0; run < 5; run++) {
        await append([say.runRequested(`user:${run}`, { assets: { keys: ['a'] } })])
        await turn()
        if (run % 2 === 0) await merge(keeper, true)
      }
      expect(await follower.follow()).toBe(true)
      const followed = reads.since()
      expect(baseFiles(followed)).toEqual([])
      // Nothing of tables that are never hot.
      expect(followed.filter((name) => name.includes('/idempotency_keys') || name.includes('/run_key_index'))).toEqual([])
      expect(await drift(world, follower.workspace())).toEqual([])
      expect(await follower.follow()).toBe(false)
      await append([say.runRequested('user:last', { assets: { keys: ['a'] } })])
      expect((await follower.turn()).counts.applied).toBe(1)
    })
  })

  test('that was away for longer than revisions are kept loads afresh', async () => {
    const { say, writer, decider, tell, world } = createScenario()
    const { append } = writer()
    const { turn } = decider('turn', { reconcile: foldOnly })
    const follower = decider('follower', { reconcile: foldOnly })
    const keeper = world.start('keeper')
    await tell(async () => {
      await append([say.poolDefined('pool:x', 0)])
      await turn()
      await follower.follow()
      for (let cap = 1; cap <= 3; cap++) {
        await append([say.poolDefined('pool:x', cap)])
        await turn()
      }
      await merge(keeper, true)
      await world.time.sleep(3 * HOUR_MS)
      await collect(keeper)
      await follower.follow()
      expect(follower.workspace().rows.get('pools', 'pool:x')).toMatchObject({ max_running: 3 })
      expect(await drift(world, follower.workspace())).toEqual([])
    })
  })

  test('stands where it stood when a file could not be read, and goes on from there', async () => {
    const { say, writer, decider, tell, world } = createScenario()
    const { append } = writer()
    const { turn } = decider('turn', { reconcile: foldOnly })
    const follower = decider('follower', { reconcile: foldOnly })
    await tell(async () => {
      await append([say.poolDefined('pool:x', 1)])
      await turn()
      await follower.follow()
      await append([say.poolDefined('pool:x', 2), say.poolDefined('pool:y', 2)])
      await turn()
      once(world, 'before', { process: 'follower', operation: 'get', name: '/l0/' }, () => {
        throw unavailable('It did not answer.')
      })
      await expect(follower.follow()).rejects.toThrow('It did not answer.')
      expect(follower.workspace().rows.get('pools', 'pool:x')).toMatchObject({ max_running: 1 })
      expect(await drift(world, follower.workspace())).toEqual([])
      await follower.follow()
      expect(follower.workspace().rows.get('pools', 'pool:x')).toMatchObject({ max_running: 2 })
    })
  })

  test('looks seldom where nothing happens, and soon where something does', async () => {
    const { say, writer, decider, tell, world } = createScenario()
    const { append } = writer()
    const { turn } = decider('turn', { reconcile: foldOnly })
    const follower = decider('follower', { reconcile: foldOnly })
    const reads = watchReads(world, 'follower')
    const closing = new AbortController()
    await tell(async () => {
      await turn()
      const following = keepFollowing({ clock: follower.process.clock, closed: closing.signal, turn: follower, log: () => undefined })
      await world.time.sleep(HOUR_MS)
      const idle = reads.since()
      expect(idle.length).toBeLessThan(80)
      for (let cap = 1; cap <= 20; cap++) {
        await append([say.poolDefined('pool:x', cap)])
        await turn()
        await world.time.sleep(5 * SECOND_MS)
      }
      const { rows } = follower.workspace()
      expect(rows.get('pools', 'pool:x')?.max_running ?? 0).toBeGreaterThan(17)
      closing.abort()
      await following
    })
  })

  test('says that it fails once, and that it works again', async () => {
    const { decider, tell, world } = createScenario()
    const { turn } = decider('turn', { reconcile: foldOnly })
    const follower = decider('follower', { reconcile: foldOnly })
    const closing = new AbortController()
    const log: string[] = []
    await tell(async () => {
      await turn()
      const following = keepFollowing({
        clock: follower.process.clock,
        closed: closing.signal,
        turn: follower,
        log: (line) => void log.push(line),
      })
      await world.time.sleep(5 * MINUTE_MS)
      expect(log).toEqual([])
      for (let outage = 1; outage <= 2; outage++) {
        const stop = world.intercept(({ phase, process }) => {
          if (phase === 'before' && process === 'follower') throw unavailable('It did not answer.')
        })
        await world.time.sleep(10 * MINUTE_MS)
        expect(log).toHaveLength(2 * outage - 1)
        stop()
        await world.time.sleep(5 * MINUTE_MS)
        expect(log).toHaveLength(2 * outage)
      }
      expect(log.slice(2)).toEqual([
        'The rows in memory could not follow what is published, and will try again in a moment: It did not answer.',
        'The rows in memory follow what is published again.',
      ])
      closing.abort()
      await following
    })
  })
})
