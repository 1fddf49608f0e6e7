// Asks for runs by the clock: as many as the wanted events need by now, corrected by what was acknowledged. A client that got
// no answer asks again with the same key, so a run is asked for once whatever happens.

// Clients come at their instants, and ask again after a pause.
import { setTimeout as sleep } from 'node:timers/promises'
import { HOUR_MS } from '../../src/core/time.js'
import { EVENTS_PER_RUN, FIRST_HOUR } from './location.js'

export type Load = {
  readonly acknowledged: () => number
  /** Requests that failed and were made again. */
  readonly failures: () => number
  /** Asks for no further run; resolves when each that was asked for has its answer. */
  readonly stop: () => Promise<void>
}

type LoadOptions = {
  readonly events_per_s: number
  readonly request: (partition_key: string, run_key: string) => Promise<unknown>
}

const LOOK_EVERY_MS = 50
const AGAIN_MS = 500
/** Beyond it the API does not keep up, and more requests would only make a longer queue. */
const UNDER_WAY_MAX = 64

export function startLoad({ events_per_s, request }: LoadOptions): Load {
  const began = performance.now()
  let isStopped = false
  let asked = 0
  let acknowledged = 0
  let failures = 0
  const under_way = new Set<Promise<void>>()

  async function ask(number: number): Promise<void> {
    for (;;) {
      try {
        await request(partitionOf(number), `soak-${number}`)
        acknowledged += 1
        return
      } catch (error) {
        failures += 1
        // What never gets an answer would keep the end from coming.
        if (failures > UNDER_WAY_MAX * 10) throw error
        await sleep(AGAIN_MS)
      }
    }
  }

  async function pace(): Promise<void> {
    while (!isStopped) {
      const due = Math.floor(((performance.now() - began) / 1_000) * (events_per_s / EVENTS_PER_RUN)) + 1
      while (asked < due && under_way.size < UNDER_WAY_MAX) {
        const asking: Promise<void> = ask(++asked).finally(() => under_way.delete(asking))
        under_way.add(asking)
        asking.catch(() => undefined)
      }
      await sleep(LOOK_EVERY_MS)
    }
  }

  const pacing = pace()
  return {
    acknowledged: () => acknowledged,
    failures: () => failures,
    async stop() {
      isStopped = true
      await pacing
      await Promise.all([...under_way])
    },
  }
}

/** Ever new: no run meets a partition that another one has made. 0 is nobody's but the first run's. */
export const partitionOf = (number: number): string =>
  new Date(Date.parse(FIRST_HOUR) + number * HOUR_MS).toISOString().slice(0, 16).replace('T', '-')
