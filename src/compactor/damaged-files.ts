// Names the objects that a store has and cannot read, without opening any other: a first look, where verify reads everything.

import { listAll } from '../storage/list-all.js'
import type { ObjectStore } from '../storage/object-store.js'
import { STATE_PREFIX } from '../tables/revision.js'

/** Under the first thousand names, and among the table files and their filters. The ledger is too long for a look. */
export async function listDamagedFiles(store: ObjectStore): Promise<readonly string[]> {
  const { objects } = await store.list('')
  const { objects: state } = await listAll(store, STATE_PREFIX)
  return [...new Set([...objects, ...state].filter(({ damaged }) => damaged === true).map(({ name }) => name))]
}
