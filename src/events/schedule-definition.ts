// What a schedule is defined by.

import { z } from 'zod'
import { canonicalJson } from '../core/canonical.js'
import {
  CATCHUP_TICKS_DEFAULT,
  CATCHUP_TICKS_MAX,
  CATCHUP_WINDOW_MINUTES_DEFAULT,
  CATCHUP_WINDOW_MINUTES_MAX,
  CRON_CHARACTERS_MAX,
  CRON_LIST_MAX,
  PARTITION_OFFSET_MAX,
  PRIORITY_DEFAULT,
  SELECTORS_MAX,
  SHORT_TEXT_CHARACTERS_MAX,
} from '../core/limits.js'
import { zoneSpelling } from '../core/zone-spelling.js'
import { type Fields, storedShape } from './fields.js'
import { dimensionSelector, id, integer, type Parsed, priority, tags, text, textOf } from './value.js'

/** Which partitions a tick asks for: the last one that is complete at its instant, and which keys of other dimensions. */
const partitionMapping = z.object({
  type: z.literal('LAST_COMPLETE'),
  /** 0: the last complete one; −1: the one before it. */
  end_offset: integer(-PARTITION_OFFSET_MAX, PARTITION_OFFSET_MAX),
  dims: z.record(id('name'), dimensionSelector).exactOptional(),
})
export type PartitionMapping = Parsed<typeof partitionMapping>

const MAPPING_RULE = '{"type": "LAST_COMPLETE"}, with end_offset and dims where they are wanted'
const mappingAsked = z.strictObject(
  {
    type: z.literal('LAST_COMPLETE', { error: 'LAST_COMPLETE' }),
    end_offset: integer(-PARTITION_OFFSET_MAX, PARTITION_OFFSET_MAX)
      .default(0)
      .meta({ description: '0: the last partition that is complete at the tick; -1: the one before it.' }),
    dims: z.record(id('name'), dimensionSelector).exactOptional().meta({ description: 'Keys of other dimensions; all where left out.' }),
  },
  { error: MAPPING_RULE },
)

/** A list, or its only element. */
const oneOrMore = (what: string, count_max: number) => {
  const error = `${what}, or a list of 1 to ${count_max}`
  const one = z.string({ error }).min(1, { error }).max(SHORT_TEXT_CHARACTERS_MAX, { error })
  return z.union([one, z.array(one).min(1, { error }).max(count_max, { error })], { error }).transform((value) => [value].flat())
}

const CRON_DESCRIPTION = 'Five fields, six with seconds first, or a name such as @daily. What several of them name is one instant.'
const cronAsked = oneOrMore('a cron expression such as "0 6 * * *"', CRON_LIST_MAX)
/** For a request about crons that belong to no schedule. */
export const cronTexts = cronAsked.meta({ description: CRON_DESCRIPTION })

/** Whether cron and zone can be read is checked by those who define, and not here: one that gets in all the same has a tick that
 *  FAILED, and no event in quarantine. */
export const SCHEDULE_FIELDS = {
  cron_expressions: {
    stored: z.array(z.string().min(1).max(CRON_CHARACTERS_MAX)).min(1).max(CRON_LIST_MAX),
    asked: cronAsked,
    description: CRON_DESCRIPTION,
  },
  timezone: {
    stored: id('text'),
    description: 'A name of the IANA database, such as Europe/Berlin.',
    default: 'UTC',
    normalize: zoneSpelling,
  },
  asset_selection: {
    stored: z.array(z.string().min(1).max(SHORT_TEXT_CHARACTERS_MAX)).min(1).max(SELECTORS_MAX),
    asked: oneOrMore('a selector, such as an asset key or group:NAME', SELECTORS_MAX),
    description: 'Asset keys, +key, key+, +key+, group:NAME, tag:NAME=VALUE or *; looked up at each tick.',
  },
  partition_mapping: {
    stored: partitionMapping,
    asked: mappingAsked,
    description: 'Which partitions a tick asks for. Without it the selected assets have none.',
    is_optional: true,
  },
  catchup_window_minutes: {
    stored: integer(1, CATCHUP_WINDOW_MINUTES_MAX),
    description: 'How far back missed instants still run.',
    default: CATCHUP_WINDOW_MINUTES_DEFAULT,
  },
  max_catchup_ticks: {
    stored: integer(1, CATCHUP_TICKS_MAX),
    description: 'How many of those run, the newest first. The rest is counted.',
    default: CATCHUP_TICKS_DEFAULT,
  },
  catch_up_on_resume: {
    stored: z.boolean(),
    description: 'true: what a pause held back is caught up with, as after any gap.',
    default: false,
  },
  overlap_policy: {
    stored: z.enum(['ALLOW', 'SKIP'], { error: 'ALLOW, or SKIP' }),
    description: 'SKIP: no tick while a run of the schedule is active.',
    default: 'ALLOW',
  },
  tags: { stored: tags, is_optional: true, none: {} },
  priority: { stored: priority, is_optional: true, none: PRIORITY_DEFAULT },
  description: { stored: text, asked: textOf(SHORT_TEXT_CHARACTERS_MAX), is_optional: true },
  default_status: {
    stored: z.enum(['ACTIVE', 'PAUSED'], { error: 'ACTIVE, or PAUSED' }),
    description: 'How a new schedule begins.',
    default: 'ACTIVE',
    is_initial: true,
  },
} as const satisfies Fields

export const scheduleDefinition = z.object(storedShape(SCHEDULE_FIELDS))
export type ScheduleDefinition = Parsed<typeof scheduleDefinition>

/** Whether the two fire at the same instants by what they say; the order of expressions says nothing. */
export const hasSameTimes = (left: Times, right: Times): boolean => timesOf(left) === timesOf(right)

type Times = Pick<ScheduleDefinition, 'cron_expressions' | 'timezone'>
const timesOf = ({ cron_expressions, timezone }: Times): string => canonicalJson([[...cron_expressions].sort(), timezone])
