// The loop of a workspace: it says when a turn is due, and never what a turn decides. Pokes make it look at once; what is
// due by time wakes it; and a backstop finds what nobody announced. Nothing kills it: a turn that fails is backed off, and
// shows on its page.

import * as wf from '@temporalio/workflow'
import type { Activities } from '../activities/index.js'
import { MERGE_DUE_DELTAS } from '../core/limits.js'
import { queuesBeside, workflowId } from '../core/names.js'
import { handOverOptions, turnOptions } from './activity-options.js'
import {
  type LoopState,
  mergeDueSignal,
  missedSignal,
  pokeSignal,
  stateQuery,
  type TurnReport,
  type WorkspaceLoopInput,
} from './contract.js'
import { setStatus } from './loop.js'
import { openLoop } from './run-loop.js'
import { statusOf, turnSummary, type WorkspaceStatus, waitSummary, workspaceDetails } from './words.js'

/** A wish for less than this waits so long all the same: each turn costs a place in the history. Turns that are due by time are
 *  called at whole seconds, and a second time within one only where the store's clock is known too roughly to act. */
const WAIT_MS_MIN = 50
/** After a sweep that failed in a way that no retry of the call was worth. */
const SWEEP_AGAIN_MS = 10_000
/** What a turn is told of at a time; the rest goes with the next one. */
const MISSED_AT_ONCE = 100

export async function workspaceLoop(input: WorkspaceLoopInput): Promise<void> {
  const { tenant_id, workspace_id, timings } = input
  const scope = { tenant_id, workspace_id }
  const queues = queuesBeside(wf.workflowInfo().taskQueue)
  const decider = wf.proxyActivities<Pick<Activities, 'turn'>>(turnOptions(queues))
  const work = wf.proxyActivities<Pick<Activities, 'handOver'>>(handOverOptions(queues))
  const missed = new Set(input.missed)
  const loop = openLoop(input)
  let idle_ms = timings.backstop_ms
  let report: TurnReport | undefined
  let unstarted = 0
  let merge_said_at: number | null = null
  wf.setHandler(pokeSignal, loop.wake)
  wf.setHandler(missedSignal, (names) => {
    for (const name of names ?? []) missed.add(name)
    loop.wake()
  })
  wf.setHandler(stateQuery, (): LoopState => ({ turns: loop.turns(), ...loop.health(), sequence: report?.sequence ?? 0 }))
  const show = (status: WorkspaceStatus) => {
    setStatus(status)
    wf.setCurrentDetails(workspaceDetails(status, report, loop.health().last_error))
  }

  /** Beside the turns: no turn and no new beginning waits for it. */
  async function sweep(): Promise<void> {
    for (;;) {
      await wf.condition(() => unstarted > 0)
      unstarted = 0
      try {
        await work.handOver(scope)
      } catch (error) {
        if (wf.isCancellation(error)) throw error
        // What waiting was thought not to mend may be mended all the same: it is looked at again.
        await wf.sleep(SWEEP_AGAIN_MS, { summary: 'sweep again' })
        unstarted = 1
      }
    }
  }
  // It ends with the loop's cancellation; while the loop lives, what fails is tried again without end.
  void sweep().catch(() => undefined)

  /** Once when it falls due, and again only as much later: a merge takes many turns, and none of them waits for it. */
  function sayMergeDue({ merge_due, sequence }: TurnReport): void {
    if (!merge_due) merge_said_at = null
    else if (merge_said_at === null || sequence >= merge_said_at + MERGE_DUE_DELTAS) {
      merge_said_at = sequence
      // A maintenance loop that is not there is started by ensureLoops, and looks for itself.
      const maintenance = wf.getExternalWorkflowHandle(workflowId(scope, 'maintenance'))
      void maintenance.signal(mergeDueSignal).catch(() => undefined)
    }
  }

  /** How long to wait after it, if nothing comes. */
  async function turn(): Promise<number> {
    const names = [...missed].slice(0, MISSED_AT_ONCE)
    report = await decider.turn.executeWithOptions({ summary: turnSummary(loop.turns()) }, [{ ...scope, missed: names }])
    for (const name of names) missed.delete(name)
    loop.clearHealth()
    unstarted = report.unstarted
    show(statusOf(report))
    sayMergeDue(report)
    if (report.more || missed.size > 0) return 0
    // Work is under way: a poke that was lost is not to cost more than the backstop.
    if (report.wake_in_ms !== null) return Math.max(WAIT_MS_MIN, Math.min(report.wake_in_ms, timings.backstop_ms))
    // Quieter and quieter while nothing comes.
    idle_ms = report.published_count > 0 ? timings.backstop_ms : Math.min(idle_ms * 2, timings.backstop_ms_max)
    return idle_ms
  }

  show('STARTING')
  await loop.run({ look: turn, onFailed: () => show('ERROR'), waitSummary: () => waitSummary(report?.wake_at ?? null) })
  const next = wf.makeContinueAsNewFunc<typeof workspaceLoop>({ taskQueue: loop.taskQueue() })
  await next({ ...input, missed: [...missed], ...loop.health() })
}
