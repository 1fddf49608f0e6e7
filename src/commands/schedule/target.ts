// Which schedule a command is for.

import type { View } from '../../readers/reader.js'
import { findSchedule, type Schedule } from '../../readers/schedules.js'
import { notFound, removedProblem } from '../definitions/find.js'
import { isProblem, type Problem } from '../problem.js'
import { SCHEDULE_NOUN, scheduleEntity } from './noun.js'

/** Removed ones too. */
export const scheduleOrProblem = async (view: View | undefined, id_or_name: string): Promise<Schedule | Problem> =>
  (await findSchedule(view, id_or_name)) ?? notFound(SCHEDULE_NOUN, view, id_or_name)

/** One that still takes commands. */
export async function livingSchedule(view: View | undefined, id_or_name: string): Promise<Schedule | Problem> {
  const found = await scheduleOrProblem(view, id_or_name)
  return isProblem(found) ? found : (removedProblem(SCHEDULE_NOUN, scheduleEntity(found)) ?? found)
}
