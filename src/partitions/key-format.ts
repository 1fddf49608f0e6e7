// How a time becomes a key and back: the part of strftime that a key can be read back from.

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.js'
import type { WallTime } from './wall-time.js'

export type KeyFormat = {
  readonly text: string
  /** Whether keys show the zone's offset: where they do not, nobody needs to look it up. */
  readonly has_offset: boolean
  readonly directives: ReadonlySet<string>
  readonly write: (local_ms: number, offset_ms: number) => string
  /** Digits that are no date (02-30) run over into the next month: only a key that is written the same again is a key. */
  readonly read: (key: string) => WallTime | null
  /** As people write a time: a digit alone will do, and digits that are no date will not. */
  readonly readTime: (text: string) => WallTime | null
}

type Piece = readonly [from: number, to: number] | 'offset' | { readonly literal: string }

/** How each is read, strictly and from people, and where it stands in YYYY-MM-DDTHH:MM:SS. */
const DIRECTIVES: ReadonlyMap<string, { readonly pattern: string; readonly loose: string; readonly piece: Piece }> = new Map([
  ['%Y', { pattern: '(?<Y>\\d{4})', loose: '(?<Y>\\d{4})', piece: [0, 4] }],
  ['%m', { pattern: '(?<m>\\d{2})', loose: '(?<m>\\d{1,2})', piece: [5, 7] }],
  ['%d', { pattern: '(?<d>\\d{2})', loose: '(?<d>\\d{1,2})', piece: [8, 10] }],
  ['%H', { pattern: '(?<H>\\d{2})', loose: '(?<H>\\d{1,2})', piece: [11, 13] }],
  ['%M', { pattern: '(?<M>\\d{2})', loose: '(?<M>\\d{1,2})', piece: [14, 16] }],
  ['%S', { pattern: '(?<S>\\d{2})', loose: '(?<S>\\d{1,2})', piece: [17, 19] }],
  ['%z', { pattern: '(?<z>[+-]\\d{4})', loose: '(?<z>Z|[+-]\\d{2}:?\\d{2})', piece: 'offset' }],
  ['%%', { pattern: '%', loose: '%', piece: { literal: '%' } }],
])

export function parseKeyFormat(text: string): KeyFormat | { readonly problem: string } {
  const parts = text.match(/%[\s\S]?|[^%]+/g) ?? []
  const directives = parts.filter((part) => part.startsWith('%') && part !== '%%')
  const unknown = directives.find((directive) => !DIRECTIVES.has(directive))
  if (unknown !== undefined) return { problem: `has ${unknown}, which is not known: use %Y %m %d %H %M %S %z and %% for a percent sign` }
  if (new Set(directives).size < directives.length) return { problem: 'has the same directive twice: name each once' }
  const patternOf = (kind: 'pattern' | 'loose'): RegExp =>
    new RegExp(`^${parts.map((part) => DIRECTIVES.get(part)?.[kind] ?? escaped(part)).join('')}$`, 'u')
  const [pattern, loose] = [patternOf('pattern'), patternOf('loose')]
  const pieces = parts.map((part): Piece => DIRECTIVES.get(part)?.piece ?? { literal: part })
  return {
    text,
    has_offset: directives.includes('%z'),
    directives: new Set(directives),
    write: (local_ms, offset_ms) => writeKey(pieces, local_ms, offset_ms),
    read: (key) => readKey(pattern, key)?.time ?? null,
    readTime(given) {
      const read = readKey(loose, given)
      return read === undefined || read.is_run_over ? null : read.time
    },
  }
}

/** A pattern that means the text itself. */
export const escaped = (literal: string): string => literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

function writeKey(pieces: readonly Piece[], local_ms: number, offset_ms: number): string {
  const iso = new Date(local_ms).toISOString()
  let key = ''
  for (const piece of pieces) {
    if (piece === 'offset') key += offsetText(offset_ms)
    else key += 'literal' in piece ? piece.literal : iso.slice(piece[0], piece[1])
  }
  return key
}

function readKey(pattern: RegExp, key: string): { readonly time: WallTime; readonly is_run_over: boolean } | undefined {
  const groups = pattern.exec(key)?.groups
  if (groups === undefined) return undefined
  const part = (name: string, least: number): number => Number(groups[name] ?? least)
  const fields = [part('Y', 0), part('m', 1) - 1, part('d', 1), part('H', 0), part('M', 0), part('S', 0)] as const
  const date = new Date(Date.UTC(...fields))
  const shown = [
    date.getUTCFullYear(),
    date.getUTCMonth(),
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  ]
  const time = { local_ms: date.getTime(), offset_ms: groups['z'] === undefined ? null : readOffset(groups['z']) }
  return { time, is_run_over: shown.some((value, place) => value !== fields[place]) }
}

/** A key with the offset of a second pass behind it. */
export function readSuffixed(format: KeyFormat, key: string): WallTime | null {
  const suffix = /[+-]\d{4}$/.exec(key)?.[0]
  const read = suffix === undefined ? null : format.read(key.slice(0, -suffix.length))
  return read === null || suffix === undefined ? null : { local_ms: read.local_ms, offset_ms: readOffset(suffix) }
}

/** +hhmm or +hh:mm, or Z. */
export function readOffset(text: string): number {
  if (text === 'Z') return 0
  const digits = text.replace(':', '')
  return (digits.startsWith('-') ? -1 : 1) * (Number(digits.slice(1, 3)) * HOUR_MS + Number(digits.slice(3, 5)) * MINUTE_MS)
}

export function offsetText(offset_ms: number): string {
  const minutes = new Date(Math.abs(offset_ms) % DAY_MS).toISOString()
  return `${offset_ms < 0 ? '-' : '+'}${minutes.slice(11, 13)}${minutes.slice(14, 16)}`
}
