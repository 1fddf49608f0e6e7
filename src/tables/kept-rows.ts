// Which rows of its files a merge keeps: by an instant, by what leads the key, and by whether they go cold. It looks at columns as
// they lie, and decodes no row.

import { assert } from '../core/errors.js'
import { compareText } from '../core/order.js'
import type { GroupColumns } from './columns/arrow-memory.js'
import { type ColumnData, compareTexts } from './columns/column-data.js'
import type { FileLayout } from './columns/file-column.js'
import { hasValue, integerAt, textAt } from './columns/row-decoder.js'
import type { ColdTest, LedRange, MergeOptions } from './table-files.js'

type Filter = Omit<MergeOptions, 'rows_per_file'>
export type IsKept = (columns: GroupColumns, row: number) => boolean

/** The instant in a column; null: there is none. */
function instantIn(layout: FileLayout, name: string): (columns: GroupColumns, row: number) => number | null {
  const place = layout.columns.findIndex((column) => column.name === name && column.type === 'timestamp')
  assert(place >= 0, `${layout.table} has no timestamp column ${name} to filter a merge by.`)
  return (columns, row) => {
    const data = columns[place] as ColumnData
    return hasValue(data, row) ? integerAt(layout.table, data, row) : null
  }
}

function coldTestOf(layout: FileLayout, test: ColdTest): IsKept {
  if ('led_by' in test) return ledBy(layout, test.led_by)
  const at = instantIn(layout, test.column)
  const endAt = test.unless_set === undefined ? () => null : instantIn(layout, test.unless_set)
  return (columns, row) => {
    const instant = at(columns, row)
    return instant !== null && instant >= test.from && instant < test.before && endAt(columns, row) === null
  }
}

/** Neighbours with the same id are asked about once. */
function ledBy(layout: FileLayout, ids: ReadonlySet<string>): IsKept {
  const place = layout.key[0] as number
  let last: { readonly data: ColumnData; readonly row: number; readonly is_one: boolean } | undefined
  return (columns, row) => {
    const data = columns[place] as ColumnData
    const isSame = last?.data === data && last.row === row - 1 && compareTexts(data, row - 1, data, row) === 0
    const is_one = isSame ? (last?.is_one ?? false) : ids.has(textAt(data, row))
    last = { data, row, is_one }
    return is_one
  }
}

function inRange(layout: FileLayout, { after, through }: LedRange): IsKept {
  const place = layout.key[0] as number
  return (columns, row) => {
    const text = textAt(columns[place] as ColumnData, row)
    return (after === null || compareText(text, after) > 0) && (through === null || compareText(text, through) <= 0)
  }
}

/** undefined: all of them. */
export function keptBy(layout: FileLayout, { drop_before, only, led, cold }: Filter): IsKept | undefined {
  if (drop_before === undefined && only === undefined && led === undefined && cold === undefined) return undefined
  const expiryAt = drop_before === undefined ? undefined : instantIn(layout, drop_before.column)
  const periodAt = only === undefined ? undefined : instantIn(layout, only.column)
  const isLed = led === undefined ? undefined : inRange(layout, led)
  const isCold = cold === undefined ? undefined : coldTestOf(layout, cold.test)
  return (columns, row) => {
    if (isLed !== undefined && !isLed(columns, row)) return false
    if (isCold !== undefined && isCold(columns, row) !== (cold?.keeps === 'cold')) return false
    const expires = expiryAt?.(columns, row) ?? null
    if (drop_before !== undefined && expires !== null && expires < drop_before.at) return false
    if (only === undefined) return true
    const at = periodAt?.(columns, row) ?? null
    return at !== null && at >= only.from && at < only.before
  }
}
