// Schedules through the whole of Servo: real processes, a Temporal dev server with a loop for each, a worker in this process.
// A tick counts from when it was due to the publish that shows it, with its run requested in the same batch.

import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ceilTo, instantMs, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import type { ScheduleTickRow } from '../../src/projections/schedule-table.js'
import { readAll } from '../../src/readers/pages.js'
import type { View } from '../../src/readers/reader.js'
import { untilSeen } from '../../test/fixtures/until.js'
import { defineSchedules, SCHEDULE_SLOTS, type Scheduled, untilLoopsStand, withSchedules } from '../loops/schedules.js'
import { median, percentile, type Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'

const DUE = 1_000
const LOOPS = 5_000
const SETTLED_WITHIN_MS = 300_000
/** A merge lets go of revisions soon after their publish: what is looked at less often misses some, and their delays are not known. */
const LOOK_EVERY_MS = 100

async function rowsOf(reader: Scheduled['reader'], table: 'schedule_ticks') {
  const view = await reader.latest()
  return view === undefined ? [] : readAll(view, table)
}

function automationPid(): number {
  const found = readdirSync('/proc').find((entry) => {
    if (!/^\d+$/.test(entry)) return false
    try {
      const isOurs = new RegExp(`^PPid:\\s+${process.pid}$`, 'm').test(readFileSync(`/proc/${entry}/status`, 'utf8'))
      return isOurs && readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0').includes('automation')
    } catch {
      return false
    }
  })
  if (found === undefined) throw new Error('The automation process is not there.')
  return Number(found)
}

/** Publishes by sequence: a tick's row names the one that showed it. */
function createPublishes() {
  const published = new Map<number, number>()
  return {
    note: ({ snapshot }: View) => {
      for (const { sequence, published_at } of [...snapshot.deltas, snapshot.revision]) published.set(sequence, instantMs(published_at))
    },
    delaysOf: (ticks: readonly ScheduleTickRow[]): number[] =>
      ticks.map(({ row_version, scheduled_for }) => {
        const published_at = published.get(row_version)
        // A guess would be better than what is measured.
        if (published_at === undefined) throw new Error(`The publish of sequence ${row_version} was not seen, and its delay is not known.`)
        return published_at - scheduled_for
      }),
  }
}

export async function measureDue(report: Report): Promise<void> {
  await withSchedules(async (system) => {
    const due_at = ceilTo(Date.now() + 120 * SECOND_MS, SECOND_MS)
    const at = new Date(due_at)
    const cron = `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`
    await defineSchedules(system, DUE, () => cron)
    await untilLoopsStand(system, DUE)
    if (Date.now() > due_at) throw new Error('The loops were not started in time; the figure would mean nothing.')
    const publishes = createPublishes()
    const ticks = await untilSeen(
      'all have ticked',
      async () => {
        const view = await system.reader.latest()
        if (view === undefined || Date.now() < due_at) return undefined
        publishes.note(view)
        const rows = await readAll(view, 'schedule_ticks')
        return rows.length >= DUE ? (rows as unknown as ScheduleTickRow[]) : undefined
      },
      SETTLED_WITHIN_MS,
    )
    const delays = publishes.delaysOf(ticks)
    const setup = `${DUE} schedules of one asset due in one second, a loop each, ${SCHEDULE_SLOTS} slots, local store with fsync; to the publish`
    report.add({ name: 'due_1000_s', value: Math.max(...delays) / SECOND_MS, unit: 's', target: '<= 3', setup })
    report.add({ name: 'tick_delay_p95_ms', value: percentile(delays, 0.95), unit: 'ms', target: '<= 2000', setup: 'of those' })
    if (ticks.some(({ status }) => status !== 'TRIGGERED')) throw new Error('A tick did not run, and the figure would mean nothing.')
  })
}

export async function measureSteady(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const minutes = is_quick ? 2 : 10
  await withSchedules(async (system) => {
    await defineSchedules(system, DUE, (i) => `${i % 60} * * * * *`)
    const from = ceilTo(Date.now() + 20 * SECOND_MS, MINUTE_MS)
    const to = from + minutes * MINUTE_MS
    const publishes = createPublishes()
    while (Date.now() < to + 5 * SECOND_MS) {
      const view = await system.reader.latest()
      if (view !== undefined) publishes.note(view)
      await sleep(LOOK_EVERY_MS)
    }
    const ticks = (await rowsOf(system.reader, 'schedule_ticks')) as unknown as ScheduleTickRow[]
    const within = ticks.filter(({ scheduled_for }) => scheduled_for >= from && scheduled_for < to)
    if (within.length !== DUE * minutes) throw new Error(`There are ${within.length} ticks instead of ${DUE * minutes}.`)
    const delays = publishes.delaysOf(within)
    const setup = `${DUE} every-minute schedules over the seconds of the minute, ${minutes} minutes, a loop and a run each; to the publish`
    report.add({ name: 'steady_tick_delay_p95_ms', value: percentile(delays, 0.95), unit: 'ms', target: '<= 1000', setup })
    report.add({ name: 'steady_tick_delay_p50_ms', value: median(delays), unit: 'ms', target: '-', setup: 'of those' })
  })
}

export async function measureLoops(report: Report): Promise<void> {
  await withSchedules(async (system) => {
    const began = performance.now()
    await defineSchedules(system, LOOPS, (i) => `${i % 60} ${i % 24} 1 1 *`)
    await untilLoopsStand(system, LOOPS)
    const started_s = (performance.now() - began) / SECOND_MS
    const status = readFileSync(`/proc/${automationPid()}/status`, 'utf8')
    const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1])
    const setup = `${LOOPS} schedules, a loop each; all defined, started and looked at once after ${Math.round(started_s)} s`
    report.add({ name: 'loops_rss_mb', value: kilobytes / 1_024, unit: 'MB', target: '<= 900', setup })
  })
}
