// Backups of a workspace whose older rows are cold: they are copied, restored and missed like all others.

import { expect, test } from '@jest/globals'
import { verify } from '../../src/compactor/verify.js'
import { CREATE } from '../../src/storage/object-store.js'
import { openColdList } from '../../src/tables/cold/list.js'
import { openSnapshot, readPointer } from '../../src/tables/snapshot.js'
import { backUpTo, createShelf, elsewhere, restoreFrom } from '../fixtures/backup.js'
import { coldStory, tellColdStory } from '../fixtures/cold-story.js'
import { replayed } from '../fixtures/replayed.js'
import type { Scenario } from '../fixtures/scenario.js'

const TIMEOUT_MS = 120_000

async function coldFiles({ world }: Scenario): Promise<string[]> {
  const { published } = await readPointer(world.bucket)
  if (published === undefined) throw new Error('Nothing was published.')
  const { checkpoint } = await openSnapshot({ store: world.bucket, files: world.files }, published.pointer)
  const lists = [...checkpoint.cold.values()].flat()
  const parts = await Promise.all(lists.map((list) => openColdList(world.bucket, list)))
  return [...lists.map(({ name }) => name), ...parts.flat().map(({ name }) => name)]
}

test(
  'cold parts are in a backup and in what is restored of it, and a backup that lacks one is none',
  async () => {
    const scenario = await tellColdStory(coldStory(3, 4), { seed: 3 })
    const { world, tell } = scenario
    const shelf = createShelf(world)
    const copy = elsewhere(scenario)
    await tell(async () => {
      await backUpTo(world, world.start('backup'), shelf.store)
      const { verified } = await restoreFrom(shelf.store, copy.world, copy.world.start('restore'))
      expect(verified.problems).toEqual([])
    })
    const cold = await coldFiles(scenario)
    expect(cold.length).toBeGreaterThan(2)
    expect(await coldFiles(copy)).toEqual(cold)
    expect((await verify({ store: copy.world.bucket, files: copy.world.files, scope: copy.world.scope })).problems).toEqual([])
    expect(await replayed(copy.world)).toEqual([])
    const lost = cold.at(-1) ?? ''
    await tell(async () => {
      const part = await world.bucket.head(lost)
      await world.bucket.delete(lost, { if_generation: part.kind === 'found' ? part.head.generation : CREATE })
      await expect(backUpTo(world, world.start('backup'), createShelf(world).store)).rejects.toThrow('before the copy was whole')
    })
  },
  TIMEOUT_MS,
)
