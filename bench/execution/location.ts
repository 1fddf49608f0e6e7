// What worker processes serve in these benchmarks: code that writes down when it starts, in a file outside of the system. It
// is loaded as a user's module is, so it imports none of ours.

import { appendFileSync } from 'node:fs'
// What it sleeps for is the work of an asset that takes its time: nothing waits for a condition here.
import { setTimeout as sleep } from 'node:timers/promises'
import { asset, defineCodeLocation, type RunContext, staticPartitions } from 'servo'

/** Where the lines go. */
export const STARTS_VARIABLE = 'SERVO_BENCH_STARTS'

/** Of one silent worker: how long it may be silent. */
export const HEARTBEAT_SECONDS = 10
/** Retries of tasks that failed within two seconds are due within ten. */
const BACKOFF_SECONDS = 16
const JITTER = 0.5
export const RETRIED_COUNT = 500

const LASTS_MS = 3_600_000

/** One write of one line to a file that is opened for appending: lines of several processes do not mix. */
function note({ run_id, asset_key, attempt, partitions }: RunContext): void {
  const line = { run_id, asset_key, attempt, partition_key: partitions?.keys[0] ?? '', pid: process.pid, at: Date.now() }
  appendFileSync(process.env[STARTS_VARIABLE] as string, `${JSON.stringify(line)}\n`)
}

/** Runs until its worker dies; what takes its place has nothing to do. */
const lasting = asset({
  key: 'lasting',
  deps: [],
  heartbeat_timeout_seconds: HEARTBEAT_SECONDS,
  retry: { max_attempts: 2, max_infra_losses: 5, backoff_seconds: 0 },
  run: async (context) => {
    note(context)
    if (context.attempt === 1) await sleep(LASTS_MS, undefined, { signal: context.signal })
  },
})

const keys = Array.from({ length: RETRIED_COUNT }, (_, index) => `p${String(index).padStart(3, '0')}`)

/** Fails at first, and succeeds when it is tried again. */
const retried = asset({
  key: 'retried',
  deps: [],
  partitions: staticPartitions(keys),
  partitions_per_task: 1,
  retry: { max_attempts: 2, backoff_seconds: BACKOFF_SECONDS, factor: 1, jitter: JITTER },
  run: async (context) => {
    note(context)
    if (context.attempt === 1) throw new Error('It fails once.')
  },
})

/** Says that everything is there. */
const first = asset({ key: 'first', deps: [], run: async (context) => note(context) })

export const location = defineCodeLocation({ name: 'bench', assets: [first, lasting, retried] })
