// What keys say about where rows are: which files may have rows that fit, and which files follow one another. Pure
// arithmetic over smallest and largest keys.

import { compareText } from '../core/order.js'
import type { KeyValue } from '../projections/table.js'
import { compareKeys, type RowKey, type TableName, tableNamed } from '../projections/tables.js'
import type { Condition, FileReference } from './table-files.js'

type KeyRange = Pick<FileReference, 'min_key' | 'max_key'>

export const compareValues = (left: KeyValue, right: KeyValue): number =>
  typeof left === 'number' && typeof right === 'number' ? left - right : compareText(String(left), String(right))

/** What a condition holds this column equal to. */
export function equalValue(where: readonly Condition[], name: string): KeyValue | undefined {
  const found = where.find((condition) => condition.column === name && 'is' in condition && condition.is === '=')
  return found !== undefined && 'value' in found && typeof found.value !== 'boolean' ? found.value : undefined
}

/** The values of the leading key columns that conditions hold equal: rows that fit lie together. */
export function equalPrefix(table: TableName, where: readonly Condition[]): readonly KeyValue[] {
  const prefix: KeyValue[] = []
  for (const name of tableNamed(table).key) {
    const value = equalValue(where, name)
    if (value === undefined) break
    prefix.push(value)
  }
  return prefix
}

/** False where the file's smallest and largest key show that no row of it fits. */
export function mayFit(table: TableName, { min_key, max_key }: KeyRange, where: readonly Condition[], after: RowKey | undefined): boolean {
  if (after !== undefined && compareKeys(max_key, after) <= 0) return false
  const prefix = equalPrefix(table, where)
  if (compareKeys(min_key.slice(0, prefix.length), prefix) > 0 || compareKeys(max_key.slice(0, prefix.length), prefix) < 0) return false
  const [first] = tableNamed(table).key
  return where.every((condition) => {
    if (condition.column !== first) return true
    const [least, most] = [min_key[0] as KeyValue, max_key[0] as KeyValue]
    const isWithin = (value: string | number | boolean) =>
      compareValues(value as KeyValue, least) >= 0 && compareValues(value as KeyValue, most) <= 0
    if ('in' in condition) return condition.in.some(isWithin)
    if (!('is' in condition)) return true
    const value = condition.value as KeyValue
    if (condition.is === '<' || condition.is === '<=') return compareValues(least, value) <= 0
    if (condition.is === '>' || condition.is === '>=') return compareValues(most, value) >= 0
    return true
  })
}

/** As few sequences of files as possible in which each file begins after the end of the one before. */
export function runsOf<File extends KeyRange>(files: readonly File[]): File[][] {
  const runs: File[][] = []
  for (const file of [...files].sort((left, right) => compareKeys(left.min_key, right.min_key))) {
    const run = runs.find((other) => compareKeys((other.at(-1) as File).max_key, file.min_key) < 0)
    if (run === undefined) runs.push([file])
    else run.push(file)
  }
  return runs
}
