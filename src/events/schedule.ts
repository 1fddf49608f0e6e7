// What is said about schedules: definitions, their end, pauses and resumes, and the decisions of ticks.

import { z } from 'zod'
import { CATCHUP_TICKS_MAX, DEFINITION_BYTES_MAX } from '../core/limits.js'
import { instantMs } from '../core/time.js'
import { COMMANDED_BY, defineEvent, type EventsIn, eventsByType } from './envelope.js'
import * as example from './example-schedule.js'
import { scheduleDefinition } from './schedule-definition.js'
import { assets, count, errorValue, id, instant, longCount, type Parsed, positiveCount, selector } from './value.js'

const SCHEDULE_DEFINED = defineEvent({
  event_type: 'ScheduleDefined',
  folded_since: 3,
  example: example.SCHEDULE_DEFINED,
  payload: z.object({
    schedule_id: id('ulid'),
    schedule_name: id('name'),
    /** Of the code location that deploys it; none: it was made by the API. */
    location_name: id('name').exactOptional(),
    definition_hash: id('sha256'),
    definition: scheduleDefinition,
    ...COMMANDED_BY,
  }),
  /** 0: the schedule is new. */
  optional_basis: z.object({ expected_definition_version: longCount }),
  byte_limits: [{ member: 'definition', bytes_max: DEFINITION_BYTES_MAX }],
})

const SCHEDULE_REMOVED = defineEvent({
  event_type: 'ScheduleRemoved',
  folded_since: 3,
  example: example.SCHEDULE_REMOVED,
  payload: z.object({ schedule_id: id('ulid'), ...COMMANDED_BY }),
})

const SCHEDULE_STATUS_CHANGED = defineEvent({
  event_type: 'ScheduleStatusChanged',
  folded_since: 3,
  example: example.SCHEDULE_STATUS_CHANGED,
  payload: z.object({ schedule_id: id('ulid'), to: z.enum(['ACTIVE', 'PAUSED']), ...COMMANDED_BY }),
  optional_basis: z.object({ expected_state_version: longCount }),
})

/** A tick of whose selection nothing is left has no asset to name. */
const tickAssets = z.union([assets, z.object({ keys: z.array(id('asset_key')).max(0) })])
export type TickAssets = Parsed<typeof tickAssets>

const tick = z
  .object({
    tick_id: id('text'),
    scheduled_for: instant,
    status: z.enum(['TRIGGERED', 'FAILED']),
    partitions: selector,
    /** Requests for runs in the event's batch that name this tick. */
    run_count: count,
    /** Of the first of them. */
    run_key: id('text').exactOptional(),
    request_fingerprint: id('sha256').exactOptional(),
    error: errorValue.exactOptional(),
  })
  .refine(({ status, error }) => status !== 'FAILED' || error !== undefined, {
    path: ['error'],
    error: '{"code", "message"}: status FAILED requires it',
  })
export type Tick = Parsed<typeof tick>

const SKIP_REASONS = ['PAUSED', 'SUPERSEDED', 'CATCH_UP', 'OVERLAP', 'NO_PARTITION'] as const
export type SkipReason = (typeof SKIP_REASONS)[number]

const skipped = z
  .object({
    /** Of its last instant. */
    tick_id: id('text'),
    count: positiveCount,
    first_scheduled_for: instant,
    last_scheduled_for: instant,
    reasons: z.partialRecord(z.enum(SKIP_REASONS), positiveCount),
    /** OVERLAP: the run that had not ended. Without it they gave way to a newer tick of the same decision. */
    active_run_id: id('text').exactOptional(),
  })
  .refine(({ reasons, count: total }) => Object.values(reasons).reduce((sum, each) => sum + each, 0) === total, {
    path: ['reasons'],
    error: 'counts whose sum is count',
  })
export type Skipped = Parsed<typeof skipped>

const decision = z
  .object({
    schedule_id: id('ulid'),
    kind: z.enum(['CRON', 'MANUAL']),
    /** Excluded. Of a MANUAL one both are the instant that was asked for. */
    from: instant,
    /** Included. */
    to: instant,
    ticks: z.array(tick).max(CATCHUP_TICKS_MAX),
    skipped: skipped.exactOptional(),
    definition_hash: id('sha256'),
    definition_version: longCount,
    assets: tickAssets,
    ...COMMANDED_BY,
  })
  .superRefine((payload, context) => {
    const fault = decisionFault(payload)
    if (fault !== undefined) context.addIssue({ code: 'custom', path: [...fault.path], message: fault.rule })
  })

type Decision = {
  readonly kind: 'CRON' | 'MANUAL'
  readonly from: string
  readonly to: string
  readonly ticks: readonly Tick[]
  readonly skipped?: Skipped
}

/** What the parts of one decision must be to each other: each instant is in it once, and within what it decides. */
function decisionFault({ kind, from, to, ticks, skipped: rest }: Decision) {
  if (instantMs(from) > instantMs(to)) return { path: ['from'], rule: 'an instant that is not after to' }
  if (kind === 'MANUAL') {
    if (ticks.length !== 1 || rest !== undefined) return { path: ['ticks'], rule: 'one tick: a MANUAL one decides nothing else' }
    return undefined
  }
  const isWithin = (at: string) => instantMs(from) < instantMs(at) && instantMs(at) <= instantMs(to)
  const ids = new Set(rest === undefined ? [] : [rest.tick_id])
  for (const [index, { tick_id, scheduled_for }] of ticks.entries()) {
    if (!isWithin(scheduled_for)) return { path: ['ticks', index, 'scheduled_for'], rule: 'an instant after from and not after to' }
    if (ids.has(tick_id)) return { path: ['ticks', index, 'tick_id'], rule: 'an id that no other tick of the decision has' }
    ids.add(tick_id)
  }
  if (rest !== undefined && !(isWithin(rest.first_scheduled_for) && isWithin(rest.last_scheduled_for)))
    return { path: ['skipped'], rule: 'instants after from and not after to' }
  return undefined
}

const cronBasis = z.object({ expected_state_version: longCount, state_event_id: id('ulid').exactOptional() })

/** One decision for an interval: the instants that run, and at most one counted row for those that do not. */
const SCHEDULE_TICKED = defineEvent({
  event_type: 'ScheduleTicked',
  folded_since: 3,
  example: example.SCHEDULE_TICKED,
  payload: decision,
  /** A CRON one rests on the state, a MANUAL one on the definition alone: ticks of the clock do not make it stale. The event that made
   *  the state is named too: when the first of two decisions is refused, another event may have made the version that the second
   *  rests on. */
  basis: z.union([cronBasis, z.object({ definition_version: longCount })], {
    error: '{"expected_state_version"}, or {"definition_version"} for a MANUAL one',
  }),
})

export const SCHEDULE_EVENTS = eventsByType(SCHEDULE_DEFINED, SCHEDULE_REMOVED, SCHEDULE_STATUS_CHANGED, SCHEDULE_TICKED)
export type ScheduleEvent = EventsIn<typeof SCHEDULE_EVENTS>
