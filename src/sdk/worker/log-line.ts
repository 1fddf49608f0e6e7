// One line of an attempt's log from whatever the code gave: JavaScript takes anything, and JSON does not.

import { inspect } from 'node:util'
import type { LogLine } from '../../api/contract/worker.js'
import type { Json } from '../../core/canonical.js'
import { LOG_LINE_CHARACTERS_MAX } from '../../core/limits.js'
import { instantText } from '../../core/time.js'
import { shown } from '../fault.js'

/** With a message of 64 KiB, the line fits a chunk many times. */
const FIELDS_CHARACTERS_MAX = LOG_LINE_CHARACTERS_MAX

export function logLineOf(now: number, level: LogLine['level'], message: unknown, fields: unknown): LogLine {
  const line = { at: instantText(now), level, message: cut(typeof message === 'string' ? message : textOf(message)) }
  if (fields === undefined || fields === null) return line
  return { ...line, fields: typeof fields === 'object' && !Array.isArray(fields) ? fieldsOf(fields) : { value: jsonOf(fields) } }
}

function fieldsOf(fields: object): Readonly<Record<string, Json>> {
  if (fields instanceof Error || fields instanceof Date) return { value: textOf(fields) }
  let left = FIELDS_CHARACTERS_MAX
  const taken: Record<string, Json> = {}
  try {
    for (const name of Object.keys(fields)) {
      const value = (fields as Readonly<Record<string, unknown>>)[name]
      if (value === undefined) continue
      const json = jsonOf(value)
      left -= name.length + JSON.stringify(json).length
      if (left < 0) return { ...taken, left_out: `More than ${FIELDS_CHARACTERS_MAX} characters.` }
      // By definition, because a member may be called __proto__.
      Object.defineProperty(taken, name.toWellFormed(), { value: json, enumerable: true })
    }
  } catch (error) {
    return { ...taken, left_out: `Reading the fields threw: ${textOf(error)}` }
  }
  return taken
}

function jsonOf(value: unknown): Json {
  try {
    const text = JSON.stringify(value, (_, member: unknown) => memberOf(member))
    return text.length > FIELDS_CHARACTERS_MAX ? cut(text) : (JSON.parse(text) as Json)
  } catch {
    // A circle, or a getter that throws.
    return textOf(value)
  }
}

function memberOf(member: unknown): unknown {
  switch (typeof member) {
    case 'string':
      return member.toWellFormed()
    case 'number':
      return Number.isFinite(member) ? member : String(member)
    case 'bigint':
      return String(member)
    case 'function':
    case 'symbol':
      return textOf(member)
    case 'object':
      return member instanceof Error || member instanceof Map || member instanceof Set ? textOf(member) : member
    case 'boolean':
    case 'undefined':
      return member
  }
}

function textOf(value: unknown): string {
  try {
    if (value instanceof Date) return JSON.stringify(value).replaceAll('"', '')
    return cut(typeof value === 'string' ? value : inspect(value, { depth: 3, breakLength: Number.POSITIVE_INFINITY }))
  } catch {
    return `Something that cannot be shown: ${shown(typeof value)}.`
  }
}

const cut = (text: string): string => {
  const whole = text.toWellFormed()
  return whole.length > LOG_LINE_CHARACTERS_MAX ? `${whole.slice(0, LOG_LINE_CHARACTERS_MAX - 1).toWellFormed()}…` : whole
}
