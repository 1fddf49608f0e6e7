import { expect, test } from '@jest/globals'
import type { LooseRow } from '../../src/projections/tables.js'
import { TABLE_NAMES } from '../../src/projections/tables.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { merge } from '../fixtures/roles.js'
import { createScenario } from '../fixtures/scenario.js'
import { dispatchStory } from '../fixtures/short-story.js'

/** Folds the same story with a publish after every n-th batch and a merge after every m-th publish. */
async function tablesOf(publish_every: number, merge_every: number): Promise<readonly LooseRow[]> {
  const { say, writer, decider, tell, world, rows, expectInvariants } = createScenario()
  const { append } = writer()
  const { turn } = decider('turn', { reconcile: foldOnly })
  await tell(async () => {
    const story = dispatchStory(say)
    for (const [index, batch] of story.entries()) {
      await append(batch)
      if ((index + 1) % publish_every !== 0) continue
      await turn()
      if (Math.floor(index / publish_every) % merge_every === merge_every - 1) await merge(world.start('keeper'), index % 2 === 0)
    }
    await turn()
  })
  await expectInvariants()
  return (await Promise.all(TABLE_NAMES.map(rows))).flat().map((row) => withoutSplit(row))
}

/** What depends on when it was folded, and in which segment, and not on what. */
const withoutSplit = ({ row_version: _version, ...row }: LooseRow): LooseRow =>
  ({ ...row, segment_name: null, batch_id: null, folded_at: null }) as unknown as LooseRow

test('I15 base merged with L0 is the full fold, for any split of the same history into revisions', async () => {
  const whole = await tablesOf(1_000, 1)
  expect(whole.length).toBeGreaterThan(30)
  for (const [publish_every, merge_every] of [
    [1, 1],
    [1, 3],
    [2, 2],
    [3, 1],
    [5, 4],
  ] as const) {
    expect(await tablesOf(publish_every, merge_every)).toEqual(whole)
  }
})
