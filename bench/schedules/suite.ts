// What schedules cost: the counting of instants and partitions by itself, and a thousand schedules through the whole of Servo.

import type { Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'
import { benchCron } from './cron.js'
import { benchPartitions } from './partitions.js'

type Part = (report: Report, options: SuiteOptions) => Promise<void>

/** What starts real processes is loaded when it is asked for: the others need no build. */
const PARTS: Readonly<Record<string, Part>> = {
  cron: async (report, options) => benchCron(report, options),
  partitions: async (report, options) => benchPartitions(report, options),
  due: async (report) => (await import('./loops.js')).measureDue(report),
  steady: async (report, options) => (await import('./loops.js')).measureSteady(report, options),
  loops: async (report) => (await import('./loops.js')).measureLoops(report),
}
export const SCHEDULES_NAMES: readonly string[] = Object.keys(PARTS)

/** With --quick alone, what fits a minute: the loops of thousands take longer, and are asked for by name. */
const QUICK = ['cron', 'partitions']

export async function runSchedules(report: Report, options: SuiteOptions): Promise<void> {
  const isAsked = (name: string): boolean =>
    options.only === undefined ? !options.is_quick || QUICK.includes(name) : options.only === name
  for (const [name, measure] of Object.entries(PARTS)) if (isAsked(name)) await measure(report, options)
}
