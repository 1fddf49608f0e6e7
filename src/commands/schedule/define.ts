// Makes, changes, renames and removes schedules that no code location defines. Pure but for what it looks up.

import type { Draft } from '../../events/draft.js'
import type { ScheduleDefinition } from '../../events/schedule.js'
import { readAssetGraph } from '../../readers/assets.js'
import type { View } from '../../readers/reader.js'
import { type Schedule, scheduleIdOf } from '../../readers/schedules.js'
import { type By } from '../by.js'
import { isProblem, type Problem, problem } from '../problem.js'
import { definitionOfRow, isAsDefined, nameProblem, scheduleFaults, scheduleWarnings, spelledOnce } from './definition.js'
import { definedDraft, removedDraft } from './drafts.js'
import { livingSchedule, ownedProblem } from './target.js'

type SchedulePlanned = {
  readonly schedule_id: string
  readonly schedule_name: string
  /** Empty: nothing changes. */
  readonly drafts: readonly Draft[]
  readonly warnings: readonly string[]
}

type ScheduleAsked = By & { readonly schedule_name: string; readonly definition: ScheduleDefinition }

type Requested = { readonly request_id: string; readonly now: number }

/** The request that makes a schedule gives it its id. */
export async function planScheduleCreate(
  view: View | undefined,
  asked: ScheduleAsked,
  { request_id, now }: Requested,
): Promise<SchedulePlanned | Problem> {
  const { schedule_name } = asked
  const definition = spelledOnce(asked.definition)
  const fault = await definitionProblem(view, { schedule_name, definition }, now)
  if (fault !== undefined) return fault
  const drafts = [definedDraft({ schedule_id: request_id, schedule_name, definition, expected: 0 }, { request_id, asked })]
  return { schedule_id: request_id, schedule_name, drafts, warnings: scheduleWarnings(definition) }
}

export type ScheduleChange = By & {
  readonly schedule_name?: string | undefined
  readonly expected_definition_version?: number | undefined
  /** What becomes of the definition that is there. */
  readonly change: (before: ScheduleDefinition) => ScheduleDefinition
}

export async function planScheduleChange(
  view: View | undefined,
  id_or_name: string,
  asked: ScheduleChange,
  { request_id, now }: Requested,
): Promise<SchedulePlanned | Problem> {
  const found = await livingSchedule(view, id_or_name)
  if (isProblem(found)) return found
  const owned = ownedProblem(found, 'Change it there and deploy. Here it can be paused, resumed and triggered.')
  if (owned !== undefined) return owned
  const stale = staleDefinition(found, asked.expected_definition_version)
  if (stale !== undefined) return stale
  const { schedule_id, definition_version } = found.definition
  const schedule_name = asked.schedule_name ?? found.definition.schedule_name
  const definition = spelledOnce(asked.change(definitionOfRow(found.definition)))
  const fault = await definitionProblem(view, { schedule_id, schedule_name, definition }, now)
  if (fault !== undefined) return fault
  const named = { schedule_id, schedule_name, definition }
  // What is left out of a change stays as it was read, so the change rests on it whether or not its sender said a version.
  const drafts = isAsDefined(found.definition, named)
    ? []
    : [definedDraft({ ...named, expected: definition_version }, { request_id, asked })]
  return { schedule_id, schedule_name, drafts, warnings: scheduleWarnings(definition) }
}

function staleDefinition({ definition }: Schedule, expected: number | undefined): Problem | undefined {
  const { schedule_name, definition_version } = definition
  if (expected === undefined || expected === definition_version) return undefined
  return problem(
    'conflict',
    `The schedule ${schedule_name} is at definition version ${definition_version}, and this change was made for version ${expected}. Read it again, and make the change anew.`,
    { members: { definition_version } },
  )
}

type Named = { readonly schedule_id?: string; readonly schedule_name: string; readonly definition: ScheduleDefinition }

async function definitionProblem(view: View | undefined, named: Named, now: number): Promise<Problem | undefined> {
  if (view === undefined) return problem('bad-input', 'No asset is defined yet. Deploy a code location first.')
  const { schedule_id, schedule_name, definition } = named
  const faults = [...nameFaults(schedule_name), ...scheduleFaults(await readAssetGraph(view), definition, now)]
  if (faults.length > 0) return problem('bad-input', faults.map(({ message }) => message).join(' '), { faults })
  const holder = await scheduleIdOf(view, schedule_name)
  if (holder === undefined || holder === schedule_id) return undefined
  const message = `The name ${schedule_name} belongs to the schedule ${holder}. Choose another, or change that one.`
  return problem('conflict', message, { members: { schedule_id: holder } })
}

function nameFaults(schedule_name: string) {
  const message = nameProblem(schedule_name)
  return message === undefined ? [] : [{ path: 'schedule_name', message }]
}

export async function planScheduleRemove(
  view: View | undefined,
  id_or_name: string,
  asked: By,
  request_id: string,
): Promise<SchedulePlanned | Problem> {
  const found = await livingSchedule(view, id_or_name)
  if (isProblem(found)) return found
  const owned = ownedProblem(found, 'Take it out there and deploy: another deploy would bring it back. Until then it can be paused.')
  if (owned !== undefined) return owned
  const { schedule_id, schedule_name } = found.definition
  return { schedule_id, schedule_name, drafts: [removedDraft(schedule_id, { request_id, asked })], warnings: [] }
}
