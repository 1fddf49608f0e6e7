// What people read of a loop in the Temporal UI: short Markdown lines on its page, because versions of the UI before 2.53 show no
// tables, and a few words beside each timer and each call.

import { clockText, markdownText } from '../core/page-text.js'
import type { EntityCommand, EntityPage, EntityReport, MaintenanceReport, TurnReport } from './contract.js'

/** Why a look is made. */
export type LookCause = {
  readonly by: 'start' | 'signal' | 'timer' | 'failure' | 'more'
  /** Signals and updates since the look before. */
  readonly pokes: number
}

/** `**ACTIVE** · next fire 1 Sep 02:00 Europe/Berlin`, and a line for each of the rest. */
const details = (status: string, headline: string | undefined, lines: readonly string[]): string =>
  [
    `**${status}**${headline === undefined ? '' : ` · ${headline}`}`,
    ...(lines.length === 0 ? [] : ['']),
    ...lines.map((line) => `- ${line}`),
  ].join('\n')
const errorLines = (last_error: string | null): readonly string[] =>
  last_error === null ? [] : [`last error: ${markdownText(last_error)}`]

export type WorkspaceStatus = 'STARTING' | 'WORKING' | 'IDLE' | 'ERROR'

export const statusOf = ({ open_runs, more }: TurnReport): WorkspaceStatus => (open_runs > 0 || more ? 'WORKING' : 'IDLE')

/** `unknown`: a signal that the loop does not know. */
type WorkspaceTroubles = { readonly last_error: string | null; readonly unknown: string | null }

/** `now`: the loop's. */
export function workspaceDetails(
  status: WorkspaceStatus,
  report: TurnReport | undefined,
  { last_error, unknown }: WorkspaceTroubles,
  now: number,
): string {
  const troubles = [...(unknown === null ? [] : [markdownText(unknown)]), ...errorLines(last_error)]
  if (report === undefined) return details(status, undefined, troubles)
  const { due = null, failed_runs = [], failing_schedules = [] } = report.page ?? {}
  const next_due = dueText(report, now)
  return details(status, report.open_runs === 1 ? '1 open run' : `${report.open_runs} open runs`, [
    `tasks: ${tasksText(report)}`,
    next_due === null ? 'next due: nothing, it waits for events' : `next due: ${next_due}${due === null ? '' : `, ${due}`}`,
    ...failed_runs.map((line) => `failed run: ${line}`),
    ...failing_schedules.map((line) => `schedule in ERROR: ${line}`),
    ...troubles,
    `revision ${report.sequence}`,
  ])
}

const dueText = ({ wake_at }: Pick<TurnReport, 'wake_at'>, now: number): string | null =>
  wake_at === null ? null : `${clockText(Date.parse(wake_at), now)} UTC`

function tasksText({ running_tasks, waiting_tasks, unstarted }: TurnReport): string {
  const parts = [
    ...(running_tasks > 0 ? [`${running_tasks} running`] : []),
    ...(unstarted > 0 ? [`${unstarted} handed over and not started`] : []),
    ...(waiting_tasks > 0 ? [`${waiting_tasks} waiting`] : []),
  ]
  return parts.length === 0 ? 'none' : parts.join(', ')
}

/** What the workspace's timer waits for: what is due, or the backstop that comes before it. */
export type WorkspaceTimer = { readonly wake_at: string | null; readonly is_backstop: boolean }

export function timerSummary({ wake_at, is_backstop }: WorkspaceTimer, now: number): string {
  const next_due = dueText({ wake_at }, now)
  if (next_due === null) return 'backstop: waits for events'
  return is_backstop ? `backstop: next due ${next_due}` : `next due ${next_due}`
}

export const turnSummary = (cause: LookCause, { wake_at, is_backstop }: WorkspaceTimer, now: number): string =>
  `turn: ${causeText(cause, is_backstop || wake_at === null ? 'backstop' : `due ${clockText(Date.parse(wake_at), now)} UTC`)}`

export const handOverSummary = (unstarted: number): string =>
  `hand-over: ${unstarted === 1 ? '1 attempt has' : `${unstarted} attempts have`} not started`

export type MaintenanceStatus = 'STARTING' | 'IDLE' | 'ERROR'

export function maintenanceDetails(status: MaintenanceStatus, report: MaintenanceReport | undefined, last_error: string | null): string {
  const lines =
    report === undefined
      ? []
      : [
          `files merged: ${report.merged_files}`,
          `files removed: ${report.collected_files}`,
          `segments packed: ${report.packed_segments ?? 0}`,
          `late segments: ${report.missed.length}`,
        ]
  return details(status, undefined, [...lines, ...errorLines(last_error)])
}

type EntityTroubles = { readonly last_command: string | null; readonly last_error: string | null; readonly hint: string }

/** `last_error`: why the loop's own last call failed. */
export function entityDetails(status: string, page: EntityPage | undefined, { last_command, last_error, hint }: EntityTroubles): string {
  const { headline, lines = [], last_error: entity_error = null } = page ?? {}
  return details(status, headline, [
    ...lines,
    ...(last_command === null ? [] : [`last command: ${markdownText(last_command)}`]),
    ...errorLines(last_error ?? entity_error),
    hint,
  ])
}

/** What an entity's timer waits for; undefined: its last call failed. An older activity does not say it. */
export const entityTimer = (report: EntityReport | undefined): string =>
  report === undefined ? 'tries again' : (report.timer ?? 'looks again')

/** The commands that a look appends, or why it is made. */
export const lookSummary = (cause: LookCause, commands: readonly EntityCommand[]): string =>
  commands.length === 0 ? `look: ${causeText(cause, 'timer')}` : [...new Set(commands.map(({ kind }) => kind))].join(', ')

function causeText({ by, pokes }: LookCause, timer: string): string {
  if (pokes > 0) return pokes === 1 ? '1 poke' : `${pokes} pokes`
  return { start: 'start of a run', signal: 'poke', timer, failure: 'again after a failure', more: 'there is more' }[by]
}

/** The sentence of a failed activity is that of its cause. */
export function errorText(error: unknown): string {
  let at = error
  while (at instanceof Error && at.cause instanceof Error) at = at.cause
  return at instanceof Error ? at.message : String(at)
}
