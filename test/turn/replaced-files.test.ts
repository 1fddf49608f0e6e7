// What a process keeps of table files and filters is of files that stand: whoever moves on to a revision in which a merge has replaced
// some lets go of them. Otherwise each merge would leave its files behind, until every cache is full of them.

import { describe, expect, test } from '@jest/globals'
import { createReader } from '../../src/readers/reader.js'
import { createFilterCache } from '../../src/tables/lookup.js'
import { forgetReplaced } from '../../src/tables/replaced.js'
import type { Part } from '../../src/tables/revision.js'
import { openSnapshot, readPointer, type Snapshot } from '../../src/tables/snapshot.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createPlainFiles } from '../fixtures/plain-files.js'
import { createTableReader, merge } from '../fixtures/roles.js'
import { createScenario } from '../fixtures/scenario.js'

/** As many runs as a tier holds, and the one that takes them all in. */
const MERGES = 6

function createMerging() {
  const forgotten: string[] = []
  const scenario = createScenario({
    seed: 'replaced files',
    filesOf: (store) => ({ ...createPlainFiles({ store }), forget: (files) => void forgotten.push(...files.map(({ name }) => name)) }),
  })
  const { world } = scenario
  const { append } = scenario.writer()
  const { turn } = scenario.decider('decider', { reconcile: foldOnly })
  const keeper = world.start('keeper')
  let said = 0
  const say = () => append([scenario.say.runRequested(`user:${said++}`, {}, { at: world.time.now() })])
  const sayAndTurn = async () => {
    await say()
    await turn()
  }
  const snapshot = async (): Promise<Snapshot> => {
    const { published } = await readPointer(world.bucket)
    return openSnapshot({ store: world.bucket, files: world.files }, published?.pointer as never)
  }
  return { world, scenario, say, sayAndTurn, merge: () => merge(keeper), snapshot, forgotten }
}

const partsIn = ({ checkpoint }: Snapshot): readonly Part[] => [...checkpoint.tables.values()].flat()
const namesIn = (snapshot: Snapshot): string[] => partsIn(snapshot).map(({ name }) => name)

describe('what a merge has replaced', () => {
  test('is let go of by turns, readers and what folds for them, and nothing else is', async () => {
    const merging = createMerging()
    const { world, scenario, forgotten } = merging
    await scenario.tell(async () => {
      const reader = createReader(world.start('reader'))
      const folding = createTableReader(world, world.start('folding reader'), { folds: true })
      const replaced = new Set<string>()
      let before: Snapshot | undefined
      for (let number = 0; number < MERGES; number++) {
        await merging.sayAndTurn()
        await merging.merge()
        const now = await merging.snapshot()
        for (const name of before === undefined ? [] : namesIn(before)) if (!namesIn(now).includes(name)) replaced.add(name)
        before = now
        await reader.latest()
        await merging.say()
        expect((await folding.fresh(() => undefined)).view?.snapshot.unpublished).toBeDefined()
      }
      // A turn moves on to what the last merge has made.
      await merging.sayAndTurn()
      expect(replaced.size).toBeGreaterThan(0)
      const times = (name: string) => forgotten.filter((other) => other === name).length
      // By the turn, by both readers, and by what folds for one of them.
      expect([...replaced].map(times)).toEqual([...replaced].map(() => 4))
      for (const name of namesIn(await merging.snapshot())) expect(times(name)).toBe(0)
    })
  })

  test('leaves the filters too, and those that stand are not read again', async () => {
    const merging = createMerging()
    const { world, scenario } = merging
    await scenario.tell(async () => {
      await merging.sayAndTurn()
      await merging.merge()
      const before = await merging.snapshot()
      const asked: string[] = []
      const get = (name: string) => world.bucket.get(asked[asked.push(name) - 1] as string)
      const filters = createFilterCache({ store: { ...world.bucket, get } })
      const [kept, replaced] = partsIn(before).filter(({ filter }) => filter !== null) as [Part, Part]
      const askBoth = async () => {
        for (const part of [kept, replaced]) await filters(part)
        return asked.splice(0)
      }
      expect(await askBoth()).toEqual([kept.filter, replaced.filter])
      expect(await askBoth()).toEqual([])
      const tables = new Map([...before.checkpoint.tables].map(([table, parts]) => [table, parts.filter((part) => part !== replaced)]))
      const now = { ...before, checkpoint: { ...before.checkpoint, name: 'the next one', tables } }
      forgetReplaced({ files: world.files, filters }, before, now)
      expect(await askBoth()).toEqual([replaced.filter])
    })
  })
})
