// Pools: how many tasks may be active at once, of the workspace, a pool by name, a location, a tag's value.

import { z } from 'zod'
import { count, id } from '../../events/value.js'
import { outcome } from './outcome.js'
import { commanded, flag, maybeInstant, nextCursor, pageQuery, readQuery, waitQuery } from './page.js'

const CAP_SOURCES = ['OWN', 'DEFAULT', 'SLOTS', 'TAG'] as const
const CAP_SOURCE_RULE =
  'OWN: somebody set it for this pool. DEFAULT: of the workspace, where nobody did. SLOTS: the slots of the location, as it was deployed. TAG: set for each value of the tag.'

export const capSource = z.enum(CAP_SOURCES).meta({ description: CAP_SOURCE_RULE })

export const poolParams = z.object({
  pool_key: id('pool_key').meta({
    description: 'global, pool:NAME, location:NAME, tag:KEY=VALUE, or tag:KEY for each value; encoded as in any URL.',
  }),
})

const waiting = {
  waiting: flag.optional().meta({ description: 'true: count the tasks that are due and wait for a place, too. It reads all that wait.' }),
}
export const poolListQuery = z.strictObject({ ...pageQuery, ...waiting })
export const poolReadQuery = z.strictObject({ ...readQuery, ...waiting })

export const pool = z
  .object({
    pool_key: z.string(),
    kind: z.enum(['GLOBAL', 'POOL', 'LOCATION', 'TAG_VALUE', 'TAG']).meta({ description: 'TAG caps each value of a tag by itself.' }),
    in_use: count
      .nullable()
      .meta({ description: 'Tasks that are dispatched or run. null: of a TAG, whose values are counted each by itself.' }),
    max_running: count.nullable().meta({ description: 'The cap that somebody set for this pool; null: nobody did.' }),
    cap: z
      .object({ max_running: count, source: capSource, set_by: z.string().nullable(), set_at: maybeInstant, reason: z.string().nullable() })
      .nullable()
      .meta({ description: 'The cap that holds, and where it comes from. null: there is none.' }),
    waiting: count.nullable().meta({
      description:
        'Tasks that are due, count in this pool and are not dispatched, whichever pool they wait for. null: not asked for, or of a TAG.',
    }),
  })
  .meta({ id: 'Pool' })
export const poolPage = z.object({ pools: z.array(pool), next_cursor: nextCursor }).meta({ id: 'PoolPage' })

export const poolSet = z
  .strictObject({
    max_running: count.meta({ description: '0 closes the pool: what runs goes on, and nothing new starts.' }),
    ...commanded,
  })
  .meta({ id: 'PoolSet' })
export const poolRemoved = z.strictObject(commanded).default({}).meta({ id: 'PoolRemoved' })

export const poolQuery = z.strictObject(waitQuery)
export const poolAccepted = z
  .object({
    pool_key: z.string(),
    max_running: count.nullable().meta({ description: 'What was asked for; null: that the pool has no cap of its own.' }),
    accepted_event_id: z.string(),
    outcome: outcome.optional(),
  })
  .meta({ id: 'PoolAccepted' })
