// Schedules: what is defined of them, how they stand, and commands.

import { z } from 'zod'
import { SCHEDULE_FIELDS } from '../../events/schedule-definition.js'
import { count, id, instant, longCount, tags } from '../../events/value.js'
import { type DefinitionAccepted, definitionBodies } from './definition.js'
import { maybeInstant, nextCursor, pageQuery, readQuery, waitQuery } from './page.js'

export const SCHEDULE_BODIES = definitionBodies({
  label: 'Schedule',
  word: 'schedule',
  id_member: 'schedule_id',
  name_member: 'schedule_name',
  fields: SCHEDULE_FIELDS,
})

export const SCHEDULE_STATUSES = ['ACTIVE', 'PAUSED', 'REMOVED'] as const
export const TICK_STATUSES = ['TRIGGERED', 'SKIPPED', 'FAILED'] as const

export const scheduleParams = z.object({ schedule: SCHEDULE_BODIES.params.shape['schedule'] as z.ZodString })
export const scheduleReadQuery = z.strictObject(readQuery)
export const scheduleQuery = z.strictObject(waitQuery)
export const scheduleListQuery = z.strictObject({
  ...pageQuery,
  status: z.enum(SCHEDULE_STATUSES).optional().meta({ description: 'Without it, those that are not removed.' }),
  name_prefix: z.string().optional(),
  location_name: id('name').optional().meta({ description: 'Of this code location.' }),
  asset: id('asset_key').optional().meta({ description: 'Those that select this asset now.' }),
})

export const fire = { scheduled_for: instant, local: z.string().meta({ description: 'The same instant on the clocks of its zone.' }) }

export const schedule = z
  .object({
    schedule_id: z.string(),
    schedule_name: z.string(),
    location_name: z.string().nullable().meta({ description: 'The code location that deploys it; null: it was made here.' }),
    status: z.enum(SCHEDULE_STATUSES),
    state_version: longCount,
    definition_version: longCount,
    definition_hash: z.string(),
    cron_expressions: z.array(z.string()),
    timezone: z.string(),
    asset_selection: z.array(z.string()),
    partition_mapping: z.unknown(),
    catchup_window_minutes: count,
    max_catchup_ticks: count,
    catch_up_on_resume: z.boolean(),
    overlap_policy: z.string(),
    tags,
    priority: z.int(),
    description: z.string().nullable(),
    default_status: z.string(),
    created_at: instant,
    updated_at: instant,
    cron_changed_at: instant,
    removed_at: maybeInstant,
    enabled_at: instant,
    paused_at: maybeInstant,
    status_changed_by: z.string().nullable(),
    status_reason: z.string().nullable().meta({ description: 'Why it was paused or resumed last, as whoever did it said.' }),
    last_scheduled_for: maybeInstant,
    last_tick_id: z.string().nullable(),
    last_tick_status: z.enum(TICK_STATUSES).nullable(),
    last_run_key: z.string().nullable(),
    last_decided_at: maybeInstant,
    last_delay_ms: z.int().nullable().meta({ description: 'From the instant to its decision. null: the last tick was skipped.' }),
    consecutive_failures: count,
    next_fire: z.object(fire).nullable().meta({ description: 'null: it is paused or removed, or has no instants left.' }),
    row_version: longCount,
  })
  .meta({ id: 'Schedule' })
export const schedulePage = z.object({ schedules: z.array(schedule), next_cursor: nextCursor }).meta({ id: 'SchedulePage' })

export type ScheduleAccepted = DefinitionAccepted<'schedule_id', 'schedule_name'>
