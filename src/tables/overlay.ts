// The rows of the L0 files, decoded, newest first: what lies over the base. Immutable, so that a reader keeps its
// revision while the process moves on; small layers are merged as they pile up, so a look-up asks only a few.

import {
  type ChangedRows,
  keyOfRow,
  keyText,
  type LooseRow,
  type RowKey,
  type RowsByKey,
  sortedRows,
  type TableName,
} from '../projections/tables.js'

type Layer = { readonly rows: RowsByKey; readonly last_sequence: number }

export type Overlay = ReadonlyMap<TableName, readonly Layer[]>

export const EMPTY_OVERLAY: Overlay = new Map()

/** The overlay with one more revision on top. */
export function overlayWith(overlay: Overlay, sequence: number, changed: ChangedRows): Overlay {
  const next = new Map(overlay)
  for (const [table, rows] of changed) {
    next.set(table, pile([...(overlay.get(table) ?? []), { rows, last_sequence: sequence }]))
  }
  return next
}

/** Merges the top layers while the one below is not at least twice as large: logarithmically many remain. */
function pile(layers: readonly Layer[]): readonly Layer[] {
  const piled = [...layers]
  for (;;) {
    const top = piled.at(-1)
    const below = piled.at(-2)
    if (top === undefined || below === undefined || below.rows.size >= 2 * top.rows.size) return piled
    const rows = new Map(below.rows)
    for (const [key, row] of top.rows) rows.set(key, row)
    piled.splice(-2, 2, { rows, last_sequence: top.last_sequence })
  }
}

/** What is left when a base merge has taken in every revision up to this one. */
export function overlayAfter(overlay: Overlay, sequence: number): Overlay {
  const next = new Map<TableName, readonly Layer[]>()
  for (const [table, layers] of overlay) {
    const rows = new Map<string, LooseRow>()
    for (const layer of layers) {
      if (layer.last_sequence <= sequence) continue
      for (const [key, row] of layer.rows) if (row.row_version > sequence) rows.set(key, row)
    }
    if (rows.size > 0) next.set(table, [{ rows, last_sequence: layers.at(-1)?.last_sequence ?? sequence }])
  }
  return next
}

export function overlayRow(overlay: Overlay, table: TableName, key: RowKey): LooseRow | undefined {
  const layers = overlay.get(table)
  if (layers === undefined) return undefined
  const text = keyText(key)
  for (let i = layers.length - 1; i >= 0; i--) {
    const row = layers[i]?.rows.get(text)
    if (row !== undefined) return row
  }
  return undefined
}

const flattened = new WeakMap<readonly Layer[], RowsByKey>()

/** All rows of a table's overlay by key text, built once for each state of it. */
export function overlayRows(overlay: Overlay, table: TableName): RowsByKey {
  const layers = overlay.get(table)
  if (layers === undefined || layers.length === 0) return new Map()
  const only = layers.length === 1 ? layers[0] : undefined
  if (only !== undefined) return only.rows
  const known = flattened.get(layers)
  if (known !== undefined) return known
  const rows = new Map<string, LooseRow>()
  for (const layer of layers) for (const [key, row] of layer.rows) rows.set(key, row)
  flattened.set(layers, rows)
  return rows
}

export type PlacedRow = { readonly key: RowKey; readonly row: LooseRow }

const ordered = new WeakMap<RowsByKey, readonly PlacedRow[]>()

/** The same rows in key order, sorted once for each state. */
export function inKeyOrder(table: TableName, rows: RowsByKey): readonly PlacedRow[] {
  const known = ordered.get(rows)
  if (known !== undefined) return known
  const placed = sortedRows(table, rows).map((row) => ({ key: keyOfRow(table, row), row }))
  ordered.set(rows, placed)
  return placed
}

export function overlayRowCount(overlay: Overlay): number {
  let count = 0
  for (const layers of overlay.values()) for (const layer of layers) count += layer.rows.size
  return count
}
