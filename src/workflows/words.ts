// What people read of a loop in the Temporal UI: a line in lists, and a small table on the loop's own page.

import type { MaintenanceReport, ScheduleCommand, ScheduleLoopStatus, ScheduleReport, TurnReport } from './contract.js'

type Line = readonly [name: string, value: string]

const table = (lines: readonly Line[]): string => ['| | |', '|---|---|', ...lines.map(lineText)].join('\n')
const lineText = ([name, value]: Line): string => `| ${name} | ${value.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')} |`
const errorLine = (last_error: string | null): readonly Line[] => (last_error === null ? [] : [['last error', last_error]])

export type WorkspaceStatus = 'STARTING' | 'WORKING' | 'IDLE' | 'ERROR'

export const statusOf = ({ open_runs, more }: TurnReport): WorkspaceStatus => (open_runs > 0 || more ? 'WORKING' : 'IDLE')

export function workspaceDetails(status: WorkspaceStatus, report: TurnReport | undefined, last_error: string | null): string {
  const known: readonly Line[] =
    report === undefined
      ? []
      : [
          ['open runs', String(report.open_runs)],
          ['tasks', tasksText(report)],
          ['next due', report.wake_at ?? 'nothing: it waits for events'],
          ['revision', String(report.sequence)],
        ]
  return table([['status', status], ...known, ...errorLine(last_error)])
}

function tasksText({ running_tasks, waiting_tasks, unstarted }: TurnReport): string {
  const parts = [
    ...(running_tasks > 0 ? [`${running_tasks} running`] : []),
    ...(unstarted > 0 ? [`${unstarted} handed over and not started`] : []),
    ...(waiting_tasks > 0 ? [`${waiting_tasks} waiting`] : []),
  ]
  return parts.length === 0 ? 'none' : parts.join(', ')
}

export const waitSummary = (wake_at: string | null): string => (wake_at === null ? 'waits for events' : `next due ${wake_at}`)

export const turnSummary = (turn: number): string => `turn ${turn}`

export type MaintenanceStatus = 'STARTING' | 'IDLE' | 'ERROR'

export function maintenanceDetails(status: MaintenanceStatus, report: MaintenanceReport | undefined, last_error: string | null): string {
  const known: readonly Line[] =
    report === undefined
      ? []
      : [
          ['files merged', String(report.merged_files)],
          ['files removed', String(report.collected_files)],
          ['segments packed', String(report.packed_segments ?? 0)],
          ['late segments', String(report.missed.length)],
        ]
  return table([['status', status], ...known, ...errorLine(last_error)])
}

/** What people have signalled, or the number of the call. */
export const callSummary = (turn: number, commands: readonly ScheduleCommand[]): string =>
  commands.length === 0 ? `call ${turn}` : [...new Set(commands.map(({ kind }) => kind))].join(', ')

/** Of the loop itself: why its last call failed, and what its last command came to where it was not taken. */
type ScheduleTroubles = { readonly last_error: string | null; readonly refused: string | null }

export function scheduleDetails(
  status: ScheduleLoopStatus,
  report: ScheduleReport | undefined,
  { last_error, refused }: ScheduleTroubles,
): string {
  const refusedLine: readonly Line[] = refused === null ? [] : [['last command', refused]]
  const shown = report?.shown
  if (shown === undefined || shown === null) return table([['status', status], ...refusedLine, ...errorLine(last_error)])
  const { name, cron, timezone, next_fires, last_tick, paused } = shown
  return table([
    ['name', name],
    ['cron', cron],
    ['zone', timezone],
    ['status', status],
    ['next fire', next_fires[0] ?? 'none'],
    ['last tick', last_tick ?? 'none yet'],
    ...(paused === null ? [] : [['paused', paused] as const]),
    ...refusedLine,
    ...errorLine(last_error ?? shown.last_error),
    ...(next_fires.length === 0 ? [] : [[`next ${next_fires.length} fires`, next_fires.join(', ')] as const]),
  ])
}

export function scheduleWaitSummary(report: ScheduleReport | undefined): string {
  if (report === undefined) return 'calls again'
  if (report.status === 'PAUSED') return 'paused'
  const [next_fire] = report.shown?.next_fires ?? []
  return next_fire === undefined ? 'no fire ahead' : `next fire ${next_fire}`
}

/** The sentence of a failed activity is that of its cause. */
export function errorText(error: unknown): string {
  let at = error
  while (at instanceof Error && at.cause instanceof Error) at = at.cause
  return at instanceof Error ? at.message : String(at)
}
