// The columns of a table's files: tenant and workspace, then what the table declares. It knows no row and no byte.

import type { Column } from '../../projections/table.js'
import { TABLE_NAMES, type TableName, tableNamed } from '../../projections/tables.js'

export type FileColumn = Pick<Column, 'type' | 'nullable' | 'repeats'> & { readonly name: string }

/** Whose rows a file holds: the values of its first two columns. */
export type FileScope = { readonly tenant_id: string; readonly workspace_id: string }

/** How values lie in memory: `text` bytes with offsets, `word` 32 bits, `pair` two words, the low one first. */
type Storage = 'text' | 'word' | 'pair'

const STORAGE = {
  string: 'text',
  json: 'text',
  int32: 'word',
  boolean: 'word',
  int64: 'pair',
  timestamp: 'pair',
  double: 'pair',
} as const satisfies Record<FileColumn['type'], Storage>

export const storageOf = (column: FileColumn): Storage => STORAGE[column.type]

const SCOPE_COLUMNS: readonly FileColumn[] = [
  { name: 'tenant_id', type: 'string', nullable: false, repeats: true },
  { name: 'workspace_id', type: 'string', nullable: false, repeats: true },
]

/** How many columns of a file come before the declared ones. */
export const SCOPE_COLUMN_COUNT = SCOPE_COLUMNS.length

export type FileLayout = {
  readonly table: TableName
  readonly columns: readonly FileColumn[]
  /** Places in `columns`. */
  readonly key: readonly number[]
  readonly times: readonly number[]
  readonly row_version: number
  /** Whether a filter over the first key column goes with each file. */
  readonly bloom: boolean
}

function layoutOf(table: TableName): FileLayout {
  const declared = tableNamed(table)
  const columns = [
    ...SCOPE_COLUMNS,
    ...Object.entries(declared.columns).map(([name, { type, nullable, repeats }]) => ({ name, type, nullable, repeats })),
  ]
  const placeOf = (name: string) => columns.findIndex((column) => column.name === name)
  return {
    table,
    columns,
    key: declared.key.map(placeOf),
    times: declared.times.map(placeOf),
    row_version: placeOf('row_version'),
    bloom: declared.bloom,
  }
}

export const FILE_LAYOUTS = Object.fromEntries(TABLE_NAMES.map((table) => [table, layoutOf(table)])) as Readonly<
  Record<TableName, FileLayout>
>
