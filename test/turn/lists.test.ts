// A list by content: written before the event that names it, found under its name, and never taken for what it is not.

import { describe, expect, test } from '@jest/globals'
import { readList, writeList } from '../../src/ledger/lists.js'
import { CREATE } from '../../src/storage/object-store.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createScenario, loseAnswer, once } from '../fixtures/scenario.js'

const KEYS = ['2025-01-02', '2025-01-01', 'ä']
/** Of the canonical JSON, worked out with another tool: names of lists outlive a version. */
const SHA256 = '0588976db91affb214a8810495f519f2c7f10d74d39ddd08280a837a6673acdc'

describe('a list by content', () => {
  test('is read as it was written, under its own hash', async () => {
    const { tell, world } = createScenario()
    const { store, clock } = world.start('writer')
    await tell(async () => {
      expect(await writeList({ store, clock }, KEYS)).toEqual({ sha256: SHA256, count: 3 })
      expect(await readList(store, SHA256)).toEqual(KEYS)
      expect((await store.head(`lists/${SHA256}.json`)).kind).toBe('found')
    })
  })

  test('is one object, however often it is written and whatever became of the answer', async () => {
    const { tell, world } = createScenario()
    const { store, clock } = world.start('writer')
    await tell(async () => {
      once(world, 'after', { operation: 'put', name: 'lists/' }, loseAnswer)
      await writeList({ store, clock }, KEYS)
      await writeList({ store, clock }, KEYS)
      expect((await store.list('lists/')).objects.map(({ generation }) => generation)).toHaveLength(1)
    })
  })

  test('is not there when its content is another or it was never written', async () => {
    const { tell, world } = createScenario()
    const { store } = world.start('reader')
    await tell(async () => {
      expect(await readList(store, SHA256)).toBeUndefined()
      await store.put(`lists/${SHA256}.json`, new TextEncoder().encode('["2025-01-01"]'), { if_generation: CREATE })
      expect(await readList(store, SHA256)).toBeUndefined()
    })
  })

  test('lets the run that names it begin, and one that names a list that is not there is quarantined', async () => {
    const { say, writer, decider, tell, world, defineAssets, rows, expectInvariants } = createScenario()
    const process = world.start('caller')
    await tell(async () => {
      await defineAssets()
      const { sha256, count } = await writeList(process, ['a'])
      await writer().append([say.runRequested('user:1', { assets: { list: { sha256, count } } })])
      await writer().append([say.runRequested('user:2', { assets: { list: { sha256: SHA256, count: 3 } } })])
      await decider('turn', { reconcile: foldOnly }).turn()
    })
    expect((await rows('runs')).map(({ run_key }) => run_key)).toEqual(['user:1'])
    expect(await rows('quarantine')).toMatchObject([{ reason: 'LIST_MISSING', detail: { sha256: SHA256 } }])
    await expectInvariants()
  })
})
