// One POST to a worker, signed for its location. What an answer means is for the caller.

import { messageOf } from '../core/errors.js'
import type { LocationRef } from '../core/location-secret.js'
import type { Clock } from '../core/time.js'
import { signBody } from '../core/token.js'
import { signatureHeaders, type WorkerSecrets } from './signature-headers.js'

export type SignedPostDeps = {
  readonly clock: Pick<Clock, 'now'>
  readonly worker_secrets: WorkerSecrets
}

export type SignedAnswer = { readonly status: number; readonly is_taken: boolean; readonly text: string }

/** A worker answers at once, because it runs nothing before it answers. */
const ANSWER_TIMEOUT_MS = 15_000

/** Throws where nobody answered. */
export async function postSigned(
  { clock, worker_secrets }: SignedPostDeps,
  url: URL,
  request: object,
  location: LocationRef,
): Promise<SignedAnswer> {
  const body = JSON.stringify(request)
  const now = clock.now()
  const signature = signatureHeaders(worker_secrets, location, (secrets) => signBody(secrets, body, now))
  const post = async (): Promise<SignedAnswer> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signature },
      body,
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
    return { status: response.status, is_taken: response.ok, text: await response.text() }
  }
  try {
    return await post()
  } catch (error) {
    // A connection that was kept may have been closed by the other side as it was used again. To be heard twice is no harm.
    if (isCutOff(error)) return post()
    throw error
  }
}

const CUT_OFF = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

function isCutOff(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }
  return CUT_OFF.has(String(cause?.code))
}

/** What fetch says is "fetch failed"; why it did is the cause. */
export const reasonOf = (error: unknown): string => messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error)
