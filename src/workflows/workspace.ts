// The loop of a workspace: it says when a turn is due, and never what a turn decides. Pokes make it look at once; what is
// due by time wakes it; and a backstop finds what nobody announced. Nothing kills it: a turn that fails is backed off, and
// shows on its page.

import * as wf from '@temporalio/workflow'
import type { Activities } from '../activities/index.js'
import { BACKSTOP_IDLE_MS_MAX, BACKSTOP_MS } from '../core/limits.js'
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
import { listenForUnknown, setStatus } from './loop.js'
import { openLoop } from './run-loop.js'
import {
  handOverSummary,
  statusOf,
  timerSummary,
  turnSummary,
  type WorkspaceStatus,
  type WorkspaceTimer,
  workspaceDetails,
} from './words.js'

/** A wish for less than this waits so long all the same: each turn costs a place in the history. Turns that are due by time are
 *  called at whole seconds, and a second time within one only where the store's clock is known too roughly to act. */
const WAIT_MS_MIN = 50
/** After a sweep that failed in a way that no retry of the call was worth. */
const SWEEP_AGAIN_MS = 10_000
/** Names of late segments that go with one turn; the rest goes with the next one. */
const MISSED_AT_ONCE = 100
/** Of an older activity, which leaves it to the loop when to poke maintenance. Recorded histories have this number. */
const MERGE_SAID_EVERY_REVISIONS = 64
/** Until the first answer, and where an older activity answers none. */
const SETTINGS_USUAL = { backstop_ms: BACKSTOP_MS, backstop_ms_max: BACKSTOP_IDLE_MS_MAX }

export async function workspaceLoop(input: WorkspaceLoopInput): Promise<void> {
  const { tenant_id, workspace_id, timings = SETTINGS_USUAL, turns_max, ...kept } = input
  const scope = { tenant_id, workspace_id }
  const queues = queuesBeside(wf.workflowInfo().taskQueue)
  const decider = wf.proxyActivities<Pick<Activities, 'turn'>>(turnOptions(queues))
  const work = wf.proxyActivities<Pick<Activities, 'handOver'>>(handOverOptions(queues))
  const missed = new Set(input.missed)
  let report: TurnReport | undefined
  const loop = openLoop(input, () => report?.settings?.turns_max ?? turns_max)
  let idle_ms: number | undefined
  let timer: WorkspaceTimer = { wake_at: null, is_backstop: true }
  let unknown: string | null = null
  let unstarted = 0
  let merge_said_at: number | null = null
  const show = (status: WorkspaceStatus) => {
    setStatus(status)
    showDetails(status)
  }
  const showDetails = (status: WorkspaceStatus) =>
    wf.setCurrentDetails(workspaceDetails(status, report, { last_error: loop.health().last_error, unknown }, Date.now()))
  const status = (): WorkspaceStatus => {
    if (loop.health().failures > 0) return 'ERROR'
    return report === undefined ? 'STARTING' : statusOf(report)
  }
  wf.setHandler(pokeSignal, loop.wake, { description: 'Looks at once. Servo sends it after each append.' })
  wf.setHandler(
    missedSignal,
    (names) => {
      for (const name of names ?? []) missed.add(name)
      loop.wake()
    },
    { description: 'Names late segments of the ledger, which the next turn folds. Servo sends it.' },
  )
  wf.setHandler(stateQuery, (): LoopState => ({ turns: loop.turns(), ...loop.health(), sequence: report?.sequence ?? 0 }), {
    description: 'How the loop stands: its turns, and why the last one failed.',
  })
  listenForUnknown({ signals: ['poke'], updates: [] }, (problem) => {
    loop.countSignal()
    unknown = problem
    showDetails(status())
  })

  /** Beside the turns: no turn and no new beginning waits for it. */
  async function sweep(): Promise<void> {
    for (;;) {
      await wf.condition(() => unstarted > 0)
      const summary = handOverSummary(unstarted)
      unstarted = 0
      try {
        await work.handOver.executeWithOptions({ summary }, [scope])
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

  /** Whether maintenance is to be poked: a merge takes many turns, and none of them waits for it. */
  function isMergeToSay({ poke_maintenance, merge_due, sequence }: TurnReport): boolean {
    if (poke_maintenance !== undefined) return poke_maintenance
    if (!merge_due) merge_said_at = null
    else if (merge_said_at === null || sequence >= merge_said_at + MERGE_SAID_EVERY_REVISIONS) merge_said_at = sequence
    else return false
    return merge_due
  }

  function pokeMaintenance(): void {
    // A maintenance loop that is not there is started by ensureLoops, and looks for itself.
    const maintenance = wf.getExternalWorkflowHandle(workflowId(scope, 'maintenance'))
    void maintenance.signal(mergeDueSignal).catch(() => undefined)
  }

  /** How long to wait after it, if nothing comes. */
  async function turn(): Promise<number> {
    const names = [...missed].slice(0, MISSED_AT_ONCE)
    const summary = turnSummary(loop.cause(), timer, Date.now())
    report = await decider.turn.executeWithOptions({ summary }, [{ ...scope, missed: names }])
    for (const name of names) missed.delete(name)
    loop.clearHealth()
    unstarted = report.unstarted
    show(statusOf(report))
    if (isMergeToSay(report)) pokeMaintenance()
    if (report.more || missed.size > 0) return 0
    const { backstop_ms, backstop_ms_max } = report.settings ?? timings
    const { wake_in_ms, wake_at, published_count, open_runs } = report
    // Quieter and quieter while nothing comes. While work is under way, a poke that was lost is not to cost more than the backstop;
    // a schedule that fires tomorrow is not work.
    const isIdle = published_count === 0 && open_runs === 0
    idle_ms = isIdle ? Math.min((idle_ms ?? backstop_ms) * 2, backstop_ms_max) : backstop_ms
    timer = { wake_at, is_backstop: wake_in_ms === null || wake_in_ms > idle_ms }
    if (wake_in_ms !== null) return Math.max(WAIT_MS_MIN, Math.min(wake_in_ms, idle_ms))
    return idle_ms
  }

  show('STARTING')
  await loop.run({
    look: turn,
    onFailed: () => show('ERROR'),
    waitSummary: () => (loop.health().failures > 0 ? 'tries again' : timerSummary(timer, Date.now())),
  })
  const next = wf.makeContinueAsNewFunc<typeof workspaceLoop>({ taskQueue: loop.taskQueue() })
  await next({ ...kept, ...scope, missed: [...missed], ...loop.health() })
}
