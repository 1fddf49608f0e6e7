// The actions of the loops of a thousand schedules that fire every minute, counted from their histories over a stretch in
// which they do nothing else, and multiplied up to a day.

import { ENTITY_LOOK_OFTEN_MS } from '../../src/core/loop-limits.js'
import { DAY_MS, MINUTE_MS } from '../../src/core/time.js'
import type { Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'
import { actionsText, countActions, readRuns, totalOf } from './actions.js'
import { defineSchedules, untilLoopsStand, withSchedules } from './schedules.js'

const SCHEDULES = 1_000
const QUICK_SCHEDULES = 50
/** Rounds of a loop whose schedule fires so often: a part of one would say nothing. */
const ROUNDS = 2
const QUICK_ROUNDS = 1

const sleep = (duration_ms: number) => new Promise((resolve) => setTimeout(resolve, duration_ms))

export async function measureMinutelyDay(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const [count, rounds] = is_quick ? [QUICK_SCHEDULES, QUICK_ROUNDS] : [SCHEDULES, ROUNDS]
  await withSchedules(async (system) => {
    await defineSchedules(system, count, (i) => `${i % 60} * * * * *`)
    await untilLoopsStand(system, count)
    // Their first fires are still those of a start.
    await sleep(MINUTE_MS)
    const from = Date.now()
    await sleep(rounds * ENTITY_LOOK_OFTEN_MS)
    const to = Date.now()
    const runs = await readRuns(system.temporal.client, 'ServoKind = "schedule"')
    const counts = countActions(runs, from, to)
    const share = (DAY_MS / (to - from)) * (SCHEDULES / count)
    const looks = (count * (to - from)) / MINUTE_MS
    const setup =
      `${count} every-minute schedules over the seconds of the minute, their loops alone, ${Math.round((to - from) / MINUTE_MS)} minutes, ` +
      `multiplied up${count === SCHEDULES ? '' : ` to ${SCHEDULES} schedules`}; per fire: ${actionsText(counts, looks)}`
    report.add({
      name: 'temporal_actions_1000_minutely_day',
      value: totalOf(counts) * share,
      unit: 'actions',
      target: '<= 600000',
      setup,
    })
  })
}
