// Backups of a workspace that is worked on, and what is restored from them: the same revision, the same ledger, the same
// tables, and a workspace that goes on.

import { describe, expect, test } from '@jest/globals'
import { verify } from '../../src/compactor/verify.js'
import { ORPHAN_AGE_MS } from '../../src/core/limits.js'
import { DAY_MS, HOUR_MS, instantMs, instantText, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { ulidAt } from '../../src/core/ulid.js'
import { encodeSegment, LEDGER_PREFIX, segmentObjectName } from '../../src/ledger/segment.js'
import { TABLE_NAMES } from '../../src/projections/tables.js'
import { CREATE } from '../../src/storage/object-store.js'
import { POINTER_NAME, type Pointer } from '../../src/tables/revision.js'
import { readPointer, readRevision } from '../../src/tables/snapshot.js'
import { backUpTo, createShelf, elsewhere, restoreFrom } from '../fixtures/backup.js'
import { foldedSegments } from '../fixtures/reachable.js'
import { refusal } from '../fixtures/refusal.js'
import { replayed } from '../fixtures/replayed.js'
import { collect, findMissed, merge, pack } from '../fixtures/roles.js'
import { createScenario, once, type Scenario } from '../fixtures/scenario.js'
import type { Process } from '../fixtures/world.js'
import { listAll } from '../invariants/evidence.js'

const PAGE = 4

const verified = ({ world }: Scenario) => verify({ store: world.bucket, files: world.files, scope: world.scope })

/** Full pages, the first of them packed, runs that are done and one that is not, and a tail that nobody has folded. */
async function live(scenario: Scenario): Promise<Process> {
  const { world, say, writer, decider, defineAssets } = scenario
  await defineAssets()
  const { append } = writer()
  const { turn } = decider()
  const keeper = world.start('keeper')
  for (let round = 0; round < 2 * PAGE; round++) {
    await append([say.poolDefined(`pool:${round % 3}`, 1 + round)])
    await append([say.runRequested(`user:${round}`, { assets: { keys: ['a', 'b'] } })])
    await world.time.sleep(MINUTE_MS)
    await turn()
    if (round % 3 === 1) await merge(keeper, true, PAGE)
  }
  await world.time.sleep(HOUR_MS + MINUTE_MS)
  await append([say.runRequested('user:late', { assets: { keys: ['b'] } })])
  await turn()
  await merge(keeper, true, PAGE)
  await pack(keeper)
  await append([say.poolDefined('pool:tail', 7)])
  await world.time.sleep(SECOND_MS)
  await append([say.runRequested('user:tail', { assets: { keys: ['a'] } })])
  return keeper
}

const tablesOf = async (scenario: Scenario) =>
  Object.fromEntries(await Promise.all(TABLE_NAMES.map(async (table) => [table, await scenario.rows(table)] as const)))

const ledgerOf = async ({ world }: Scenario) => (await listAll(world.bucket, LEDGER_PREFIX)).map(({ name, crc32c }) => `${name} ${crc32c}`)

describe('a workspace that is restored', () => {
  test('is the one that was backed up, replays to the same rows, and goes on', async () => {
    const scenario = createScenario()
    const copy = elsewhere(scenario)
    const shelf = createShelf(scenario.world)
    await scenario.tell(async () => {
      await live(scenario)
      const { manifest } = await backUpTo(scenario.world, scenario.world.start('backup'), shelf.store)
      await scenario.world.time.sleep(9 * DAY_MS)
      const answer = await restoreFrom(shelf.store, copy.world, copy.world.start('restore'))
      expect(answer).toMatchObject({ manifest: { backup: manifest.backup }, missed: [], verified: { problems: [] } })
      expect(answer.verified.segments).toMatchObject({ unfolded: 2 })
      expect(answer.verified.segments.packed).toBeGreaterThan(4)
      expect(await tablesOf(copy)).toEqual(await tablesOf(scenario))
      expect(await ledgerOf(copy)).toEqual(await ledgerOf(scenario))
    })
    expect((await verified(copy)).problems).toEqual([])
    expect(await replayed(copy.world)).toEqual([])
    await copy.tell(async () => {
      const { append } = copy.writer()
      const { turn } = copy.decider()
      const keeper = copy.world.start('keeper')
      await turn({ missed: await findMissed(copy.world, keeper) })
      for (let round = 0; round < PAGE; round++) {
        await append([copy.say.runRequested(`user:after-${round}`, { assets: { keys: ['a'] } })])
        await copy.world.time.sleep(MINUTE_MS)
        await turn()
        await merge(keeper, true, PAGE)
      }
      await copy.world.time.sleep(DAY_MS + 2 * HOUR_MS)
      expect((await pack(keeper, { whole: true })).page_count).toBeGreaterThan(0)
      expect((await pack(keeper, { whole: true })).left).toEqual([])
      await turn({ missed: await findMissed(copy.world, keeper) })
      await collect(keeper)
    })
    expect(await copy.rows('quarantine')).toEqual([])
    expect((await copy.rows('runs')).map(({ run_key }) => run_key)).toEqual(expect.arrayContaining(['user:tail', 'user:after-3', 'user:0']))
    expect(await verified(copy)).toMatchObject({ problems: [], segments: { unfolded: 0 } })
    expect(await replayed(copy.world)).toEqual([])
    await copy.expectInvariants()
  })

  test('folds its tail as the original would have, however late, and takes no word twice', async () => {
    const scenario = createScenario()
    const { world, say, tell } = scenario
    const copy = elsewhere(scenario)
    const shelf = createShelf(world)
    await tell(async () => {
      await live(scenario)
      const again = say.poolDefined('pool:again', 1)
      const { append } = scenario.writer('first')
      await append([again])
      await scenario.decider('folds it').turn()
      await append([say.poolDefined('pool:again', 2)])
      await world.time.sleep(2 * MINUTE_MS)
      await append([again])
      await backUpTo(world, world.start('backup'), shelf.store)
      // Longer than the window of idempotency keys: by the time of the copy the first word would be forgotten.
      await world.time.sleep(10 * DAY_MS)
      await restoreFrom(shelf.store, copy.world, copy.world.start('restore'))
      await scenario.decider('original').turn()
      await copy.decider('copy').turn()
    })
    expect(await copy.row('pools', 'pool:again')).toMatchObject({ max_running: 2 })
    const times = async (of: Scenario) =>
      (await of.rows('idempotency_keys')).map(({ idempotency_key, folded_hour_at }) => [idempotency_key, folded_hour_at])
    expect(await times(copy)).toEqual(await times(scenario))
    expect([...(await foldedSegments(copy.world.bucket)).keys()]).toEqual([...(await foldedSegments(world.bucket)).keys()])
    expect(await verified(copy)).toMatchObject({ problems: [], events: { quarantined: 0 }, segments: { unfolded: 0 } })
  })

  test('names to a turn what lies in minutes that were closed', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    const copy = elsewhere(scenario)
    const shelf = createShelf(world)
    await tell(async () => {
      await live(scenario)
      await world.time.sleep(20 * MINUTE_MS)
      await scenario.decider('closes').turn()
      const name = ulidAt(world.time.now() - 12 * MINUTE_MS, new Uint8Array(10).fill(1))
      await scenario.plant(name, 'no segment')
      await backUpTo(world, world.start('backup'), shelf.store)
      await world.time.sleep(9 * DAY_MS)
      const { missed } = await restoreFrom(shelf.store, copy.world, copy.world.start('restore'))
      expect(missed).toEqual([name])
      // Whoever restored may have died here: every look names it, in this process and in others, until a turn has folded it.
      await copy.decider('knows nothing').turn()
      const keeper = copy.world.start('keeper')
      for (let look = 0; look < 2; look++) expect(await findMissed(copy.world, keeper)).toEqual([name])
      expect(await findMissed(copy.world, copy.world.start('another keeper'))).toEqual([name])
      await copy.decider().turn({ missed })
      expect(await findMissed(copy.world, keeper)).toEqual([])
      expect((await copy.rows('quarantine')).map(({ segment_name, reason }) => [segment_name, reason])).toEqual([[name, 'BAD_JSON']])
    })
    expect(await verified(copy)).toMatchObject({ problems: [], segments: { unfolded: 0 } })
  })

  test('has pages packed as before, also where restoring took longer than an orphan lives', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    const copy = elsewhere(scenario)
    const shelf = createShelf(world)
    await tell(async () => {
      await live(scenario)
      await backUpTo(world, world.start('backup'), shelf.store)
      once(copy.world, 'after', { process: 'doomed', operation: 'put', name: 'ledger/orchestration-packs/' }, ({ kill }) => kill())
      void restoreFrom(shelf.store, copy.world, copy.world.start('doomed'))
      await world.time.sleep(ORPHAN_AGE_MS + HOUR_MS)
      await restoreFrom(shelf.store, copy.world, copy.world.start('again'))
      const keeper = copy.world.start('keeper')
      const packed = (await listAll(copy.world.bucket, 'ledger/orchestration-packs/')).length
      expect(await pack(keeper, { whole: true })).toMatchObject({ left: [] })
      await collect(keeper)
      expect((await listAll(copy.world.bucket, 'ledger/orchestration-packs/')).length).toBeGreaterThanOrEqual(packed)
    })
    expect((await verified(copy)).problems).toEqual([])
  })
})

describe('a segment that says of itself when it was created', () => {
  test('is believed up to the time at which it is there, and no word of it is more than a word', async () => {
    const scenario = createScenario()
    const { world, say, tell, defineAssets } = scenario
    await tell(async () => {
      await defineAssets()
      await scenario.decider().turn()
      const now = world.time.now()
      const claims = [
        { origin_creation_time: instantText(now + 400 * DAY_MS), origin_generation: '1' },
        { origin_creation_time: 'yesterday', origin_generation: '1' },
        { origin_creation_time: instantText(now - MINUTE_MS) },
      ]
      for (const [at, meta] of claims.entries()) {
        const batches = [{ batch_id: ulidAt(now, new Uint8Array(10).fill(at)), events: [say.poolDefined(`pool:${at}`, 1)] }]
        const bytes = encodeSegment({ ...world.scope, write_id: ulidAt(now, new Uint8Array(10)), written_at: instantText(now), batches })
        await world.bucket.put(segmentObjectName(ulidAt(now, new Uint8Array(10).fill(at))), bytes, { if_generation: CREATE, meta })
      }
      await scenario.decider('next').turn()
    })
    const { pointer } = (await readPointer(world.bucket)).published as { pointer: Pointer }
    const { fold_time, segments } = await readRevision(world.bucket, pointer.sequence, pointer.revision)
    expect(segments).toHaveLength(3)
    expect(instantMs(fold_time)).toBeLessThanOrEqual(world.time.now())
    expect(new Set(segments.map(({ creation_time }) => creation_time)).size).toBe(1)
    expect(await replayed(world)).toEqual([])
  })
})

describe('a backup', () => {
  test('goes on with a newer revision where a page is packed that the pointer did not know', async () => {
    const scenario = createScenario()
    const { world, say, tell, writer, decider } = scenario
    const copy = elsewhere(scenario)
    const shelf = createShelf(world)
    await tell(async () => {
      const { append } = writer()
      const { turn } = decider()
      const keeper = world.start('keeper')
      for (let round = 0; round < 2 * PAGE; round++) {
        await append([say.poolDefined('pool:x', 1 + round)])
        await world.time.sleep(MINUTE_MS)
        await turn()
      }
      await world.time.sleep(2 * HOUR_MS)
      let packed = 0
      once(world, 'before', { process: 'backup', operation: 'list', name: LEDGER_PREFIX }, async () => {
        await merge(keeper, true, PAGE)
        packed = (await pack(keeper)).page_count
      })
      const { manifest } = await backUpTo(world, world.start('backup'), shelf.store)
      expect(packed).toBe(2)
      expect(manifest.pointer.chain_through).toBe(2 * PAGE)
      expect((await restoreFrom(shelf.store, copy.world, copy.world.start('restore'))).verified.problems).toEqual([])
    })
  })

  test('that is taken while everybody works has one revision and every event acknowledged before it began', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const scenario = createScenario({ seed })
      const { world, say, tell } = scenario
      const copy = elsewhere(scenario)
      const shelf = createShelf(world)
      const acked: string[] = []
      await tell(async () => {
        const keeper = await live(scenario)
        const { append } = scenario.writer('busy writer')
        const { turn } = scenario.decider('busy decider')
        let is_over = false
        const busy = async () => {
          for (let round = 0; !is_over; round++) {
            await append([say.runRequested(`user:busy-${round}`, { assets: { keys: ['a'] } })])
            if (round % 2 === 0) await turn()
            if (round % 3 === 0) await merge(keeper, true, PAGE)
            if (round % 5 === 0) await pack(keeper)
            if (round % 7 === 0) await collect(keeper)
            await world.time.sleep(HOUR_MS / 4)
          }
        }
        // A store that is slow, so that hours pass.
        const stop = world.intercept(({ phase, process }) =>
          phase === 'before' && process === 'backup' ? world.time.sleep(MINUTE_MS) : undefined,
        )
        acked.push(...world.oracle.acks.flatMap(({ events }) => events.map(({ event_id }) => event_id)))
        const working = busy()
        const { manifest } = await backUpTo(world, world.start('backup'), shelf.store)
        is_over = true
        await working
        stop()
        expect(world.oracle.pointers.at(-1)?.pointer.sequence).toBeGreaterThan(manifest.pointer.sequence)
        await restoreFrom(shelf.store, copy.world, copy.world.start('restore'))
        await copy.decider().turn()
      })
      expect(await verified(copy)).toMatchObject({ problems: [], segments: { unfolded: 0 } })
      expect(await replayed(copy.world)).toEqual([])
      const known = new Set((await copy.rows('idempotency_keys')).map(({ event_id }) => event_id))
      expect([seed, acked.filter((event_id) => !known.has(event_id))]).toEqual([seed, []])
    }
  })

  test('copies only what is new since the one before, and each can be restored', async () => {
    const scenario = createScenario()
    const { world, say, tell } = scenario
    const shelf = createShelf(world)
    await tell(async () => {
      const keeper = await live(scenario)
      const first = await backUpTo(world, world.start('first backup'), shelf.store)
      const tables = await tablesOf(scenario)
      expect(await backUpTo(world, world.start('nothing new'), shelf.store)).toMatchObject({ copied: 0, bytes: 0, present: first.copied })
      await scenario.writer().append([say.poolDefined('pool:new', 1)])
      await scenario.decider('new').turn()
      await world.time.sleep(2 * DAY_MS)
      await merge(keeper, true, PAGE)
      await pack(keeper)
      await collect(keeper)
      const second = await backUpTo(world, world.start('second backup'), shelf.store)
      expect(second.copied).toBeGreaterThan(0)
      expect(second.present).toBeGreaterThan(first.copied / 4)
      const [old, recent] = [elsewhere(scenario), elsewhere(scenario)]
      expect((await restoreFrom(shelf.store, old.world, old.world.start('old'), first.manifest.backup)).verified.problems).toEqual([])
      expect((await restoreFrom(shelf.store, recent.world, recent.world.start('recent'))).verified.problems).toEqual([])
      expect(await tablesOf(old)).toEqual(tables)
      expect(await tablesOf(recent)).toEqual(await tablesOf(scenario))
      expect(await replayed(old.world)).toEqual([])
      expect(await replayed(recent.world)).toEqual([])
    })
  })
})

describe('refused, with a sentence', () => {
  test('are places that hold something else, and workspaces that have another history', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    const shelf = createShelf(world)
    const copy = elsewhere(scenario)
    await tell(async () => {
      const process = world.start('operator')
      expect(await refusal(backUpTo(world, process, shelf.store))).toContain('has no revision yet')
      await live(scenario)
      expect(await refusal(backUpTo(world, process, world.bucket))).toContain('is a workspace, and no place for backups')
      expect(await refusal(restoreFrom(shelf.store, copy.world, copy.world.start('early')))).toContain('holds no backup of tenant')
      await backUpTo(world, process, shelf.store)
      expect(await refusal(restoreFrom(shelf.store, copy.world, copy.world.start('other'), 'NONE'))).toContain('holds no backup NONE')
      expect(await refusal(restoreFrom(shelf.store, world, process))).toContain('is not empty')
      await restoreFrom(shelf.store, copy.world, copy.world.start('first'))
      expect(await restoreFrom(shelf.store, copy.world, copy.world.start('again'))).toMatchObject({ copied: 0 })
      await copy.decider().turn()
      expect(await refusal(restoreFrom(shelf.store, copy.world, copy.world.start('late')))).toContain('has been worked on since')
      const anew = createScenario({ seed: 'begun anew', time: world.time })
      await anew.decider().turn()
      expect(await refusal(backUpTo(anew.world, anew.world.start('other history'), shelf.store))).toContain('was begun anew')
    })
  })

  test('are turns and collections where a backup lies, or a restore has not ended', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    const shelf = createShelf(world)
    const copy = elsewhere(scenario)
    await tell(async () => {
      await live(scenario)
      await backUpTo(world, world.start('backup'), shelf.store)
      const onShelf = createScenario({ time: world.time, state: shelf.state })
      expect(await refusal(onShelf.decider().turn())).toContain('holds backups')
      expect(await refusal(collect(onShelf.world.start('collector')))).toContain('holds backups')
      once(copy.world, 'before', { process: 'doomed', operation: 'put', name: POINTER_NAME }, ({ kill }) => kill())
      void restoreFrom(shelf.store, copy.world, copy.world.start('doomed'))
      await world.time.sleep(HOUR_MS)
      expect(await refusal(copy.decider().turn())).toContain('is being restored')
      expect(await refusal(collect(copy.world.start('collector')))).toContain('is being restored')
      expect((await restoreFrom(shelf.store, copy.world, copy.world.start('again'))).verified.problems).toEqual([])
      await copy.decider('next').turn()
    })
  })

  test('is a restored workspace that lost its pointer since it went on: nobody takes it for one that is being restored', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    const shelf = createShelf(world)
    const copy = elsewhere(scenario)
    await tell(async () => {
      await live(scenario)
      await backUpTo(world, world.start('backup'), shelf.store)
      await restoreFrom(shelf.store, copy.world, copy.world.start('restore'))
      await copy.writer().append([copy.say.poolDefined('pool:since', 1)])
      await copy.decider().turn()
      const pointer = await copy.world.bucket.head(POINTER_NAME)
      await copy.world.bucket.delete(POINTER_NAME, { if_generation: pointer.kind === 'found' ? pointer.head.generation : CREATE })
      expect(await refusal(copy.decider('next').turn())).toContain('is gone from')
      const again = restoreFrom(shelf.store, copy.world, copy.world.start('again'))
      expect(await refusal(again)).toContain('has been worked on since, and has lost its pointer')
    })
  })

  test('is a backup of a workspace that was damaged: nothing is published, and what is wrong is named', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    const shelf = createShelf(world)
    const copy = elsewhere(scenario)
    await tell(async () => {
      await live(scenario)
      const [folded = ''] = [...(await foldedSegments(world.bucket)).keys()].slice(-1)
      const single = await world.bucket.head(segmentObjectName(folded))
      await world.bucket.delete(segmentObjectName(folded), { if_generation: single.kind === 'found' ? single.head.generation : CREATE })
      await backUpTo(world, world.start('backup'), shelf.store)
      const { verified } = await restoreFrom(shelf.store, copy.world, copy.world.start('restore'))
      expect(verified.problems).toContainEqual(expect.stringContaining('is not in the ledger any more'))
      expect(await copy.world.bucket.get(POINTER_NAME)).toMatchObject({ kind: 'absent' })
    })
  })

  test('is a backup that lost an object: it is named, and nothing is published', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    const shelf = createShelf(world)
    const copy = elsewhere(scenario)
    await tell(async () => {
      await live(scenario)
      await backUpTo(world, world.start('backup'), shelf.store)
      const [file] = (await listAll(shelf.store, 'state/orchestration/base/')).filter(({ name }) => name.includes('/runs/'))
      await shelf.store.delete(file?.name ?? '', { if_generation: file?.generation ?? CREATE })
      expect(await refusal(restoreFrom(shelf.store, copy.world, copy.world.start('restore')))).toContain(`${file?.name} of backup`)
      expect(await copy.world.bucket.get(POINTER_NAME)).toMatchObject({ kind: 'absent' })
    })
  })
})
