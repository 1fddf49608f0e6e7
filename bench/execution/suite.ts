// Execution that survives: what is cancelled, lost, retried and limited, and what it costs to have nothing to do.

import type { Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'
import { measureAccuracy } from './accuracy.js'
import { measureCancel } from './cancel.js'
import { measureDeadWorker } from './dead-worker.js'
import { measureIdleTurn } from './idle.js'
import { measureTasks } from './tasks.js'

const PARTS = {
  cancel: measureCancel,
  dead_worker: measureDeadWorker,
  turn_idle: measureIdleTurn,
  accuracy: measureAccuracy,
  tasks: measureTasks,
} as const
export const EXECUTION_NAMES: readonly string[] = Object.keys(PARTS)

export async function runExecution(report: Report, options: SuiteOptions): Promise<void> {
  const wanted = Object.entries(PARTS).filter(([name]) => options.only === undefined || options.only === name)
  for (const [, measure] of wanted) await measure(report, options)
}
