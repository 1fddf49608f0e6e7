// Rows as documents of the API: the same names, and instants as text.

import { instantText } from '../core/time.js'
import { type LooseRow, type RowKey, type Rows, type TableName, tableNamed } from '../projections/tables.js'
import type { Condition } from '../tables/table-files.js'
import type { View } from './reader.js'

/** Members that end in _at are instants (DATA section 1): numbers in rows, text here. */
type DocumentOf<Row> = {
  readonly [Member in keyof Row]: Member extends `${string}_at` ? string | Extract<Row[Member], null> : Row[Member]
}

export function documentOf<Name extends TableName>(table: Name, row: Rows[Name] | LooseRow): DocumentOf<Rows[Name]> {
  const { columns } = tableNamed(table)
  const members = Object.entries(row).map(([name, value]: [string, unknown]) => {
    const isInstant = columns[name]?.type === 'timestamp' && typeof value === 'number'
    return [name, isInstant ? instantText(value) : value]
  })
  return Object.fromEntries(members) as DocumentOf<Rows[Name]>
}

type DocumentPage<Name extends TableName> = {
  readonly documents: readonly DocumentOf<Rows[Name]>[]
  /** undefined: this is the last page. */
  readonly next: RowKey | undefined
}

/** A page in the order of the table's key. */
export async function readPage<Name extends TableName>(
  view: View | undefined,
  table: Name,
  { where, after, limit }: { readonly where: readonly Condition[]; readonly after: RowKey | undefined; readonly limit: number },
): Promise<DocumentPage<Name>> {
  if (view === undefined) return { documents: [], next: undefined }
  const { rows, last_key, is_last } = await view.page(table, { where, limit, ...(after === undefined ? {} : { after }) })
  return { documents: rows.map((row) => documentOf(table, row)), next: is_last ? undefined : last_key }
}

export async function readDocument<Name extends TableName>(
  view: View | undefined,
  table: Name,
  key: RowKey,
): Promise<DocumentOf<Rows[Name]> | undefined> {
  const row = await view?.row(table, key)
  return row === undefined ? undefined : documentOf(table, row)
}
