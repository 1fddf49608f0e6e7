// What people say about how long a workspace keeps things: the settings that are to change, and no others.

import { z } from 'zod'
import {
  AS_OF_HOURS_DAYS_MAX,
  AS_OF_HOURS_DAYS_MIN,
  AS_OF_MINUTES_HOURS_MAX,
  AS_OF_MINUTES_HOURS_MIN,
  IDEMPOTENCY_HOURS_MAX,
  IDEMPOTENCY_HOURS_MIN,
  REFUSALS_DAYS_MIN,
  RETENTION_DAYS_MAX,
  RETENTION_DAYS_MIN,
} from '../core/retention-limits.js'
import { COMMANDED_BY, defineEvent, type EventsIn, eventsByType } from './envelope.js'
import * as example from './example-retention.js'

/** Which numbers each setting may have, and what goes wrong with others. */
export const RETENTION_BOUNDS = {
  idempotency_hours: { minimum: IDEMPOTENCY_HOURS_MIN, maximum: IDEMPOTENCY_HOURS_MAX },
  refusals_days: { minimum: REFUSALS_DAYS_MIN, maximum: RETENTION_DAYS_MAX },
  outbox_days: { minimum: RETENTION_DAYS_MIN, maximum: RETENTION_DAYS_MAX },
  cold_after_days: { minimum: RETENTION_DAYS_MIN, maximum: RETENTION_DAYS_MAX },
  skipped_ticks_days: { minimum: RETENTION_DAYS_MIN, maximum: RETENTION_DAYS_MAX },
  no_data_days: { minimum: RETENTION_DAYS_MIN, maximum: RETENTION_DAYS_MAX },
  as_of_minutes_hours: { minimum: AS_OF_MINUTES_HOURS_MIN, maximum: AS_OF_MINUTES_HOURS_MAX },
  as_of_hours_days: { minimum: AS_OF_HOURS_DAYS_MIN, maximum: AS_OF_HOURS_DAYS_MAX },
} as const

const WHY: { readonly [Setting in RetentionSetting]: string } = {
  idempotency_hours: 'a repeat of a request is appended for six days, and none comes after its claim is gone',
  refusals_days: 'a request is repeated for six days, and asks what became of it',
  outbox_days: 'rows expire by whole days',
  cold_after_days: 'rows move by whole days',
  skipped_ticks_days: 'rows expire by whole days',
  no_data_days: 'rows expire by whole days',
  as_of_minutes_hours: 'the last hour is kept whole, and collection goes through all that is kept',
  as_of_hours_days: 'collection goes through all that is kept',
}

export type RetentionSetting = keyof typeof RETENTION_BOUNDS
export const RETENTION_SETTINGS = Object.keys(RETENTION_BOUNDS) as readonly RetentionSetting[]

/** It ends the sentence "Give it …". */
export function retentionRule(name: RetentionSetting): string {
  const { minimum, maximum } = RETENTION_BOUNDS[name]
  return `a whole number from ${minimum} to ${maximum}: ${WHY[name]}`
}

function setting(name: RetentionSetting) {
  const { minimum, maximum } = RETENTION_BOUNDS[name]
  const error = retentionRule(name)
  return z.int({ error }).min(minimum, { error }).max(maximum, { error }).exactOptional()
}

export const retentionChanges = {
  idempotency_hours: setting('idempotency_hours'),
  refusals_days: setting('refusals_days'),
  outbox_days: setting('outbox_days'),
  cold_after_days: setting('cold_after_days'),
  skipped_ticks_days: setting('skipped_ticks_days'),
  no_data_days: setting('no_data_days'),
  as_of_minutes_hours: setting('as_of_minutes_hours'),
  as_of_hours_days: setting('as_of_hours_days'),
}

const RETENTION_CHANGED = defineEvent({
  event_type: 'RetentionChanged',
  folded_since: 4,
  example: example.RETENTION_CHANGED,
  payload: z.object({ settings: z.object(retentionChanges), ...COMMANDED_BY }),
})

export const RETENTION_EVENTS = eventsByType(RETENTION_CHANGED)
export type RetentionEvent = EventsIn<typeof RETENTION_EVENTS>
