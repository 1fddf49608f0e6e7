// The rows that a replay is done with: sorted runs in a file on local disk, and in memory where each key lies. The fold finds
// them again by key, and at the end they are read once, in key order. It keeps them apart from every workspace.

import { assert } from '../../core/errors.js'
import { expiryCut, type RetentionPolicy } from '../../projections/retention.js'
import {
  type ChangedRows,
  keyText,
  keyTextOfRow,
  type LooseRow,
  type RowsByKey,
  sortedTexts,
  type TableName,
} from '../../projections/tables.js'
import { createSpillFile, type Lines } from '../../storage/spill-file.js'
import type { Lookup } from '../load.js'
import { createKeyIndex } from './key-index.js'
import type { SpilledRun } from './merged-runs.js'
import { parseLines, type RowText, type RowValues, rowTextOf } from './row-text.js'

export type DoneRows = {
  readonly lookup: Lookup
  /** Rows that nobody holds from now on, newer than all that came before. What has expired by now needs no place in memory
   *  any more; it stays in the file. */
  readonly add: (rows: ChangedRows, fold_time: number, retention: RetentionPolicy) => void
  /** Adds the last ones, and gives the memory of look-ups back: all that is left to do is to read the runs. */
  readonly finish: (rows: ChangedRows) => KeptRows
  /** Keys that memory has a place for: twelve bytes each, in tables that are three to six eighths full. */
  readonly entryCount: () => number
  readonly close: () => void
}

export type KeptRows = {
  readonly lines: Lines
  /** Of the file that they are in; undefined: memory holds them. */
  readonly descriptor: number | undefined
  /** Oldest first. */
  readonly runs: readonly SpilledRun[]
}

type Run = SpilledRun & {
  end: number
  /** The last instant that expiry goes by in any of its rows; null: one of them does not expire. */
  last_at: number | null
  is_expired: boolean
}

/** Of what is written at a time. */
const HELD_BYTES_MAX = 4 * 1_024 ** 2

export function createDoneRows(folder: string, held_bytes_max = HELD_BYTES_MAX): DoneRows {
  const file = createSpillFile(folder, held_bytes_max)
  const texts = new Map<TableName, RowText>()
  const runs: Run[] = []
  let index = createKeyIndex((place) => runAt(runs, place).is_expired)
  /** Where the rows lay that were found since others were added: whatever replaces them takes their entry over. */
  const found = new Map<TableName, Map<string, number>>()

  function textOf(table: TableName): RowText {
    const known = texts.get(table)
    if (known !== undefined) return known
    const text = rowTextOf(table)
    texts.set(table, text)
    return text
  }

  /** The newest row of the key, if there is one. */
  function find(table: TableName, text: string): LooseRow | undefined {
    const places = index.placesOf(table, text)
    let newest: { readonly place: number; readonly row: LooseRow } | undefined
    for (const place of places) {
      if (newest !== undefined && place < newest.place) continue
      if (runAt(runs, place).table !== table) continue
      const row = textOf(table).rowOf(parseLines(file.line(place))[0] as RowValues)
      if (keyTextOfRow(table, row) === text) newest = { place, row }
    }
    if (newest === undefined) return undefined
    const ofTable = found.get(table)
    if (ofTable === undefined) found.set(table, new Map([[text, newest.place]]))
    else ofTable.set(text, newest.place)
    return newest.row
  }

  function addRun(table: TableName, rows: RowsByKey, note: (text: string, place: number) => void): Run {
    const { lineOf } = textOf(table)
    const run: Run = { table, start: file.end(), end: Number.POSITIVE_INFINITY, last_at: null, is_expired: false }
    runs.push(run)
    for (const text of sortedTexts(table, rows)) {
      note(text, file.end())
      file.append(lineOf(rows.get(text) as LooseRow))
    }
    run.end = file.end()
    return run
  }

  function noteIn(table: TableName): (text: string, place: number) => void {
    const replaced = found.get(table)
    return (text, place) => {
      const older = replaced?.get(text)
      // Its run may have expired, and its entry gone with it.
      if (older === undefined || !index.move(table, text, older, place)) index.add(table, text, place)
    }
  }

  return {
    lookup: async (table, keys) => keys.flatMap((key) => find(table, keyText(key)) ?? []),
    add(rows, fold_time, retention) {
      for (const run of runs) {
        const cut = expiryCut(run.table, fold_time, retention)
        if (cut !== undefined && run.last_at !== null && run.last_at < cut.at) run.is_expired = true
      }
      for (const [table, ofTable] of rows) {
        const run = addRun(table, ofTable, noteIn(table))
        const cut = expiryCut(table, fold_time, retention)
        if (cut !== undefined) run.last_at = lastAt(ofTable.values(), cut.column)
      }
      found.clear()
    },
    finish(rows) {
      index = createKeyIndex(() => false)
      for (const [table, ofTable] of rows) addRun(table, ofTable, () => undefined)
      return { lines: file, descriptor: file.descriptor(), runs }
    },
    entryCount: () => index.entryCount(),
    close: file.close,
  }
}

/** Runs lie one after another. */
function runAt(runs: readonly Run[], place: number): Run {
  let low = 0
  let high = runs.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((runs[middle] as Run).start <= place) low = middle
    else high = middle - 1
  }
  const run = runs[low]
  assert(run !== undefined && run.start <= place && place < run.end, `No run of a replay has the place ${place}.`)
  return run
}

function lastAt(rows: Iterable<LooseRow>, column: string): number | null {
  let last = Number.NEGATIVE_INFINITY
  for (const row of rows) {
    const at = row[column]
    if (typeof at !== 'number') return null
    if (at > last) last = at
  }
  return last
}
