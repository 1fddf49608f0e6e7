// Rows of table files by key, decoded for it: of a group no more than what lies around them.

import { keyText, type LooseRow, type RowKey } from '../../projections/tables.js'
import type { ColumnData } from '../columns/column-data.js'
import type { FileLayout } from '../columns/file-column.js'
import { columnsOfKeys } from '../columns/key-order.js'
import { declaredPlaces } from '../columns/parquet-reader.js'
import { blankRows, fillRows, integerAt } from '../columns/row-decoder.js'
import type { GroupFile } from './group-cache.js'
import { findKeys, type OnHits, sortedKeys } from './key-search.js'

/** In no order; a key comes once for each file that has it. */
export async function findRows(layout: FileLayout, files: readonly GroupFile[], keys: readonly RowKey[]): Promise<LooseRow[]> {
  const sorted = sortedKeys(keys)
  const wanted = columnsOfKeys(layout, sorted)
  const places = declaredPlaces(layout)
  const found: LooseRow[] = []
  const onHits: OnHits = (columns, rows) => {
    const decoded = blankRows(layout, rows.length)
    fillRows(layout, columns, decoded, rows)
    for (const row of decoded) found.push(row)
  }
  await Promise.all(files.map((file) => findKeys(layout, file, places, wanted, sorted.length, onHits)))
  return found
}

/** The highest version of each key that is there, by key text. */
export async function findVersions(
  layout: FileLayout,
  files: readonly GroupFile[],
  keys: readonly RowKey[],
): Promise<ReadonlyMap<string, number>> {
  const sorted = sortedKeys(keys)
  const wanted = columnsOfKeys(layout, sorted)
  const places = [...new Set([...layout.key, layout.row_version])]
  const highest = new Map<string, number>()
  const onHits: OnHits = (columns, rows, asked) => {
    const versions = columns[layout.row_version] as ColumnData
    rows.forEach((row, i) => {
      const text = keyText(sorted[asked[i] as number] as RowKey)
      const version = integerAt(layout.table, versions, row)
      if (version > (highest.get(text) ?? Number.NEGATIVE_INFINITY)) highest.set(text, version)
    })
  }
  await Promise.all(files.map((file) => findKeys(layout, file, places, wanted, sorted.length, onHits)))
  return highest
}
