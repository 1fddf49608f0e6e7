import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalStore } from '../../src/storage/local.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import type { ObjectStore } from '../../src/storage/object-store.js'
import { scopedStore } from '../../src/storage/scoped.js'
import { createFileCache } from '../../src/tables/cache.js'
import { createParquetFiles } from '../../src/tables/parquet-files.js'
import { createPlainFiles } from '../../src/tables/plain-files.js'
import { testTableFiles } from './table-files.js'

const folders: string[] = []
const removeFolders = async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
}
async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'servo-table-files-'))
  folders.push(folder)
  return folder
}

const parquetOver = async (store: ObjectStore, options: { readonly tested_rows_max?: number } = {}) => {
  const cache = createFileCache({ store, folder: join(await makeFolder(), 'cache'), bytes_max: 64 * 1_024 })
  const scope = { tenant_id: 'acme', workspace_id: 'prod' }
  return { store, files: createParquetFiles({ cache, scope, memory_limit_mb: 128, threads: 1, connections: 2, ...options }) }
}

testTableFiles({
  name: 'plain',
  async open() {
    const store = createMemoryStore({ clock: Date })
    return { store, files: createPlainFiles({ store }) }
  },
})

testTableFiles({
  name: 'Parquet, copied from a remote store,',
  open: () => parquetOver(createMemoryStore({ clock: Date })),
  close: removeFolders,
})

testTableFiles({
  name: 'Parquet, where a local store has them,',
  open: async () => parquetOver(scopedStore(createLocalStore({ folder: await makeFolder(), sync: false }), 'tenant=acme/workspace=prod/')),
  close: removeFolders,
})

testTableFiles({
  name: 'Parquet, scanned by DuckDB alone,',
  open: () => parquetOver(createMemoryStore({ clock: Date }), { tested_rows_max: -1 }),
  close: removeFolders,
})
