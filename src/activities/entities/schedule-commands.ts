// The commands of the loop of a schedule: pause and resume, as of every noun, and a tick that a person asks for.

import { isProblem } from '../../commands/problem.js'
import { SCHEDULE_NOUN } from '../../commands/schedule/noun.js'
import { planScheduleTrigger, type TriggerPlanned } from '../../commands/schedule/trigger.js'
import { INSTANT_RULE, isInstant } from '../../core/instant-text.js'
import { manualTickId } from '../../core/keys.js'
import { instantMs } from '../../core/time.js'
import type { ScheduleTickRow } from '../../projections/schedule-table.js'
import type { View } from '../../readers/reader.js'
import { readRunsOfTicks, SCHEDULE_READS } from '../../readers/schedules.js'
import type { Outcome } from '../../readers/wait.js'
import type { CommandAnswer, ScheduleCommand, TriggerCommand } from '../../workflows/contract.js'
import { answerStatus, appendCommand, appendStatus, requesterOf, submitFirst } from './commands.js'
import type { AppendDeps, Appended } from './kind.js'

export const appendToSchedule = (
  deps: AppendDeps,
  view: View | undefined,
  schedule_id: string,
  command: ScheduleCommand,
): Promise<Appended> =>
  appendCommand(command, () =>
    command.kind === 'trigger' ? appendTrigger(deps, view, schedule_id, command) : appendStatus(SCHEDULE_NOUN, deps, schedule_id, command),
  )

/** The tick and its runs in one batch, as they are planned on this view. */
async function appendTrigger(
  { submit, ...deps }: AppendDeps,
  view: View | undefined,
  schedule_id: string,
  command: TriggerCommand,
): Promise<Appended> {
  const { request_id, partition, instant } = command
  if (instant !== undefined && !isInstant(instant)) return { problem: `instant is ${JSON.stringify(instant)}. Give it ${INSTANT_RULE}.` }
  const tick_id = manualTickId(schedule_id, request_id)
  const known = await view?.row('schedule_ticks', [schedule_id, tick_id])
  const request = { partition, instant, ...requesterOf(command) }
  const found = await SCHEDULE_READS.find(view, schedule_id)
  const planned = isProblem(found) ? found : await planScheduleTrigger(deps, found, request, { request_id, now: submit.appender.now() })
  if (known !== undefined)
    return isProblem(planned) || isSameTick(planned, request, known) ? { pending: undefined } : usedBefore(request_id)
  return isProblem(planned) ? { problem: planned.detail } : submitFirst(submit, planned.drafts)
}

type Named = { readonly partition: string | undefined; readonly instant: string | undefined }

/** Only what is named can be told apart: what it comes to otherwise moves with time and with the definition. */
function isSameTick({ runs, scheduled_for }: TriggerPlanned, { partition, instant }: Named, known: ScheduleTickRow): boolean {
  if (instant !== undefined && instantMs(scheduled_for) !== known.scheduled_for) return false
  const { partitions } = known
  return partition === undefined || (partitions !== null && 'keys' in partitions && partitions.keys[0] === runs[0]?.partition)
}

const usedBefore = (request_id: string): Appended => ({
  problem: `The request_id "${request_id}" was used before, for another partition or instant. Say what was said then, or choose another one.`,
})

export const answerSchedule = async (
  view: View,
  schedule_id: string,
  command: ScheduleCommand,
  outcome: Outcome | undefined,
): Promise<CommandAnswer> =>
  command.kind === 'trigger' ? answerTrigger(view, schedule_id, command) : answerStatus(SCHEDULE_NOUN, command, outcome)

/** Its tick and the runs, or why there is none. */
async function answerTrigger(view: View, schedule_id: string, { request_id }: TriggerCommand): Promise<CommandAnswer> {
  const tick_id = manualTickId(schedule_id, request_id)
  const tick = await view.row('schedule_ticks', [schedule_id, tick_id])
  if (tick === undefined) return { problem: 'The schedule changed in the same moment. Trigger it again, with another request_id.' }
  const runs = (await readRunsOfTicks(view, [tick])).get(tick_id) ?? []
  return { tick_id, run_ids: runs.map(({ run_id }) => run_id) }
}
