// Many retries that are due within a few seconds: how much later than due each one's code starts.

import { untilSeen } from '../../test/fixtures/until.js'
import { median, percentile, type Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'
import { RETRIED_COUNT } from './location.js'
import { type Served, withServed } from './served.js'

const SLOTS = 256
const QUICK_COUNT = 50
const STARTED_WITHIN_MS = 120_000
const PAGE_ROWS = 100

export async function measureAccuracy(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const rounds = is_quick ? 1 : 3
  const count = is_quick ? QUICK_COUNT : RETRIED_COUNT
  await withServed(SLOTS, async (served) => {
    const late: number[] = []
    const spans: number[] = []
    for (let i = 0; i < rounds; i++) {
      const { late_ms, span_s } = await retryAll(served, count)
      late.push(...late_ms)
      spans.push(span_s)
    }
    const setup = `${rounds} rounds of ${count} retries, due within ${Math.max(...spans).toFixed(1)} s, ${SLOTS} slots; local store with fsync`
    report.add({ name: 'deadline_accuracy_p95_ms', value: percentile(late, 0.95), unit: 'ms', target: '<= 1,500', setup })
    report.add({ name: 'deadline_accuracy_p50_ms', value: median(late), unit: 'ms', target: '-', setup: 'the same retries' })
  })
}

type Round = { readonly late_ms: readonly number[]; readonly span_s: number }

async function retryAll(served: Served, count: number): Promise<Round> {
  const start = 'p000'
  const end = `p${String(count - 1).padStart(3, '0')}`
  const run_id = await served.request(['retried'], { partitions: { range: { start, end } } })
  const due = await untilSeen('all tasks have failed once', () => dueTimes(served, run_id, count), STARTED_WITHIN_MS)
  await served.untilOver(run_id)
  const again = (await served.starts()).filter((each) => each.run_id === run_id && each.attempt === 2)
  const late_ms = again.map(({ partition_key, at }) => at - (due.get(partition_key) as number))
  if (late_ms.length !== count || late_ms.some((each) => !(each >= 0))) throw new Error('A retry did not start, or started too early.')
  const times = [...due.values()]
  return { late_ms, span_s: (Math.max(...times) - Math.min(...times)) / 1_000 }
}

type TaskAnswer = {
  readonly state: string
  readonly retry_at: string | null
  readonly partitions: { readonly keys?: readonly string[]; readonly range?: { readonly start: string } } | null
}
type TaskPage = { readonly tasks: readonly TaskAnswer[]; readonly next_cursor: string | null }

/** By partition; undefined: some have not failed yet. */
async function dueTimes({ client }: Served, run_id: string, count: number): Promise<ReadonlyMap<string, number> | undefined> {
  const due = new Map<string, number>()
  let cursor: string | undefined
  do {
    const query = { state: 'RETRY_WAIT', limit: PAGE_ROWS, ...(cursor === undefined ? {} : { cursor }) }
    const page = await client.get<TaskPage>(`/runs/${run_id}/tasks`, query)
    for (const { partitions, retry_at } of page.tasks)
      due.set(partitions?.keys?.[0] ?? partitions?.range?.start ?? '', Date.parse(retry_at ?? ''))
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return due.size === count ? due : undefined
}
