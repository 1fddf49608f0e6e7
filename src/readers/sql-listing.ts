// What somebody needs who reads the tables without Servo: their columns, the files of one revision, and the same views.

import { resolve } from 'node:path'
import { instantMs, instantText } from '../core/time.js'
import { expiryCut } from '../projections/retention.js'
import { TABLE_NAMES, type TableName, tableNamed } from '../projections/tables.js'
import type { ObjectStore } from '../storage/object-store.js'
import { FILE_LAYOUTS } from '../tables/columns/file-column.js'
import { sqlTypeOf } from '../tables/parquet-query.js'
import type { View } from './reader.js'
import { tableSql } from './sql.js'

type TableDescription = {
  readonly table: TableName
  readonly key: readonly string[]
  readonly columns: readonly { readonly column: string; readonly type: string; readonly nullable: boolean; readonly holds_json: boolean }[]
}

export const describeTables = (): readonly TableDescription[] =>
  TABLE_NAMES.map((table) => ({
    table,
    key: tableNamed(table).key,
    columns: FILE_LAYOUTS[table].columns.map((column) => ({
      column: column.name,
      type: sqlTypeOf(column),
      nullable: column.nullable,
      holds_json: column.type === 'json',
    })),
  }))

type RevisionFiles = {
  readonly sequence: number
  readonly revision: string
  readonly published_at: string
  readonly tables: readonly TableFileList[]
}

type TableFileList = {
  readonly table: TableName
  readonly key: readonly string[]
  /** Rows whose instant in this column is earlier have expired. */
  readonly expired: { readonly column: string; readonly before: string } | null
  readonly files: readonly { readonly path: string; readonly rows: number; readonly bytes: number; readonly crc32c: string }[]
}

type Place = Pick<ObjectStore, 'label' | 'filePath'>

/** Of a folder the path of the file, else the address of the object. */
const placeOf = ({ label, filePath }: Place, name: string): string =>
  filePath === undefined ? `${label}/${name}` : resolve(filePath(name, '1'))

export async function listFiles(place: Place, view: View): Promise<RevisionFiles> {
  const { sequence, revision, published_at, fold_time, retention } = view.snapshot.revision
  const listed = TABLE_NAMES.map(async (table): Promise<TableFileList> => {
    const files = await view.files(table)
    const cut = expiryCut(table, instantMs(fold_time), retention)
    return {
      table,
      key: tableNamed(table).key,
      expired: cut === undefined ? null : { column: cut.column, before: instantText(cut.at) },
      files: files.map(({ name, rows, bytes, crc32c }) => ({ path: placeOf(place, name), rows, bytes, crc32c })),
    }
  })
  return { sequence, revision, published_at, tables: await Promise.all(listed) }
}

/** A script: each table as a view under its own name. */
export async function viewScript(place: Place, view: View): Promise<string> {
  const { sequence, published_at } = view.snapshot.revision
  const views = TABLE_NAMES.map(async (table) => {
    const files = (await view.files(table)).map((file) => ({ ...file, path: placeOf(place, file.name) }))
    return `CREATE OR REPLACE VIEW "${table}" AS ${tableSql(view, table, files)};`
  })
  return [`-- ${place.label} at revision ${sequence}, published at ${published_at}.`, ...(await Promise.all(views))].join('\n')
}
