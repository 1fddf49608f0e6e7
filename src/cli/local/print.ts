// How answers reach people and programs: a table or sentences for the one, one JSON value for the other.

import Table from 'cli-table3'

export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`)

export const printLine = (text: string): void => void process.stdout.write(`${text}\n`)

export const note = (text: string): void => void process.stderr.write(`${text}\n`)

/** Without colours: a table is read in a terminal, in a pipe and in a log alike. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const table = new Table({ head: [...head], style: { head: [], border: [], compact: true } })
  for (const row of rows) table.push([...row])
  printLine(table.toString())
}

/** `3 events`, `1 event`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
