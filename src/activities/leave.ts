// How an activity ends when its process does: it stops waiting, and fails in a way that Temporal retries at once, on another
// automation or the next one. Everything that activities do may be cut off at any point, as by a crash.

import { ApplicationFailure } from '@temporalio/activity'
import { beforeAbort } from './aborts.js'

export const leaving = (): ApplicationFailure =>
  ApplicationFailure.retryable('This process is ending, and leaves the call to another.', 'stopping')

/** The answer of the work; rejects as soon as the signal is aborted. The work may go on for a moment, and nobody waits for it. */
export async function leaveOn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const done = await beforeAbort(
    signal,
    work().then((answer) => ({ answer })),
  )
  if (done === undefined) throw leaving()
  return done.answer
}
