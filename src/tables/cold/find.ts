// Which cold parts may have rows that somebody asks for. Instants, states and filters say so from the checkpoint on, so that
// a question about what is new opens no sub-list, and one about a single key opens few.

import { compareKeys, keyText, keyTextOfRow, type LooseRow, type RowKey, type TableName, tableNamed } from '../../projections/tables.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { type KeyDigest, keyDigest, mightContain } from '../bloom.js'
import type { FilterCache } from '../lookup.js'
import type { Checkpoint, ColdList } from '../revision.js'
import type { Condition, TableFiles } from '../table-files.js'
import { timesFit } from '../times.js'
import { type ColdPart, openColdList } from './list.js'

export type ColdSource = {
  readonly store: ObjectStore
  readonly checkpoint: Pick<Checkpoint, 'cold'>
  readonly filters: FilterCache
  readonly table: TableName
}

const NO_PARTS: readonly ColdPart[] = []

const listsOf = ({ checkpoint, table }: Pick<ColdSource, 'checkpoint' | 'table'>): readonly ColdList[] => checkpoint.cold.get(table) ?? []

/** Every cold part of a table, oldest day first. */
export async function allColdParts({ store, checkpoint, table }: Omit<ColdSource, 'filters'>): Promise<readonly ColdPart[]> {
  return (await Promise.all(listsOf({ checkpoint, table }).map((list) => openColdList(store, list)))).flat()
}

/** Those that may have rows which fit. */
export async function coldPartsFor(source: ColdSource, where: readonly Condition[]): Promise<readonly ColdPart[]> {
  const { table, store } = source
  const lists = listsOf(source)
  if (lists.length === 0 || asksForOpen(table, where)) return NO_PARTS
  const digests = digestsFor(table, where)
  const found = await Promise.all(
    lists.map(async (list) => {
      if (!timesFit(list, where) || (digests !== undefined && !(await mayHaveOne(source, list.filters, digests)))) return NO_PARTS
      const parts = (await openColdList(store, list)).filter((part) => timesFit(part, where))
      if (digests === undefined) return parts
      const may = await Promise.all(parts.map(({ filter }) => mayHaveOne(source, filter === null ? [] : [filter], digests)))
      return parts.filter((_, i) => may[i])
    }),
  )
  return found.flat()
}

/** Whoever asks for rows that are not over asks for no cold one. */
function asksForOpen(table: TableName, where: readonly Condition[]): boolean {
  const { cold } = tableNamed(table)
  if (cold === undefined) return true
  const { never, by } = cold
  return where.some((condition) => {
    if ('is_null' in condition) return by !== 'run' && condition.is_null && condition.column === by.column
    if (never === undefined || condition.column !== never.column) return false
    if ('in' in condition) return condition.in.every((value) => never.values.includes(String(value)))
    return condition.is === '=' && never.values.includes(String(condition.value))
  })
}

/** Beyond this many values filters say yes to one of them in nearly every part. */
const FILTERED_VALUES_MAX = 1_000

/** Of the values that conditions hold the column of the filters to; undefined: any. */
function digestsFor(table: TableName, where: readonly Condition[]): readonly KeyDigest[] | undefined {
  const column = tableNamed(table).cold?.found_by
  for (const condition of where) {
    if (condition.column !== column) continue
    if ('in' in condition && condition.in.length <= FILTERED_VALUES_MAX) return condition.in.map((value) => keyDigest(String(value)))
    if ('is' in condition && condition.is === '=') return [keyDigest(String(condition.value))]
  }
  return undefined
}

/** Of several filters each has a share of the keys; without any, nothing is known. */
async function mayHaveOne({ filters }: ColdSource, names: readonly string[], digests: readonly KeyDigest[]): Promise<boolean> {
  if (names.length === 0) return digests.length > 0
  for (const name of names) {
    const asked = filters({ filter: name })
    const filter = asked instanceof Promise ? await asked : asked
    if (filter === undefined || digests.some((digest) => mightContain(filter, digest))) return true
  }
  return false
}

type Wanted = { readonly key: RowKey; readonly text: string; readonly digest: KeyDigest }

/** The rows of keys that neither the overlay nor the base has, in no order: newest days first, and no further than they are
 *  found. What is late lies in a newer list than the version that it replaces. */
export async function lookupCold(
  source: ColdSource & { readonly files: Pick<TableFiles, 'lookup'> },
  keys: readonly RowKey[],
): Promise<readonly LooseRow[]> {
  const { table, store } = source
  const lists = listsOf(source)
  const { cold, key: columns } = tableNamed(table)
  if (lists.length === 0 || cold === undefined || keys.length === 0) return []
  const place = columns.indexOf(cold.found_by)
  let wanted: readonly Wanted[] = keys.map((key) => ({ key, text: keyText(key), digest: keyDigest(String(key[place])) }))
  const rows = new Map<string, LooseRow>()
  for (const list of lists.toReversed()) {
    if (wanted.length === 0) break
    const here = await thoseThatMayBe(source, list.filters, wanted)
    if (here.length === 0) continue
    for (const row of (await Promise.all((await openColdList(store, list)).map((part) => lookupPart(source, part, here)))).flat()) {
      const text = keyTextOfRow(table, row)
      const other = rows.get(text)
      if (other === undefined || other.row_version < row.row_version) rows.set(text, row)
    }
    wanted = wanted.filter(({ text }) => !rows.has(text))
  }
  return [...rows.values()]
}

async function lookupPart(
  source: ColdSource & { readonly files: Pick<TableFiles, 'lookup'> },
  part: ColdPart,
  wanted: readonly Wanted[],
): Promise<readonly LooseRow[]> {
  const inRange = wanted.filter(({ key }) => compareKeys(part.min_key, key) <= 0 && compareKeys(key, part.max_key) <= 0)
  const candidates = await thoseThatMayBe(source, part.filter === null ? [] : [part.filter], inRange)
  if (candidates.length === 0) return []
  return source.files.lookup(
    source.table,
    [part],
    candidates.map(({ key }) => key),
  )
}

/** Those that one of these filters admits; all of them where there is no filter. */
async function thoseThatMayBe({ filters }: ColdSource, names: readonly string[], wanted: readonly Wanted[]): Promise<readonly Wanted[]> {
  if (names.length === 0 || wanted.length === 0) return wanted
  const opened = await Promise.all(names.map((name) => filters({ filter: name })))
  return wanted.filter(({ digest }) => opened.some((filter) => filter === undefined || mightContain(filter, digest)))
}
