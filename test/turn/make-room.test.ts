// What a turn does when nobody merges: it merges by itself before the pointer is full, and where it cannot, it says what to do.

import { describe, expect, test } from '@jest/globals'
import { swapPointer } from '../../src/compactor/swap.js'
import { unavailable } from '../../src/core/errors.js'
import { DELTAS_TURN_MERGES, POINTER_BYTES_MAX } from '../../src/core/limits.js'
import { DAY_MS } from '../../src/core/time.js'
import { createReader } from '../../src/readers/reader.js'
import { encodePointer, type Pointer } from '../../src/tables/revision.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { merge } from '../fixtures/roles.js'
import { createScenario, type Scenario } from '../fixtures/scenario.js'

const MERGES_AT = 5
/** What one turn may publish between two looks at its room, by far. */
const TURN_PUBLISHES = 16

async function publishMany({ say, writer, tell, world }: Scenario, turn: () => Promise<unknown>, count: number): Promise<number[]> {
  const { append } = writer('writer')
  const deltas: number[] = []
  await tell(async () => {
    for (let at = 0; at < count; at++) {
      await append([say.poolDefined('pool:x', at)])
      await turn()
      deltas.push(world.oracle.pointers.at(-1)?.pointer.deltas.length ?? 0)
    }
  })
  return deltas
}

describe('a turn where nobody merges', () => {
  test('merges by itself before the pointer is full, and says so', async () => {
    const scenario = createScenario()
    const { decider, row, expectInvariants } = scenario
    const { turn, log } = decider('turn', { reconcile: foldOnly, turn_merges_at: MERGES_AT })
    const deltas = await publishMany(scenario, turn, 40)
    expect(Math.max(...deltas)).toBe(MERGES_AT)
    expect(log).toContain(
      '5 revisions were published since the last merge, so this turn merged them by itself: see why the maintenance loop does not.',
    )
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 39 })
    await expectInvariants()
  })

  test('goes on for as many revisions as a pointer has no room for', async () => {
    const scenario = createScenario()
    const { decider, row, world } = scenario
    const { turn } = decider('turn', { reconcile: foldOnly })
    const deltas = await publishMany(scenario, turn, 1_100)
    expect(Math.max(...deltas)).toBe(DELTAS_TURN_MERGES)
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 1_099 })
    expect(world.oracle.pointers.at(-1)?.pointer.sequence).toBeGreaterThan(1_100)
  }, 60_000)

  test('leaves it to maintenance to write runs again, and to move what has gone cold', async () => {
    const scenario = createScenario()
    const { decider, world, tell } = scenario
    const { turn } = decider('turn', { reconcile: foldOnly, turn_merges_at: MERGES_AT })
    await publishMany(scenario, turn, MERGES_AT + 2)
    await tell(() => world.time.sleep(20 * DAY_MS))
    await publishMany(scenario, turn, 5 * MERGES_AT)
    const checkpoint = async () => (await createReader({ store: world.bucket, files: world.files }).latest())?.snapshot.checkpoint
    const parts = (await checkpoint())?.tables.get('pools') ?? []
    // One of each of its merges, none of which took in that of another.
    expect(parts.map(({ level }) => level)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect((await checkpoint())?.cold_through).toBeNull()
    await tell(() => merge(world.start('maintenance')))
    expect((await checkpoint())?.cold_through).not.toBeNull()
  })

  test('goes on where it cannot merge, and says why', async () => {
    const scenario = createScenario()
    const { decider, world, row, expectInvariants } = scenario
    const { turn, log } = decider('turn', { reconcile: foldOnly, turn_merges_at: MERGES_AT })
    const stop = world.intercept(({ phase, operation, name }) => {
      if (phase === 'before' && operation === 'put' && name.includes('/base/')) throw unavailable('The store is away.')
    })
    const deltas = await publishMany(scenario, turn, 2 * MERGES_AT)
    expect(Math.max(...deltas)).toBeGreaterThan(MERGES_AT)
    expect(log[0]).toMatch(
      /^5 revisions were published since the last merge, and this turn could not merge them by itself: .* The store is away\.$/,
    )
    stop()
    expect((await publishMany(scenario, turn, 1)).at(-1)).toBeLessThanOrEqual(MERGES_AT)
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 2 * MERGES_AT - 1 })
    await expectInvariants()
  })
})

describe('the pointer', () => {
  const ulid = '01JHMPFN80G8M4P9V0MMKSSZ7N'
  const withDeltas = (count: number): Pointer => ({
    schema: 'servo-pointer-v1',
    revision: ulid,
    sequence: 999_999_999,
    fold_version: 4,
    published_at: '2025-01-15T10:00:00.000Z',
    checkpoint: { name: ulid, sequence: 999_999_999 - count },
    deltas: Array.from({ length: count }, (_, at) => ({ sequence: 999_999_999 - at, revision: ulid })),
    chain_through: 999_999_000,
  })

  test('has room for what a turn publishes before it looks again, after hundreds of millions of revisions', () => {
    expect(encodePointer(withDeltas(DELTAS_TURN_MERGES + TURN_PUBLISHES)).byteLength).toBeLessThan(POINTER_BYTES_MAX)
  })

  test('that would be too long is not written, with a sentence that says what to do', async () => {
    const { world } = createScenario()
    const { store, clock } = world.start('turn')
    await expect(swapPointer({ store, clock }, withDeltas(1_100), undefined)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(
        /^The pointer in .* would name 1100 revisions since the last merge, in \d+ bytes where 65536 are the limit, so nothing was published\. Merge them with `servo ledger compact --merge`, and see why nobody else does\.$/,
      ),
    })
    expect(world.oracle.pointers).toEqual([])
  })
})
