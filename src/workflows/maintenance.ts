// The loop that keeps a workspace small and whole: base merges, the listing of the whole window, collection. It works by
// the clock, and at once when a turn says that a merge is due.

import * as wf from '@temporalio/workflow'
import type { Activities } from '../activities/index.js'
import { workflowId } from '../core/names.js'
import { MAINTENANCE_OPTIONS } from './activity-options.js'
import {
  drainSignal,
  type LoopState,
  type MaintenanceLoopInput,
  type MaintenanceReport,
  mergeDueSignal,
  missedSignal,
  pokeSignal,
  stateQuery,
} from './contract.js'
import { backoffMs, isTimeToBeginAnew, setStatus } from './loop.js'
import { errorText, type MaintenanceStatus, maintenanceDetails } from './words.js'

const { maintain } = wf.proxyActivities<Pick<Activities, 'maintain'>>(MAINTENANCE_OPTIONS)

export async function maintenanceLoop(input: MaintenanceLoopInput): Promise<void> {
  const { tenant_id, workspace_id, timings } = input
  const scope = { tenant_id, workspace_id }
  let { last_error } = input
  let isMergeDue = true
  let isCollectDue = true
  let collected_at = Date.now()
  let dirty = false
  let drain = false
  let signals = 0
  let turns = 0
  let failures = 0
  let report: MaintenanceReport | undefined
  const wake = () => {
    signals += 1
    dirty = true
  }
  wf.setHandler(pokeSignal, wake)
  wf.setHandler(mergeDueSignal, () => {
    isMergeDue = true
    wake()
  })
  wf.setHandler(drainSignal, () => {
    drain = true
    wake()
  })
  wf.setHandler(stateQuery, (): LoopState => ({ turns, failures, last_error, sequence: 0 }))
  const show = (status: MaintenanceStatus) => {
    setStatus(status)
    wf.setCurrentDetails(maintenanceDetails(status, report, last_error))
  }
  const isLast = () => drain || isTimeToBeginAnew(signals, turns, input.turns_max)

  async function look(): Promise<void> {
    const call = { ...scope, merge: isMergeDue, collect: isCollectDue }
    if (isCollectDue) collected_at = Date.now()
    isMergeDue = false
    isCollectDue = false
    try {
      report = await maintain(call)
    } catch (error) {
      // Still due, whatever wakes the loop next: what said so may not say it again for long.
      isMergeDue ||= call.merge
      isCollectDue ||= call.collect
      throw error
    }
    failures = 0
    last_error = null
    show('IDLE')
    if (report.missed.length === 0) return
    // A loop that is not there is started anew, and the next look finds the same names.
    await wf
      .getExternalWorkflowHandle(workflowId(scope, 'workspace'))
      .signal(missedSignal, report.missed)
      .catch(() => undefined)
  }

  show('STARTING')
  for (;;) {
    dirty = false
    turns += 1
    let wait_ms = timings.maintenance_ms
    try {
      await look()
    } catch (error) {
      if (wf.isCancellation(error)) throw error
      failures += 1
      last_error = errorText(error)
      show('ERROR')
      wait_ms = Math.min(wait_ms, backoffMs(failures))
    }
    if (isLast()) break
    const isByClock = !(await wf.condition(() => dirty, wait_ms, { summary: 'next look' }))
    isMergeDue ||= isByClock
    // A busy workspace has a merge due before the time is ever up: what goes by the clock would never come.
    isCollectDue ||= isByClock || Date.now() - collected_at >= timings.maintenance_ms
    if (isLast()) break
  }
  await wf.condition(wf.allHandlersFinished)
  await wf.continueAsNew<typeof maintenanceLoop>({ ...input, last_error })
}
