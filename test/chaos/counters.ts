// What the automations count while they live: asked for again and again, since a process that is killed takes its counts with
// it. What one counted in its last moment is missing, so the sums are lower bounds.

// Between two questions to a process that may be gone at any moment.
import { setTimeout as sleep } from 'node:timers/promises'
import { type MetricSamples, samplesIn } from '../fixtures/metrics-text.js'

const ASK_EVERY_MS = 500
const ANSWER_MS_MAX = 1_000

export type Counters = {
  readonly stop: () => void
  /** Sums over all processes that lived, by the value of a label. */
  readonly by: (metric: string, label: string) => Readonly<Record<string, number>>
}

export function watchCounters(urls: readonly string[]): Counters {
  const stopping = new AbortController()
  const finished: MetricSamples[] = []
  const newest = new Map<string, { readonly began: number; readonly sample: MetricSamples }>()

  async function ask(url: string): Promise<void> {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
    const sample = samplesIn(await answer.text())
    const began = sample.get(BEGAN) ?? 0
    const before = newest.get(url)
    if (before !== undefined && before.began !== began) finished.push(before.sample)
    newest.set(url, { began, sample })
  }

  async function watch(url: string): Promise<void> {
    while (!stopping.signal.aborted) {
      // Who is down or stopped has nothing to say.
      await ask(url).catch(() => undefined)
      await sleep(ASK_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  for (const url of urls) void watch(url)

  return {
    stop: () => stopping.abort(),
    by(metric, label) {
      const sums: Record<string, number> = {}
      for (const sample of [...finished, ...[...newest.values()].map((each) => each.sample)]) {
        for (const [series, value] of sample) {
          const found = series.startsWith(`${metric}{`) ? new RegExp(`\\b${label}="([^"]*)"`).exec(series)?.[1] : undefined
          if (found !== undefined && value > 0) sums[found] = (sums[found] ?? 0) + value
        }
      }
      return sums
    },
  }
}

/** Two processes of the same name are told apart by when they began. */
const BEGAN = 'servo_process_process_start_time_seconds'
