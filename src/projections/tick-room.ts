// How much one batch has room for: ticks with all of their requests for runs. Those of the clock and those of people are
// measured in the same way, before anything is said.

import { utf8Bytes } from '../core/canonical.js'
import { BATCH_BYTES_MAX, EVENT_BYTES_MAX, TICK_RUN_REQUESTS_MAX } from '../core/limits.js'
import type { Selector } from '../events/value.js'
import { type AskedRun, isTickFault, type TickAssets, type TickFault } from './tick-request.js'

export const tooManyRuns = (run_count: number): TickFault => ({
  code: 'TOO_MANY_RUNS',
  message: `The tick asks for ${run_count} runs of these assets, which is more than fits one batch. Make schedules of fewer assets or partitions.`,
})

/** Around what a request is made of: ids, keys, instants. */
const ENVELOPE_BYTES = 2_048
/** Of a tick, around its partitions. */
const TICK_BYTES = 512
/** The ticks of an event, beside its envelope and up to a hundred asset keys. */
const TICKS_BYTES_MAX = EVENT_BYTES_MAX / 2

type InTick = {
  readonly partitions: Selector
  readonly runs: readonly (AskedRun & { readonly run_key: string })[]
  readonly fault?: TickFault
}

/** A tick and its requests are one batch, with those of the older ticks: what does not fit is not caught up with. `said`:
 *  what each request repeats beside the assets. */
export function createTickRoom(tick: TickAssets | TickFault | undefined, ...said: readonly unknown[]) {
  const shared_bytes = tick === undefined || isTickFault(tick) ? 0 : bytesOf([tick.assets, said]) + ENVELOPE_BYTES
  let runs_left = TICK_RUN_REQUESTS_MAX
  let ticks_bytes_left = TICKS_BYTES_MAX
  let batch_bytes_left = BATCH_BYTES_MAX - EVENT_BYTES_MAX
  return {
    take({ partitions, runs, fault }: InTick): boolean {
      const of_tick = bytesOf([partitions, fault ?? null]) + TICK_BYTES
      const of_runs = runs.reduce((sum, run) => sum + shared_bytes + bytesOf(run), 0)
      if (runs.length > runs_left || of_tick > ticks_bytes_left || of_runs > batch_bytes_left) return false
      runs_left -= runs.length
      ticks_bytes_left -= of_tick
      batch_bytes_left -= of_runs
      return true
    },
  }
}

const bytesOf = (value: unknown): number => utf8Bytes(JSON.stringify(value))
