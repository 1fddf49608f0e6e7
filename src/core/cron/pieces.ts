// One year of a zone as pieces in which the instants are a range of wall clocks: here is the rule for changes of the clocks
// (docs/schedules.md). Expressions of every hour and expressions of fixed times differ in what they do with wall clocks that
// are shown again, so a span that ends in some of those is two pieces.

import { DAY_MS, SECOND_MS } from '../time.js'
import { type OffsetSpan, offsetSpans } from '../zone.js'
import { type CronCalendar, openCronCalendar } from './calendar.js'
import type { CronExpression } from './expression.js'

/** Half open in time. Instants: one at its start, where times of the gap before it fell out, and wall clocks by rank. */
export type Piece = {
  readonly from_ms: number
  readonly to_ms: number
  readonly offset_ms: number
  readonly calendar: CronCalendar
  readonly has_gap_tick: boolean
  readonly first: number
  /** Not among them. */
  readonly end: number
  /** Of the year's instants, those before this piece. */
  readonly before: number
}

export type PieceYear = { readonly pieces: readonly Piece[]; readonly count: number }

type Calendars = {
  readonly all: CronCalendar
  /** Of every hour: what is shown twice fires twice, and what is not shown does not fire. */
  readonly hourly: CronCalendar | null
  /** The others: what is shown twice fires the second time, and what is not shown fires at the end of the gap. */
  readonly fixed: CronCalendar | null
}

export function openCalendars(expressions: readonly CronExpression[]): Calendars {
  const all = openCronCalendar(expressions)
  const hourly = expressions.filter(isEveryHour)
  const fixed = expressions.filter((expression) => !isEveryHour(expression))
  const calendarOf = (some: readonly CronExpression[]): CronCalendar | null => {
    if (some.length === 0) return null
    return some.length === expressions.length ? all : openCronCalendar(some)
  }
  return { all, hourly: calendarOf(hourly), fixed: calendarOf(fixed) }
}

const isEveryHour = ({ hours }: CronExpression): boolean => hours.length === 24

export function readPieces(calendars: Calendars, zone: string, year: number): PieceYear {
  const spans = offsetSpans(zone, year)
  const around = [...offsetSpans(zone, year - 1).slice(-1), ...spans, ...offsetSpans(zone, year + 1).slice(0, 1)]
  const pieces: Piece[] = []
  let before = 0
  for (const place of spans.keys()) {
    for (const piece of piecesOf(calendars, around, place + 1)) {
      pieces.push({ ...piece, before })
      before += piece.end - piece.first + (piece.has_gap_tick ? 1 : 0)
    }
  }
  return { pieces, count: before }
}

type Placed = Omit<Piece, 'before'>

function piecesOf({ all, hourly, fixed }: Calendars, spans: readonly OffsetSpan[], place: number): readonly Placed[] {
  const { from_ms, to_ms, offset_ms } = spans[place] as OffsetSpan
  const local_from_ms = from_ms + offset_ms
  const between = (from: number, to: number, calendar: CronCalendar): readonly Placed[] =>
    from < to ? [placed(calendar, { from_ms: from, to_ms: to, offset_ms })] : []
  if (fixed === null) return between(from_ms, to_ms, all)
  // What is shown again is told then: a fixed time fires on its last pass.
  const again_ms = Math.min(...spans.slice(place + 1).map((later) => later.from_ms + later.offset_ms)) - offset_ms
  const cut_ms = Math.max(from_ms, Math.min(to_ms, again_ms))
  const parts = [...between(from_ms, cut_ms, all), ...between(cut_ms, to_ms, hourly ?? NOTHING)]
  const gap_from_ms = from_ms + (spans[place - 1] as OffsetSpan).offset_ms
  if (gap_from_ms >= local_from_ms || timesInGap(fixed, gap_from_ms, local_from_ms) === 0) return parts
  // Where the end of the gap is an instant of its own, the times of the gap are one with it.
  return parts.map((part, i) => (i === 0 && !hasAtStart(part) ? { ...part, has_gap_tick: true } : part))
}

const NOTHING = openCronCalendar([])

const placed = (calendar: CronCalendar, { from_ms, to_ms, offset_ms }: OffsetSpan): Placed => ({
  from_ms,
  to_ms,
  offset_ms,
  calendar,
  has_gap_tick: false,
  first: calendar.rankOf(from_ms + offset_ms),
  end: calendar.rankOf(to_ms + offset_ms),
})

const hasAtStart = ({ calendar, from_ms, offset_ms, first, end }: Placed): boolean =>
  end > first && calendar.rankOf(from_ms + offset_ms + SECOND_MS) > first

/** Times that no clock shows, without those of dates that were skipped whole: such a date has no instants. */
function timesInGap(calendar: CronCalendar, gap_from_ms: number, gap_to_ms: number): number {
  const times = (from_ms: number, to_ms: number): number => (from_ms < to_ms ? calendar.rankOf(to_ms) - calendar.rankOf(from_ms) : 0)
  const first_whole_ms = Math.ceil(gap_from_ms / DAY_MS) * DAY_MS
  const last_whole_ms = Math.floor(gap_to_ms / DAY_MS) * DAY_MS
  if (first_whole_ms >= last_whole_ms) return times(gap_from_ms, gap_to_ms)
  return times(gap_from_ms, first_whole_ms) + times(last_whole_ms, gap_to_ms)
}
