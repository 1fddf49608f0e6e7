// What the maintenance activity does of packing: by the clock and not for a merge alone, before collection, with the reason in
// the log where a page was left. That a collection that fails keeps no late segment from being told. And that it leaves when its process ends, or its loop is cancelled.

import { mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { asyncLocalStorage, CancelledFailure, type Context } from '@temporalio/activity'
import { createMaintenance } from '../../src/activities/maintenance.js'
import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { lookAgainMs } from '../../src/compactor/upkeep.js'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { ulidAt } from '../../src/core/ulid.js'
import { segmentObjectName } from '../../src/ledger/segment.js'
import { createLocalStore } from '../../src/storage/local.js'
import { generationPath, placeOf } from '../../src/storage/local-path.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { checkpointName } from '../../src/tables/revision.js'
import { OLD_AT, writeOldLedger } from '../fixtures/old-ledger.js'
import { packedSegments } from '../fixtures/packs.js'
import { createPlainFiles } from '../fixtures/plain-files.js'
import { TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'

const scope = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }

test('maintenance packs by the clock, and says which page it left', async () => {
  const store = createMemoryStore({ clock: systemClock })
  const { revisions } = await writeOldLedger(store, scope)
  const { name, generation } = revisions[0]?.segments[0] as { name: string; generation: string }
  await store.delete(segmentObjectName(name), { if_generation: generation })
  const log: string[] = []
  const deps = { store, files: createPlainFiles({ store }), clock: systemClock, random: systemRandom(), scope, listing_window_ms: HOUR_MS }
  const { maintain } = createMaintenance({ ...deps, stopping: new AbortController().signal, log: (line) => log.push(line) })
  const run = (call: { readonly merge: boolean; readonly collect: boolean }) =>
    asyncLocalStorage.run(contextOf(new AbortController()), () => maintain({ ...scope, ...call }))
  expect(await run({ merge: false, collect: false })).toMatchObject({ packed_segments: 0 })
  expect(await run({ merge: false, collect: true })).toMatchObject({ packed_segments: 9, missed: [] })
  expect((await packedSegments(store)).size).toBe(9)
  expect(log).toEqual([`Page 0 of the chain is left as it is: segment ${name} is gone. Restore it from a copy.`])
})

test('a look reads no revision that the look before it has read, and says that an idle workspace is looked at in an hour', async () => {
  let now = OLD_AT + 30 * HOUR_MS
  const clock = { ...systemClock, now: () => now }
  const inner = createMemoryStore({ clock })
  await writeOldLedger(inner, scope)
  const read: string[] = []
  const store = watching(inner, async (call, name) => void (call === 'get' && read.push(name)))
  const deps = { store, files: createPlainFiles({ store }), clock, random: systemRandom(), scope, listing_window_ms: HOUR_MS }
  const { maintain } = createMaintenance({ ...deps, stopping: new AbortController().signal })
  const look = () => asyncLocalStorage.run(contextOf(new AbortController()), () => maintain({ ...scope, merge: true, collect: true }))
  // It packs, and takes away what it has packed: there may be more.
  expect(await look()).toMatchObject({ packed_segments: 18, again_in_ms: 10 * MINUTE_MS })
  await look()
  now += 10 * MINUTE_MS
  read.length = 0
  expect(await look()).toMatchObject({ packed_segments: 0, collected_files: 0, missed: [], again_in_ms: HOUR_MS })
  expect([...new Set(read)].filter((name) => /\/(revisions|chain|checkpoints)\//.test(name))).toEqual([])
  expect(lookAgainMs(0)).toBe(10 * MINUTE_MS)
  expect(lookAgainMs(25 * MINUTE_MS)).toBe(25 * MINUTE_MS)
  expect(lookAgainMs(25 * HOUR_MS)).toBe(HOUR_MS)
})

test('late segments are told though collection fails behind them, over a folder with a damaged checkpoint', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'servo-maintenance-'))
  try {
    const store = createLocalStore({ folder, sync: false, clock: { now: () => OLD_AT, elapsed: systemClock.elapsed } })
    const { revisions } = await writeOldLedger(store, scope)
    const late = ulidAt(OLD_AT + 90 * MINUTE_MS, new Uint8Array(10).fill(99))
    await store.put(segmentObjectName(late), Buffer.from('late'), { if_generation: CREATE })
    const place = placeOf(folder, checkpointName(revisions.at(-1)?.checkpoint as string))
    truncateSync(generationPath(place, 1), 0)
    const log: string[] = []
    const deps = { store, files: createPlainFiles({ store }), clock: systemClock, random: systemRandom(), scope }
    const { maintain } = createMaintenance({
      ...deps,
      listing_window_ms: HOUR_MS,
      stopping: new AbortController().signal,
      log: (line) => log.push(line),
    })
    const run = () => asyncLocalStorage.run(contextOf(new AbortController()), () => maintain({ ...scope, merge: false, collect: true }))
    const sentence = `${place.file}.g1 is not an object as the local store writes it.`
    expect(await run()).toMatchObject({ missed: [late], failed: expect.stringContaining(sentence), collected_files: 0 })
    expect(log).toEqual([expect.stringContaining(sentence)])
    // Where nothing is late the call fails, as it does for everything else.
    await store.delete(segmentObjectName(late), { if_generation: '1' })
    await expect(run()).rejects.toThrow(sentence)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.each([
  ['its process is about to end', 'stopping', 'This process is ending, and leaves the call to another.'],
  ['its loop is cancelled', 'cancelling', 'The loop was cancelled.'],
] as const)('maintenance that is under way when %s answers at once, and calls the store no more', async (_, which, message) => {
  const inner = createMemoryStore({ clock: systemClock })
  await writeOldLedger(inner, scope)
  const controllers = { stopping: new AbortController(), cancelling: new AbortController() }
  const later: string[] = []
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  // The first pack: it is on its way, and the answer of the store comes when nobody waits for it any more.
  const store = watching(inner, async (call, name) => {
    if (controllers[which].signal.aborted) later.push(`${call} ${name}`)
    if (call !== 'put') return
    controllers[which].abort()
    await held
  })
  const deps = { clock: systemClock, random: systemRandom(), scope, listing_window_ms: HOUR_MS }
  const maintain = (of: ObjectStore, { stopping, cancelling }: typeof controllers) =>
    asyncLocalStorage.run(contextOf(cancelling), () =>
      createMaintenance({ ...deps, store: of, files: createPlainFiles({ store: of }), stopping: stopping.signal }).maintain({
        ...scope,
        merge: false,
        collect: true,
      }),
    )
  await expect(maintain(store, controllers)).rejects.toThrow(message)
  release()
  // What was left half done is done by the next one, which takes longer than the first would have to go on.
  await maintain(inner, { stopping: new AbortController(), cancelling: new AbortController() })
  // Nine in each of the two pages that are full.
  expect((await packedSegments(inner)).size).toBe(18)
  expect(later).toEqual([])
})

/** All that the activity asks of Temporal is to beat, and whether it was cancelled. */
function contextOf({ signal }: AbortController): Context {
  const cancelled = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new CancelledFailure('The loop was cancelled.')))
  })
  cancelled.catch(() => undefined)
  return { heartbeat: () => undefined, cancellationSignal: signal, cancelled } as unknown as Context
}

/** The same store; `before` is called with each call, and waited for. */
const watching = (inner: ObjectStore, before: (call: string, name: string) => Promise<void>): ObjectStore => ({
  ...inner,
  put: async (name, ...rest) => {
    await before('put', name)
    return inner.put(name, ...rest)
  },
  get: async (name) => {
    await before('get', name)
    return inner.get(name)
  },
  head: async (name) => {
    await before('head', name)
    return inner.head(name)
  },
  list: async (prefix, ...rest) => {
    await before('list', prefix)
    return inner.list(prefix, ...rest)
  },
  delete: async (name, ...rest) => {
    await before('delete', name)
    return inner.delete(name, ...rest)
  },
})
