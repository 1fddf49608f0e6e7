// How a schedule stands, for its loop: words for its page, and when to look again. Pure, but for what it is given.

import { sha256Words } from '../../core/hash.js'
import {
  SCHEDULE_FIRES_SHOWN,
  SCHEDULE_LOOK_AFTER_MS,
  SCHEDULE_LOOK_APART_MS,
  SCHEDULE_LOOK_EVERY_MS_MAX,
  SCHEDULE_LOOK_EVERY_MS_MIN,
  SCHEDULE_LOOK_SPREAD_MS_MAX,
} from '../../core/loop-limits.js'
import { instantText, SECOND_MS } from '../../core/time.js'
import { zonedText } from '../../core/zoned-text.js'
import type { ScheduleDefinitionRow, ScheduleStateRow, ScheduleTickRow } from '../../projections/schedule-table.js'
import { ticksOf } from '../../projections/schedule-ticks.js'
import { nextFireMs, type Schedule } from '../../readers/schedules.js'
import type { ScheduleReport, ScheduleShown } from '../../workflows/contract.js'

/** The first instant that no decision covers, due or not; null: there is none, as for a schedule that does not fire. */
export const undecidedAt = (schedule: Schedule): number | null => nextFireMs(schedule, schedule.state.floor_at)

type Moment = {
  /** The store's time. */
  readonly now: number
  readonly sequence: number
  /** Of the workspace: as many loops may be due at one instant. */
  readonly schedule_count: number
}

type Told = {
  /** The one that FAILED last. */
  readonly failed_tick: ScheduleTickRow | undefined
  /** Why what was signalled was not taken. */
  readonly refused: string | null
  readonly answers: ScheduleReport['answers']
}

export function reportOf(schedule: Schedule, { now, sequence, schedule_count }: Moment, told: Told): ScheduleReport {
  const { definition, state } = schedule
  const next_fire = undecidedAt(schedule)
  const next_fires = firesFrom(definition, next_fire)
  const shown = shownOf(schedule, next_fires, told)
  return {
    sequence,
    status: statusOf(state, shown),
    wake_in_ms: wakeInMs(definition.schedule_id, next_fire, { now, schedule_count }),
    next_fire_at: next_fire === null ? null : instantText(next_fire),
    shown,
    answers: told.answers,
    refused: told.refused,
  }
}

function statusOf({ status }: ScheduleStateRow, { last_error }: ScheduleShown): ScheduleReport['status'] {
  return status === 'ACTIVE' && last_error !== null ? 'ERROR' : status
}

function firesFrom(definition: ScheduleDefinitionRow, first: number | null): readonly string[] {
  const ticks = ticksOf(definition)
  if ('problem' in ticks) return []
  const fires: string[] = []
  for (let at = first; at !== null && fires.length < SCHEDULE_FIRES_SHOWN; at = ticks.next(at))
    fires.push(zonedText(definition.timezone, at))
  return fires
}

function shownOf({ definition, state }: Schedule, next_fires: readonly string[], { failed_tick }: Told): ScheduleShown {
  const { schedule_name, timezone } = definition
  const ticks = ticksOf(definition)
  return {
    name: schedule_name,
    cron: cronText(definition),
    timezone,
    next_fires,
    last_tick: lastTickText(timezone, state),
    paused: state.status === 'PAUSED' ? pausedText(timezone, state) : null,
    last_error: failed_tick?.error?.message ?? ('problem' in ticks ? ticks.problem : null),
  }
}

export const cronText = ({ cron_expressions }: Pick<ScheduleDefinitionRow, 'cron_expressions'>): string => cron_expressions.join('; ')

function lastTickText(timezone: string, { last_scheduled_for, last_tick_status, last_decided_at }: ScheduleStateRow): string | null {
  if (last_scheduled_for === null || last_tick_status === null) return null
  const instant = `${zonedText(timezone, last_scheduled_for)} ${last_tick_status}`
  if (last_tick_status === 'SKIPPED' || last_decided_at === null) return instant
  return `${instant}, decided after ${Math.max(0, Math.round((last_decided_at - last_scheduled_for) / SECOND_MS))} s`
}

function pausedText(timezone: string, { paused_at, status_changed_by, status_reason }: ScheduleStateRow): string {
  const since = paused_at === null ? '' : `since ${zonedText(timezone, paused_at)} `
  return `${since}by ${status_changed_by ?? 'nobody who gave a name'}${status_reason === null ? '' : `: ${status_reason}`}`
}

/** After the turn that is due then, and one loop after the other. */
function wakeInMs(schedule_id: string, next_fire: number | null, { now, schedule_count }: Pick<Moment, 'now' | 'schedule_count'>): number {
  const share = sha256Words(schedule_id).first / 2 ** 32
  const spread = share * Math.min(SCHEDULE_LOOK_SPREAD_MS_MAX, schedule_count * SCHEDULE_LOOK_APART_MS)
  // The upper half of it: loops that wait for nothing do not look at the same time either.
  const longest = SCHEDULE_LOOK_EVERY_MS_MAX * (1 - share / 2)
  if (next_fire === null) return Math.round(longest)
  const wake = Math.max(SCHEDULE_LOOK_EVERY_MS_MIN, next_fire - now + SCHEDULE_LOOK_AFTER_MS + spread)
  return Math.round(Math.min(longest, wake))
}
