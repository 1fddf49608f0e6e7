// The time of Google Cloud Storage, from the headers of its answers and the creation times of what this process wrote. The
// `Date` of an answer has whole seconds; a creation time has microseconds, of which milliseconds are kept.

import { type Clock, SECOND_MS } from '../core/time.js'
import { createStoreClock } from './store-clock.js'

export type Headers = Readonly<Record<string, string | undefined>>

export type GcsTime = {
  /** The store's time: never later than it is, never earlier than it was said to be before. */
  readonly now: () => number
  /** A request is about to be sent. */
  readonly ask: () => PendingRequest
}

type PendingRequest = {
  /** Its answer is here. `created`: it made an object, which the server says was created then. */
  readonly answered: (headers: Headers | undefined, created?: string) => void
  /** The store's time when the request was sent, or before: what the answer leaves out may be younger. */
  readonly sentAt: () => number
}

export function createGcsTime(clock: Pick<Clock, 'now' | 'elapsed'>): GcsTime {
  const store = createStoreClock()
  // A server that sends no date has the time of this machine.
  const now = (): number => store.now(clock.elapsed()) ?? clock.now()
  return {
    now,
    ask() {
      const sent_at = clock.elapsed()
      let known = store.atLeast(sent_at)
      function note(from: number, until: number): void {
        if (Number.isNaN(from)) return
        const received_at = clock.elapsed()
        store.note({ sent_at, received_at, from, until })
        known ??= from - 2 * (received_at - sent_at)
      }
      return {
        answered(headers, created) {
          const date = Date.parse(headers?.['date'] ?? '')
          note(date, date + SECOND_MS)
          const created_at = Date.parse(created ?? '')
          note(created_at, created_at + 1)
        },
        sentAt: () => Math.floor(known ?? clock.now()),
      }
    },
  }
}
