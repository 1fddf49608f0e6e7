// When a failed or lost attempt is followed by the next: exponential back-off whose jitter comes from the attempt's
// own id, so that every replay computes the same instant.

import { sha256 } from './hash.js'
import { SECOND_MS } from './time.js'

type Backoff = {
  readonly backoff_seconds: number
  readonly factor: number
  readonly max_backoff_seconds: number
  /** 0 to 1: the share of the delay that is spread evenly, half of it to either side. */
  readonly jitter: number
}

const UINT32_RANGE = 2 ** 32

export function retryDelayMs(retry: Backoff, failures: number, failed_attempt_id: string): number {
  const { max_backoff_seconds, jitter } = retry
  const delay_ms = Math.min(max_backoff_seconds, backedOff(retry, failures)) * SECOND_MS
  const digest = sha256(failed_attempt_id)
  const u = new DataView(digest.buffer, digest.byteOffset).getUint32(0) / UINT32_RANGE
  return Math.floor(delay_ms * (1 - jitter / 2 + jitter * u))
}

/** Multiplied step by step: engines differ in the last digits of a power, and zero times an infinite one is no number. */
function backedOff({ backoff_seconds, factor, max_backoff_seconds }: Backoff, failures: number): number {
  let seconds = backoff_seconds
  if (factor === 1 || seconds === 0) return seconds
  for (let failure = 1; failure < failures && seconds < max_backoff_seconds; failure++) seconds *= factor
  return seconds
}
