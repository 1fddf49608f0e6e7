// Schedules: what is defined of them, how they stand, and commands.

import { z } from 'zod'
import {
  CATCHUP_TICKS_DEFAULT,
  CATCHUP_TICKS_MAX,
  CATCHUP_WINDOW_MINUTES_DEFAULT,
  CATCHUP_WINDOW_MINUTES_MAX,
  CRON_LIST_MAX,
  PARTITION_OFFSET_MAX,
  SELECTORS_MAX,
  SHORT_TEXT_CHARACTERS_MAX,
} from '../../core/limits.js'
import { count, dimensionSelector, id, instant, integer, longCount, priority, tags, textOf } from '../../events/value.js'
import { outcome } from './outcome.js'
import { commanded, maybeInstant, nextCursor, pageQuery, readQuery, waitQuery } from './page.js'

const oneOrMore = (what: string, count_max: number) => {
  const error = `${what}, or a list of 1 to ${count_max}`
  const one = z.string({ error }).min(1, { error }).max(SHORT_TEXT_CHARACTERS_MAX, { error })
  return z.union([one, z.array(one).min(1, { error }).max(count_max, { error })], { error }).transform((value) => [value].flat())
}

export const cronTexts = oneOrMore('a cron expression such as "0 6 * * *"', CRON_LIST_MAX).meta({
  description: 'Five fields, six with seconds first, or a name such as @daily. What several of them name is one instant.',
})

const MAPPING_RULE = '{"type": "LAST_COMPLETE"}, with end_offset and dims where they are wanted'
const mapping = z
  .strictObject(
    {
      type: z.literal('LAST_COMPLETE', { error: 'LAST_COMPLETE' }),
      end_offset: integer(-PARTITION_OFFSET_MAX, PARTITION_OFFSET_MAX)
        .default(0)
        .meta({ description: '0: the last partition that is complete at the tick; -1: the one before it.' }),
      dims: z.record(id('name'), dimensionSelector).exactOptional().meta({ description: 'Keys of other dimensions; all where left out.' }),
    },
    { error: MAPPING_RULE },
  )
  .meta({ description: 'Which partitions a tick asks for. Without it the selected assets have none.' })

const members = {
  cron_expressions: cronTexts,
  timezone: id('text').meta({ description: 'A name of the IANA database, such as Europe/Berlin.' }),
  asset_selection: oneOrMore('a selector, such as an asset key or group:NAME', SELECTORS_MAX).meta({
    description: 'Asset keys, +key, key+, +key+, group:NAME, tag:NAME=VALUE or *; looked up at each tick.',
  }),
  catchup_window_minutes: integer(1, CATCHUP_WINDOW_MINUTES_MAX).meta({ description: 'How far back missed instants still run.' }),
  max_catchup_ticks: integer(1, CATCHUP_TICKS_MAX).meta({ description: 'How many of those run, the newest first. The rest is counted.' }),
  catch_up_on_resume: z.boolean().meta({ description: 'true: what a pause held back is caught up with, as after any gap.' }),
  overlap_policy: z
    .enum(['ALLOW', 'SKIP'], { error: 'ALLOW, or SKIP' })
    .meta({ description: 'SKIP: no tick while a run of the schedule is active.' }),
  default_status: z.enum(['ACTIVE', 'PAUSED'], { error: 'ACTIVE, or PAUSED' }).meta({ description: 'How a new schedule begins.' }),
}
const description = textOf(SHORT_TEXT_CHARACTERS_MAX)

const whole = {
  cron_expressions: members.cron_expressions,
  timezone: members.timezone.default('UTC'),
  asset_selection: members.asset_selection,
  partition_mapping: mapping.exactOptional(),
  catchup_window_minutes: members.catchup_window_minutes.default(CATCHUP_WINDOW_MINUTES_DEFAULT),
  max_catchup_ticks: members.max_catchup_ticks.default(CATCHUP_TICKS_DEFAULT),
  catch_up_on_resume: members.catch_up_on_resume.default(false),
  overlap_policy: members.overlap_policy.default('ALLOW'),
  tags: tags.exactOptional(),
  priority: priority.exactOptional(),
  description: description.exactOptional(),
  default_status: members.default_status.default('ACTIVE'),
}

const scheduleName = id('name').meta({ description: 'Unique in the workspace. It may be changed; the id never is.' })
const expected = {
  expected_definition_version: longCount
    .optional()
    .meta({ description: 'The version that the change was made for: 409 where it is another by now.' }),
}

/** As a deploy has it: with its location, and renamed by what it was called before. */
export const scheduleDeployed = z
  .strictObject({
    schedule_name: scheduleName,
    renamed_from: id('name').optional().meta({ description: 'The name that it had: it stays the same schedule, with its history.' }),
    ...whole,
  })
  .meta({ id: 'ScheduleDeployed' })

export const scheduleAsked = z.strictObject({ schedule_name: scheduleName, ...whole, ...commanded }).meta({ id: 'ScheduleAsked' })

export const schedulePut = z
  .strictObject({ schedule_name: scheduleName.optional(), ...whole, ...expected, ...commanded })
  .meta({ id: 'SchedulePut', description: 'The whole definition: what is left out gets its default. The name stays where it is left out.' })

export const schedulePatch = z
  .strictObject({
    schedule_name: scheduleName.optional(),
    cron_expressions: members.cron_expressions.optional(),
    timezone: members.timezone.optional(),
    asset_selection: members.asset_selection.optional(),
    partition_mapping: mapping.nullable().optional(),
    catchup_window_minutes: members.catchup_window_minutes.optional(),
    max_catchup_ticks: members.max_catchup_ticks.optional(),
    catch_up_on_resume: members.catch_up_on_resume.optional(),
    overlap_policy: members.overlap_policy.optional(),
    tags: tags.nullable().optional(),
    priority: priority.nullable().optional(),
    description: description.nullable().optional(),
    ...expected,
    ...commanded,
  })
  .meta({ id: 'SchedulePatch', description: 'What is left out stays; null takes partition_mapping, tags, priority or description away.' })

export const scheduleRemoved = z.strictObject(commanded).default({}).meta({ id: 'ScheduleRemoved' })

export const scheduleStatusAsked = z
  .strictObject({
    expected_state_version: longCount.optional().meta({ description: '409 where the schedule has moved on since.' }),
    ...commanded,
  })
  .default({})
  .meta({ id: 'ScheduleStatusAsked' })

export const SCHEDULE_STATUSES = ['ACTIVE', 'PAUSED', 'REMOVED'] as const
export const TICK_STATUSES = ['TRIGGERED', 'SKIPPED', 'FAILED'] as const

export const scheduleParams = z.object({
  schedule: id('name').meta({ description: 'The id of the schedule, or its name. An id wins over a name that looks like it.' }),
})
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

export const scheduleAccepted = z
  .object({
    schedule_id: z.string(),
    schedule_name: z.string(),
    accepted_event_id: z.string().nullable().meta({ description: 'null: nothing changes, and nothing was appended.' }),
    warnings: z
      .array(z.string())
      .optional()
      .meta({ description: 'Cron expressions that mean something else than they seem to. They are taken all the same.' }),
    outcome: outcome.optional(),
  })
  .meta({ id: 'ScheduleAccepted' })
