// The newest row for each key at one revision: the overlay first, then the base through Bloom filters and key ranges.
// It opens no file that cannot hold the key, false hits of a filter apart.

import { missing } from '../core/errors.js'
import { compareKeys, keyOfRow, keyText, type LooseRow, type RowKey, type TableName } from '../projections/tables.js'
import type { ObjectStore } from '../storage/object-store.js'
import { type Filter, filterKeyOf, type KeyDigest, keyDigest, mightContain, openFilter } from './bloom.js'
import type { Part } from './revision.js'
import type { TableFiles } from './table-files.js'

export type FilterCache = (filter: string) => Promise<Filter>

/** Filters of a million keys take 3 MB; those of a finished hour a few kilobytes. */
const FILTER_BYTES_MAX = 96 * 1_024 * 1_024

/** Filter files by name, the least recently asked first to go. */
export function createFilterCache({ store }: { readonly store: ObjectStore }): FilterCache {
  const held = new Map<string, { readonly filter: Promise<Filter>; bytes: number }>()
  let bytes = 0
  async function load(name: string, entry: { bytes: number }): Promise<Filter> {
    const answer = await store.get(name)
    if (answer.kind === 'absent') throw missing(`${name} is not in ${store.label}, though a checkpoint names it. Read the pointer again.`)
    entry.bytes = answer.bytes.byteLength
    bytes += entry.bytes
    for (const [oldest, { bytes: size }] of held) {
      if (bytes <= FILTER_BYTES_MAX || oldest === name) break
      held.delete(oldest)
      bytes -= size
    }
    return openFilter(answer.bytes, name)
  }
  return (name) => {
    const known = held.get(name)
    if (known !== undefined) {
      held.delete(name)
      held.set(name, known)
      return known.filter
    }
    const size = { bytes: 0 }
    const filter = load(name, size)
    held.set(name, Object.assign(size, { filter }))
    filter.catch(() => held.delete(name))
    return filter
  }
}

export type LookupSource = {
  readonly files: TableFiles
  readonly table: TableName
  readonly parts: readonly Part[]
  readonly filters: FilterCache
  readonly overlay: (key: RowKey) => LooseRow | undefined
}

export async function lookupRows(source: LookupSource, keys: readonly RowKey[]): Promise<readonly LooseRow[]> {
  const found: LooseRow[] = []
  const below: RowKey[] = []
  for (const key of keys) {
    const row = source.overlay(key)
    if (row === undefined) below.push(key)
    else found.push(row)
  }
  if (below.length > 0 && source.parts.length > 0) found.push(...(await lookupBase(source, below)))
  return found
}

async function lookupBase({ files, table, parts, filters }: LookupSource, keys: readonly RowKey[]): Promise<Iterable<LooseRow>> {
  const sorted = [...keys].sort(compareKeys)
  const digests = new Map<RowKey, KeyDigest>()
  const digestOf = (key: RowKey): KeyDigest => {
    const known = digests.get(key)
    if (known !== undefined) return known
    const digest = keyDigest(filterKeyOf(table, key))
    digests.set(key, digest)
    return digest
  }
  const candidates = new Map<string, RowKey>()
  const opened: Part[] = []
  for (const part of parts) {
    const inRange = withinRange(sorted, part)
    if (inRange.length === 0) continue
    const filter = part.filter === null ? undefined : await filters(part.filter)
    const possible = filter === undefined ? inRange : inRange.filter((key) => mightContain(filter, digestOf(key)))
    if (possible.length === 0) continue
    opened.push(part)
    for (const key of possible) candidates.set(keyText(key), key)
  }
  if (opened.length === 0) return []
  return newestByKey(table, await files.lookup(table, opened, [...candidates.values()]))
}

/** The keys, in their order, that lie between a part's first and last. */
function withinRange(sorted: readonly RowKey[], { min_key, max_key }: Part): readonly RowKey[] {
  const first = firstIndex(sorted, (key) => compareKeys(key, min_key) >= 0)
  const end = firstIndex(sorted, (key) => compareKeys(key, max_key) > 0)
  return first === 0 && end === sorted.length ? sorted : sorted.slice(first, end)
}

/** Where the condition, once true, begins to hold. */
function firstIndex(sorted: readonly RowKey[], holds: (key: RowKey) => boolean): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(sorted[middle] as RowKey)) high = middle
    else low = middle + 1
  }
  return low
}

function newestByKey(table: TableName, rows: readonly LooseRow[]): Iterable<LooseRow> {
  const newest = new Map<string, LooseRow>()
  for (const row of rows) {
    const key = keyText(keyOfRow(table, row))
    const other = newest.get(key)
    if (other === undefined || other.row_version < row.row_version) newest.set(key, row)
  }
  return newest.values()
}
