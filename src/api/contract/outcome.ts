// What became of an event: durable is not applied.

import { z } from 'zod'
import { id, longCount } from '../../events/value.js'
import { waitMs } from './page.js'

const told = { sequence: longCount, event_id: z.string().nullable(), reason: z.string(), detail: z.unknown() }

export const outcome = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('applied'), sequence: longCount, event_id: z.string() }),
    z.object({ kind: z.literal('duplicate'), sequence: longCount, applied_event_id: z.string() }),
    z.object({ kind: z.literal('refused'), ...told }),
    z.object({ kind: z.literal('quarantined'), ...told }),
    z.object({ kind: z.literal('not_kept'), sequence: longCount }),
    z.object({ kind: z.literal('pending') }),
  ])
  .meta({ id: 'Outcome', description: 'pending: it is durable, and not folded yet. Ask again.' })

export const outcomeQuery = z
  .strictObject({ idempotency_key: id('text').optional(), event_id: id('ulid').optional(), wait_ms: waitMs.default(0) })
  .refine(({ idempotency_key, event_id }) => idempotency_key !== undefined || event_id !== undefined, {
    path: ['idempotency_key'],
    error: 'the key of the event, or event_id with its id',
  })

export const outcomeResponse = z.object({ outcome }).meta({ id: 'OutcomeResponse' })
