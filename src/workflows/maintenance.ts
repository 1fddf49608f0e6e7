// The loop that keeps a workspace small and whole: base merges, and beside them, by the clock, the listing of the whole window,
// packing and collection. It merges at once when a turn says that a merge is due, whatever else is under way.

import * as wf from '@temporalio/workflow'
import type { Activities } from '../activities/index.js'
import { queuesBeside, workflowId } from '../core/names.js'
import { maintenanceOptions } from './activity-options.js'
import {
  type LoopState,
  type MaintenanceLoopInput,
  type MaintenanceReport,
  mergeDueSignal,
  missedSignal,
  pokeSignal,
  stateQuery,
} from './contract.js'
import { backoffMs, isTimeToBeginAnew, listenForDrain, setStatus } from './loop.js'
import { errorText, type MaintenanceStatus, maintenanceDetails } from './words.js'

/** A loop that began when one call did both goes on with such calls until it begins anew (ADR 0071). */
const COLLECT_APART = 'collect-apart'

type Job = 'merge' | 'collect'
type Jobs = readonly [Job, ...Job[]]
/** How many calls have failed in a row, and why the last one did. */
type Trouble = { readonly failures: number; readonly last_error: string | null }
const NO_TROUBLE: Trouble = { failures: 0, last_error: null }

export async function maintenanceLoop(input: MaintenanceLoopInput): Promise<void> {
  const { tenant_id, workspace_id, timings } = input
  const scope = { tenant_id, workspace_id }
  const { maintain } = wf.proxyActivities<Pick<Activities, 'maintain'>>(maintenanceOptions(queuesBeside(wf.workflowInfo().taskQueue)))
  const isApart = wf.patched(COLLECT_APART)
  const due = { merge: true, collect: true }
  const troubles: Record<Job, Trouble> = { merge: { failures: 0, last_error: input.last_error }, collect: NO_TROUBLE }
  let collected_at = Date.now()
  let isCollecting = false
  let dirty = false
  let signals = 0
  let turns = 0
  let report: MaintenanceReport | undefined
  const lastError = () => troubles.merge.last_error ?? troubles.collect.last_error
  const wake = () => {
    signals += 1
    dirty = true
  }
  wf.setHandler(pokeSignal, wake)
  wf.setHandler(mergeDueSignal, () => {
    due.merge = true
    wake()
  })
  const drain = listenForDrain(wake)
  wf.setHandler(stateQuery, (): LoopState => {
    const failures = troubles.merge.failures + troubles.collect.failures
    return { turns, failures, last_error: lastError(), sequence: 0 }
  })
  const show = (status: MaintenanceStatus) => {
    setStatus(status)
    wf.setCurrentDetails(maintenanceDetails(status, report, lastError()))
  }
  const isLast = () => drain.isWanted() || isTimeToBeginAnew(signals, turns, input.turns_max)
  // A collection under way is not begun a second time by the loop that begins anew: merges go on until it is over.
  const isOver = () => isLast() && !isCollecting

  /** One call for what is due of these jobs; how long to wait until the next one. */
  async function look(...jobs: Jobs): Promise<number> {
    const call = { merge: false, collect: false }
    for (const job of jobs) {
      call[job] = due[job]
      due[job] = false
    }
    if (call.collect) collected_at = Date.now()
    let answer: MaintenanceReport
    try {
      answer = await maintain({ ...scope, ...call })
    } catch (error) {
      if (wf.isCancellation(error)) throw error
      return noteFailure(jobs, call, errorText(error))
    }
    // The other job may have been answered meanwhile: what there is to be told is looked at afterwards.
    report = reportAfter(report, call, answer)
    const wait_ms = answer.failed === undefined ? noteSuccess(jobs) : noteFailure(jobs, call, answer.failed)
    if (call.collect && answer.missed.length > 0) await nameMissed(scope, answer.missed)
    return wait_ms
  }

  function noteSuccess([first]: Jobs): number {
    troubles[first] = NO_TROUBLE
    show(lastError() === null ? 'IDLE' : 'ERROR')
    return timings.maintenance_ms
  }

  function noteFailure(jobs: Jobs, call: Readonly<Record<Job, boolean>>, last_error: string): number {
    // Still due, whatever wakes the loop next: what said so may not say it again for long.
    for (const job of jobs) due[job] ||= call[job]
    const [first] = jobs
    const failures = troubles[first].failures + 1
    troubles[first] = { failures, last_error }
    show('ERROR')
    return Math.min(timings.maintenance_ms, backoffMs(failures))
  }

  /** No merge waits for it. */
  async function collectByClock(): Promise<void> {
    while (!isLast()) {
      due.collect = true
      isCollecting = true
      const wait_ms = await look('collect').finally(() => {
        isCollecting = false
      })
      await wf.sleep(wait_ms, { summary: 'next collection' })
    }
  }

  show('STARTING')
  // It ends with the loop's cancellation; while the loop lives, what fails is tried again without end.
  if (isApart) void collectByClock().catch(() => undefined)
  for (;;) {
    dirty = false
    turns += 1
    let wait_ms = timings.maintenance_ms
    if (!isApart) wait_ms = await look('merge', 'collect')
    else if (due.merge) wait_ms = await look('merge')
    if (isOver()) break
    const isByClock = !(await wf.condition(() => dirty || isOver(), wait_ms, { summary: 'next look' }))
    due.merge ||= isByClock
    // A busy workspace has a merge due before the time is ever up: what goes by the clock would never come.
    due.collect ||= isByClock || Date.now() - collected_at >= timings.maintenance_ms
    if (isOver()) break
  }
  await wf.condition(wf.allHandlersFinished)
  await wf.makeContinueAsNewFunc<typeof maintenanceLoop>({ taskQueue: drain.taskQueue() })({ ...input, last_error: lastError() })
}

/** What the last merge did, and what the last collection did. */
function reportAfter(before: MaintenanceReport | undefined, call: Readonly<Record<Job, boolean>>, answer: MaintenanceReport) {
  if (before === undefined || (call.merge && call.collect)) return answer
  return call.collect ? { ...answer, merged_files: before.merged_files } : { ...before, merged_files: answer.merged_files }
}

/** A loop that is not there is started anew, and the next look finds the same names. */
async function nameMissed(scope: Pick<MaintenanceLoopInput, 'tenant_id' | 'workspace_id'>, missed: readonly string[]): Promise<void> {
  await wf
    .getExternalWorkflowHandle(workflowId(scope, 'workspace'))
    .signal(missedSignal, missed)
    .catch(() => undefined)
}
