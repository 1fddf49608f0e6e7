// The instants of a list of expressions in one zone, from the zone's transitions: at any hour, of any size. Within a piece of
// a year the instants are a range of wall clocks (pieces.ts), so that counting is a subtraction for each piece, and the n-th
// instant is found year by year. Whoever has texts and not expressions begins at schedule-ticks.ts.

import type { CronExpression } from './expression.js'
import { openCalendars, type Piece, type PieceYear, readPieces } from './pieces.js'

/** Instants in epoch milliseconds, whole seconds, strictly increasing. */
export type Ticks = {
  /** The first one after this instant; null: there is none before the year 10000. */
  readonly next: (after_ms: number) => number | null
  /** The last one before this instant; null: there is none since 1900. */
  readonly previous: (before_ms: number) => number | null
  /** How many there are from `from_ms`, included, to `to_ms`, excluded. */
  readonly count: (from_ms: number, to_ms: number) => number
  /** The one with this number, from 0, among those from `from_ms` on. */
  readonly nth: (from_ms: number, number: number) => number | null
  /** Tells them from `from_ms`, included, to `to_ms`, excluded, in order, until it answers false. */
  readonly walk: (from_ms: number, to_ms: number, tell: (at_ms: number) => boolean) => void
}

const YEAR_FIRST = 1900
const YEAR_LAST = 9999

/** A list is the union of its expressions: an instant of several of them is one. */
export function openTicks(expressions: CronExpression | readonly CronExpression[], zone: string): Ticks {
  const calendars = openCalendars([expressions].flat())
  const { is_empty } = calendars.all
  const years: (PieceYear | undefined)[] = []

  function yearAt(year: number): PieceYear {
    const known = years[year - YEAR_FIRST]
    if (known !== undefined) return known
    const read = readPieces(calendars, zone, year)
    years[year - YEAR_FIRST] = read
    return read
  }

  function nth(from_ms: number, number: number): number | null {
    let year = Math.max(YEAR_FIRST, yearOf(from_ms))
    if (year > YEAR_LAST || is_empty) return null
    let rank = number + rankInYear(from_ms, yearAt(year))
    for (; year <= YEAR_LAST; year++) {
      const { count } = yearAt(year)
      if (rank < count) return inYear(rank, yearAt(year))
      rank -= count
    }
    return null
  }

  return {
    nth,
    next: (after_ms) => nth(after_ms + 1, 0),
    previous(before_ms) {
      if (is_empty) return null
      for (let year = Math.min(YEAR_LAST, yearOf(before_ms)); year >= YEAR_FIRST; year--) {
        const rank = rankInYear(before_ms, yearAt(year))
        if (rank > 0) return inYear(rank - 1, yearAt(year))
      }
      return null
    },
    count(from_ms, to_ms) {
      if (to_ms <= from_ms || is_empty) return 0
      const first = Math.max(YEAR_FIRST, yearOf(from_ms))
      const last = Math.min(YEAR_LAST, yearOf(to_ms))
      if (first > last) return 0
      let sum = rankInYear(to_ms, yearAt(last)) - rankInYear(from_ms, yearAt(first))
      for (let year = first; year < last; year++) sum += yearAt(year).count
      return sum
    },
    walk(from_ms, to_ms, tell) {
      if (is_empty) return
      for (let year = Math.max(YEAR_FIRST, yearOf(from_ms)); year <= Math.min(YEAR_LAST, yearOf(to_ms)); year++) {
        for (const piece of yearAt(year).pieces) if (!walkPiece(piece, from_ms, to_ms, tell)) return
      }
    },
  }
}

/** Instants of its year before this one. */
function rankInYear(at_ms: number, { pieces, count }: PieceYear): number {
  for (const { from_ms, to_ms, offset_ms, calendar, has_gap_tick, first, end, before } of pieces) {
    if (at_ms >= to_ms) continue
    if (at_ms <= from_ms) return before
    const rank = Math.min(end, Math.max(first, calendar.rankOf(at_ms + offset_ms)))
    return before + (has_gap_tick ? 1 : 0) + rank - first
  }
  return count
}

function inYear(rank: number, { pieces }: PieceYear): number {
  for (let i = pieces.length - 1; ; i--) {
    const { from_ms, offset_ms, calendar, has_gap_tick, first, before } = pieces[i] as Piece
    if (before > rank) continue
    const place = rank - before - (has_gap_tick ? 1 : 0)
    return place < 0 ? from_ms : calendar.localAt(first + place) - offset_ms
  }
}

function walkPiece(piece: Piece, from_ms: number, to_ms: number, tell: (at_ms: number) => boolean): boolean {
  const { calendar, offset_ms, has_gap_tick } = piece
  if (piece.to_ms <= from_ms) return true
  if (piece.from_ms >= to_ms) return false
  if (has_gap_tick && piece.from_ms >= from_ms && !tell(piece.from_ms)) return false
  const first = from_ms <= piece.from_ms ? piece.first : Math.max(piece.first, calendar.rankOf(from_ms + offset_ms))
  const end = to_ms >= piece.to_ms ? piece.end : Math.min(piece.end, calendar.rankOf(to_ms + offset_ms))
  return calendar.walk(first, end, offset_ms, tell)
}

/** Of the instants that a Date holds; beyond them are the years at both ends. */
function yearOf(at_ms: number): number {
  const year = new Date(at_ms).getUTCFullYear()
  if (!Number.isNaN(year)) return year
  return at_ms < 0 ? YEAR_FIRST - 1 : YEAR_LAST + 1
}
