// Beats of one execution: sent by the clock while its code runs, so that user code needs no call. What the code says of
// its progress goes with the next beat.

import { type HeartbeatRequest, heartbeatResponse } from '../../api/contract/worker.js'
import { describe, isTaken } from './call.js'
import { pause } from './pause.js'
import type { CallAnswer } from './post-json.js'
import { progressOf } from './progress.js'

type HeartbeatOptions = {
  readonly interval_ms: number
  /** Sends one beat; the ids of the execution are added there. */
  readonly send: (beat: Pick<HeartbeatRequest, 'seq' | 'progress'>) => Promise<CallAnswer>
  readonly onCancel: () => void
  readonly onConflict: () => void
  readonly log: (message: string) => void
  readonly elapsed: () => number
}

export type Heartbeats = {
  readonly setProgress: (progress: unknown) => void
  /** Resolves when no beat is under way any more. */
  readonly stop: () => Promise<void>
}

/** An API that asks for more than this would have no time for anything else. */
const INTERVAL_MS_MIN = 20
/** Progress is shown soon, and a loop that reports every row does not become a loop of requests. */
const PROGRESS_EVERY_MS = 1_000
/** A beat that got no answer is followed by the next one soon: the time-out of the attempt is running. */
const AFTER_FAILURE_MS = 1_000

export function startHeartbeats({ interval_ms, send, onCancel, onConflict, log, elapsed }: HeartbeatOptions): Heartbeats {
  let isStopped = false
  let progress: HeartbeatRequest['progress']
  let sent_at = elapsed()
  let wake = new AbortController()

  const beat = async (seq: number): Promise<boolean> => {
    sent_at = elapsed()
    const answer = await send({ seq, ...(progress === undefined ? {} : { progress }) })
    if (isTaken(answer)) {
      const read = heartbeatResponse.safeParse(answer.kind === 'answered' ? answer.body : undefined)
      if (read.success && read.data.cancel) onCancel()
      return true
    }
    if (answer.kind === 'answered' && answer.status === 409) {
      isStopped = true
      onConflict()
    } else log(`A heartbeat ${describe(answer)}`)
    return false
  }

  const go = async () => {
    let wait_ms = Math.max(interval_ms, INTERVAL_MS_MIN)
    for (let seq = 0; !isStopped; seq++) {
      await pause(wait_ms, wake.signal)
      wake = new AbortController()
      // Two readings of one flag, with a pause between them.
      if (isStopped as boolean) return
      const wasTaken = await beat(seq)
      wait_ms = Math.max(INTERVAL_MS_MIN, wasTaken ? interval_ms : Math.min(interval_ms, AFTER_FAILURE_MS))
    }
  }
  const ended = go()

  return {
    setProgress(given) {
      progress = progressOf(given) ?? progress
      if (elapsed() - sent_at >= PROGRESS_EVERY_MS) wake.abort()
    },
    stop() {
      isStopped = true
      wake.abort()
      return ended
    },
  }
}
