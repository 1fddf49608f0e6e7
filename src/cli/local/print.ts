// How answers reach people and programs: a table or sentences for the one, one JSON value for the other.

import { once } from 'node:events'
import Table from 'cli-table3'

export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`)

/** As much as whoever reads it takes: a result may be larger than memory. */
export async function printPart(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

export const printLine = (text: string): void => void process.stdout.write(`${text}\n`)

export const note = (text: string): void => void process.stderr.write(`${text}\n`)

/** Without colours: a table is read in a terminal, in a pipe and in a log alike. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const table = new Table({ head: [...head], style: { head: [], border: [], compact: true } })
  for (const row of rows) table.push([...row])
  printLine(table.toString())
}

/** What fits a screen; programs get everything unless they say otherwise. */
export const ROWS_FOR_PEOPLE = 100
const CELL_CHARACTERS_MAX = 40

export function cell(value: unknown): string {
  const text = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length <= CELL_CHARACTERS_MAX ? text : `${text.slice(0, CELL_CHARACTERS_MAX - 1)}…`
}

/** `3 events`, `1 event`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
