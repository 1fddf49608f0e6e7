// Requests that asked for a run key that another request holds.

import { z } from 'zod'
import { assets, count, instant, selector, tags } from '../../events/value.js'
import { nextCursor } from './page.js'

export const runKeyConflict = z
  .object({
    run_key: z.string(),
    run_id: z.string().meta({ description: 'The run that has the key.' }),
    existing_fingerprint: z.string(),
    conflicting_fingerprint: z.string(),
    conflicting_event_id: z.string(),
    trigger: z.unknown(),
    assets,
    partitions: selector,
    tags,
    seen_count: count,
    detected_at: instant,
  })
  .meta({ id: 'RunKeyConflict' })
export const conflictPage = z.object({ conflicts: z.array(runKeyConflict), next_cursor: nextCursor }).meta({ id: 'RunKeyConflictPage' })
