// The schedules of a deploy: which are new, changed, renamed and gone, and all that is wrong with them. Those that were made
// by the API, or belong to other locations, are never touched.

import { canonicalBytes } from '../../core/canonical.js'
import { isUlid } from '../../core/ids.js'
import { definitionHash, deployedScheduleId, scheduleDefinedKey, scheduleRemovedKey } from '../../core/keys.js'
import { compareText } from '../../core/order.js'
import type { Draft } from '../../events/draft.js'
import type { ScheduleDefinition } from '../../events/schedule.js'
import type { AssetGraph } from '../../readers/assets.js'
import type { Schedule } from '../../readers/schedules.js'
import type { Fault } from '../problem.js'
import { definitionOfRow, scheduleFaults, spelledOnce } from './definition.js'
import { type By, by } from './target.js'

export type DeployedSchedule = ScheduleDefinition & { readonly schedule_name: string; readonly renamed_from?: string | undefined }

/** A schedule of the deploy beside the one that it is already; undefined: it is new. */
export type MatchedSchedule = {
  readonly schedule_name: string
  readonly definition: ScheduleDefinition
  readonly before: Schedule | undefined
}

export type MatchedSchedules = { readonly kept: readonly MatchedSchedule[]; readonly removed: readonly Schedule[] }

const definitionIn = ({ schedule_name: _name, renamed_from: _former, ...definition }: DeployedSchedule): ScheduleDefinition =>
  spelledOnce(definition)

/** By name; where the name is new to the location, by the one that it had. */
export function matchSchedules(location_name: string, asked: readonly DeployedSchedule[], current: readonly Schedule[]): MatchedSchedules {
  const own = new Map(current.filter((each) => isOf(each, location_name)).map((each) => [each.definition.schedule_name, each]))
  const names = new Set(asked.map(({ schedule_name }) => schedule_name))
  const taken = new Set<Schedule>()
  const kept = [...asked]
    .sort((left, right) => compareText(left.schedule_name, right.schedule_name))
    .map((each): MatchedSchedule => {
      const { schedule_name, renamed_from } = each
      const former = renamed_from === undefined || names.has(renamed_from) ? undefined : own.get(renamed_from)
      const found = own.get(schedule_name) ?? former
      const before = found === undefined || taken.has(found) ? undefined : found
      if (before !== undefined) taken.add(before)
      return { schedule_name, definition: definitionIn(each), before }
    })
  return { kept, removed: [...own.values()].filter((each) => !taken.has(each)) }
}

const isOf = ({ definition, state }: Schedule, location_name: string): boolean =>
  definition.location_name === location_name && state.status !== 'REMOVED'

export const isChanged = ({ schedule_name, definition, before }: MatchedSchedule): boolean =>
  before === undefined ||
  before.definition.schedule_name !== schedule_name ||
  // As it is spelled now: a version that spells more in the same definition changes nothing.
  definitionHash(definitionOfRow(before.definition)) !== definitionHash(definition) ||
  before.definition.description !== (definition.description ?? null)

export const scheduleBytes = (asked: readonly DeployedSchedule[]): number =>
  asked.reduce((sum, definition) => sum + canonicalBytes(definition), 0)

export function deployedScheduleFaults(
  location_name: string,
  asked: readonly DeployedSchedule[],
  current: readonly Schedule[],
  graph: AssetGraph,
  now: number,
): readonly Fault[] {
  const firsts = new Map<string, number>()
  const others = new Map(
    current
      .filter((each) => each.state.status !== 'REMOVED' && !isOf(each, location_name))
      .map((each) => [each.definition.schedule_name, each]),
  )
  const formers = new Set(asked.map(({ schedule_name }) => schedule_name))
  const own = asked.flatMap((each, index): Fault[] => {
    const { schedule_name, renamed_from } = each
    const path = `schedules[${index}]`
    const named = (message: string): Fault => ({ path: `${path}.schedule_name`, message })
    const first = firsts.get(schedule_name)
    if (first === undefined) firsts.set(schedule_name, index)
    const holder = others.get(schedule_name)
    return [
      ...(first === undefined ? [] : [named(`${path} is ${schedule_name}, as schedules[${first}] is. Define it once.`)]),
      ...(isUlid(schedule_name)
        ? [named(`${schedule_name} would be taken for the id of a schedule. Give it a name that says what it does.`)]
        : []),
      ...(holder === undefined ? [] : [named(takenSentence(schedule_name, holder))]),
      ...(renamed_from !== undefined && renamed_from !== schedule_name && formers.has(renamed_from)
        ? [
            {
              path: `${path}.renamed_from`,
              message: `${schedule_name} is renamed from ${renamed_from}, which is deployed as well. Leave renamed_from out, or give the other one a new name.`,
            },
          ]
        : []),
      ...scheduleFaults(graph, definitionIn(each), now).map((fault) => ({
        path: fault.path === '' ? path : `${path}.${fault.path}`,
        message: `The schedule ${schedule_name}: ${fault.message}`,
      })),
    ]
  })
  return own
}

const takenSentence = (schedule_name: string, { definition: { schedule_id, location_name } }: Schedule): string =>
  `The name ${schedule_name} belongs to the schedule ${schedule_id}, ${location_name === null ? 'which was made by the API' : `of the code location ${location_name}`}. Choose another, or rename that one first.`

/** Removals first: their names are free for others of the same deploy. Renames give none to each other, because a name that
 *  is deployed is nobody's former one. */
export function scheduleDrafts(
  { kept, removed }: MatchedSchedules,
  about: { readonly location_name: string; readonly correlation_id: string; readonly request_id: string; readonly asked: By },
): readonly Draft[] {
  const { location_name, correlation_id, request_id, asked } = about
  return [
    ...removed.map(({ definition: { schedule_id } }): Draft => {
      const idempotency_key = scheduleRemovedKey({ schedule_id }, request_id)
      return { correlation_id, caused_by: 0, event_type: 'ScheduleRemoved', idempotency_key, payload: { schedule_id, ...by(asked) } }
    }),
    ...kept.filter(isChanged).map(({ schedule_name, definition, before }): Draft => {
      const schedule_id = before?.definition.schedule_id ?? deployedScheduleId(request_id, schedule_name)
      return {
        correlation_id,
        caused_by: 0,
        event_type: 'ScheduleDefined',
        idempotency_key: scheduleDefinedKey({ schedule_id }, request_id),
        basis: { expected_definition_version: before?.definition.definition_version ?? 0 },
        payload: { schedule_id, schedule_name, location_name, definition_hash: definitionHash(definition), definition, ...by(asked) },
      }
    }),
  ]
}
