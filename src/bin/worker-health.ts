// Asks a worker for its health answer. The result only informs: a worker does not have to answer, and may not be reachable from here.

import { HEALTH_PATH, type WorkerHealth, workerHealth } from '../api/contract/worker.js'
import { messageOf } from '../core/errors.js'
import type { WorkerState } from '../readers/why/worker.js'

export type AskedWorker = Exclude<WorkerState, { readonly kind: 'health' }> | { readonly kind: 'health'; readonly health: WorkerHealth }

const ANSWER_TIMEOUT_MS = 2_000

export async function askWorker(worker_url: string): Promise<AskedWorker> {
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
    const response = await fetch(`${worker_url.replace(/\/+$/, '')}${HEALTH_PATH}`, { signal, redirect: 'manual' })
    const read = workerHealth.safeParse(response.ok ? await response.json().catch(() => undefined) : undefined)
    return read.success ? { kind: 'health', health: read.data } : { kind: 'other' }
  } catch (error) {
    return { kind: 'silent', why: whyOf(error) }
  }
}

/** The error of `fetch` has the reason in its cause, which has only a code when several addresses were tried. */
function whyOf(error: unknown): string {
  const { name, cause } = error as { readonly name?: string; readonly cause?: { readonly message?: string; readonly code?: string } }
  if (name === 'TimeoutError') return `no answer within ${ANSWER_TIMEOUT_MS / 1_000} s`
  return cause?.message || cause?.code || messageOf(error)
}
