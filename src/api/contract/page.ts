// What requests have in common: pages, waiting, freshness, who asks and why.

import { z } from 'zod'
import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX, REASON_CHARACTERS_MAX, SHORT_TEXT_CHARACTERS_MAX, WAIT_MS_MAX } from '../../core/limits.js'
import { id, instant, textOf } from '../../events/value.js'

/** In a query everything is text. */
export const flag = z.enum(['true', 'false']).transform((value) => value === 'true')

export const numberIn = (minimum: number, maximum: number) => {
  const error = `a whole number from ${minimum} to ${maximum}`
  return z.coerce.number({ error }).int({ error }).min(minimum, { error }).max(maximum, { error })
}

export const shortText = textOf(SHORT_TEXT_CHARACTERS_MAX).min(1, { error: 'text, not empty' })

export const maybeInstant = instant.nullable()

/** Reads are of the newest published revision, unless they say otherwise. The header servo-sequence says which it was. */
export const readQuery = {
  fresh: flag.optional().meta({
    description:
      'true: everything that was acknowledged before is seen, published or not. The header servo-fresh says false where too much was behind, and it was not published in time.',
  }),
  min_sequence: numberIn(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .meta({ description: 'Wait for this revision: 503 where it does not come.' }),
}

export const pageQuery = {
  ...readQuery,
  limit: numberIn(1, PAGE_ROWS_MAX).default(PAGE_ROWS_DEFAULT),
  cursor: z.string().optional().meta({ description: 'next_cursor of the page before. It stays valid while others write.' }),
}

export const nextCursor = z.string().nullable().meta({ description: 'null: this is the last page.' })

export const waitMs = numberIn(0, WAIT_MS_MAX).meta({ description: 'How long to wait for the outcome, in milliseconds.' })

export const waitQuery = {
  wait: flag.optional().meta({ description: 'true: the answer has the outcome.' }),
  wait_ms: waitMs.optional(),
}

/** People's commands say who and, if they like, why. The key makes a repeat safe: the same one is the same command. */
export const commanded = {
  requested_by: id('text').max(SHORT_TEXT_CHARACTERS_MAX).optional(),
  reason: textOf(REASON_CHARACTERS_MAX).optional(),
  client_request_id: id('request_key').optional().meta({ description: 'The same as the header Idempotency-Key.' }),
}

export const idempotencyHeader = z.object({
  'idempotency-key': id('request_key').optional().meta({
    description:
      'The same key with the same body, whoever asks, gives the same answer for 30 days, and happens once; with another body it is 422.',
  }),
})
