// How answers reach people and programs: a table or sentences for the one, one JSON value for the other.

import { once } from 'node:events'
import Table from 'cli-table3'
import { jsonFor, lineFor, linesFor } from '../terminal.js'

export const printJson = (value: unknown): void => void process.stdout.write(`${jsonFor(process.stdout, JSON.stringify(value))}\n`)

/** A part of a JSON text, as fast as whoever reads it takes it: a result may be larger than memory. */
export async function printPart(json: string): Promise<void> {
  if (!process.stdout.write(jsonFor(process.stdout, json))) await once(process.stdout, 'drain')
}

/** One line, whatever is in the text. */
export const printLine = (text: string): void => void process.stdout.write(`${lineFor(process.stdout, text)}\n`)

export const printLines = (lines: readonly string[]): void => lines.forEach(printLine)

/** For people, beside what a program reads. It may have several lines. */
export const note = (text: string): void => void process.stderr.write(`${linesFor(process.stderr, text)}\n`)

/** Several texts are as many lines of the cell. */
type Cell = string | readonly string[]

/** Without colours of its own: a table is read in a terminal, in a pipe and in a log alike. */
export function printTable(head: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const table = new Table({ head: head.map(shown), style: { head: [], border: [], compact: true } })
  for (const row of rows) table.push(row.map(shown))
  process.stdout.write(`${table.toString()}\n`)
}

/** Before the table is laid out: what is escaped takes more room. */
const shown = (cell: Cell): string => (typeof cell === 'string' ? [cell] : cell).map((line) => lineFor(process.stdout, line)).join('\n')

/** What fits a screen; programs get everything unless they say otherwise. */
export const ROWS_FOR_PEOPLE = 100
const CELL_CHARACTERS_MAX = 40

export function cell(value: unknown): string {
  const text = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length <= CELL_CHARACTERS_MAX ? text : `${text.slice(0, CELL_CHARACTERS_MAX - 1)}…`
}

/** `3 events`, `1 event`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
