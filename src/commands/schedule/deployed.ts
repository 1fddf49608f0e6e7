// The schedules of a deploy: which are new, changed, renamed and gone, and all that is wrong with them. Those that were made
// by the API, or belong to other locations, are never touched.

import { canonicalBytes } from '../../core/canonical.js'
import { deployedScheduleId } from '../../core/keys.js'
import { compareText } from '../../core/order.js'
import type { Draft } from '../../events/draft.js'
import type { ScheduleDefinition } from '../../events/schedule.js'
import type { AssetGraph } from '../../readers/assets.js'
import type { Schedule } from '../../readers/schedules.js'
import { type By } from '../by.js'
import type { Fault } from '../problem.js'
import { isAsDefined, nameProblem, scheduleFaults, spelledOnce } from './definition.js'
import { definedDraft, removedDraft } from './drafts.js'

export type DeployedSchedule = ScheduleDefinition & { readonly schedule_name: string; readonly renamed_from?: string | undefined }

/** A schedule of the deploy beside the one that it is already; undefined: it is new. */
type MatchedSchedule = {
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

const isChanged = ({ before, ...asked }: MatchedSchedule): boolean => before === undefined || !isAsDefined(before.definition, asked)

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
  const names = new Set(asked.map(({ schedule_name }) => schedule_name))
  return asked.flatMap((each, index): Fault[] => {
    const { schedule_name, renamed_from } = each
    const path = `schedules[${index}]`
    const named = (message: string): Fault => ({ path: `${path}.schedule_name`, message })
    const first = firsts.get(schedule_name)
    const wrong_name = nameProblem(schedule_name)
    if (first === undefined) firsts.set(schedule_name, index)
    const holder = others.get(schedule_name)
    return [
      ...(first === undefined ? [] : [named(`${path} is ${schedule_name}, as schedules[${first}] is. Define it once.`)]),
      ...(wrong_name === undefined ? [] : [named(wrong_name)]),
      ...(holder === undefined ? [] : [named(takenSentence(schedule_name, holder))]),
      ...(renamed_from !== undefined && renamed_from !== schedule_name && names.has(renamed_from)
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
}

const takenSentence = (schedule_name: string, { definition: { schedule_id, location_name } }: Schedule): string =>
  `The name ${schedule_name} belongs to the schedule ${schedule_id}, ${location_name === null ? 'which was made by the API' : `of the code location ${location_name}`}. Choose another, or rename that one first.`

/** Removals first: their names are free for others of the same deploy. Renames give none to each other, because a name that
 *  is deployed is nobody's former one. */
export function scheduleDrafts(
  { kept, removed }: MatchedSchedules,
  about: { readonly location_name: string; readonly correlation_id: string; readonly request_id: string; readonly asked: By },
): readonly Draft[] {
  const { location_name, correlation_id } = about
  // As what the deploy itself causes.
  const caused = (draft: Draft): Draft => ({ ...draft, correlation_id, caused_by: 0 })
  return [
    ...removed.map(({ definition: { schedule_id } }) => caused(removedDraft(schedule_id, about))),
    ...kept.filter(isChanged).map(({ before, ...named }) => {
      const schedule_id = before?.definition.schedule_id ?? deployedScheduleId(about.request_id, named.schedule_name)
      const expected = before?.definition.definition_version ?? 0
      return caused(definedDraft({ schedule_id, location_name, ...named, expected }, about))
    }),
  ]
}
