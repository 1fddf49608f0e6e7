// How a time becomes a key and back: the part of strftime that a key can be read back from.

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.js'

export type KeyFormat = {
  readonly text: string
  /** Whether keys show the zone's offset: where they do not, nobody needs to look it up. */
  readonly has_offset: boolean
  readonly write: (local_ms: number, offset_ms: number) => string
  /** The wall clock, and the offset where the format has one. Digits that are no date (02-30) run over into the next month:
   *  only a key that is written the same again is a key. */
  readonly read: (key: string) => { readonly local_ms: number; readonly offset_ms: number | null } | null
}

/** How each is read, and where it stands in YYYY-MM-DDTHH:MM:SS. */
const DIRECTIVES: ReadonlyMap<string, { readonly pattern: string; readonly piece: Piece }> = new Map([
  ['%Y', { pattern: '(?<Y>\\d{4})', piece: [0, 4] }],
  ['%m', { pattern: '(?<m>\\d{2})', piece: [5, 7] }],
  ['%d', { pattern: '(?<d>\\d{2})', piece: [8, 10] }],
  ['%H', { pattern: '(?<H>\\d{2})', piece: [11, 13] }],
  ['%M', { pattern: '(?<M>\\d{2})', piece: [14, 16] }],
  ['%S', { pattern: '(?<S>\\d{2})', piece: [17, 19] }],
  ['%z', { pattern: '(?<z>[+-]\\d{4})', piece: 'offset' }],
  ['%%', { pattern: '%', piece: { literal: '%' } }],
])

type Piece = readonly [from: number, to: number] | 'offset' | { readonly literal: string }

export function parseKeyFormat(text: string): KeyFormat | { readonly problem: string } {
  const parts = text.match(/%[\s\S]?|[^%]+/g) ?? []
  const directives = parts.filter((part) => part.startsWith('%') && part !== '%%')
  const unknown = directives.find((directive) => !DIRECTIVES.has(directive))
  if (unknown !== undefined) return { problem: `has ${unknown}, which is not known: use %Y %m %d %H %M %S %z and %% for a percent sign` }
  if (new Set(directives).size < directives.length) return { problem: 'has the same directive twice: name each once' }
  if (!['%Y', '%m', '%d'].every((directive) => directives.includes(directive))) {
    return { problem: 'needs %Y, %m and %d, so that two days never have the same key' }
  }
  const pattern = new RegExp(`^${parts.map((part) => DIRECTIVES.get(part)?.pattern ?? escaped(part)).join('')}$`, 'u')
  const pieces = parts.map((part): Piece => DIRECTIVES.get(part)?.piece ?? { literal: part })
  return {
    text,
    has_offset: directives.includes('%z'),
    write: (local_ms, offset_ms) => writeKey(pieces, local_ms, offset_ms),
    read: (key) => readKey(pattern, key),
  }
}

const escaped = (literal: string): string => literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

function writeKey(pieces: readonly Piece[], local_ms: number, offset_ms: number): string {
  const iso = new Date(local_ms).toISOString()
  let key = ''
  for (const piece of pieces) {
    if (piece === 'offset') key += offsetText(offset_ms)
    else key += 'literal' in piece ? piece.literal : iso.slice(piece[0], piece[1])
  }
  return key
}

function readKey(pattern: RegExp, key: string) {
  const groups = pattern.exec(key)?.groups
  if (groups === undefined) return null
  const part = (name: string): number => Number(groups[name] ?? 0)
  const local_ms = Date.UTC(part('Y'), part('m') - 1, part('d'), part('H'), part('M'), part('S'))
  return { local_ms, offset_ms: groups['z'] === undefined ? null : readOffset(groups['z']) }
}

/** +hhmm or +hh:mm. */
export function readOffset(text: string): number {
  const digits = text.replace(':', '')
  return (digits.startsWith('-') ? -1 : 1) * (Number(digits.slice(1, 3)) * HOUR_MS + Number(digits.slice(3, 5)) * MINUTE_MS)
}

function offsetText(offset_ms: number): string {
  const minutes = new Date(Math.abs(offset_ms) % DAY_MS).toISOString()
  return `${offset_ms < 0 ? '-' : '+'}${minutes.slice(11, 13)}${minutes.slice(14, 16)}`
}
