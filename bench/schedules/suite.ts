// What schedules cost: the counting of instants by itself, and of partitions by them.

import type { Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'
import { benchCron } from './cron.js'
import { benchPartitions } from './partitions.js'

export const SCHEDULES_NAMES: readonly string[] = ['cron', 'partitions']

export async function runSchedules(report: Report, options: SuiteOptions): Promise<void> {
  const isAsked = (name: string): boolean => options.only === undefined || options.only === name
  if (isAsked('cron')) benchCron(report, options)
  if (isAsked('partitions')) benchPartitions(report, options)
}
