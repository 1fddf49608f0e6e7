// The rows of the L0 files, newest first: what lies over the base. Immutable for whoever asks, so that a reader keeps its
// revision while the process moves on. A table's files are decoded when somebody asks for it, and never twice; small layers
// are merged as they pile up, so a look-up asks only a few.

import {
  compareKeys,
  keyOfRow,
  keyText,
  keyTextOfRow,
  type LooseRow,
  type RowKey,
  type RowsByKey,
  sortedRows,
  type TableName,
} from '../projections/tables.js'

type Layer = { readonly rows: RowsByKey; readonly last_sequence: number }
export type Layers = readonly Layer[]

/** Rows of one table and revision in a file that has not been read yet. */
export type RowsToLoad = { readonly row_count: number; readonly load: () => Promise<RowsByKey> }
type Waiting = RowsToLoad & { readonly sequence: number }

/** What is decoded, and above it what is not: loading moves the one into the other, and changes no answer. */
type TableOverlay = {
  layers: Layers
  waiting: readonly Waiting[]
  /** What a preview lies over and has not asked for: it is loaded where it is, for all previews of it. */
  under?: TableOverlay | undefined
  loading?: Promise<Layers> | undefined
}

export type Overlay = ReadonlyMap<TableName, TableOverlay>

export const EMPTY_OVERLAY: Overlay = new Map()
export const NO_LAYERS: Layers = []

/** The overlay with one more revision on top. */
export function overlayWith(overlay: Overlay, sequence: number, above: ReadonlyMap<TableName, RowsByKey | RowsToLoad>): Overlay {
  const next = new Map(overlay)
  for (const [table, rows] of above) {
    const { layers, waiting } = overlay.get(table) ?? { layers: NO_LAYERS, waiting: [] }
    if ('load' in rows) next.set(table, { layers, waiting: [...waiting, { ...rows, sequence }] })
    else if (waiting.length === 0) next.set(table, { layers: pile(table, [...layers, { rows, last_sequence: sequence }]), waiting })
    else next.set(table, { layers, waiting: [...waiting, { sequence, row_count: rows.size, load: async () => rows }] })
  }
  return next
}

/** The overlay of a preview: rows that no file has, over one whose files stay unread until somebody asks for their table. */
export function overlayOfPreview(overlay: Overlay, sequence: number, above: ReadonlyMap<TableName, RowsByKey>): Overlay {
  const next = new Map(overlay)
  for (const [table, rows] of above) {
    const waiting = [{ sequence, row_count: rows.size, load: async () => rows }]
    next.set(table, { layers: NO_LAYERS, waiting, under: overlay.get(table) })
  }
  return next
}

/** All rows of a table above the base; its files are read and decoded with the first question. */
export async function layersOf(overlay: Overlay, table: TableName): Promise<Layers> {
  const own = overlay.get(table)
  return own === undefined ? NO_LAYERS : loaded(table, own)
}

async function loaded(table: TableName, own: TableOverlay): Promise<Layers> {
  if (own.waiting.length === 0) return own.layers
  own.loading ??= load(table, own).finally(() => {
    own.loading = undefined
  })
  return own.loading
}

async function load(table: TableName, own: TableOverlay): Promise<Layers> {
  const { waiting, under } = own
  const below = under === undefined ? own.layers : await loaded(table, under)
  const read = await Promise.all(waiting.map((file) => file.load()))
  own.layers = read.reduce((layers, rows, i) => pile(table, [...layers, { rows, last_sequence: (waiting[i] as Waiting).sequence }]), below)
  own.waiting = []
  own.under = undefined
  return own.layers
}

/** What loads at most once, and again after it failed. */
export function loadedOnce(load: () => Promise<RowsByKey>): () => Promise<RowsByKey> {
  let loading: Promise<RowsByKey> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
}

/** Merges the top layers while the one below is not at least twice as large: logarithmically many remain. */
function pile(table: TableName, layers: Layers): Layers {
  const piled = [...layers]
  for (;;) {
    const top = piled.at(-1)
    const below = piled.at(-2)
    if (top === undefined || below === undefined || below.rows.size >= 2 * top.rows.size) return piled
    const rows = new Map(below.rows)
    for (const [key, row] of top.rows) rows.set(key, row)
    const lower = ordered.get(below.rows)
    if (lower !== undefined) ordered.set(rows, mergedOrder(lower, sortedLayer(table, top.rows)))
    piled.splice(-2, 2, { rows, last_sequence: top.last_sequence })
  }
}

/** What is left when a base merge has taken in every revision up to this one. */
export function overlayAfter(overlay: Overlay, sequence: number): Overlay {
  const next = new Map<TableName, TableOverlay>()
  for (const [table, { layers, waiting }] of overlay) {
    const rows = new Map<string, LooseRow>()
    for (const layer of layers) {
      if (layer.last_sequence <= sequence) continue
      for (const [key, row] of layer.rows) if (row.row_version > sequence) rows.set(key, row)
    }
    const left = rows.size > 0 ? [{ rows, last_sequence: layers.at(-1)?.last_sequence ?? sequence }] : NO_LAYERS
    const still_waiting = waiting.filter((file) => file.sequence > sequence)
    if (left.length > 0 || still_waiting.length > 0) next.set(table, { layers: left, waiting: still_waiting })
  }
  return next
}

export const overlayRow = (layers: Layers, key: RowKey): LooseRow | undefined => overlayRowOf(layers, keyText(key))

/** The same by the key's text. */
export function overlayRowOf(layers: Layers, text: string): LooseRow | undefined {
  for (let i = layers.length - 1; i >= 0; i--) {
    const row = layers[i]?.rows.get(text)
    if (row !== undefined) return row
  }
  return undefined
}

const flattened = new WeakMap<Layers, RowsByKey>()

/** All rows of a table's overlay by key text, built once for each state of it. */
export function overlayRows(layers: Layers): RowsByKey {
  if (layers.length === 0) return new Map()
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

type InOrder = readonly PlacedRow[]

const ordered = new WeakMap<RowsByKey, InOrder>()

/** The rows of each layer in key order, sorted once: what a revision adds costs no more than itself. A row of one may be older
 *  than what another has of its key (`isNewest`). */
export const inKeyOrder = (table: TableName, layers: Layers): readonly InOrder[] => layers.map(({ rows }) => sortedLayer(table, rows))

function sortedLayer(table: TableName, rows: RowsByKey): InOrder {
  const known = ordered.get(rows)
  if (known !== undefined) return known
  const placed = sortedRows(table, rows).map((row) => ({ key: keyOfRow(table, row), row }))
  ordered.set(rows, placed)
  return placed
}

/** Of a key that both have, the row of the upper one. */
function mergedOrder(lower: InOrder, upper: InOrder): InOrder {
  const merged: PlacedRow[] = []
  let at = 0
  for (const above of upper) {
    for (let below = lower[at]; below !== undefined && compareKeys(below.key, above.key) < 0; below = lower[++at]) merged.push(below)
    const same = lower[at]
    if (same !== undefined && compareKeys(same.key, above.key) === 0) at += 1
    merged.push(above)
  }
  return [...merged, ...lower.slice(at)]
}

export const isNewest = (layers: Layers, table: TableName, row: LooseRow): boolean =>
  layers.length === 1 || overlayRowOf(layers, keyTextOfRow(table, row)) === row

/** Of one table, without reading anything: a row that several files have, and nobody has asked for, counts in each. */
export function tableOverlayRowCount(overlay: Overlay, table: TableName): number {
  const { layers, waiting } = overlay.get(table) ?? { layers: NO_LAYERS, waiting: [] }
  return [...layers.map(({ rows }) => rows.size), ...waiting.map(({ row_count }) => row_count)].reduce((sum, count) => sum + count, 0)
}

export const overlayRowCount = (overlay: Overlay): number =>
  [...overlay.keys()].reduce((sum, table) => sum + tableOverlayRowCount(overlay, table), 0)
