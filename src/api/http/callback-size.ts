// How much an attempt may have come to.

import { problem } from '../../commands/problem.js'
import { canonicalBytes } from '../../core/canonical.js'
import { CALLBACK_BYTES_MAX, TASK_METADATA_BYTES_MAX } from '../../core/limits.js'
import { RefusedError } from '../problems.js'

/** Beyond these no event is made of it: a worker has to hear so, and not be told of an event of the ledger. */
export function refuseLarge(body: { readonly metadata?: unknown }): void {
  const metadata = body.metadata === undefined ? 0 : canonicalBytes(body.metadata)
  if (metadata > TASK_METADATA_BYTES_MAX) {
    const detail = `metadata has ${metadata} bytes of JSON, and ${TASK_METADATA_BYTES_MAX} is the most. Keep what is larger where the data is.`
    throw new RefusedError(problem('too-large', detail, { faults: [{ path: 'metadata', message: detail }] }))
  }
  const bytes = canonicalBytes(body)
  if (bytes <= CALLBACK_BYTES_MAX) return
  throw new RefusedError(
    problem(
      'too-large',
      `What the attempt came to has ${bytes} bytes of JSON, and ${CALLBACK_BYTES_MAX} is the most. Cut the stack of the error; the rest belongs into the log.`,
    ),
  )
}
