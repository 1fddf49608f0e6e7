// Schedules as a kind of entity with loops: what their pages say, and when they are due.

import { SCHEDULE_FIRES_SHOWN } from '../../core/loop-limits.js'
import { clockText, markdownText } from '../../core/page-text.js'
import { cutText } from '../../core/text.js'
import { SECOND_MS } from '../../core/time.js'
import { offsetAt } from '../../core/zone.js'
import type { ScheduleDefinitionRow, ScheduleStateRow, ScheduleTickRow } from '../../projections/schedule-table.js'
import { ticksOf } from '../../projections/schedule-ticks.js'
import type { View } from '../../readers/reader.js'
import { nextFireMs, SCHEDULE_READS, type Schedule } from '../../readers/schedules.js'
import type { ScheduleCommand, ScheduleLoopStatus } from '../../workflows/contract.js'
import type { EntityDescription, EntityKind, EntityStanding } from './kind.js'
import { answerSchedule, appendToSchedule } from './schedule-commands.js'

/** Temporal takes 200 bytes; crons and zones are ASCII, and names too. */
const SUMMARY_CHARACTERS_MAX = 200

export const SCHEDULE_KIND = {
  kind: 'schedule',
  noun: 'SCHEDULE',
  find: SCHEDULE_READS.lookUp,
  readAll: SCHEDULE_READS.readAll,
  count: (view) =>
    view.derived('schedule count', ['schedule_definitions'], async () => (await view.few('schedule_definitions', [])).length),
  inRows(rows, schedule_id) {
    const definition = rows.get('schedule_definitions', schedule_id)
    const state = rows.get('schedule_state', schedule_id)
    return definition === undefined || state === undefined ? undefined : { definition, state }
  },
  describe: describeSchedule,
  dueAt: (schedule) => firesOf(schedule, 2),
  append: appendToSchedule,
  answer: answerSchedule,
  report: reportSchedule,
} satisfies EntityKind<Schedule, ScheduleCommand>

function describeSchedule({ definition, state }: Schedule): EntityDescription {
  const { schedule_id, schedule_name, timezone, definition_version, row_version } = definition
  return {
    entity_id: schedule_id,
    name: schedule_name,
    summary: cutText(`${schedule_name}: ${cronText(definition)} (${timezone})`, SUMMARY_CHARACTERS_MAX),
    status: state.status,
    is_over: state.status === 'REMOVED',
    mark: `${schedule_name} ${definition_version} ${state.status}`,
    defined_in: row_version,
    is_first_definition: definition_version === 1,
    is_ticking: state.status === 'ACTIVE',
    has_fired: state.last_scheduled_for !== null,
  }
}

const cronText = ({ cron_expressions }: Pick<ScheduleDefinitionRow, 'cron_expressions'>): string => cron_expressions.join('; ')

/** The first instants that no decision covers, due or not. */
function firesOf(schedule: Schedule, count: number): readonly number[] {
  const fires: number[] = []
  const ticks = ticksOf(schedule.definition)
  if ('problem' in ticks) return fires
  for (let at = nextFireMs(schedule, schedule.state.floor_at); at !== null && fires.length < count; at = ticks.next(at)) fires.push(at)
  return fires
}

async function reportSchedule(
  schedule: Schedule,
  view: View,
  now: number,
): Promise<EntityStanding & { readonly status: ScheduleLoopStatus }> {
  const { schedule_id, last_tick_id } = schedule.state
  const tick = last_tick_id === null ? undefined : await view.row('schedule_ticks', [schedule_id, last_tick_id])
  return standingOf(schedule, tick, now)
}

/** `tick`: the last one. */
export function standingOf(
  schedule: Schedule,
  tick: ScheduleTickRow | undefined,
  now: number,
): EntityStanding & { readonly status: ScheduleLoopStatus } {
  const { definition, state } = schedule
  const { timezone, schedule_name } = definition
  const clock = (at: number): string => clockText(at + offsetAt(timezone, at), now + offsetAt(timezone, now))
  const ticks = ticksOf(definition)
  const fires = firesOf(schedule, SCHEDULE_FIRES_SHOWN)
  const [next] = fires
  const next_fire = next === undefined ? 'no fire ahead' : `next fire ${clock(next)} ${timezone}`
  const failure = state.last_tick_status === 'FAILED' ? (tick?.error?.message ?? null) : null
  const last_error = failure ?? ('problem' in ticks ? ticks.problem : null)
  const is_paused = state.status === 'PAUSED'
  return {
    status: state.status === 'ACTIVE' && last_error !== null ? 'ERROR' : state.status,
    timer: is_paused ? 'paused' : next_fire,
    page: {
      headline: next_fire,
      lines: [
        `schedule \`${schedule_name}\``,
        `cron \`${cronText(definition)}\`, zone ${timezone}`,
        ...(is_paused ? [pausedText(state, clock)] : []),
        lastTickText(state, tick, clock),
        ...(fires.length < 2 ? [] : [`then ${fires.slice(1).map(clock).join(', ')}`]),
      ],
      last_error,
    },
  }
}

type ClockText = (at: number) => string

function lastTickText(state: ScheduleStateRow, tick: ScheduleTickRow | undefined, clock: ClockText): string {
  const { last_scheduled_for, last_tick_status, last_decided_at } = state
  if (last_scheduled_for === null || last_tick_status === null) return 'no tick yet'
  const parts = [`last tick ${clock(last_scheduled_for)} ${last_tick_status}`]
  if (last_tick_status !== 'SKIPPED' && last_decided_at !== null) {
    parts.push(`decided after ${Math.max(0, Math.round((last_decided_at - last_scheduled_for) / SECOND_MS))} s`)
  }
  if (tick?.run_id != null) parts.push(`run ${tick.run_id}${tick.run_count > 1 ? ` and ${tick.run_count - 1} more` : ''}`)
  return parts.join(', ')
}

function pausedText({ paused_at, status_changed_by, status_reason }: ScheduleStateRow, clock: ClockText): string {
  const since = paused_at === null ? '' : ` since ${clock(paused_at)}`
  const by = status_changed_by === null ? '' : ` by ${status_changed_by}`
  return markdownText(`paused${since}${by}${status_reason === null ? '' : `: ${status_reason}`}`)
}
