// What DuckDB says of a statement, as a sentence with the place that it means. It decides nothing.

import { messageOf } from '../../core/errors.js'
import { suggestion } from '../../core/spelling.js'
import { TABLE_NAMES } from '../../projections/tables.js'

/** `not_understood`: another statement is needed. `stopped`: this one needs more than it is given. */
export type StatementFault = { readonly kind: 'not_understood' | 'stopped'; readonly sentence: string }

/** With `errors_as_json` an error is text of this form, of a parser's error only its end. */
type DuckDbError = {
  readonly exception_type: string
  readonly exception_message: string
  /** Of the statement's UTF-8 bytes, from 0. */
  readonly position?: string
  readonly type?: string
  readonly name?: string
}

export function errorOf(error: unknown): DuckDbError {
  const text = messageOf(error)
  try {
    return JSON.parse(text.slice(Math.max(0, text.indexOf('{')))) as DuckDbError
  } catch {
    const [, exception_type = '', exception_message = text] = /^([A-Z][A-Za-z ]+) Error: ([^]*)$/.exec(text) ?? []
    return { exception_type, exception_message }
  }
}

export function faultOf(text: string, { exception_type, exception_message, position, type, name }: DuckDbError): StatementFault {
  const at = placeOf(text, position)
  const say = (sentence: string): StatementFault => ({ kind: 'not_understood', sentence: `${at}${sentence}` })
  if (exception_type === 'Permission') {
    const file = /Cannot access \w+ ("[^]*?") -/.exec(exception_message)?.[1]
    return say(
      `A statement reads the tables of the workspace and nothing else on this machine or elsewhere${file === undefined ? '' : `, so not ${file}`}.`,
    )
  }
  if (exception_type === 'Catalog' && type === 'Table' && name !== undefined) {
    return say(`There is no table ${name}.${suggestion(name, TABLE_NAMES)} There are: ${TABLE_NAMES.join(', ')}.`)
  }
  return say(asSentence(exception_message))
}

/** `Line 1, column 8: `; nothing where the error is at no place. */
function placeOf(text: string, position: string | undefined): string {
  if (position === undefined) return ''
  const lines = Buffer.from(text).subarray(0, Number(position)).toString('utf8').split('\n')
  return `Line ${lines.length}, column ${[...(lines.at(-1) as string)].length + 1}: `
}

/** On one line, and without what a statement cannot follow. */
function asSentence(message: string): string {
  const [said = ''] = message.split(/\n+Please try installing/)
  const parts = said
    .split('\n')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => part.replace(/!$/, '.'))
  const sentence = parts.map((part, i) => (i === parts.length - 1 || /[.:,;?]$/.test(part) ? part : `${part}.`)).join(' ')
  const capital = sentence.charAt(0).toUpperCase() + sentence.slice(1)
  return /[.?]$/.test(capital) ? capital : `${capital}.`
}
