// Rows of table files by key, from row groups in memory or decoded for it. It reads the key columns of a group first, and
// the others only where a key is there.

import { keyText, type LooseRow, type RowKey } from '../../projections/tables.js'
import type { ColumnData } from '../columns/column-data.js'
import type { FileLayout } from '../columns/file-column.js'
import { columnsOfKeys } from '../columns/key-order.js'
import { declaredPlaces } from '../columns/parquet-reader.js'
import { integerAt } from '../columns/row-decoder.js'
import type { GroupFile } from './group-cache.js'
import { findKeys, sortedKeys } from './key-search.js'
import { pickRows } from './row-picker.js'

/** In no order; a key comes once for each file that has it. */
export async function findRows(layout: FileLayout, files: readonly GroupFile[], keys: readonly RowKey[]): Promise<LooseRow[]> {
  const sorted = sortedKeys(keys)
  const wanted = columnsOfKeys(layout, sorted)
  const places = declaredPlaces(layout)
  const found = await Promise.all(
    files.map(async (file) => {
      const rows: LooseRow[] = []
      for await (const hits of findKeys(layout, file, wanted, sorted.length)) {
        for (const row of pickRows(layout, await file.columns(hits.group, places), hits.rows)) rows.push(row)
      }
      return rows
    }),
  )
  return found.flat()
}

/** The highest version of each key that is there, by key text. */
export async function findVersions(
  layout: FileLayout,
  files: readonly GroupFile[],
  keys: readonly RowKey[],
): Promise<ReadonlyMap<string, number>> {
  const sorted = sortedKeys(keys)
  const wanted = columnsOfKeys(layout, sorted)
  const highest = new Map<string, number>()
  const search = async (file: GroupFile) => {
    for await (const hits of findKeys(layout, file, wanted, sorted.length)) {
      const columns = await file.columns(hits.group, [layout.row_version])
      const versions = columns[layout.row_version] as ColumnData
      hits.rows.forEach((row, i) => {
        const text = keyText(sorted[hits.keys[i] as number] as RowKey)
        const version = integerAt(layout.table, versions, row)
        if (version > (highest.get(text) ?? Number.NEGATIVE_INFINITY)) highest.set(text, version)
      })
    }
  }
  await Promise.all(files.map(search))
  return highest
}
