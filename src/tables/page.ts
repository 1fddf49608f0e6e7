// A page of a table in key order, from files that overlap and the overlay above them. A row is on it only if the newest
// version of its key fits: an older version that fits is found first and then asked about. It never reads a whole table
// for a page of it.

import { assert } from '../core/errors.js'
import { firstIndex } from '../core/sorted.js'
import { compareKeys, keyOfRow, keyTextOfRow, type LooseRow, type RowKey, type TableName, tableNamed } from '../projections/tables.js'
import type { ColdPart } from './cold/list.js'
import { rowFilter } from './condition.js'
import { equalPrefix } from './key-range.js'
import { candidatesOf, type FilterCache, type WantedKey, wantedKey } from './lookup.js'
import { inKeyOrder, isNewest, type Layers, overlayRowOf, type PlacedRow } from './overlay.js'
import type { Part } from './revision.js'
import type { Condition, Scan, TableFiles } from './table-files.js'
import { timesFit } from './times.js'

export type PageSource = {
  readonly files: Pick<TableFiles, 'scan' | 'versions'>
  readonly table: TableName
  readonly parts: readonly Part[]
  /** Below all of these: what a key has here is older than what it has above, and of several the late ones are newer. */
  readonly cold?: readonly ColdPart[]
  /** Of the table, above the base. */
  readonly above: Layers
  /** Absent where hardly any row is found below. */
  readonly filters?: FilterCache
  readonly scan: Scan
}

/** Exactly `limit` rows unless fewer fit, in key order, each key once. */
export async function loadPage(source: PageSource): Promise<readonly LooseRow[]> {
  const { table, scan } = source
  const { where = [], after, limit } = scan
  assert(limit > 0, `A page of ${table} must have room for a row.`)
  const above = firstRows(source)
  const below: PlacedRow[] = []
  const asked = [...source.parts, ...(source.cold ?? [])].filter((part) => mayFit(part, where, after))
  let cursor = after
  for (let ask = askFor(limit, asked); asked.length > 0; ask *= 2) {
    const found = await findBelow(source, asked, cursor, ask)
    below.push(...found.rows)
    if (found.is_complete || below.length + countUpTo(above, found.cursor) >= limit) break
    cursor = found.cursor
  }
  return merge(above, below, limit)
}

/** A fourth more than wanted, as some are older versions, and enough that a scan always ends behind some whole key. */
const askFor = (limit: number, parts: readonly Part[]): number => Math.ceil(limit * 1.25) + parts.length

type Found = { readonly rows: readonly PlacedRow[]; readonly cursor: RowKey | undefined; readonly is_complete: boolean }

/** The next newest rows of the base that fit and that the overlay does not replace, up to a key that it names. */
async function findBelow(source: PageSource, parts: readonly Part[], after: RowKey | undefined, ask: number): Promise<Found> {
  const { files, table, above, scan } = source
  const { where = [] } = scan
  const scanned = await files.scan(table, parts, { where, limit: ask, ...(after === undefined ? {} : { after }) })
  const keyed = scanned.map((row) => ({ key: keyOfRow(table, row), row }))
  const is_complete = scanned.length < ask
  const last = keyed.at(-1)?.key
  // The last key may have more versions than the scan had room for: it comes again with the next one.
  const whole = is_complete || last === undefined ? keyed : keyed.slice(0, countBefore(keyed, last))
  const cursor = whole.at(-1)?.key ?? after
  assert(is_complete || whole.length > 0, `A scan of ${table} for ${ask} rows came to no end of a key.`)
  const newest = newestOfEach(whole).filter(({ row }) => overlayRowOf(above, keyTextOfRow(table, row)) === undefined)
  return { rows: await withoutReplaced(source, parts, newest), cursor, is_complete }
}

/** Sorted rows, of which those with the same key lie together. */
function newestOfEach(rows: readonly PlacedRow[]): PlacedRow[] {
  const newest: PlacedRow[] = []
  for (const candidate of rows) {
    const last = newest.at(-1)
    if (last === undefined || compareKeys(last.key, candidate.key) !== 0) newest.push(candidate)
    else if (last.row.row_version < candidate.row.row_version) newest[newest.length - 1] = candidate
  }
  return newest
}

/** Drops rows, found in these parts, of which another file has a newer version, one that does not fit. */
async function withoutReplaced(source: PageSource, asked: readonly Part[], rows: readonly PlacedRow[]): Promise<readonly PlacedRow[]> {
  const { files, table, scan, cold = [] } = source
  const { key: keyColumns } = tableNamed(table)
  // Versions of a key differ in other columns alone, so either all of them fit, and the newest was found, or none.
  if ((scan.where ?? []).every(({ column }) => keyColumns.includes(column))) return rows
  // Cold parts have nothing newer than what is not cold, and those that are not late nothing newer than any row: they are many,
  // and are not asked.
  const isOfCold = cold.some((part) => asked.includes(part))
  const parts = isOfCold ? [...source.parts, ...cold.filter(({ is_late }) => is_late === true)] : source.parts
  // A row that is not cold lies in one of these itself.
  const itself = isOfCold ? 0 : 1
  const inRanges = rows.flatMap(({ key }) => (parts.filter((part) => covers(part, key)).length > itself ? [wantedKey(key)] : []))
  const doubtful = await heldByMoreThan(source, itself, parts, inRanges)
  if (doubtful.length === 0) return rows
  const covering = parts.filter((part) => doubtful.some(({ key }) => covers(part, key)))
  const versions = await files.versions(
    table,
    covering,
    doubtful.map(({ key }) => key),
  )
  return rows.filter(({ row }) => (versions.get(keyTextOfRow(table, row)) ?? row.row_version) <= row.row_version)
}

/** Where ids are drawn by chance each part covers every key, and hardly any key is in two of them: filters say so, and no file is
 *  opened for it. Those of cold parts are not always over what leads a key. */
async function heldByMoreThan(
  { table, filters, cold = [] }: PageSource,
  least: number,
  parts: readonly Part[],
  keys: readonly WantedKey[],
): Promise<readonly WantedKey[]> {
  if (filters === undefined || keys.length === 0) return keys
  const held = new Map<WantedKey, number>()
  const candidates = await Promise.all(
    parts.map((part) =>
      cold.some((other) => other === part) ? keys.filter(({ key }) => covers(part, key)) : candidatesOf({ table, filters }, part, keys),
    ),
  )
  for (const wanted of candidates.flat()) held.set(wanted, (held.get(wanted) ?? 0) + 1)
  return keys.filter((wanted) => (held.get(wanted) ?? 0) > least)
}

const covers = ({ min_key, max_key }: Part, key: RowKey): boolean => compareKeys(min_key, key) <= 0 && compareKeys(key, max_key) <= 0

/** False where the part's largest key or its ranges of instants show that no row of it fits. */
function mayFit(part: Part, where: readonly Condition[], after: RowKey | undefined): boolean {
  if (after !== undefined && compareKeys(part.max_key, after) <= 0) return false
  return timesFit(part, where)
}

/** The first rows that fit, from where the page begins to where the conditions on leading key columns end it. */
function firstRows({ table, above, scan: { where = [], after, limit } }: PageSource): PlacedRow[] {
  const fits = rowFilter(table, where)
  const prefix = equalPrefix(table, where)
  const place = (key: RowKey) => compareKeys(key.slice(0, prefix.length), prefix)
  const isWanted = (key: RowKey) => place(key) >= 0 && (after === undefined || compareKeys(key, after) > 0)
  const first = inKeyOrder(table, above).flatMap((sorted) => {
    const ofLayer: PlacedRow[] = []
    for (let i = firstIndex(sorted, ({ key }) => isWanted(key)); i < sorted.length && ofLayer.length < limit; i++) {
      const candidate = sorted[i] as PlacedRow
      if (place(candidate.key) > 0) break
      if (fits(candidate.row) && isNewest(above, table, candidate.row)) ofLayer.push(candidate)
    }
    return ofLayer
  })
  return first.sort((left, right) => compareKeys(left.key, right.key)).slice(0, limit)
}

function countBefore(rows: readonly PlacedRow[], key: RowKey): number {
  let count = rows.length
  while (count > 0 && compareKeys((rows[count - 1] as PlacedRow).key, key) >= 0) count--
  return count
}

function countUpTo(rows: readonly PlacedRow[], key: RowKey | undefined): number {
  if (key === undefined) return 0
  let count = 0
  while (count < rows.length && compareKeys((rows[count] as PlacedRow).key, key) <= 0) count++
  return count
}

/** Both are sorted and share no key. */
function merge(left: readonly PlacedRow[], right: readonly PlacedRow[], limit: number): LooseRow[] {
  const merged: LooseRow[] = []
  let l = 0
  let r = 0
  while (merged.length < limit) {
    const [a, b] = [left[l], right[r]]
    if (a === undefined && b === undefined) break
    const isLeft = b === undefined || (a !== undefined && compareKeys(a.key, b.key) < 0)
    merged.push((isLeft ? a : b)?.row as LooseRow)
    if (isLeft) l++
    else r++
  }
  return merged
}
