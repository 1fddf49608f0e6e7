// What a worker counts, in the text format of Prometheus. It is written here because the SDK depends on no metrics library; it
// names no asset, run or location.

export const METRICS_PATH = '/metrics'
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** taken: the API has it. refused: another answer of the API. unanswered: no answer came. */
export type HeartbeatOutcome = (typeof HEARTBEAT_OUTCOMES)[number]
const HEARTBEAT_OUTCOMES = ['taken', 'refused', 'unanswered'] as const

type WorkerLoad = { readonly slots: number; readonly running: number; readonly waiting: number }

export type WorkerMetrics = {
  readonly countHeartbeat: (outcome: HeartbeatOutcome) => void
  readonly text: (load: WorkerLoad) => string
}

export function createWorkerMetrics(version: string): WorkerMetrics {
  // Every series is there from the start, at 0, so that its first step is seen.
  const heartbeats = new Map<HeartbeatOutcome, number>(HEARTBEAT_OUTCOMES.map((outcome) => [outcome, 0]))
  return {
    countHeartbeat: (outcome) => void heartbeats.set(outcome, (heartbeats.get(outcome) ?? 0) + 1),
    text: ({ slots, running, waiting }) =>
      [
        ...gauge('servo_worker_slots', 'Attempts whose code a worker runs at once.', slots),
        ...gauge('servo_worker_running', 'Attempts whose code runs, or is about to.', running),
        ...gauge('servo_worker_waiting', 'Prefetched attempts that wait for a slot.', waiting),
        ...head('servo_worker_heartbeats_total', 'counter', 'Heartbeats that were sent, by what became of them.'),
        ...[...heartbeats].map(([outcome, count]) => `servo_worker_heartbeats_total{outcome="${outcome}"} ${count}`),
        ...head('servo_worker_build_info', 'gauge', 'Always 1; the version that a worker runs is a label.'),
        `servo_worker_build_info{version="${escaped(version)}"} 1`,
        '',
      ].join('\n'),
  }
}

const head = (name: string, kind: 'gauge' | 'counter', help: string): readonly string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${kind}`,
]

const gauge = (name: string, help: string, value: number): readonly string[] => [...head(name, 'gauge', help), `${name} ${value}`]

/** A value of a label is between double quotes. */
const escaped = (text: string): string => text.replace(/["\\\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
