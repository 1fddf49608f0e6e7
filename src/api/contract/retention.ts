// How long a workspace keeps what: the settings, changes of them, and what a change would do.

import { z } from 'zod'
import { RETENTION_SETTINGS, retentionChanges, retentionRule } from '../../events/retention.js'
import { count, instant, longCount } from '../../events/value.js'
import { outcome } from './outcome.js'
import { commanded, maybeInstant, readQuery, waitQuery } from './page.js'

const settingName = z.enum(RETENTION_SETTINGS as [(typeof RETENTION_SETTINGS)[number]])

export const retentionQuery = z.strictObject(readQuery)
export const retention = z
  .object({
    settings: z.array(
      z.object({
        setting: settingName,
        value: count,
        default_value: count.meta({ description: 'What holds where nobody sets another.' }),
        minimum: count,
        maximum: count,
        changed_at: maybeInstant.meta({ description: 'null: nobody set it.' }),
        changed_by: z.string().nullable(),
        reason: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Retention' })

export const retentionPatch = z.strictObject({ ...retentionChanges, ...commanded }).meta({ id: 'RetentionPatch' })
export const retentionPatchQuery = z.strictObject(waitQuery)
export const retentionAccepted = z
  .object({
    settings: z.partialRecord(settingName, count).meta({ description: 'What was asked for.' }),
    accepted_event_id: z.string(),
    outcome: outcome.optional(),
  })
  .meta({ id: 'RetentionAccepted' })

/** In a query everything is text. */
const asked = (setting: (typeof RETENTION_SETTINGS)[number]) =>
  z.coerce
    .number({ error: retentionRule(setting) })
    .pipe(retentionChanges[setting].unwrap())
    .optional()
export const retentionDryRunQuery = z.strictObject({
  ...readQuery,
  idempotency_hours: asked('idempotency_hours'),
  refusals_days: asked('refusals_days'),
  outbox_days: asked('outbox_days'),
  cold_after_days: asked('cold_after_days'),
  skipped_ticks_days: asked('skipped_ticks_days'),
  no_data_days: asked('no_data_days'),
  as_of_minutes_hours: asked('as_of_minutes_hours'),
  as_of_hours_days: asked('as_of_hours_days'),
})

const reach = z.object({
  revisions: count.meta({ description: 'Of those that were replaced more than an hour ago, how many can be opened.' }),
  oldest_at: maybeInstant.meta({ description: 'Nothing from before it can be asked for. null: nothing older than an hour can.' }),
})

export const retentionEffect = z
  .object({
    sequence: longCount.meta({ description: 'The revision that was counted.' }),
    counted_at: instant.meta({ description: 'As if the change were folded at this instant.' }),
    changes: z.array(z.object({ setting: settingName, from: count, to: count })),
    expiring: z
      .array(
        z.object({
          table: z.string(),
          setting: settingName,
          column: z.string(),
          expired_before: instant.meta({ description: 'Rows whose `column` is earlier have expired, as it is.' }),
          would_expire_before: instant.meta({ description: 'The same, once the change is folded.' }),
          rows: longCount.meta({ description: 'That expire by the change, at once; merges drop them.' }),
          files: count.nullable().meta({
            description: 'Of the base, that hold nothing else, and go with the next merge. null: other rows are in the same files.',
          }),
          bytes: longCount.nullable(),
        }),
      )
      .meta({ description: 'Rows that expire by a setting that would change.' }),
    moving: z
      .array(z.object({ table: z.string(), column: z.string(), before: instant, rows: longCount }))
      .meta({ description: 'Rows that would go cold at once, where cold_after_days would change.' }),
    as_of: z
      .object({ now: reach, then: reach })
      .nullable()
      .meta({ description: 'How far back `as_of` reaches. null: it would not change.' }),
    warnings: z.array(z.string()).meta({ description: 'What cannot be undone, and what does not happen at once.' }),
  })
  .meta({ id: 'RetentionEffect' })
