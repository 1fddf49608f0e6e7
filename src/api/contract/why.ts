// Why a task is not running.

import { z } from 'zod'
import { count } from '../../events/value.js'
import { maybeInstant } from './page.js'
import { capSource } from './pool.js'

export const taskWhy = z
  .object({
    run_id: z.string(),
    task_key: z.string(),
    state: z.string().nullable().meta({ description: 'null: the run has no tasks.' }),
    code: z.string().meta({
      description:
        'RUN_PENDING, RUN_WITHOUT_TASKS, BEING_PLANNED, UPSTREAM, RETRY_LATER, LOCATION_GONE, NO_ROOM, NEXT_TURN, NOT_HANDED_OVER, NOT_STARTED, CANCELLING, RUNNING or OVER.',
    }),
    sentence: z.string().meta({ description: 'The same for people. Instants in it are those of RFC 3339.' }),
    since_at: maybeInstant,
    due_at: maybeInstant.meta({ description: 'When it changes by itself: a retry, or a deadline.' }),
    upstream: z.array(z.object({ task_key: z.string(), state: z.string() })).meta({ description: 'The tasks whose success is missing.' }),
    full_pools: z
      .array(z.object({ pool_key: z.string(), in_use: count, max_running: count.nullable(), cap_source: capSource.nullable() }))
      .meta({ description: 'With the cap that holds, as `cap` of `/pools` has it.' }),
    waiting_before: count.nullable().meta({ description: 'With NO_ROOM: how many tasks that need these pools are dispatched first.' }),
    worker_problem: z.string().nullable().meta({
      description:
        'What its worker answered, or that nothing did, where the task waits for it or runs older code by it; a part of `sentence`. null: nothing is known to be wrong with it.',
    }),
  })
  .meta({ id: 'TaskWhy' })
