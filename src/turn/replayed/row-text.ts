// A row as a line of JSON: the values of its columns, in the order in which its table declares them. It is read by the
// process that wrote it, and by nobody else.

import { assert } from '../../core/errors.js'
import { type LooseRow, type TableName, tableNamed } from '../../projections/tables.js'

/** The values of a row, by the place of their column. */
export type RowValues = readonly unknown[]

export type RowText = {
  /** Ends with a comma and a line feed, which no JSON text holds: so many lines are the inside of one list. */
  readonly lineOf: (row: LooseRow) => string
  readonly rowOf: (values: RowValues) => LooseRow
  /** Where the columns of the key are. */
  readonly key_places: readonly number[]
}

const LINE_END = ',\n'

/** Of whole lines, the last one without its line feed. */
export const parseLines = (text: string): readonly RowValues[] => JSON.parse(`[${text.slice(0, -1)}]`) as readonly RowValues[]

export function rowTextOf(table: TableName): RowText {
  const { columns, key } = tableNamed(table)
  const names = Object.keys(columns)
  // A row is a copy of one that has all columns: adding them one by one would make it a slow dictionary.
  const blank = JSON.parse(JSON.stringify(Object.fromEntries(names.map((name) => [name, null])))) as Record<string, unknown>
  const values: unknown[] = new Array<unknown>(names.length).fill(null)
  return {
    lineOf(row) {
      for (let place = 0; place < names.length; place++) {
        const value = row[names[place] as string]
        // JSON would write null, and nobody would see what the fold has made.
        const isJson = value !== undefined && (typeof value !== 'number' || Number.isFinite(value))
        if (!isJson) assert(false, `A row of ${table} was folded with ${String(value)} in its column ${names[place]}.`)
        values[place] = value
      }
      return `${JSON.stringify(values)}${LINE_END}`
    },
    rowOf(given) {
      const row = { ...blank }
      for (let place = 0; place < names.length; place++) row[names[place] as string] = given[place]
      return row as LooseRow
    },
    key_places: key.map((part) => names.indexOf(part)),
  }
}
