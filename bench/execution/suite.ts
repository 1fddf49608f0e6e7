// Execution that survives: what is cancelled, lost, retried and limited, and what it costs to have nothing to do.

import type { Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'
import { measureIdleTurn } from './idle.js'

const PARTS = { turn_idle: measureIdleTurn } as const
export const EXECUTION_NAMES: readonly string[] = Object.keys(PARTS)

export async function runExecution(report: Report, options: SuiteOptions): Promise<void> {
  const wanted = Object.entries(PARTS).filter(([name]) => options.only === undefined || options.only === name)
  for (const [, measure] of wanted) await measure(report, options)
}
