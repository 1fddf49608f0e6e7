// What schedules do: ticks, asked for or of the clock, and what is going to be one.

import { z } from 'zod'
import { PREVIEWED_FIRES_MAX } from '../../core/limits.js'
import { cronTexts } from '../../events/schedule-definition.js'
import { count, errorValue, id, instant, longCount } from '../../events/value.js'
import { outcome } from './outcome.js'
import { commanded, maybeInstant, nextCursor, numberIn, pageQuery, readQuery } from './page.js'
import { fire, SCHEDULE_STATUSES, TICK_STATUSES } from './schedule.js'

export const TICK_KINDS = ['CRON', 'MANUAL'] as const

export const scheduleTriggerAsked = z
  .strictObject({
    partition: id('partition_key').optional().meta({ description: 'The partition to ask for, instead of the one that the mapping says.' }),
    instant: instant
      .optional()
      .meta({ description: 'As if it were this instant: the mapping looks from there. Now where it is left out.' }),
    ...commanded,
  })
  .default({})
  .meta({ id: 'ScheduleTriggerAsked' })

export const scheduleTriggered = z
  .object({
    schedule_id: z.string(),
    schedule_name: z.string(),
    tick_id: z.string(),
    scheduled_for: instant,
    accepted_event_id: z.string(),
    runs: z.array(
      z.object({
        run_id: z.string(),
        run_key: z.string(),
        partition: z.string().nullable(),
        ui: z.string().optional().meta({ description: 'Where a person can look at the run.' }),
      }),
    ),
    outcome: outcome.optional(),
  })
  .meta({ id: 'ScheduleTriggered' })

export const tickListQuery = z.strictObject({
  ...pageQuery,
  status: z.enum(TICK_STATUSES).optional(),
  kind: z.enum(TICK_KINDS).optional(),
  from: instant.optional().meta({ description: 'Scheduled at or after it.' }),
  to: instant.optional().meta({ description: 'Scheduled before it.' }),
})

const tickRun = z.object({
  run_id: z.string(),
  run_key: z.string(),
  state: z.string(),
  partitions: z.unknown(),
  requested_at: instant,
  finished_at: maybeInstant,
})

export const scheduleTick = z
  .object({
    tick_id: z.string(),
    schedule_id: z.string(),
    kind: z.enum(TICK_KINDS),
    status: z.enum(TICK_STATUSES),
    scheduled_for: instant.meta({ description: 'Of SKIPPED the last of its instants.' }),
    local: fire.local,
    first_scheduled_for: maybeInstant,
    skipped_count: count.nullable().meta({ description: 'How many instants the row counts.' }),
    skip_reasons: z.record(z.string(), count).nullable(),
    active_run_id: z
      .string()
      .nullable()
      .meta({ description: 'Of OVERLAP the run that had not ended; of several the one that began first.' }),
    definition_version: longCount,
    definition_hash: z.string(),
    assets: z.unknown(),
    partitions: z.unknown(),
    run_count: count,
    runs: z.array(tickRun).meta({ description: 'The runs that it asked for, as they stand now.' }),
    conflict_count: count.meta({ description: 'Requests whose run key belongs to another request: GET /run-key-conflicts has them.' }),
    error: errorValue.nullable(),
    requested_by: z.string().nullable(),
    decided_at: instant,
    delay_ms: z.int().nullable().meta({ description: 'From the instant to its decision. null: it was skipped, or asked for.' }),
    row_version: longCount,
  })
  .meta({ id: 'ScheduleTick' })
export const tickPage = z.object({ ticks: z.array(scheduleTick), next_cursor: nextCursor }).meta({ id: 'ScheduleTickPage' })

const FIRES_DEFAULT = 5
const fires = {
  from: instant.optional().meta({ description: 'From when on, itself included; now where it is left out.' }),
  count: numberIn(1, PREVIEWED_FIRES_MAX).default(FIRES_DEFAULT),
}
export const previewQuery = z.strictObject({ ...readQuery, ...fires })
export const cronPreviewQuery = z.strictObject({ cron: cronTexts, timezone: id('text').default('UTC'), ...fires })
export const firesAnswer = z
  .object({
    timezone: z.string(),
    fires: z.array(z.object(fire)),
    status: z.enum(SCHEDULE_STATUSES).nullable().meta({ description: 'Only an ACTIVE schedule fires. null: a cron was asked about.' }),
    warnings: z.array(z.string()).meta({ description: 'Cron expressions that mean something else than they seem to.' }),
  })
  .meta({ id: 'ScheduleFires' })

export const dryRunQuery = z.strictObject({
  ...readQuery,
  at: instant.optional().meta({ description: 'The instant that is asked about; now where it is left out.' }),
})
export const dryRunAnswer = z
  .object({
    schedule_id: z.string(),
    schedule_name: z.string(),
    status: z.enum(SCHEDULE_STATUSES),
    timezone: z.string(),
    at: instant,
    ticks: z.array(
      z.object({
        ...fire,
        status: z.enum(['TRIGGERED', 'FAILED']),
        asset_keys: z.array(z.string()),
        partitions: z.unknown(),
        run_keys: z.array(z.string()).meta({ description: 'One run each.' }),
        error: z.object({ code: z.string(), message: z.string() }).nullable(),
      }),
    ),
    skipped: z.array(
      z.object({
        skipped_count: count,
        first_scheduled_for: instant,
        last_scheduled_for: instant,
        skip_reasons: z.record(z.string(), count),
        active_run_id: z.string().nullable().meta({ description: 'The run that stands in the way, with overlap_policy SKIP.' }),
      }),
    ),
    held_count: count.meta({
      description: 'Instants that a pause holds back until then: a resume counts them as skipped, or catches up with them.',
    }),
    next_fire: z.object(fire).nullable(),
  })
  .meta({ id: 'ScheduleDryRun' })
