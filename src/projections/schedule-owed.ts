// What a schedule owes: instants that an edit or a resume cut off. The fold knows no cron and no zone; it keeps the spans,
// and a controller counts what is in them.

import { OWED_SPANS_KEPT_MAX, OWED_SPANS_MAX } from '../core/limits.js'
import { instantMs, instantText } from '../core/time.js'
import { hasSameTimes } from '../events/schedule-definition.js'
import type { OwedSpan, ScheduleDefinitionRow, ScheduleStateRow } from './schedule-table.js'

/** No more changes are taken until a turn has counted what they cut off. */
export const isOwedFull = ({ owed }: Pick<ScheduleStateRow, 'owed'>): boolean => owed.length >= OWED_SPANS_KEPT_MAX

/** With the span from the floor to this instant. */
export function owedWith(
  { owed, floor_at }: Pick<ScheduleStateRow, 'owed' | 'floor_at'>,
  { cron_expressions, timezone }: Pick<ScheduleDefinitionRow, 'cron_expressions' | 'timezone'>,
  reason: OwedSpan['reason'],
  at: number,
): readonly OwedSpan[] {
  // Writers' clocks differ: what was said later may carry an earlier instant, and cuts nothing off.
  if (at <= floor_at) return owed
  return merged([...owed, { from: instantText(floor_at), to: instantText(at), cron_expressions, timezone, reason }])
}

/** Beyond the usual number the oldest two neighbours that count alike become one. Others stay: under one cron they would
 *  count other instants than there were. */
function merged(spans: readonly OwedSpan[]): readonly OwedSpan[] {
  if (spans.length <= OWED_SPANS_MAX) return spans
  const index = spans.findIndex((span, i) => i > 0 && canJoin(spans[i - 1] as OwedSpan, span))
  if (index < 0) return spans
  const [older, newer] = [spans[index - 1] as OwedSpan, spans[index] as OwedSpan]
  return [...spans.slice(0, index - 1), { ...older, to: newer.to }, ...spans.slice(index + 1)]
}

const canJoin = (older: OwedSpan, newer: OwedSpan): boolean =>
  older.to === newer.from && older.reason === newer.reason && hasSameTimes(older, newer)

/** What is still owed once all up to this instant is decided. */
export const owedAfter = (owed: readonly OwedSpan[], to: string): readonly OwedSpan[] =>
  owed
    .filter((span) => instantMs(span.to) > instantMs(to))
    .map((span) => (instantMs(span.from) < instantMs(to) ? { ...span, from: instantText(instantMs(to)) } : span))

export const isOwed = (owed: readonly OwedSpan[], from: string, to: string): boolean =>
  owed.some((span) => instantMs(span.from) <= instantMs(from) && instantMs(to) <= instantMs(span.to))
