// The loop that keeps a workspace small and whole: by the clock one call merges, lists the whole window, packs and collects, and
// its answer says when the next one is due. A merge that a turn asks for comes at once, in a call of its own beside that one.

import * as wf from '@temporalio/workflow'
import type { Activities } from '../activities/index.js'
import { MAINTENANCE_EVERY_MS } from '../core/limits.js'
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

/** Loops of an older Servo (`v` 1) collect by one timer and merge by another, and before that did both in one call without a
 *  merge beside it (ADR 0071). They begin a new run, as `v` 2, when an activity first says when to look again (ADR 0090). */
const COLLECT_APART = 'collect-apart'

type Job = 'merge' | 'collect'
type Jobs = readonly [Job, ...Job[]]
/** How many calls have failed in a row, and why the last one did. */
type Trouble = { readonly failures: number; readonly last_error: string | null }
const NO_TROUBLE: Trouble = { failures: 0, last_error: null }

export async function maintenanceLoop(input: MaintenanceLoopInput): Promise<void> {
  const { tenant_id, workspace_id } = input
  const isOneCall = input.v === 2
  const scope = { tenant_id, workspace_id }
  const { maintain } = wf.proxyActivities<Pick<Activities, 'maintain'>>(maintenanceOptions(queuesBeside(wf.workflowInfo().taskQueue)))
  const isApart = isOneCall || wf.patched(COLLECT_APART)
  // The first look by the clock merges too.
  const due = { merge: !isOneCall, collect: true }
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
  wf.setHandler(
    pokeSignal,
    () => {
      if (isOneCall) due.collect = true
      wake()
    },
    { description: 'Looks at once: merges, packs and collects.' },
  )
  const everyMs = () => input.timings?.maintenance_ms ?? MAINTENANCE_EVERY_MS
  const takeMergeDue = () => {
    due.merge = true
    // A workspace that was idle is not: its next look would come up to an hour later.
    if (isOneCall) due.collect ||= Date.now() - collected_at >= everyMs()
    wake()
  }
  wf.setHandler(mergeDueSignal, takeMergeDue, { description: 'Merges at once. Servo sends it when many revisions wait for a merge.' })
  const drain = listenForDrain(wake)
  const stateOf = (): LoopState => {
    const failures = troubles.merge.failures + troubles.collect.failures
    return { turns, failures, last_error: lastError(), sequence: 0 }
  }
  wf.setHandler(stateQuery, stateOf, { description: 'How the loop stands: its looks, and why the last one failed.' })
  const show = (status: MaintenanceStatus) => {
    setStatus(status)
    wf.setCurrentDetails(maintenanceDetails(status, report, lastError()))
  }
  const isOfOlderServo = () => !isOneCall && report?.again_in_ms !== undefined
  const isLast = () => drain.isWanted() || isOfOlderServo() || isTimeToBeginAnew(signals, turns, input.turns_max)
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
    return isOneCall ? (report?.again_in_ms ?? everyMs()) : everyMs()
  }

  function noteFailure(jobs: Jobs, call: Readonly<Record<Job, boolean>>, last_error: string): number {
    // Still due, whatever wakes the loop next: what said so may not say it again for long.
    for (const job of jobs) due[job] ||= call[job]
    const [first] = jobs
    const failures = troubles[first].failures + 1
    troubles[first] = { failures, last_error }
    show('ERROR')
    return Math.min(everyMs(), backoffMs(failures))
  }

  /** No merge that a turn asks for waits for it. */
  async function lookByClock(): Promise<void> {
    const jobs: Jobs = isOneCall ? ['collect', 'merge'] : ['collect']
    while (!isLast()) {
      for (const job of jobs) due[job] = true
      isCollecting = true
      if (isOneCall) turns += 1
      const wait_ms = await look(...jobs).finally(() => {
        isCollecting = false
      })
      if (isOneCall) await wf.condition(() => due.collect, wait_ms, { summary: 'next look' })
      else await wf.sleep(wait_ms, { summary: 'next collection' })
    }
  }

  /** What a turn asks for, and what failed. */
  async function mergeOnRequest(): Promise<void> {
    for (;;) {
      dirty = false
      if (due.merge) turns += 1
      const wait_ms = due.merge ? await look('merge') : undefined
      if (isOver()) return
      if (wait_ms === undefined || !due.merge) await wf.condition(() => dirty || isOver())
      else await wf.condition(() => dirty || isOver(), wait_ms, { summary: 'merge again' })
      if (isOver()) return
    }
  }

  /** As loops of an older Servo do. */
  async function mergeByClockToo(): Promise<void> {
    for (;;) {
      dirty = false
      turns += 1
      let wait_ms = everyMs()
      if (!isApart) wait_ms = await look('merge', 'collect')
      else if (due.merge) wait_ms = await look('merge')
      if (isOver()) return
      const isByClock = !(await wf.condition(() => dirty || isOver(), wait_ms, { summary: 'next look' }))
      due.merge ||= isByClock
      // A busy workspace has a merge due before the time is ever up: what goes by the clock would never come.
      due.collect ||= isByClock || Date.now() - collected_at >= everyMs()
      if (isOver()) return
    }
  }

  show('STARTING')
  // It ends with the loop's cancellation; while the loop lives, what fails is tried again without end.
  if (isApart) void lookByClock().catch(() => undefined)
  await (isOneCall ? mergeOnRequest() : mergeByClockToo())
  await wf.condition(wf.allHandlersFinished)
  await wf.makeContinueAsNewFunc<typeof maintenanceLoop>({ taskQueue: drain.taskQueue() })({
    v: 2,
    tenant_id,
    workspace_id,
    ...(input.turns_max === undefined ? {} : { turns_max: input.turns_max }),
    last_error: lastError(),
  })
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
