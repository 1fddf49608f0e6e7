// Gives a request id to each command that came by a signal without one.
//
// The id has to be the same when Temporal's Reset applies the signal once more, or a pause from last week would be appended
// again as a new fact; `uuid4` and times are new then. A signal carries no id of its own. What stays is the first run of the chain,
// which a Reset and a continue-as-new keep, and the order of the signals: a Reset applies them in order, before any activity of
// the new run answers. So commands are numbered through all runs.
//
// A Reset that leaves signals out takes their numbers back, and the next command must not get the number of one that was
// appended. From the first answer that a reset run gets, the numbers therefore count from that run: an answer names the run
// that called, and `originalExecutionRunId` is the run before the Reset. An update has an id that a Reset keeps.

import * as wf from '@temporalio/workflow'
import type { CommandNumbering } from './contract.js'

export function createCommandNumbers(carried: CommandNumbering | undefined) {
  const { firstExecutionRunId, originalExecutionRunId } = wf.workflowInfo()
  let { from, count } = carried ?? { from: firstExecutionRunId, count: 0 }
  return {
    next(): string {
      count += 1
      return `${from}:${count}`
    },
    /** `run_id`: of the run whose call was answered. */
    noteAnswer(run_id: string | undefined): void {
      if (run_id !== undefined && run_id !== originalExecutionRunId) from = run_id
    },
    carried: (): CommandNumbering => ({ from, count }),
  }
}
