// Schedules and ticks as people read them. Instants are those of the schedule's own zone: its cron is written in them. Pure.

import { agoText, delayText } from '../moments.js'
import type { Schedule, ScheduleTick } from './answers.js'

export const SCHEDULE_WORDS = 'the name of a schedule, or its id'

export const schedulePath = (id_or_name: string): string => `/schedules/${encodeURIComponent(id_or_name)}`

type Fire = { readonly scheduled_for: string; readonly local: string }

/** `2025-01-15 06:00:00 +01:00`. */
export const localWords = (local: string): string => local.replace('T', ' ').replace(/(Z|[+-]\d\d:\d\d)$/, ' $1')

/** With how long until it. */
export const fireText = (fire: Fire | null, now: number): string =>
  fire === null ? '' : `${localWords(fire.local)} (${agoText(Date.parse(fire.scheduled_for), now)})`

/** Paused by whom and why: whoever looks at a schedule that does not fire asks just that. */
export function statusText({ status, status_changed_by, status_reason }: Schedule): string {
  if (status !== 'PAUSED') return status
  const by = status_changed_by === null ? '' : ` by ${status_changed_by}`
  return `${status}${by}${status_reason === null ? '' : `: ${status_reason}`}`
}

export function lastTickText({ last_tick_status, last_scheduled_for, last_delay_ms }: Schedule, now: number): string {
  if (last_tick_status === null || last_scheduled_for === null) return ''
  const delay = last_delay_ms === null ? '' : `, ${delayText(last_delay_ms)} late`
  return `${last_tick_status} ${agoText(Date.parse(last_scheduled_for), now)}${delay}`
}

/** `CATCH_UP 7, OVERLAP 1`. */
export const reasonsText = (reasons: Readonly<Record<string, number>> | null): string =>
  Object.entries(reasons ?? {})
    .map(([reason, count]) => `${reason} ${count}`)
    .join(', ')

const RUNS_SHOWN = 2

/** What came of it: its runs as they stand, why it was skipped, or what failed. */
export function tickSaying(tick: ScheduleTick): string {
  const { status, runs, run_count, error, conflict_count } = tick
  if (status === 'FAILED') return error?.message ?? ''
  if (status === 'SKIPPED') return skippedSaying(tick)
  const shown = runs.slice(0, RUNS_SHOWN).map(({ run_id, state }) => `${run_id} ${state}`)
  const more = run_count - conflict_count - shown.length
  const conflicts = conflict_count === 0 ? [] : [`${conflict_count} in conflict: servo conflicts list`]
  return [...shown, ...(more > 0 ? [`and ${more} more`] : []), ...conflicts].join(', ')
}

function skippedSaying({ skipped_count, skip_reasons, active_run_id }: ScheduleTick): string {
  const by = active_run_id === null ? '' : `; ${active_run_id} was active`
  return `${skipped_count ?? 0} skipped: ${reasonsText(skip_reasons)}${by}`
}
