// Canonical JSON (RFC 8785): the text of which every hash is taken. One value, one text, on every machine.

import { assert } from './errors.js'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** Members that are undefined are left out. What JSON cannot say (NaN, Infinity, a lone surrogate, a function, an
 *  undefined element) is a bug of the caller: parsers have refused such input before. */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'number':
      assert(Number.isFinite(value), `Canonical JSON has no ${value}: check numbers where they enter.`)
      // ECMAScript's own text of a number is the canonical one; it writes -0 as 0.
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? arrayText(value) : objectText(value as Readonly<Record<string, unknown>>)
    case 'bigint':
    case 'symbol':
    case 'undefined':
    case 'function':
      assert(false, `Canonical JSON has no ${typeof value}.`)
  }
}

function arrayText(values: readonly unknown[]): string {
  if (values.length === 0) return '[]'
  let text = '['
  for (let i = 0; i < values.length; i++) text += i === 0 ? canonicalJson(values[i]) : `,${canonicalJson(values[i])}`
  return `${text}]`
}

function objectText(object: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(object)
  // Array.sort without a comparator orders by UTF-16 unit, which is what RFC 8785 asks for.
  if (!isSorted(keys)) keys.sort()
  let text = ''
  for (const key of keys) {
    const member = object[key]
    if (member === undefined) continue
    text += text === '' ? `${quote(key)}:${canonicalJson(member)}` : `,${quote(key)}:${canonicalJson(member)}`
  }
  return `{${text}}`
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return false
  return true
}

/** What a JSON text cannot hold as it is, and half surrogates. */
const NEEDS_ESCAPE = /[\u0000-\u001f"\\\ud800-\udfff]/

function quote(text: string): string {
  // Most text needs nothing, and finding that out costs half of a call into JSON.stringify (measured).
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`
  assert(text.isWellFormed(), 'Canonical JSON has no lone surrogate: check text where it enters.')
  return JSON.stringify(text)
}

/** The bytes of a value's canonical JSON. Order of members does not change the length, and JSON.stringify writes
 *  numbers and escapes as RFC 8785 does, so nothing has to be sorted to be measured. */
export const canonicalBytes = (value: unknown): number => utf8Bytes(JSON.stringify(value))

/** The length of a text in UTF-8, without encoding it. A lone surrogate counts as the three bytes that replace it. */
export function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 2
      i++
    } else bytes += 2
  }
  return bytes
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** Deeper values are refused where they enter: a recursive walk of them could exhaust the stack. */
export const JSON_DEPTH_MAX = 64

/** Whether JSON can say the value, and canonical JSON too: then an upper bound of its canonical bytes, found without
 *  writing it; else undefined. */
export function boundedJsonBytes(value: unknown, depth = JSON_DEPTH_MAX): number | undefined {
  const bound = bytesAtMost(value, depth)
  return bound === NOT_JSON ? undefined : bound
}

const NOT_JSON = -1
/** A unit of text is at most `\u001f`; digits, sign and exponent of a number are at most 25 characters. */
const UNIT_BYTES_MAX = 6
const NUMBER_BYTES_MAX = 25
const WORD_BYTES_MAX = 5

function bytesAtMost(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.isWellFormed() ? value.length * UNIT_BYTES_MAX + 2 : NOT_JSON
  if (typeof value === 'number') return Number.isFinite(value) ? NUMBER_BYTES_MAX : NOT_JSON
  if (typeof value === 'boolean' || value === null) return WORD_BYTES_MAX
  if (typeof value !== 'object' || depth === 0) return NOT_JSON
  let bytes = 2
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const element = bytesAtMost(value[i], depth - 1)
      if (element === NOT_JSON) return NOT_JSON
      bytes += element + 1
    }
    return bytes
  }
  for (const key in value) {
    const member = (value as Readonly<Record<string, unknown>>)[key]
    if (member === undefined) continue
    const memberBytes = bytesAtMost(member, depth - 1)
    if (memberBytes === NOT_JSON || !key.isWellFormed()) return NOT_JSON
    bytes += key.length * UNIT_BYTES_MAX + 4 + memberBytes
  }
  return bytes
}
