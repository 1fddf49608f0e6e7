// Which schedule a command is for, and what stands in the way of every command.

import { suggestion } from '../../core/spelling.js'
import type { View } from '../../readers/reader.js'
import { findSchedule, readSchedules, type Schedule } from '../../readers/schedules.js'
import { type Problem, problem } from '../problem.js'

/** Removed ones too. */
export async function scheduleOrProblem(view: View | undefined, id_or_name: string): Promise<Schedule | Problem> {
  return (await findSchedule(view, id_or_name)) ?? noSchedule(view, id_or_name)
}

/** One that still takes commands. */
export async function livingSchedule(view: View | undefined, id_or_name: string): Promise<Schedule | Problem> {
  const found = await scheduleOrProblem(view, id_or_name)
  if ('problem' in found || found.state.status !== 'REMOVED') return found
  const { schedule_id, schedule_name } = found.definition
  return problem('conflict', `The schedule ${schedule_name} (${schedule_id}) was removed. Its history stays; create it anew to go on.`)
}

async function noSchedule(view: View | undefined, id_or_name: string): Promise<Problem> {
  const names = (await readSchedules(view))
    .filter(({ state }) => state.status !== 'REMOVED')
    .map(({ definition }) => definition.schedule_name)
  const meant = suggestion(id_or_name, names) || ' `servo schedule list` shows all.'
  return problem(
    'not-found',
    `There is no schedule ${id_or_name}.${meant} If it was made just now, ask again in a moment, or the API with fresh=true.`,
  )
}

/** What a deploy says a deploy changes: another change would be undone by the next one. */
export function ownedProblem({ definition: { schedule_name, location_name } }: Schedule, cure: string): Problem | undefined {
  if (location_name === null) return undefined
  const message = `The schedule ${schedule_name} is defined by the code location ${location_name}. ${cure}`
  return problem('conflict', message, { members: { location_name } })
}
