// What a reader waits for: an event to become visible, a row, a page, a fresh page.

import type { LooseRow } from '../../src/projections/tables.js'
import { keyOfRow } from '../../src/projections/tables.js'
import { readFresh } from '../../src/readers/fresh.js'
import { readAll } from '../../src/readers/pages.js'
import type { View } from '../../src/readers/reader.js'
import { createFreshTail } from '../../src/turn/fresh-tail.js'
import { percentile, type Report } from '../report.js'
import { appendInSegments, type BenchWorkspace, deploy, foldAll, openBench, withFolder } from '../workspace.js'
import { describeSize, type LargeSize, nextRun } from './large.js'
import type { LargeOptions, SuiteOptions } from './options.js'

const EVENTS_PER_SECOND = 200

/** Turns, one after the other, whenever somebody pokes; and beside them a merge when a turn says that one is due, as maintenance does. */
function turnLoop({ turn, clock, merge }: BenchWorkspace, published: () => void) {
  let isPoked = false
  let isStopped = false
  let wake = () => {}
  let merging: Promise<void> | undefined
  const loop = (async () => {
    while (!isStopped) {
      if (!isPoked) await new Promise<void>((resolve) => (wake = resolve))
      isPoked = false
      const answer = await turn.run()
      published()
      if (answer.merge_due) merging ??= merge().finally(() => (merging = undefined))
      if (answer.more) isPoked = true
    }
    await merging
  })()
  const poke = () => {
    isPoked = true
    wake()
  }
  return {
    poke,
    async stop() {
      isStopped = true
      poke()
      await loop
      await clock.sleep(0)
    },
  }
}

export async function benchVisible(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const seconds = is_quick ? 2 : 15
  await withFolder(async (folder) => {
    const workspace = openBench(folder)
    await deploy(workspace)
    const waiting = new Map<string, number[]>()
    const delays: number[] = []
    let seen = 0
    const turns = turnLoop(workspace, () => {
      for (const { sequence, segments } of workspace.turn.workspace().snapshot?.deltas ?? []) {
        if (sequence <= seen) continue
        seen = sequence
        for (const { name } of segments) {
          for (const acked of waiting.get(name) ?? []) delays.push(performance.now() - acked)
          waiting.delete(name)
        }
      }
    })
    const events = workspace.runs({ runs: (seconds * EVENTS_PER_SECOND) / 20, open_runs: 10 })
    const started = performance.now()
    const appended: Promise<void>[] = []
    for (const [index, event] of events.entries()) {
      const due = started + (index * 1_000) / EVENTS_PER_SECOND
      if (due > performance.now()) await workspace.clock.sleep(due - performance.now())
      appended.push(
        workspace.appender.append([event]).then(({ head }) => {
          const name = head.name.slice(head.name.lastIndexOf('/') + 1, -'.json'.length)
          waiting.set(name, [...(waiting.get(name) ?? []), performance.now()])
          turns.poke()
        }),
      )
    }
    await Promise.all(appended)
    await turns.stop()
    const setup = `${EVENTS_PER_SECOND} events a second for ${seconds} s, folder with fsync, turns when poked, merges when due`
    report.add({ name: 'visible_p95_ms', value: percentile(delays, 0.95), unit: 'ms', target: '≤ 600', setup })
    await workspace.close()
  })
}

const READERS = 8
const REQUESTS_PER_SECOND = 100
const WARM_UP_ROUNDS = 2

/** Requests at a steady rate, whether or not the one before has its answer: what waits counts as well. */
async function atRate(clock: BenchWorkspace['clock'], count: number, request: (index: number) => Promise<unknown>): Promise<number[]> {
  const delays: number[] = []
  const started = performance.now()
  const reader = async (which: number) => {
    for (let index = which; index < count; index += READERS) {
      const due = started + (index * 1_000) / REQUESTS_PER_SECOND
      if (due > performance.now()) await clock.sleep(due - performance.now())
      await request(index)
      delays.push(performance.now() - due)
    }
  }
  await Promise.all(Array.from({ length: READERS }, (_, which) => reader(which)))
  return delays
}

export async function benchReads(report: Report, options: LargeOptions, large: BenchWorkspace, size: LargeSize): Promise<void> {
  const { is_quick, targets } = options
  const count = is_quick ? 60 : 1_000
  const { reader, clock } = large
  const view = await reader.latest()
  if (view === undefined) throw new Error('The large workspace has no revision.')
  // Rows all over the table; of a million a tenth is enough.
  const rows = await readAll(view, 'partition_status', { limit: Math.min(size.runs * 6, 100_000) })
  const pick = (index: number): LooseRow => rows[(index * 7_919) % rows.length] as LooseRow
  const where = [
    { column: 'asset_key', is: '=', value: 'core.orders' },
    { column: 'last_attempt_outcome', is: '=', value: 'SUCCEEDED' },
  ] as const
  const point = async (index: number) => {
    const latest = await reader.latest()
    const row = await latest?.row('partition_status', keyOfRow('partition_status', pick(index)))
    if (row === undefined) throw new Error('A row that exists was not found.')
  }
  const page = async (index: number, of?: View) => {
    const latest = of ?? (await reader.latest())
    const key = keyOfRow('partition_status', pick(index))
    await latest?.page('partition_status', { where, after: ['core.orders', ...key.slice(1)], limit: 100 })
  }
  await atRate(clock, READERS * 4, point)
  await atRate(clock, READERS * 4, page)
  const setup = `${READERS} readers, ${REQUESTS_PER_SECOND} requests a second in all, ${count} requests, newest revision each; ${describeSize(size)}`
  const p95 = async (name: 'read_point_p95_ms' | 'read_page_p95_ms', request: typeof point) =>
    report.add({ name, value: percentile(await atRate(clock, count, request), 0.95), unit: 'ms', target: targets[name], setup })
  await p95('read_point_p95_ms', point)
  await p95('read_page_p95_ms', page)
  await benchFresh(report, options, large, size, page)
}

/** All readers of a round wait for the same fold: of a dozen rounds the 95th percentile would be the slowest but none. */
const FRESH_ROUNDS = 40
const FRESH_WARM_UP_ROUNDS = 10

async function benchFresh(
  report: Report,
  { is_quick, targets }: LargeOptions,
  large: BenchWorkspace,
  size: LargeSize,
  page: (index: number, of?: View) => Promise<void>,
): Promise<void> {
  const rounds = is_quick ? 3 : FRESH_ROUNDS
  const first = await nextRun(large)
  const { reader, clock, deps, appender, turn } = large
  const tail = createFreshTail({ ...deps, reader, now: appender.now })
  const delays: number[] = []
  // The first folds read the hot state, and what folds and decodes is compiled with the tenth or so: they are not counted.
  const warm_up = is_quick ? WARM_UP_ROUNDS : FRESH_WARM_UP_ROUNDS
  for (let round = -warm_up; round < rounds; round++) {
    const first_run = first + (round + warm_up) * 50
    const events = large.runs({ runs: 50, first_run })
    await appendInSegments(large, events, 50)
    const asked = Array.from({ length: READERS }, async (_, index) => {
      const started = performance.now()
      const { is_fresh, view } = await readFresh({ reader, clock, poke: () => undefined, tail })
      await page(index, view)
      if (round >= 0) delays.push(is_fresh ? performance.now() - started : Number.POSITIVE_INFINITY)
    })
    await Promise.all(asked)
    await foldAll(turn)
  }
  const setup = `${READERS} readers at once over 1,000 unfolded events, which they fold; a turn publishes them after it; ${rounds} rounds after ${warm_up}; ${describeSize(size)}`
  report.add({ name: 'read_fresh_p95_ms', value: percentile(delays, 0.95), unit: 'ms', target: targets.read_fresh_p95_ms, setup })
}
