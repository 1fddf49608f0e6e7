// Nobody who opens the newest revision asks for what a merge has replaced, so what a process keeps of it is dropped: caches are full of
// what stands, and do not fill with the files of every merge up to their bounds. It changes no answer.

import type { KeptFilters } from './lookup.js'
import type { Checkpoint, Part } from './revision.js'
import type { Snapshot, TableStore } from './snapshot.js'

type Keepers = Pick<TableStore, 'files'> & { readonly filters: KeptFilters }

/** For whoever moves from one revision to the next. Who still reads the former reads its files anew. */
export function forgetReplaced({ files, filters }: Keepers, before: Snapshot | undefined, now: Snapshot | undefined): void {
  if (before === undefined || now === undefined || before.checkpoint.name === now.checkpoint.name) return
  const standing = partsIn(now.checkpoint)
  const names = new Set(standing.map(({ name }) => name))
  const filter_names = new Set(standing.flatMap(filtersOf))
  const replaced = partsIn(before.checkpoint).filter(({ name }) => !names.has(name))
  files.forget(replaced)
  filters.retry()
  filters.forget(replaced.flatMap(filtersOf).filter((name) => !filter_names.has(name)))
}

const partsIn = ({ tables }: Checkpoint): readonly Part[] => [...tables.values()].flat()

const filtersOf = ({ filter, day_filter }: Part): readonly string[] => [filter, day_filter ?? null].filter((name) => name !== null)
