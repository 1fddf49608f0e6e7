// What the page of a workspace's loop says beside its counts: why the next turn is due, the last failed runs, schedules in ERROR.
// Each list is bounded, because it is in the answer of every turn.

import { markdownText } from '../core/page-text.js'
import { cutText } from '../core/text.js'
import type { RunRow, TaskRow } from '../projections/run-table.js'
import { ticksOf } from '../projections/schedule-ticks.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { PublishReport } from '../turn/watch.js'
import type { WorkspacePage } from '../workflows/contract.js'

const LINES_MAX = 3
const LINE_CHARACTERS_MAX = 200
/** Schedules that are searched for the one that is due: beyond it the reason is not worth the search. */
const SCHEDULES_SEARCHED_MAX = 100

export type WorkspacePages = {
  readonly onPublished: (report: Pick<PublishReport, 'failed_runs'>) => void
  /** `wake_at`: when the next turn is due; null: nothing is due. */
  readonly page: (rows: WorkingSet, wake_at: number | null) => WorkspacePage
}

export function createWorkspacePages(): WorkspacePages {
  /** Newest first, since this process began. */
  let failed_runs: readonly string[] = []
  let due: { readonly at: number | null; readonly text: string | null } = { at: null, text: null }
  return {
    onPublished(report) {
      failed_runs = [...report.failed_runs.map(failedRunText), ...failed_runs].slice(0, LINES_MAX)
    },
    page(rows, wake_at) {
      // Searched for once: it is the same until another instant is due.
      if (due.at !== wake_at) due = { at: wake_at, text: wake_at === null ? null : dueText(rows, wake_at) }
      return { due: due.text, failed_runs, failing_schedules: failingSchedules(rows) }
    },
  }
}

const line = (text: string): string => cutText(markdownText(text), LINE_CHARACTERS_MAX)

const failedRunText = ({ run_id, run_key }: RunRow): string => line(`${run_id} (${run_key})`)

function failingSchedules(rows: WorkingSet): readonly string[] {
  const failing = rows
    .hotRows('schedule_state')
    .filter(({ status, last_tick_status }) => status === 'ACTIVE' && last_tick_status === 'FAILED')
  const names = failing.flatMap(({ schedule_id }) => rows.get('schedule_definitions', schedule_id)?.schedule_name ?? []).sort()
  const more = names.length - LINES_MAX
  return [...names.slice(0, LINES_MAX).map(line), ...(more > 0 ? [`and ${more} more`] : [])]
}

/** What is due at this instant; null: it is not found among hot rows. */
function dueText(rows: WorkingSet, wake_at: number): string | null {
  for (const task of rows.hotRows('tasks')) {
    const what = dueOfTask(task, wake_at)
    if (what !== undefined) return line(`${what} of ${task.task_key}, run ${task.run_id}`)
  }
  let searched = 0
  for (const { schedule_id, status, floor_at } of rows.hotRows('schedule_state')) {
    const definition = status === 'ACTIVE' ? rows.get('schedule_definitions', schedule_id) : undefined
    if (definition === undefined) continue
    if (++searched > SCHEDULES_SEARCHED_MAX) return null
    const ticks = ticksOf(definition)
    if (!('problem' in ticks) && ticks.next(Math.max(floor_at, wake_at - 1)) === wake_at) return line(`tick of ${definition.schedule_name}`)
  }
  return null
}

function dueOfTask(task: TaskRow, at: number): string | undefined {
  if (task.retry_at === at) return 'retry'
  if (task.start_deadline_at === at) return 'start deadline'
  if (task.heartbeat_deadline_at === at) return 'heartbeat deadline'
  if (task.timeout_at === at) return 'timeout'
  return task.cancel_deadline_at === at ? 'end of the cancel grace' : undefined
}
