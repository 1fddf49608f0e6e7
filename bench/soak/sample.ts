// One look at a running system: memory of each process, what the automation counted since the look before, and now and then
// what lies in its folder. A sample is one line of JSON, and everything that is said of a soak is computed from these lines.

import { execFileSync } from 'node:child_process'
import { z } from 'zod'
import { samplesIn } from '../../test/fixtures/metrics-text.js'
import type { Objects } from './objects.js'

export const PROCESSES = ['automation', 'api', 'worker', 'temporal'] as const
export type ProcessName = (typeof PROCESSES)[number]

const counted = z.object({ count: z.number(), bytes: z.number() })
const byProcess = z.record(z.enum(PROCESSES), z.number())

export const sampleSchema = z.object({
  /** Seconds since the load began. */
  at_s: z.number(),
  rss_mb: byProcess,
  /** Seconds of processor time since each process began. */
  cpu_s: byProcess,
  /** Of the automation: what JavaScript holds, without WebAssembly and the rest. */
  heap_mb: z.number(),
  /** On average, of the turns that published since the sample before; null: there were none. */
  turn_ms: z.number().nullable(),
  turns: z.number(),
  publishes: z.number(),
  /** Applied since the automation began. */
  events: z.number(),
  /** From a segment's creation to the publish that folded it, on average of those since the sample before. */
  lag_ms: z.number().nullable(),
  runs_asked: z.number(),
  runs_over: z.number(),
  tasks_over: z.number(),
  /** What a turn holds in its memory: tasks of runs that are not over. */
  open_tasks: z.number(),
  objects: z.record(z.string(), counted).optional(),
})

export type Sample = z.output<typeof sampleSchema>

type Look = {
  readonly began: number
  readonly pids: Readonly<Record<ProcessName, number>>
  readonly metrics_url: string
  readonly runs_asked: () => number
  readonly tasks_per_run: number
}

/** Cumulative values of the look before: a sample tells what came since. */
type Before = { readonly turn_s: number; readonly turn_count: number; readonly lag_s: number; readonly lag_count: number }

const MB = 1_024 ** 2
const PUBLISHED = 'servo_turn_duration_seconds_{}{outcome="published"}'
const series = (pattern: string, what: 'sum' | 'count') => pattern.replace('{}', what)

export function createSampler({ began, pids, metrics_url, runs_asked, tasks_per_run }: Look) {
  let before: Before = { turn_s: 0, turn_count: 0, lag_s: 0, lag_count: 0 }
  return async (objects?: Objects): Promise<Sample> => {
    const counted = samplesIn(await (await fetch(metrics_url)).text())
    const of = (name: string): number => counted.get(name) ?? 0
    const sumOf = (start: string): number => [...counted].reduce((sum, [name, value]) => (name.startsWith(start) ? sum + value : sum), 0)
    const now: Before = {
      turn_s: of(series(PUBLISHED, 'sum')),
      turn_count: of(series(PUBLISHED, 'count')),
      lag_s: of('servo_fold_delay_seconds_sum'),
      lag_count: of('servo_fold_delay_seconds_count'),
    }
    const mean_ms = (seconds: number, count: number): number | null => (count === 0 ? null : (seconds * 1_000) / count)
    const asked = runs_asked()
    const tasks_over = sumOf('servo_tasks_total{state="SUCCEEDED"')
    const sample: Sample = {
      at_s: (performance.now() - began) / 1_000,
      ...processesNow(pids),
      heap_mb: of('servo_process_nodejs_heap_size_used_bytes') / MB,
      turn_ms: mean_ms(now.turn_s - before.turn_s, now.turn_count - before.turn_count),
      turns: now.turn_count - before.turn_count,
      publishes: of('servo_publishes_total{outcome="published"}'),
      events: of('servo_events_folded_total{outcome="applied"}'),
      lag_ms: mean_ms(now.lag_s - before.lag_s, now.lag_count - before.lag_count),
      runs_asked: asked,
      runs_over: of('servo_runs_total{state="SUCCEEDED"}'),
      tasks_over,
      open_tasks: Math.max(0, asked * tasks_per_run - tasks_over),
      ...(objects === undefined ? {} : { objects: { ...objects } }),
    }
    before = now
    return sample
  }
}

/** As `ps` tells it on every system that Servo is developed on. */
function processesNow(pids: Readonly<Record<ProcessName, number>>): Pick<Sample, 'rss_mb' | 'cpu_s'> {
  const text = execFileSync('ps', ['-o', 'pid=,rss=,time=', '-p', Object.values(pids).join(',')], { encoding: 'utf8' })
  const rows = new Map(
    text
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .map(([pid, rss, time]) => [Number(pid), { rss_mb: Number(rss) / 1_024, cpu_s: secondsIn(time as string) }]),
  )
  const column = (name: 'rss_mb' | 'cpu_s') =>
    Object.fromEntries(PROCESSES.map((process_name) => [process_name, rows.get(pids[process_name])?.[name] ?? 0])) as Record<
      ProcessName,
      number
    >
  return { rss_mb: column('rss_mb'), cpu_s: column('cpu_s') }
}

/** `[[days-]hours:]minutes:seconds`. */
function secondsIn(time: string): number {
  const [days, clock] = time.includes('-') ? (time.split('-') as [string, string]) : ['0', time]
  return clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400
}
