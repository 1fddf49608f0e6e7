// The turn as a loop calls it, and the sweep beside it. They answer counts and instants: rows stay where they are.

import { Context } from '@temporalio/activity'
import type { Scope } from '../core/ids.js'
import { MERGE_DUE_DELTAS } from '../core/limits.js'
import { WORKSPACE_TURNS_A_RUN } from '../core/loop-limits.js'
import { type Clock, ceilTo, instantText, SECOND_MS } from '../core/time.js'
import { isOver } from '../projections/state-machine.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { Turn, TurnAnswer } from '../turn/turn.js'
import type { TurnCall, TurnReport, WorkspaceSettings } from '../workflows/contract.js'
import { beforeAbort, withAnySignal } from './aborts.js'
import { explained } from './failures.js'
import type { HandOver } from './hand-over.js'
import { leaveOn, leaving } from './leave.js'
import { servedScope } from './served-scope.js'
import type { WorkspacePages } from './workspace-page.js'

export type WorkspaceActivityDeps = {
  readonly scope: Scope
  readonly clock: Clock
  readonly turn: Turn
  readonly hand_over: HandOver
  readonly pages: Pick<WorkspacePages, 'page'>
  /** How long an idle loop waits before it looks by itself. */
  readonly timings: Pick<WorkspaceSettings, 'backstop_ms' | 'backstop_ms_max'>
  /** Aborted when this process is about to end: what goes on for long leaves itself to the next one. */
  readonly stopping: AbortSignal
  /** Aborted some seconds later: a turn that has not ended by then waits for a store that does not answer. */
  readonly overdue: AbortSignal
}

/** Well within the time after which Temporal takes the process for dead. */
const BEAT_EVERY_MS = 3 * SECOND_MS
/** Until a deadline that has passed and was not acted on is looked at again. */
const LEFT_MS = SECOND_MS
/** Between two sweeps: what was handed over a moment ago is about to start. */
export const SWEEP_EVERY_MS = 2 * SECOND_MS

export function createWorkspaceActivities(deps: WorkspaceActivityDeps) {
  const { turn, clock, hand_over, pages, stopping, overdue } = deps
  const { backstop_ms, backstop_ms_max } = deps.timings
  const settings: WorkspaceSettings = { backstop_ms, backstop_ms_max, turns_max: WORKSPACE_TURNS_A_RUN }
  const isMergeToSay = createMergeReminder()
  return {
    async turn({ missed, ...scope }: TurnCall): Promise<TurnReport> {
      servedScope(deps, scope)
      return whileBeating(() =>
        explained(async () => {
          const answer = await leaveOn(overdue, () => turn.run({ missed }))
          const { processed_at, wake_in_ms, sequence, published_count, more, merge_due } = answer
          const wake_at = wake_in_ms === null ? null : processed_at + wake_in_ms
          const { rows } = turn.workspace()
          return {
            sequence,
            published_count,
            more,
            merge_due,
            poke_maintenance: isMergeToSay(answer),
            wake_in_ms: waitMs(answer),
            wake_at: wake_at === null ? null : instantText(wake_at),
            ...countsOf(rows),
            page: pages.page(rows, wake_at),
            settings,
          }
        }),
      )
    },

    /** Goes on until everything that is out has started, or is not out any more. */
    async handOver(scope: Scope): Promise<void> {
      servedScope(deps, scope)
      const { cancelled, cancellationSignal } = Context.current()
      const isDone = await whileBeating(() => withAnySignal([stopping, cancellationSignal], sweepUntil))
      if (isDone) return
      if (stopping.aborted) throw leaving()
      await cancelled
    },
  }

  /** false: it was ended before everything had started. A send that is under way goes on: who it reaches starts once. */
  async function sweepUntil(over: AbortSignal): Promise<boolean> {
    while (!over.aborted) {
      await clock.sleep(SWEEP_EVERY_MS, over)
      if (over.aborted) return false
      const left = await beforeAbort(
        over,
        explained(() => hand_over.sweep()),
      )
      if (left === 0) return true
    }
    return false
  }
}

/** Whether maintenance is to be poked: once when a merge falls due, and again only as many revisions later, because a merge takes many
 *  turns. Another process may say it once more, which costs a look. */
function createMergeReminder(): (answer: Pick<TurnAnswer, 'merge_due' | 'sequence'>) => boolean {
  let said_at: number | null = null
  return ({ merge_due, sequence }) => {
    if (!merge_due) {
      said_at = null
      return false
    }
    if (said_at !== null && sequence < said_at + MERGE_DUE_DELTAS) return false
    said_at = sequence
    return true
  }
}

/** From the end of a turn until the next one acts on what is due: at the end of the second, so that what is due within one is
 *  acted on by one turn, because each costs actions of Temporal. The turn's own duration is not a part of the wait. What is due
 *  already was left for a reason. */
export function waitMs({
  processed_at,
  ended_at,
  wake_in_ms,
}: Pick<TurnAnswer, 'processed_at' | 'ended_at' | 'wake_in_ms'>): number | null {
  if (wake_in_ms === null) return null
  if (wake_in_ms === 0) return LEFT_MS
  return Math.max(0, Math.ceil(ceilTo(processed_at + wake_in_ms, SECOND_MS) - ended_at))
}

function countsOf(rows: WorkingSet): Pick<TurnReport, 'open_runs' | 'running_tasks' | 'waiting_tasks' | 'unstarted'> {
  let running_tasks = 0
  let waiting_tasks = 0
  let unstarted = 0
  for (const { state } of rows.hotRows('tasks')) {
    if (state === 'RUNNING') running_tasks += 1
    else if (state === 'DISPATCHED') unstarted += 1
    else if (!isOver(state)) waiting_tasks += 1
  }
  return { open_runs: rows.hotRows('runs').filter(({ state }) => !isOver(state)).length, running_tasks, waiting_tasks, unstarted }
}

export async function whileBeating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current()
  const timer = setInterval(() => context.heartbeat(), BEAT_EVERY_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}
