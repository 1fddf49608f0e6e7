// Rows by key from the newest layer down: the overlay in memory, then the base files that may have the key. Filters and
// key ranges say which, so that a key that is nowhere opens no file. It never takes an older row for the newest.

import { isOperatingError } from '../core/errors.js'
import { firstIndex } from '../core/sorted.js'
import { compareKeys, keyText, keyTextOfRow, type LooseRow, type RowKey, type TableName } from '../projections/tables.js'
import type { ObjectStore } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'
import { type Filter, filterKeyOf, type KeyDigest, keyDigest, mightContain, openFilter } from './bloom.js'
import { type DamagedFilters, damagedFiltersOf } from './damaged-filters.js'
import type { Part } from './revision.js'
import type { TableFiles } from './table-files.js'

/** The filter of a part; undefined when it has none, or one that cannot be used: then the part is asked itself. At hand where it was
 *  asked for lately. */
export type FilterCache = (part: Pick<Part, 'filter'>) => Filter | undefined | Promise<Filter | undefined>

export type KeptFilters = FilterCache & {
  /** Nobody asks for these any more; who does has them read again. */
  readonly forget: (names: readonly string[]) => void
  /** Opens those that were damaged once more when they are asked for: another process may have repaired them. */
  readonly retry: () => void
}

/** A week of idempotency keys at a hundred events a second. */
const FILTER_BYTES_MAX = 192 * 1_024 ** 2

type FilterStore = {
  readonly store: Pick<ObjectStore, 'label' | 'get'>
  readonly log?: ((message: string) => void) | undefined
}

export function createFilterCache({ store, log }: FilterStore, bytes_max: number = FILTER_BYTES_MAX): KeptFilters {
  /** In the order of their last use. */
  const filters = new Map<string, Filter>()
  const loading = new Map<string, Promise<Filter | undefined>>()
  const damaged = damagedFiltersOf(store)
  let bytes = 0

  async function load(name: string): Promise<Filter | undefined> {
    const filter = await openStored({ store, log }, damaged, name)
    if (filter === undefined) return undefined
    filters.set(name, filter)
    bytes += filter.bits.length
    for (const oldest of filters.keys()) {
      if (bytes <= bytes_max || oldest === name) break
      drop(oldest)
    }
    return filter
  }

  function drop(name: string): void {
    bytes -= filters.get(name)?.bits.length ?? 0
    filters.delete(name)
  }

  const filterOf: FilterCache = ({ filter: name }) => {
    if (name === null) return undefined
    const held = filters.get(name)
    if (held !== undefined) {
      filters.delete(name)
      filters.set(name, held)
      return held
    }
    if (damaged.isSkipped(name)) return undefined
    const under_way = loading.get(name)
    if (under_way !== undefined) return under_way
    const asked = load(name).finally(() => loading.delete(name))
    loading.set(name, asked)
    return asked
  }
  const forget = (names: readonly string[]) => {
    for (const name of names) {
      drop(name)
      damaged.clear(name)
    }
  }
  return Object.assign(filterOf, { forget, retry: damaged.retry })
}

/** A filter only saves reads, so a look-up never fails for one: undefined where it is damaged, or gone. One that is gone is not
 *  reported here. A merge may have replaced its part, and then the part is gone as well. */
async function openStored({ store, log }: FilterStore, damaged: DamagedFilters, name: string): Promise<Filter | undefined> {
  try {
    const answer = await readIntact(store, name)
    if (answer.kind === 'absent') {
      damaged.note(name)
      return undefined
    }
    const filter = openFilter(answer.bytes, name)
    damaged.clear(name)
    return filter
  } catch (error) {
    if (!isOperatingError(error, 'corrupt')) throw error
    damaged.note(name, log === undefined ? undefined : () => log(damageLine(name)))
    return undefined
  }
}

const damageLine = (name: string): string =>
  `The filter ${name} is damaged. Rows are looked up without it, which takes longer, until maintenance has rebuilt it.`

type RowSource = {
  readonly files: Pick<TableFiles, 'lookup'>
  readonly table: TableName
  readonly parts: readonly Part[]
  readonly filters: FilterCache
  /** The newest row above the base, if there is one. */
  readonly overlay: (key: RowKey) => LooseRow | undefined
}

export type WantedKey = { readonly key: RowKey; readonly text: string; digest: KeyDigest | undefined }

export const wantedKey = (key: RowKey): WantedKey => ({ key, text: keyText(key), digest: undefined })

/** The newest row of each key that has one, in no order. */
export async function lookupRows(source: RowSource, keys: readonly RowKey[]): Promise<readonly LooseRow[]> {
  const { files, table, parts, overlay } = source
  const newest = new Map<string, LooseRow>()
  const wanted = new Map<string, WantedKey>()
  for (const key of keys) {
    const row = overlay(key)
    const asked = wantedKey(key)
    if (row === undefined) wanted.set(asked.text, asked)
    else newest.set(asked.text, row)
  }
  if (wanted.size === 0 || parts.length === 0) return [...newest.values()]
  const sorted = [...wanted.values()].sort((left, right) => compareKeys(left.key, right.key))
  const ofDay = await askDayFilters(source, sorted)
  const asked = await Promise.all(
    parts.map(async (part) => {
      const admitted = part.day_filter === undefined ? sorted : (ofDay.get(part.day_filter) ?? sorted)
      const candidates = await candidatesOf(source, part, admitted)
      return candidates.length === 0
        ? []
        : files.lookup(
            table,
            [part],
            candidates.map(({ key }) => key),
          )
    }),
  )
  for (const row of asked.flat()) {
    const text = keyTextOfRow(table, row)
    const other = newest.get(text)
    if (other === undefined || other.row_version < row.row_version) newest.set(text, row)
  }
  return [...newest.values()]
}

/** By day filter, the keys that may be in one of its parts: each is asked once, and not for every hour. */
async function askDayFilters(
  { table, parts, filters }: RowSource,
  sorted: readonly WantedKey[],
): Promise<ReadonlyMap<string, readonly WantedKey[]>> {
  const ofDay = new Map<string, readonly WantedKey[]>()
  for (const { day_filter } of parts) {
    if (day_filter === undefined || ofDay.has(day_filter)) continue
    const asked = filters({ filter: day_filter })
    const filter = asked instanceof Promise ? await asked : asked
    ofDay.set(day_filter, filter === undefined ? sorted : admittedBy(table, filter, sorted))
  }
  return ofDay
}

const admittedBy = (table: TableName, filter: Filter, keys: readonly WantedKey[]): readonly WantedKey[] =>
  keys.filter((wanted) => {
    wanted.digest ??= keyDigest(filterKeyOf(table, wanted.key))
    return mightContain(filter, wanted.digest)
  })

/** Which of the sorted keys this part may have. */
export async function candidatesOf(
  { table, filters }: Pick<RowSource, 'table' | 'filters'>,
  part: Part,
  sorted: readonly WantedKey[],
): Promise<readonly WantedKey[]> {
  const start = firstIndex(sorted, ({ key }) => compareKeys(key, part.min_key) >= 0)
  const end = firstIndex(sorted, ({ key }) => compareKeys(key, part.max_key) > 0)
  if (start >= end) return []
  const inRange = sorted.slice(start, end)
  const asked = filters(part)
  const filter = asked instanceof Promise ? await asked : asked
  return filter === undefined ? inRange : admittedBy(table, filter, inRange)
}
