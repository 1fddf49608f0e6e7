// Schedules and ticks as the API shows them: their rows, and what follows from them at an instant.

import { instantText } from '../core/time.js'
import { zoneProblem } from '../core/zone-name.js'
import { zonedText } from '../core/zoned-text.js'
import type { RunRow } from '../projections/run-table.js'
import type { ScheduleTickRow } from '../projections/schedule-table.js'
import { documentOf } from './document.js'
import { nextFireMs, type Schedule } from './schedules.js'

export function scheduleDocument(schedule: Schedule, now: number) {
  const { definition, state } = schedule
  const { last_event_id: _last, ...defined } = documentOf('schedule_definitions', definition)
  const { owed: _owed, floor_at: _floor, ...standing } = documentOf('schedule_state', state)
  const { last_tick_status, last_scheduled_for, last_decided_at } = state
  return {
    ...defined,
    ...standing,
    last_scheduled_for: textOrNull(last_scheduled_for),
    last_delay_ms: last_tick_status === 'SKIPPED' ? null : delayMs(last_scheduled_for, last_decided_at),
    next_fire: nextFireOf(schedule, now),
    row_version: Math.max(definition.row_version, state.row_version),
  }
}

/** In UTC where the zone cannot be read: what got in all the same is shown too. */
const localText = (at_ms: number, timezone: string): string => zonedText(zoneProblem(timezone) === null ? timezone : 'UTC', at_ms)

export const fireAt = (at_ms: number, timezone: string) => ({ scheduled_for: instantText(at_ms), local: localText(at_ms, timezone) })

export function nextFireOf(schedule: Schedule, now: number) {
  const next_ms = nextFireMs(schedule, now)
  return next_ms === null ? null : fireAt(next_ms, schedule.definition.timezone)
}

export function tickDocument(row: ScheduleTickRow, runs: readonly RunRow[], timezone: string) {
  const { kind, status, scheduled_for, first_scheduled_for, decided_at } = row
  return {
    ...documentOf('schedule_ticks', row),
    ...fireAt(scheduled_for, timezone),
    first_scheduled_for: textOrNull(first_scheduled_for),
    delay_ms: kind === 'MANUAL' || status === 'SKIPPED' ? null : delayMs(scheduled_for, decided_at),
    runs: runs.map((run) => {
      const { run_id, run_key, state, partitions, requested_at, finished_at } = documentOf('runs', run)
      return { run_id, run_key, state, partitions, requested_at, finished_at }
    }),
  }
}

const textOrNull = (at_ms: number | null): string | null => (at_ms === null ? null : instantText(at_ms))

const delayMs = (from_ms: number | null, to_ms: number | null): number | null =>
  from_ms === null || to_ms === null ? null : Math.max(0, to_ms - from_ms)
