// The newest view that this process has seen, shared by all who ask at the same time: a burst of callbacks reads the
// pointer once. A view is never older than the question, unless the caller says that it may be.

import { type Clock, MINUTE_MS } from '../core/time.js'
import type { Reader, View } from './reader.js'
import { shared } from './shared.js'

export type Current = {
  /** The newest revision at the time of the question. */
  readonly latest: () => Promise<View | undefined>
  /** A revision that has at least this sequence; undefined when none came in time, or before the signal was aborted. */
  readonly atLeast: (sequence: number, timeout_ms: number, until?: AbortSignal) => Promise<View | undefined>
  /** One that was the newest not longer ago than this. */
  readonly recent: (age_ms_max: number) => Promise<View | undefined>
}

const POLL_MS = 15
/** Files of a view that nobody may have looked at for longer than a reader's pin can be gone; this is well within it. */
const HELD_MS_MAX = MINUTE_MS

export function createCurrent({ reader, clock }: { readonly reader: Reader; readonly clock: Clock }): Current {
  let held: View | undefined
  let held_since = Number.NEGATIVE_INFINITY

  async function read(): Promise<View | undefined> {
    const asked_at = clock.elapsed()
    const view = await reader.latest()
    if (view !== undefined && (held === undefined || held.sequence <= view.sequence)) held = view
    held_since = asked_at
    return held
  }

  /** A read that is under way may have seen the pointer before the question. */
  const latest = shared(read)

  async function atLeast(sequence: number, timeout_ms: number, until?: AbortSignal): Promise<View | undefined> {
    if (held !== undefined && held.sequence >= sequence && clock.elapsed() - held_since <= HELD_MS_MAX) return held
    const started = clock.elapsed()
    for (;;) {
      const view = await latest()
      if (view !== undefined && view.sequence >= sequence) return view
      if (until?.aborted === true || clock.elapsed() - started >= timeout_ms) return undefined
      await clock.sleep(POLL_MS, until)
    }
  }

  return {
    latest,
    atLeast,
    recent: async (age_ms_max) => (clock.elapsed() - held_since <= age_ms_max ? held : latest()),
  }
}
