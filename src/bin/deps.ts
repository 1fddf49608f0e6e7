// Builds what everything else is given: the store of one workspace, its table files, the clock. The only place that
// knows which adapter stands behind which port.

import { join } from 'node:path'
import { LISTING_WINDOW_LOCAL_MS, LISTING_WINDOW_MS } from '../core/limits.js'
import type { Clock } from '../core/time.js'
import type { RandomBytes } from '../core/ulid.js'
import type { Appender } from '../ledger/append.js'
import { RETENTION } from '../projections/retention.js'
import { createReader, type Reader } from '../readers/reader.js'
import { createLocalStore } from '../storage/local.js'
import type { ObjectStore } from '../storage/object-store.js'
import { openStore, storeFault } from '../storage/open.js'
import { readingAgain } from '../storage/read-again.js'
import { scopedStore } from '../storage/scoped.js'
import { createTemporaryFolder, removeDeadFolders } from '../storage/temporary-folder.js'
import { createFileCache, type FileCache } from '../tables/cache.js'
import { createParquetFiles } from '../tables/parquet-files.js'
import type { TableFiles } from '../tables/table-files.js'
import type { TurnDeps } from '../turn/pass.js'
import { foldOnly } from '../turn/reconcile.js'
import { systemClock, systemRandom } from './clock.js'

export { openAppender, openPatientAppender } from './appender.js'
/** What is wrong with the place that a person named, as a sentence. */
export { storeFault }

type Scope = { readonly tenant_id: string; readonly workspace_id: string }

export type WorkspaceConfig = Scope & {
  /** `local:PATH` or `gs://bucket/prefix`. */
  readonly store: string
  /** Another endpoint than Google's, for tests and emulators. */
  readonly gcs_endpoint?: string
  /** Who only reads makes no folder for a place that is not there. */
  readonly access?: 'read' | 'write'
  /** Where copies of remote table files lie; absent: a folder for this process, removed in the end. */
  readonly cache_folder?: string
  readonly duckdb_memory_mb?: number
}

export type Deps = {
  readonly store: ObjectStore
  readonly files: TableFiles
  /** Where the table files lie on local disk. */
  readonly cache: FileCache
  readonly scope: Scope
  readonly clock: Clock
  readonly random: RandomBytes
  readonly listing_window_ms: number
  /** What it was opened with: for a thread that opens it again. */
  readonly config: WorkspaceConfig
  readonly close: () => Promise<void>
}

const CACHE_BYTES_MAX = 4 * 1_024 ** 3
const DUCKDB_MEMORY_MB = 128

export async function openDeps(config: WorkspaceConfig): Promise<Deps> {
  const { tenant_id, workspace_id, access = 'write', gcs_endpoint } = config
  const scope = { tenant_id, workspace_id }
  if (access === 'write') await removeDeadFolders()
  const whole = await openStore(config.store, { access, ...(gcs_endpoint === undefined ? {} : { gcs_endpoint }) })
  const isLocal = config.store.startsWith('local:')
  // A folder that does not answer is not mended by asking again.
  const store = scopedStore(isLocal ? whole : readingAgain(whole, systemClock), `tenant=${tenant_id}/workspace=${workspace_id}/`)
  const random = systemRandom()
  // Made when the first copy comes: a folder store needs none.
  const temporary = createTemporaryFolder('cache')
  const { cache_folder } = config
  const cache = cache_folder === undefined ? fileCache(store, temporary.path, temporary.make) : fileCache(store, cache_folder)
  const files = tableFiles(cache, scope, config.duckdb_memory_mb ?? DUCKDB_MEMORY_MB)
  return {
    store,
    files,
    cache,
    scope,
    clock: systemClock,
    random,
    listing_window_ms: isLocal ? LISTING_WINDOW_LOCAL_MS : LISTING_WINDOW_MS,
    config,
    async close() {
      await files.close()
      await temporary.remove()
    },
  }
}

const fileCache = (store: ObjectStore, folder: string, make_folder?: () => Promise<void>): FileCache =>
  createFileCache({ store, folder, bytes_max: CACHE_BYTES_MAX, ...(make_folder === undefined ? {} : { make_folder }) })

const tableFiles = (cache: FileCache, scope: Scope, memory_limit_mb: number): TableFiles =>
  createParquetFiles({ cache, scope, memory_limit_mb, threads: 2, connections: 2 })

/** What a turn needs, where no controller decides anything. */
export const turnDeps = (deps: Deps, appender: Appender, log?: (message: string) => void): TurnDeps => ({
  ...deps,
  appender,
  reconcile: foldOnly,
  retention: RETENTION,
  ...(log === undefined ? {} : { log }),
})

export const openReader = (deps: Deps, log?: (message: string) => void): Reader => createReader(deps, log)

/** Tables of a rebuild: a folder of its own without fsync, gone when it is closed. */
export async function openScratch(
  deps: Deps,
): Promise<{ readonly store: ObjectStore; readonly files: TableFiles; readonly close: () => Promise<void> }> {
  const temporary = createTemporaryFolder('rebuild')
  await temporary.make()
  const store = createLocalStore({ folder: join(temporary.path, 'store'), clock: deps.clock, sync: false })
  const files = tableFiles(fileCache(store, join(temporary.path, 'cache')), deps.scope, DUCKDB_MEMORY_MB)
  return {
    store,
    files,
    async close() {
      await files.close()
      await temporary.remove()
    },
  }
}
