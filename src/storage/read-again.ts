// A store whose reads are made again where no answer came: a read that failed has changed nothing, and whoever reads a
// hundred objects would else begin anew for each that was lost. Writes stay as they are: their outcome is for the caller.

import { isOperatingError } from '../core/errors.js'
import type { Clock } from '../core/time.js'
import type { ObjectStore } from './object-store.js'

/** Between the tries. Longer trouble is for whoever calls: a loop backs off, an API says so. */
const PAUSES_MS = [50, 300] as const

export function readingAgain(store: ObjectStore, clock: Pick<Clock, 'sleep'>): ObjectStore {
  async function again<T>(read: () => Promise<T>): Promise<T> {
    for (const pause_ms of PAUSES_MS) {
      try {
        return await read()
      } catch (error) {
        if (!isOperatingError(error, 'unavailable')) throw error
        await clock.sleep(pause_ms)
      }
    }
    return read()
  }
  return {
    ...store,
    get: (name) => again(() => store.get(name)),
    head: (name) => again(() => store.head(name)),
    list: (prefix, start_after) => again(() => store.list(prefix, start_after)),
  }
}
