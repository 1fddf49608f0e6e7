import { describe, expect, test } from '@jest/globals'
import { collectAll } from '../../src/compactor/collect.js'
import { verify } from '../../src/compactor/verify.js'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { openAsOf } from '../../src/readers/as-of.js'
import type { ObjectHead } from '../../src/storage/object-store.js'
import { encodePointer, POINTER_NAME, type Pointer } from '../../src/tables/revision.js'
import { filesOfPointer } from '../fixtures/reachable.js'
import { collect, merge } from '../fixtures/roles.js'
import { createScenario, once } from '../fixtures/scenario.js'
import type { World } from '../fixtures/world.js'
import { listAll } from './evidence.js'

describe('I16 collection never removes a reachable file, and orphans go in the end', () => {
  test('I16 a revision that was the newest for a long time stays readable after it was replaced', async () => {
    const { say, writer, decider, reader, tell, world, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    const { lookAt, reader: tables } = reader()
    const keeper = world.start('keeper')
    await tell(async () => {
      await turn()
      await append([say.poolDefined('pool:x', 1)])
      await turn()
      await world.time.sleep(40 * HOUR_MS)
      const believed_at = world.time.now()
      // The merge first: its checkpoint names none of the files that the revision before it stands on.
      await merge(keeper, true)
      await append([say.poolDefined('pool:x', 2)])
      await turn()
      for (let hour = 0; hour < 22; hour++) {
        await collect(keeper)
        await world.time.sleep(HOUR_MS)
      }
      const view = tables.viewOf(await openAsOf(tables.tables, { at: believed_at }))
      expect(await view.row('pools', ['pool:x'])).toMatchObject({ max_running: 1 })
      await lookAt(view)
    })
    await expectInvariants()
  })

  test('I16 what nobody names any more goes, and nothing else', async () => {
    const { say, writer, decider, tell, world, row, expectInvariants } = createScenario()
    const { append } = writer()
    const keeper = world.start('keeper')
    await tell(async () => {
      for (let round = 0; round < 3; round++) {
        await append([say.poolDefined('pool:x', round)])
        once(world, 'after', { process: `doomed ${round}`, operation: 'put', name: 'revisions/' }, ({ kill }) => kill())
        void decider(`doomed ${round}`).turn()
        await world.time.sleep(MINUTE_MS)
        await decider(`turn ${round}`).turn()
        await merge(keeper, true)
      }
      await world.time.sleep(2 * DAY_MS)
      const { deleted_count } = await collect(keeper)
      expect(deleted_count).toBeGreaterThan(0)
      expect((await collect(keeper)).deleted_count).toBe(0)
    })
    const pointer = world.oracle.pointers.at(-1)?.pointer
    const kept = (await listAll(world.bucket, 'state/')).map(({ name }) => name)
    expect(kept.sort()).toEqual(pointer === undefined ? [] : [...(await filesOfPointer(world.bucket, pointer)).keys()].sort())
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 2 })
    await expectInvariants()
  })

  test('I16 files that a turn has uploaded and not published yet are too young to go', async () => {
    const { say, writer, decider, tell, world, row, expectInvariants } = createScenario()
    await tell(async () => {
      await writer().append([say.poolDefined('pool:x', 1)])
      once(world, 'before', { operation: 'put', name: 'manifest.json' }, async () => {
        expect(await collect(world.start('keeper'))).toMatchObject({ deleted_count: 0 })
      })
      await decider().turn()
    })
    expect(await row('pools', 'pool:x')).toBeDefined()
    await expectInvariants()
  })

  test('I16 a collection beside a merge takes nothing of it, and the merge publishes on top of its fence', async () => {
    const { say, writer, decider, tell, world, row, expectInvariants } = createScenario()
    const { append } = writer()
    const merger = world.start('merger')
    await tell(async () => {
      // Of a turn that died: something that is old enough to go.
      await append([say.poolDefined('pool:x', 1)])
      once(world, 'after', { process: 'doomed', operation: 'put', name: 'revisions/' }, ({ kill }) => kill())
      void decider('doomed').turn()
      await world.time.sleep(2 * HOUR_MS)
      await decider().turn()
      let deleted_count = 0
      once(world, 'before', { process: 'merger', operation: 'put', name: 'manifest.json' }, async () => {
        ;({ deleted_count } = await collect(world.start('keeper')))
      })
      expect(await merge(merger, true)).toMatchObject({ kind: 'merged' })
      expect(deleted_count).toBeGreaterThan(0)
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 1 })
    await expectInvariants()
  })

  test('I16 two collections at once take what one takes, while turns and a merge go on', async () => {
    const { say, writer, decider, tell, world, row, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    await tell(async () => {
      for (let round = 0; round < 3; round++) {
        await append([say.poolDefined('pool:x', round)])
        once(world, 'after', { process: `doomed ${round}`, operation: 'put', name: 'revisions/' }, ({ kill }) => kill())
        void decider(`doomed ${round}`).turn()
        await world.time.sleep(MINUTE_MS)
        await turn()
        await merge(world.start(`merger ${round}`), true)
      }
      await world.time.sleep(40 * DAY_MS)
      const before = (await listAll(world.bucket, '')).length
      await append([say.poolDefined('pool:x', 7)])
      const [one, two] = await Promise.all([
        collect(world.start('keeper one')),
        collect(world.start('keeper two')),
        merge(world.start('merger'), true),
        turn(),
      ])
      expect(one.deleted_count + two.deleted_count).toBeGreaterThan(0)
      expect(one.deleted_count + two.deleted_count).toBeLessThan(before)
      await turn()
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 7 })
    await expectInvariants()
  })

  test('I16 a collection that finds more than it has time for takes a part, and the next ones take the rest', async () => {
    const { say, writer, decider, tell, world, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    const keeper = world.start('keeper')
    await tell(async () => {
      for (let round = 0; round < 200; round++) {
        await append([say.poolDefined(`pool:${round}`, round)])
        await turn()
      }
      await merge(keeper, true)
      await world.time.sleep(40 * DAY_MS)
      const counts: number[] = []
      for (let look = 0; look < 10; look++) counts.push((await collectAll(keeper, { part_ms_max: 0 })).deleted_count)
      expect(counts[0]).toBeGreaterThan(0)
      expect(counts.filter((count) => count > 0).length).toBeGreaterThan(1)
      expect(counts.at(-1)).toBe(0)
      expect((await collect(keeper)).deleted_count).toBe(0)
    })
    await expectInvariants()
  })

  test('I16 a workspace where nothing is old costs collection no write', async () => {
    const { say, writer, decider, tell, world } = createScenario()
    await tell(async () => {
      await writer().append([say.poolDefined('pool:x', 1)])
      await decider().turn()
      await world.time.sleep(3 * DAY_MS)
      await collect(world.start('keeper'))
    })
    expect(world.trace.filter((line) => line.includes(' keeper ') && /put|delete/.test(line))).toEqual([])
  })

  test('I16 who opens a revision in its last kept moment may go on reading it for as long as readers do', async () => {
    const { say, writer, decider, reader, tell, world, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    const { lookAt, reader: tables } = reader()
    const keeper = world.start('keeper')
    await tell(async () => {
      await world.time.sleep(30 * MINUTE_MS - (world.time.now() % MINUTE_MS))
      const sequences: number[] = []
      for (const max of [1, 2, 3]) {
        await append([say.poolDefined('pool:x', max)])
        sequences.push((await turn()).sequence)
      }
      await merge(keeper, true)
      const replaced_at = Date.parse(pointerOf(world, sequences[2]).published_at)
      await world.time.sleep(replaced_at + HOUR_MS - SECOND_MS - world.time.now())
      const view = tables.viewOf(await openAsOf(tables.tables, { sequence: sequences[1] as number }))
      await world.time.sleep(9 * MINUTE_MS)
      await collect(keeper)
      await lookAt(view)
      await world.time.sleep(2 * MINUTE_MS)
      expect((await collect(keeper)).deleted_count).toBeGreaterThan(0)
      await expect(openAsOf(tables.tables, { sequence: sequences[1] as number })).rejects.toThrow('No longer kept')
    })
    await expectInvariants()
  })

  test('I16 who reads an older revision goes on reading it when the settings keep less', async () => {
    const { say, writer, decider, reader, tell, world, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    const { lookAt, reader: tables } = reader()
    const keeper = world.start('keeper')
    await tell(async () => {
      await world.time.sleep(HOUR_MS - (world.time.now() % HOUR_MS))
      const sequences: number[] = []
      for (const max of [1, 2, 3]) {
        await append([say.poolDefined('pool:x', max)])
        sequences.push((await turn()).sequence)
        await world.time.sleep(2 * MINUTE_MS)
        await merge(keeper, true)
      }
      await world.time.sleep(5 * HOUR_MS)
      const sequence = sequences[1] as number
      const view = tables.viewOf(await openAsOf(tables.tables, { sequence }))
      await append([say.retentionChanged({ as_of_minutes_hours: 1 })])
      await turn()
      await expect(openAsOf(tables.tables, { sequence })).rejects.toThrow('for 1 hour the last one of each minute')
      await world.time.sleep(5 * MINUTE_MS)
      await collect(keeper)
      await lookAt(view)
      await world.time.sleep(6 * MINUTE_MS)
      expect((await collect(keeper)).deleted_count).toBeGreaterThan(0)
      // Longer again: what was let go is not promised, and verify asks for none of it.
      await append([say.retentionChanged({ as_of_minutes_hours: 48 })])
      await turn()
      await expect(openAsOf(tables.tables, { sequence })).rejects.toThrow('No longer kept')
      const { problems } = await verify({ store: world.bucket, files: world.files, scope: world.scope })
      expect(problems).toEqual([])
    })
    await expectInvariants()
  })

  test('I16 a collection that settings overtake removes nothing', async () => {
    const { say, writer, decider, tell, world, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    const keeper = world.start('keeper')
    await tell(async () => {
      for (const max of [1, 2, 3]) {
        await append([say.poolDefined('pool:x', max)])
        await turn()
        await merge(keeper, true)
        await world.time.sleep(2 * MINUTE_MS)
      }
      await world.time.sleep(40 * DAY_MS)
      once(world, 'after', { process: 'keeper', operation: 'get', name: 'manifest.json' }, async () => {
        await append([say.retentionChanged({ as_of_hours_days: 60 })])
        await turn()
      })
      expect(await collect(keeper)).toMatchObject({ deleted_count: 0 })
      expect((await collect(keeper)).deleted_count).toBeGreaterThan(0)
    })
    await expectInvariants()
  })

  test('I16 a collection that finds another chain than it has looked at removes nothing', async () => {
    const { say, writer, decider, tell, world } = createScenario()
    const keeper = world.start('keeper')
    await tell(async () => {
      for (const max of [1, 2, 3]) {
        await writer(`writer ${max}`).append([say.poolDefined('pool:x', max)])
        await decider(`decider ${max}`).turn()
        await merge(keeper, true)
      }
      await world.time.sleep(40 * DAY_MS)
      // Somebody restores a copy.
      const { pointer } = world.oracle.pointers[0] as { readonly pointer: Pointer }
      once(world, 'after', { process: 'keeper', operation: 'get', name: 'manifest.json' }, async () => {
        const { generation } = world.oracle.pointers.at(-1) as { readonly generation: string }
        await world.bucket.put(POINTER_NAME, encodePointer(pointer), { if_generation: generation })
      })
      expect(await collect(keeper)).toMatchObject({ deleted_count: 0 })
      expect((await filesOfPointer(world.bucket, pointer)).size).toBeGreaterThan(0)
      for (const name of (await filesOfPointer(world.bucket, pointer)).keys()) expect((await world.bucket.head(name)).kind).toBe('found')
    })
  })

  test('I16 verify names a file that only an older revision needs, for as long as that is kept', async () => {
    const { say, writer, decider, tell, world } = createScenario()
    const keeper = world.start('keeper')
    const deps = { store: world.bucket, files: world.files, scope: world.scope }
    await tell(async () => {
      await writer().append([say.poolDefined('pool:x', 1)])
      const { sequence } = await decider().turn()
      const first = pointerOf(world, sequence)
      await world.time.sleep(2 * MINUTE_MS)
      await merge(keeper, true)
      const of_newest = await filesOfPointer(world.bucket, pointerOf(world, sequence + 1))
      const name = [...(await filesOfPointer(world.bucket, first)).keys()].find((file) => !of_newest.has(file)) as string
      await world.time.sleep(20 * HOUR_MS)
      const { head } = (await world.bucket.head(name)) as { readonly head: ObjectHead }
      await world.bucket.delete(name, { if_generation: head.generation })
      expect((await verify(deps)).problems).toEqual([expect.stringContaining(`${name} is gone`)])
      await world.time.sleep(31 * DAY_MS)
      expect((await verify(deps)).problems).toEqual([])
    })
  })
})

function pointerOf({ oracle }: World, sequence: number | undefined): Pointer {
  const found = oracle.pointers.find(({ pointer }) => pointer.sequence === sequence)
  if (found === undefined) throw new Error(`Nobody published revision ${sequence}.`)
  return found.pointer
}
