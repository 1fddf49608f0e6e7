// A workspace on a counted bucket whose clock stands still until it is told: days of publishes, merges, packs and collection
// through the real code, in seconds.

import { join } from 'node:path'
import { systemRandom } from '../../src/bin/clock.js'
import { collectAll } from '../../src/compactor/collect.js'
import { mergeBase } from '../../src/compactor/merge.js'
import { packSegments } from '../../src/compactor/packs/pack.js'
import { createMissedLook } from '../../src/compactor/window.js'
import type { Clock } from '../../src/core/time.js'
import type { LedgerEvent } from '../../src/events/event.js'
import { createAppender } from '../../src/ledger/append.js'
import { RETENTION } from '../../src/projections/retention.js'
import { listAll } from '../../src/storage/list-all.js'
import type { ObjectStore } from '../../src/storage/object-store.js'
import { createFileCache } from '../../src/tables/cache.js'
import { createParquetFiles } from '../../src/tables/parquet-files.js'
import { type Checkpoint, checkpointName, parseCheckpoint, parseRevision, type Revision } from '../../src/tables/revision.js'
import { readPointer } from '../../src/tables/snapshot.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createTurn } from '../../src/turn/turn.js'
import { TENANT_ID, WORKSPACE_ID } from '../../test/fixtures/say.js'
import { steadyDeploy, steadyRuns } from '../../test/fixtures/steady-runs.js'
import { STORY_START } from '../workspace.js'
import { openCountedStore } from './counted-store.js'

export type VirtualOptions = {
  readonly folder: string
  readonly listing_window_ms: number
  /** Another length of chain pages than what is usual makes a short story one of many pages. */
  readonly page_revisions: number
}

export type VirtualWorkspace = Awaited<ReturnType<typeof openVirtual>>

/** How many runs go on at once in the story: their events are dealt in turn. It divides no round number of events, so that a
 *  publish has events of several sorts. */
export const OPEN_RUNS = 7

export async function openVirtual({ folder, listing_window_ms, page_revisions }: VirtualOptions) {
  let now = STORY_START
  const clock: Clock = { now: () => now, elapsed: () => now, sleep: async (duration_ms) => void (now += duration_ms) }
  const counted = openCountedStore(clock)
  const { store } = counted
  const scope = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
  const cache = createFileCache({ store, folder: join(folder, 'cache'), bytes_max: 1e9 })
  const files = createParquetFiles({ cache, scope, memory_limit_mb: 128, threads: 2, connections: 2 })
  const deps = { store, files, scope, clock, random: systemRandom(), retention: RETENTION, listing_window_ms }
  const findMissed = createMissedLook(store, listing_window_ms)
  const appender = createAppender({ ...deps, server_time: clock.now(), closedThrough: () => 0 })
  const turn = createTurn({ ...deps, appender, reconcile: foldOnly })
  const events = steadyRuns({ runs: 1_000_000, open_runs: OPEN_RUNS, unit: 'hour', now: () => now })
  const take = (count: number): LedgerEvent[] => Array.from({ length: count }, () => events.next().value as LedgerEvent)
  await appender.append([...steadyDeploy(() => now, 'hour')])
  await turn.run()
  return {
    ...counted,
    pass: (duration_ms: number) => void (now += duration_ms),
    /** Events of the story in so many segments, each event a batch of its own. */
    async append(count: number, segments = 1) {
      const said = take(count)
      const size = Math.ceil(count / segments)
      for (let start = 0; start < count; start += size) {
        await appender.appendTogether(said.slice(start, start + size).map((event) => [event]))
      }
    },
    async turn(): Promise<{ readonly merge_due: boolean }> {
      const { merge_due, published_count, more } = await turn.run()
      if (published_count !== 1 || more) throw new Error(`A turn of the story published ${published_count} revisions.`)
      return { merge_due }
    },
    merge: (is_patient = false) => mergeBase(deps, { page_revisions, is_patient }),
    mergeWhole: () => mergeBase(deps, { page_revisions, whole: true }),
    /** As the loop of maintenance looks by the clock. */
    async maintain() {
      await mergeBase(deps, { page_revisions, is_patient: true })
      await findMissed()
      await packSegments(deps)
      await collectAll(deps)
    },
    findMissed,
    pack: () => packSegments(deps),
    collect: () => collectAll(deps),
    async objects(prefix = '') {
      return (await listAll(store, prefix)).objects
    },
    /** Oldest first, each with its size. */
    async revisions(): Promise<readonly (Revision & { readonly size: number })[]> {
      const heads = (await listAll(store, 'manifests/orchestration/revisions/')).objects
      const revisions = await Promise.all(
        heads.map(async ({ name, size }) => ({ ...parseRevision(name, await bytesOf(store, name)), size })),
      )
      return revisions.sort((left, right) => left.sequence - right.sequence)
    },
    async checkpoint(): Promise<{ readonly checkpoint: Checkpoint; readonly size: number }> {
      const { published } = await readPointer(store)
      const name = checkpointName(published?.pointer.checkpoint.name ?? '')
      const bytes = await bytesOf(store, name)
      return { checkpoint: parseCheckpoint(name, bytes), size: bytes.byteLength }
    },
    close: () => files.close(),
  }
}

async function bytesOf(store: ObjectStore, name: string): Promise<Uint8Array> {
  const answer = await store.get(name)
  if (answer.kind === 'absent') throw new Error(`${name} is gone.`)
  return answer.bytes
}
