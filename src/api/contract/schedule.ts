// Schedules: what is defined of them, how they stand, and commands.

import { z } from 'zod'
import {
  CATCHUP_TICKS_DEFAULT,
  CATCHUP_TICKS_MAX,
  CATCHUP_WINDOW_MINUTES_DEFAULT,
  CATCHUP_WINDOW_MINUTES_MAX,
  CRON_EXPRESSIONS_MAX,
  PARTITION_OFFSET_MAX,
  PREVIEWED_FIRES_MAX,
  SELECTORS_MAX,
  SHORT_TEXT_CHARACTERS_MAX,
} from '../../core/limits.js'
import { count, dimensionSelector, errorValue, id, instant, integer, longCount, priority, tags, textOf } from '../../events/value.js'
import { outcome } from './outcome.js'
import { commanded, maybeInstant, nextCursor, numberIn, pageQuery, readQuery, waitQuery } from './page.js'

const oneOrMore = (what: string, count_max: number) => {
  const error = `${what}, or a list of 1 to ${count_max}`
  const one = z.string({ error }).min(1, { error }).max(SHORT_TEXT_CHARACTERS_MAX, { error })
  return z.union([one, z.array(one).min(1, { error }).max(count_max, { error })], { error }).transform((value) => [value].flat())
}

export const cronTexts = oneOrMore('a cron expression such as "0 6 * * *"', CRON_EXPRESSIONS_MAX).meta({
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

export const SCHEDULE_STATUSES = ['ACTIVE', 'PAUSED', 'REMOVED'] as const
export const TICK_STATUSES = ['TRIGGERED', 'SKIPPED', 'FAILED'] as const
export const TICK_KINDS = ['CRON', 'MANUAL'] as const

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

const fire = { scheduled_for: instant, local: z.string().meta({ description: 'The same instant on the clocks of its zone.' }) }

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
