// Execution that survives: what is cancelled, lost, retried and limited, and what it costs to have nothing to do.

import type { Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'
import { measureBucket } from './bucket.js'
import { measureCancel } from './cancel.js'
import { measureIdleTurn } from './idle.js'
import { measureTasks } from './tasks.js'

type Part = (report: Report, options: SuiteOptions) => Promise<void>

/** What serves assets as a user's module does needs the build, and is loaded when it is asked for: other suites need none. */
const PARTS: Readonly<Record<string, Part>> = {
  cancel: measureCancel,
  dead_worker: async (report, options) => (await import('./dead-worker.js')).measureDeadWorker(report, options),
  turn_idle: measureIdleTurn,
  accuracy: async (report, options) => (await import('./accuracy.js')).measureAccuracy(report, options),
  tasks: measureTasks,
  bucket: measureBucket,
}
export const EXECUTION_NAMES: readonly string[] = Object.keys(PARTS)

export async function runExecution(report: Report, options: SuiteOptions): Promise<void> {
  const wanted = Object.entries(PARTS).filter(([name]) => options.only === undefined || options.only === name)
  for (const [, measure] of wanted) await measure(report, options)
}
