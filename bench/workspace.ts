// A workspace in a folder for benchmarks: everything as in a real process, but for a clock that can be set, so that a week
// of history is written in seconds.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemRandom } from '../src/bin/clock.js'
import { mergeBase } from '../src/compactor/merge.js'
import { LISTING_WINDOW_LOCAL_MS } from '../src/core/limits.js'
import type { Clock } from '../src/core/time.js'
import type { LedgerEvent } from '../src/events/event.js'
import { type Appender, createAppender } from '../src/ledger/append.js'
import { RETENTION } from '../src/projections/retention.js'
import { createReader, type Reader } from '../src/readers/reader.js'
import { createLocalStore } from '../src/storage/local.js'
import type { ObjectStore } from '../src/storage/object-store.js'
import { scopedStore } from '../src/storage/scoped.js'
import { createFileCache } from '../src/tables/cache.js'
import { createParquetFiles } from '../src/tables/parquet-files.js'
import type { TableFiles } from '../src/tables/table-files.js'
import type { TurnDeps } from '../src/turn/pass.js'
import { foldOnly, type Reconcile } from '../src/turn/reconcile.js'
import { createTurn, type Turn } from '../src/turn/turn.js'
import { TENANT_ID, WORKSPACE_ID } from '../test/fixtures/say.js'
import { type SteadyRunsOptions, type SteadyUnit, steadyDeploy, steadyRuns } from '../test/fixtures/steady-runs.js'

export type ShiftedClock = Clock & { readonly advance: (duration_ms: number) => void }

/** The machine's clock, shifted to where the story is. */
export function shiftedClock(start: number): ShiftedClock {
  let shift = start - Date.now()
  return {
    now: () => Date.now() + shift,
    elapsed: () => performance.now(),
    sleep: (duration_ms) => new Promise((resolve) => setTimeout(resolve, duration_ms)),
    advance: (duration_ms) => void (shift += duration_ms),
  }
}

export type BenchWorkspace = {
  readonly folder: string
  readonly store: ObjectStore
  readonly files: TableFiles
  readonly clock: ShiftedClock
  readonly appender: Appender
  readonly turn: Turn
  readonly reader: Reader
  /** What turns, and whoever works beside them, are made of. */
  readonly deps: Omit<TurnDeps, 'appender' | 'reconcile'>
  /** Bytes written so far, those of segments apart. */
  readonly bytesWritten: () => number
  /** Objects created, replaced or deleted so far, segments among them. */
  readonly writeCount: () => number
  readonly merge: (whole?: boolean) => Promise<void>
  /** Runs of the story, said now, over partitions of the workspace's unit. */
  readonly runs: (options: Omit<SteadyRunsOptions, 'now' | 'unit'>) => readonly LedgerEvent[]
  readonly unit: SteadyUnit
  readonly close: () => Promise<void>
}

export const STORY_START = Date.UTC(2026, 0, 5)

export type BenchOptions = {
  readonly start?: number
  readonly sync?: boolean
  readonly unit?: SteadyUnit
  /** What the turn decides by; without it, it only folds. */
  readonly reconcile?: Reconcile
}

export function openBench(folder: string, options: BenchOptions = {}): BenchWorkspace {
  const clock = shiftedClock(options.start ?? STORY_START)
  const { unit = 'day' } = options
  const random = systemRandom()
  const scope = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
  const whole = createLocalStore({ folder: join(folder, 'store'), clock, sync: options.sync ?? true })
  // As a process of the product finds it.
  const local = scopedStore(whole, `tenant=${TENANT_ID}/workspace=${WORKSPACE_ID}/`)
  let bytes = 0
  let writes = 0
  const store: ObjectStore = {
    ...local,
    put(name, content, put_options) {
      writes += 1
      if (!name.startsWith('ledger/')) bytes += content.byteLength
      return local.put(name, content, put_options)
    },
    delete(name, delete_options) {
      writes += 1
      return local.delete(name, delete_options)
    },
  }
  const cache = createFileCache({ store, folder: join(folder, 'cache'), bytes_max: 1e9 })
  const files = createParquetFiles({ cache, scope, memory_limit_mb: 128, threads: 2, connections: 2 })
  const deps = { store, files, scope, clock, random, retention: RETENTION, listing_window_ms: LISTING_WINDOW_LOCAL_MS }
  const appender = createAppender({ ...deps, server_time: clock.now(), closedThrough: () => 0 })
  return {
    folder,
    store,
    files,
    clock,
    appender,
    turn: createTurn({ ...deps, appender, reconcile: options.reconcile ?? foldOnly }),
    reader: createReader(deps),
    deps,
    bytesWritten: () => bytes,
    writeCount: () => writes,
    merge: async (whole = false) => void (await mergeBase(deps, { whole })),
    runs: (story) => [...steadyRuns({ ...story, unit, now: () => clock.now() })],
    unit,
    close: () => files.close(),
  }
}

/** A folder of its own, gone after the run. */
export async function withFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'servo-bench-'))
  try {
    return await run(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export async function deploy({ appender, turn, clock, unit }: BenchWorkspace): Promise<void> {
  await appender.append([...steadyDeploy(() => clock.now(), unit)])
  await foldAll(turn)
}

/** Segments of so many events, each event a batch of its own. */
export async function appendInSegments({ appender }: BenchWorkspace, events: readonly LedgerEvent[], per_segment: number): Promise<void> {
  for (let start = 0; start < events.length; start += per_segment) {
    await appender.appendTogether(events.slice(start, start + per_segment).map((event) => [event]))
  }
}

export async function foldAll(turn: Turn): Promise<{ readonly merge_due: boolean }> {
  for (;;) {
    const answer = await turn.run()
    if (!answer.more) return answer
  }
}
