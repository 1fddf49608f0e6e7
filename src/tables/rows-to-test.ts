// How many rows a scan tests before its page is full, as far as files say so of themselves: where these are many, DuckDB is
// asked at once, and not after the first of them were decoded and tested for nothing.

import type { TableName } from '../projections/tables.js'
import { equalPrefix } from './key-range.js'
import type { Condition, FileReference, Scan } from './table-files.js'

type TimedFile = Pick<FileReference, 'rows' | 'times'>

/** An estimate: instants are taken to lie evenly between the smallest and the largest one of a file. 0 where rows that fit
 *  lie together, because nobody knows how many do. */
export function rowsToTest(table: TableName, files: readonly TimedFile[], { where = [], limit }: Scan): number {
  if (equalPrefix(table, where).length > 0) return 0
  let all = 0
  let fitting = 0
  for (const file of files) {
    all += file.rows
    fitting += file.rows * fittingShare(file, where)
  }
  return fitting <= limit ? all : (all * limit) / fitting
}

/** Of the file's rows. Columns are not independent of each other, so the one that says most is believed alone. */
function fittingShare({ times = {} }: TimedFile, where: readonly Condition[]): number {
  return Math.min(1, ...Object.entries(times).map(([column, range]) => shareOf(column, range, where)))
}

function shareOf(column: string, [from, to]: readonly [number, number], where: readonly Condition[]): number {
  let [least, most] = [from, to]
  for (const condition of where) {
    if (condition.column !== column || !('is' in condition) || typeof condition.value !== 'number') continue
    const { is, value } = condition
    if (is === '=' || is === '>' || is === '>=') least = Math.max(least, value)
    if (is === '=' || is === '<' || is === '<=') most = Math.min(most, value)
  }
  if (least > most) return 0
  return to === from ? 1 : (most - least) / (to - from)
}
