// The attempts of a run, as people see them. What workers say of theirs is in worker.ts.

import { z } from 'zod'
import { count, errorValue, id, instant } from '../../events/value.js'
import { maybeInstant, nextCursor, pageQuery } from './page.js'

const END_REASON =
  'Of LOST which loss: START_DEADLINE, HEARTBEAT, TIMEOUT, HANDOVER_REFUSED, CANCEL_GRACE, or RELEASED where its worker ended and gave it back. Of CANCELLED who ended it: WORKER_CANCELLED, or RUN_CANCELLED where it was taken back. Of SKIPPED what the code said.'

const why = {
  reason: z.string().nullable().meta({ description: END_REASON }),
  error: errorValue.nullable().meta({ description: 'With its stack, where the worker sent one.' }),
}

export const attempt = z
  .object({
    run_id: z.string(),
    task_key: z.string(),
    attempt: count,
    attempt_id: z.string(),
    state: z.enum(['DISPATCHED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED', 'LOST']),
    ...why,
    execution_id: z.string().nullable(),
    worker_id: z.string().nullable(),
    dispatched_at: maybeInstant,
    started_at: maybeInstant,
    finished_at: maybeInstant,
  })
  .meta({ id: 'Attempt' })
export const attemptPage = z.object({ attempts: z.array(attempt), next_cursor: nextCursor }).meta({ id: 'AttemptPage' })
export const attemptQuery = z.strictObject({ ...pageQuery, task_key: id('task_key').optional() })

/** Beside the log of an attempt. */
export const attemptEnd = z
  .object({ outcome: z.enum(['FAILED', 'SKIPPED', 'CANCELLED', 'LOST']), ...why, finished_at: instant })
  .meta({ id: 'AttemptEnd' })
