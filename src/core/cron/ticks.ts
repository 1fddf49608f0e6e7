// The instants of one expression in one zone, by the rule for changes of the clocks (docs/schedules.md), from the zone's
// transitions: at any hour, of any size. Within a span of constant offset the instants are a range of wall clocks, so that
// counting is a subtraction for each span, and the n-th instant is found year by year.

import { DAY_MS } from '../time.js'
import { type OffsetSpan, offsetSpans } from '../zone.js'
import { type CronCalendar, openCronCalendar } from './calendar.js'
import type { CronExpression } from './expression.js'

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

/** A span's instants: one at its start, where times of the gap before it fell out, and wall clocks by rank. */
type Piece = {
  readonly from_ms: number
  readonly to_ms: number
  readonly offset_ms: number
  readonly has_gap_tick: boolean
  readonly first: number
  /** Not among them. */
  readonly end: number
  /** Of the year's instants, those before this piece. */
  readonly before: number
}

type Year = { readonly pieces: readonly Piece[]; readonly count: number }

export function openTicks(expression: CronExpression, zone: string): Ticks {
  const calendar = openCronCalendar(expression)
  const years: (Year | undefined)[] = []

  function yearAt(year: number): Year {
    const known = years[year - YEAR_FIRST]
    if (known !== undefined) return known
    const read = readYear(calendar, zone, year)
    years[year - YEAR_FIRST] = read
    return read
  }

  /** Instants of its year before this one. */
  function rankInYear(at_ms: number, { pieces, count }: Year): number {
    for (const piece of pieces) {
      if (at_ms >= piece.to_ms) continue
      if (at_ms <= piece.from_ms) return piece.before
      const rank = Math.min(piece.end, Math.max(piece.first, calendar.rankOf(at_ms + piece.offset_ms)))
      return piece.before + (piece.has_gap_tick ? 1 : 0) + rank - piece.first
    }
    return count
  }

  function inYear(rank: number, { pieces }: Year): number {
    for (let i = pieces.length - 1; ; i--) {
      const piece = pieces[i] as Piece
      if (piece.before > rank) continue
      const place = rank - piece.before - (piece.has_gap_tick ? 1 : 0)
      return place < 0 ? piece.from_ms : calendar.localAt(piece.first + place) - piece.offset_ms
    }
  }

  function nth(from_ms: number, number: number): number | null {
    let year = Math.max(YEAR_FIRST, yearOf(from_ms))
    if (year > YEAR_LAST || calendar.is_empty) return null
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
      if (calendar.is_empty) return null
      for (let year = Math.min(YEAR_LAST, yearOf(before_ms)); year >= YEAR_FIRST; year--) {
        const rank = rankInYear(before_ms, yearAt(year))
        if (rank > 0) return inYear(rank - 1, yearAt(year))
      }
      return null
    },
    count(from_ms, to_ms) {
      if (to_ms <= from_ms) return 0
      const first = Math.max(YEAR_FIRST, yearOf(from_ms))
      const last = Math.min(YEAR_LAST, yearOf(to_ms))
      if (first > last) return 0
      let sum = rankInYear(to_ms, yearAt(last)) - rankInYear(from_ms, yearAt(first))
      for (let year = first; year < last; year++) sum += yearAt(year).count
      return sum
    },
    walk(from_ms, to_ms, tell) {
      if (calendar.is_empty) return
      for (let year = Math.max(YEAR_FIRST, yearOf(from_ms)); year <= Math.min(YEAR_LAST, yearOf(to_ms)); year++) {
        for (const piece of yearAt(year).pieces) if (!walkPiece(calendar, piece, from_ms, to_ms, tell)) return
      }
    },
  }
}

function walkPiece(calendar: CronCalendar, piece: Piece, from_ms: number, to_ms: number, tell: (at_ms: number) => boolean): boolean {
  if (piece.to_ms <= from_ms) return true
  if (piece.from_ms >= to_ms) return false
  const { offset_ms } = piece
  if (piece.has_gap_tick && piece.from_ms >= from_ms && !tell(piece.from_ms)) return false
  const first = Math.max(piece.first, from_ms <= piece.from_ms ? piece.first : calendar.rankOf(from_ms + offset_ms))
  const end = to_ms >= piece.to_ms ? piece.end : Math.min(piece.end, calendar.rankOf(to_ms + offset_ms))
  return calendar.walk(first, end, (local_ms) => tell(local_ms - offset_ms))
}

const yearOf = (at_ms: number): number => new Date(at_ms).getUTCFullYear()

function readYear(calendar: CronCalendar, zone: string, year: number): Year {
  const spans = offsetSpans(zone, year)
  const around = [...offsetSpans(zone, year - 1).slice(-1), ...spans, ...offsetSpans(zone, year + 1).slice(0, 1)]
  const pieces: Piece[] = []
  let before = 0
  for (const [i, span] of spans.entries()) {
    const piece = { ...readPiece(calendar, around, i + 1), before }
    if (span.to_ms <= span.from_ms) continue
    pieces.push(piece)
    before += piece.end - piece.first + (piece.has_gap_tick ? 1 : 0)
  }
  return { pieces, count: before }
}

function readPiece(calendar: CronCalendar, spans: readonly OffsetSpan[], place: number): Omit<Piece, 'before'> {
  const span = spans[place] as OffsetSpan
  const previous = spans[place - 1] as OffsetSpan
  const { from_ms, to_ms, offset_ms } = span
  const local_from_ms = from_ms + offset_ms
  const first = calendar.rankOf(local_from_ms)
  if (calendar.is_every_hour) return { from_ms, to_ms, offset_ms, has_gap_tick: false, first, end: calendar.rankOf(to_ms + offset_ms) }
  // What is shown again is told then.
  const local_to_ms = Math.min(to_ms + offset_ms, ...spans.slice(place + 1).map((later) => later.from_ms + later.offset_ms))
  const end = Math.max(first, calendar.rankOf(local_to_ms))
  const isGapTimeAtStart = calendar.rankOf(local_from_ms + 1_000) > first && end > first
  const has_gap_tick = !isGapTimeAtStart && timesInGap(calendar, from_ms + previous.offset_ms, local_from_ms) > 0
  return { from_ms, to_ms, offset_ms, has_gap_tick, first, end }
}

/** Times that no clock shows, without those of dates that were skipped whole: such a date has no instants. */
function timesInGap(calendar: CronCalendar, gap_from_ms: number, gap_to_ms: number): number {
  if (gap_from_ms >= gap_to_ms) return 0
  const times = (from_ms: number, to_ms: number): number => (from_ms < to_ms ? calendar.rankOf(to_ms) - calendar.rankOf(from_ms) : 0)
  const first_whole_ms = Math.ceil(gap_from_ms / DAY_MS) * DAY_MS
  const last_whole_ms = Math.floor(gap_to_ms / DAY_MS) * DAY_MS
  if (first_whole_ms >= last_whole_ms) return times(gap_from_ms, gap_to_ms)
  return times(gap_from_ms, first_whole_ms) + times(last_whole_ms, gap_to_ms)
}
