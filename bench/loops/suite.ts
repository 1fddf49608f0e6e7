// What loops cost: actions in Temporal, requests to a store that has nothing to do, and the time until they answer again.

import type { Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'

type Part = (report: Report, options: SuiteOptions) => Promise<void>

/** All of them start real processes, which need the build. */
const PARTS: Readonly<Record<string, Part>> = {
  idle: async (report, options) => (await import('./idle-day.js')).measureIdleDay(report, options),
  store: async (report, options) => (await import('./idle-store.js')).measureIdleStore(report, options),
  restart: async (report, options) => (await import('./restart.js')).measureRestart(report, options),
  minutely: async (report, options) => (await import('./minutely-day.js')).measureMinutelyDay(report, options),
}
export const LOOPS_NAMES: readonly string[] = Object.keys(PARTS)

export async function runLoops(report: Report, options: SuiteOptions): Promise<void> {
  const wanted = Object.entries(PARTS).filter(([name]) => options.only === undefined || options.only === name)
  for (const [, measure] of wanted) await measure(report, options)
}
