// A schedule: when runs of which assets are asked for. A wrong one is refused when it is made, with everything that is
// wrong about it; what it selects is checked against all assets when it is deployed.

import { canonicalJson } from '../core/canonical.js'
import { readCrons } from '../core/cron/schedule-ticks.js'
import {
  CATCHUP_TICKS_MAX,
  CATCHUP_WINDOW_MINUTES_MAX,
  CRON_LIST_MAX,
  PARTITION_OFFSET_MAX,
  PRIORITY_MAX,
  PRIORITY_MIN,
  SELECTORS_MAX,
} from '../core/limits.js'
import { zoneProblem } from '../core/zone-name.js'
import { type Asset, isAsset } from './dependency.js'
import { DefinitionError, shown, wrong } from './fault.js'
import { type Check, type Faults, idOf, isObject, memberFaults, type Shape, shaped, tags, text, wholeFrom } from './member.js'
import type { LastComplete, ScheduleDefinition, SchedulePolicy } from './schedule-definition.js'

/** By name, as for assets. */
const SCHEDULE: unique symbol = Symbol.for('servo.schedule')

export type ScheduleOptions = SchedulePolicy & {
  readonly name: string
  /** Five fields, or six with seconds first; of a list each instant is one tick. */
  readonly cron: string | readonly string[]
  /** UTC where it is left out. */
  readonly timezone?: string
  /** Assets, or selectors: `a`, `+a`, `a+`, `group:x`, `tag:k=v`, `*`. */
  readonly assets: string | Asset | readonly (string | Asset)[]
  /** `lastComplete()`, where the assets have partitions. */
  readonly partitions?: LastComplete
  /** The name that it had: it stays the same schedule, with its history. It may stay here for ever. */
  readonly renamed_from?: string
}

export type Schedule = { readonly [SCHEDULE]: true; readonly name: string; readonly definition: ScheduleDefinition }

export const isSchedule = (value: unknown): value is Schedule => typeof value === 'object' && value !== null && SCHEDULE in value

/** The last partition that is complete at the tick; `end_offset: -1` is the one before it. */
export const lastComplete = (options: { readonly end_offset?: number; readonly dims?: LastComplete['dims'] } = {}): LastComplete =>
  Object.freeze({
    type: 'LAST_COMPLETE',
    end_offset: options.end_offset ?? 0,
    ...(options.dims === undefined ? {} : { dims: options.dims }),
  })

const oneOf =
  (...values: readonly string[]): Check =>
  (value, field) =>
    values.includes(value as string) ? [] : [wrong(field, value, values.map((each) => `"${each}"`).join(' or '))]

const yesOrNo: Check = (value, field) => (typeof value === 'boolean' ? [] : [wrong(field, value, 'true or false')])

const cron: Check = (value, field) => {
  const expressions = listed(value)
  if (expressions.length === 0 || expressions.length > CRON_LIST_MAX || !expressions.every((each) => typeof each === 'string')) {
    return [wrong(field, value, `a cron expression such as "0 6 * * *", or a list of 1 to ${CRON_LIST_MAX}`)]
  }
  const read = readCrons(expressions as readonly string[])
  return 'problem' in read ? [read.problem] : []
}

const timezone: Check = (value, field) => {
  if (typeof value !== 'string') return [wrong(field, value, 'a name of the IANA time zone database, such as "Europe/Berlin"')]
  const problem = zoneProblem(value)
  return problem === null ? [] : [problem]
}

const ASSETS_RULE = `an asset, a selector such as "group:core", or a list of 1 to ${SELECTORS_MAX}`
const assets: Check = (value, field) => {
  const selected = listed(value)
  if (selected.length === 0 || selected.length > SELECTORS_MAX) return [wrong(field, value, ASSETS_RULE)]
  return selected.flatMap((each, i) =>
    isAsset(each) || (typeof each === 'string' && each !== '') ? [] : [wrong(`${field}[${i}]`, each, ASSETS_RULE)],
  )
}

const MAPPING: Shape = {
  required: { type: oneOf('LAST_COMPLETE'), end_offset: wholeFrom(-PARTITION_OFFSET_MAX, PARTITION_OFFSET_MAX) },
  optional: { dims: (value, field) => (isObject(value) ? [] : [wrong(field, value, 'an object such as {"region": {"keys": ["eu"]}}')]) },
}

const POLICY: Readonly<Record<keyof SchedulePolicy, Check>> = {
  catchup_window_minutes: wholeFrom(1, CATCHUP_WINDOW_MINUTES_MAX),
  max_catchup_ticks: wholeFrom(1, CATCHUP_TICKS_MAX),
  catch_up_on_resume: yesOrNo,
  overlap_policy: oneOf('ALLOW', 'SKIP'),
  tags,
  priority: wholeFrom(PRIORITY_MIN, PRIORITY_MAX),
  description: text,
  default_status: oneOf('ACTIVE', 'PAUSED'),
}

const SHAPE: Shape = {
  required: { name: idOf('name'), cron, assets },
  optional: { ...POLICY, timezone, partitions: shaped(MAPPING, 'what lastComplete(…) returns'), renamed_from: idOf('name') },
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** `schedule({ name: 'nightly', cron: '30 2 * * *', timezone: 'Europe/Berlin', assets: dailySummary, partitions: lastComplete() })` */
export function schedule(options: ScheduleOptions): Schedule {
  const faults: Faults = isObject(options) ? memberFaults(options, SHAPE) : [`Its options are ${shown(options)}. Give it an object.`]
  if (faults.length > 0) throw new DefinitionError(nameOf(options), faults)
  const { name, cron: expressions, assets: selected, partitions, timezone: zone, renamed_from } = options
  const policy = Object.fromEntries((Object.keys(POLICY) as (keyof SchedulePolicy)[]).map((member) => [member, options[member]]))
  const written = {
    ...policy,
    schedule_name: name,
    renamed_from,
    cron_expressions: listed(expressions),
    timezone: zone,
    asset_selection: listed(selected).map((each) => (isAsset(each) ? each.key : each)),
    partition_mapping: partitions,
  }
  // A copy by way of its text: nothing that the user changes later gets in, and no member that is undefined.
  const definition = JSON.parse(canonicalJson(written)) as ScheduleDefinition
  return Object.freeze({ [SCHEDULE]: true as const, name, definition: Object.freeze(definition) })
}

const nameOf = (options: unknown): string =>
  isObject(options) && typeof options.name === 'string' ? `schedule ${shown(options.name)}` : 'schedule(…)'
