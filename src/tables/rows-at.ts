// Rows of one revision, wherever they lie: in the files above the base, in the base, or in cold parts. Whoever asks by key
// or page by page need not know where.

import { keyText, keyTextOfRow, type LooseRow, type RowKey, type TableName } from '../projections/tables.js'
import { coldPartsFor, lookupCold } from './cold/find.js'
import { type FilterCache, lookupRows } from './lookup.js'
import { layersOf, overlayRow } from './overlay.js'
import { loadPage } from './page.js'
import { partsOf, type Snapshot, type TableStore } from './snapshot.js'
import type { Scan } from './table-files.js'

export type RowsAt = TableStore & { readonly snapshot: Snapshot; readonly filters: FilterCache }

/** The newest row of each key that has one, expired ones too, in no order. A key that is above the cold parts is newer there. */
export async function rowsAt(
  { store, files, snapshot, filters }: RowsAt,
  table: TableName,
  keys: readonly RowKey[],
): Promise<readonly LooseRow[]> {
  const layers = await layersOf(snapshot.overlay, table)
  const parts = partsOf(snapshot, table)
  const above = await lookupRows({ files, table, parts, filters, overlay: (key) => overlayRow(layers, key) }, keys)
  if (!snapshot.checkpoint.cold.has(table) || above.length === keys.length) return above
  const known = new Set(above.map((row) => keyTextOfRow(table, row)))
  const missing = keys.filter((key) => !known.has(keyText(key)))
  return [...above, ...(await lookupCold({ store, files, checkpoint: snapshot.checkpoint, filters, table }, missing))]
}

/** A keyset page, expired rows among it. */
export async function pageAt({ store, files, snapshot, filters }: RowsAt, table: TableName, scan: Scan): Promise<readonly LooseRow[]> {
  const above = await layersOf(snapshot.overlay, table)
  const cold = await coldPartsFor({ store, checkpoint: snapshot.checkpoint, filters, table }, scan.where ?? [])
  return loadPage({ files, table, parts: partsOf(snapshot, table), cold, above, filters, scan })
}
