// Appends what people send to the loop of a schedule, as the API does: the same events under keys of their request, so that a
// command that is sent twice takes effect once. What cannot be appended is answered as a sentence, and is not tried again.

import { isProblem, type Problem } from '../../commands/problem.js'
import { scheduleStatusDraft } from '../../commands/schedule/noun.js'
import { planScheduleTrigger, type TriggerPlanned } from '../../commands/schedule/trigger.js'
import { refusedBatch, type Submit, submitDrafts } from '../../commands/submit.js'
import { ID_RULES, idFault } from '../../core/ids.js'
import { INSTANT_RULE, isInstant } from '../../core/instant-text.js'
import { manualTickId } from '../../core/keys.js'
import { REASON_CHARACTERS_MAX } from '../../core/limits.js'
import { cutText } from '../../core/text.js'
import { instantMs } from '../../core/time.js'
import type { Draft } from '../../events/draft.js'
import type { ScheduleTickRow } from '../../projections/schedule-table.js'
import type { View } from '../../readers/reader.js'
import { readRunsOfTicks, SCHEDULE_READS } from '../../readers/schedules.js'
import type { Outcome } from '../../readers/wait.js'
import type { CommandAnswer, ScheduleCommand, StatusCommand, TriggerCommand } from '../../workflows/contract.js'
import type { AppendDeps, Appended } from './kind.js'

/** The requester of a command without a name. */
const REQUESTED_BY_TEMPORAL = 'temporal'

export async function appendToSchedule(
  deps: AppendDeps,
  view: View | undefined,
  schedule_id: string,
  command: ScheduleCommand,
): Promise<Appended> {
  const problem = idFault('request_key', command.request_id, 'request_id')
  if (problem !== undefined) return { problem }
  try {
    return command.kind === 'trigger'
      ? await appendTrigger(deps, view, schedule_id, command)
      : await submitFirst(deps.submit, [statusDraft(schedule_id, command)])
  } catch (error) {
    const refused: Problem | undefined = refusedBatch(error)
    if (refused === undefined) throw error
    return { problem: refused.detail }
  }
}

/** The tick and its runs in one batch, as they are planned on this view. */
async function appendTrigger(
  { submit, ...deps }: AppendDeps,
  view: View | undefined,
  schedule_id: string,
  { request_id, partition, instant, requested_by, reason }: TriggerCommand,
): Promise<Appended> {
  if (instant !== undefined && !isInstant(instant)) return { problem: `instant is ${JSON.stringify(instant)}. Give it ${INSTANT_RULE}.` }
  const tick_id = manualTickId(schedule_id, request_id)
  const known = await view?.row('schedule_ticks', [schedule_id, tick_id])
  const request = { partition, instant, requested_by: nameOf(requested_by), reason: reasonOf(reason) }
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

/** The outcome of the first is that of all: the others are caused by it. */
async function submitFirst(submit: Submit, drafts: readonly Draft[]): Promise<Appended> {
  const { events, segment_name } = await submitDrafts(submit, drafts, 'servo/loop')
  const [event] = events
  return { pending: { idempotency_key: event?.idempotency_key ?? '', event_id: event?.event_id ?? '', segment_name } }
}

const nameOf = (requested_by: string | undefined): string =>
  requested_by !== undefined && ID_RULES.text.test(requested_by) ? requested_by : REQUESTED_BY_TEMPORAL
const reasonOf = (reason: string | undefined): string | undefined =>
  reason === undefined ? undefined : cutText(reason, REASON_CHARACTERS_MAX)

function statusDraft(schedule_id: string, command: StatusCommand): Draft {
  const { request_id, requested_by, reason } = command
  const to = statusAfter(command)
  return scheduleStatusDraft(schedule_id, { to, requested_by: nameOf(requested_by), reason: reasonOf(reason) }, request_id)
}

export async function answerSchedule(
  view: View,
  schedule_id: string,
  command: ScheduleCommand,
  outcome: Outcome | undefined,
): Promise<CommandAnswer> {
  if (command.kind === 'trigger') return answerTrigger(view, schedule_id, command)
  const is_refused = outcome?.kind === 'refused' || outcome?.kind === 'quarantined'
  return is_refused ? { problem: refusalText(command.kind, outcome.reason) } : { status: statusAfter(command) }
}

/** Its tick and the runs, or why there is none. */
async function answerTrigger(view: View, schedule_id: string, { request_id }: TriggerCommand): Promise<CommandAnswer> {
  const tick_id = manualTickId(schedule_id, request_id)
  const tick = await view.row('schedule_ticks', [schedule_id, tick_id])
  if (tick === undefined) return { problem: 'The schedule changed in the same moment. Trigger it again, with another request_id.' }
  const runs = (await readRunsOfTicks(view, [tick])).get(tick_id) ?? []
  return { tick_id, run_ids: runs.map(({ run_id }) => run_id) }
}

function refusalText(kind: StatusCommand['kind'], reason: string): string {
  switch (reason) {
    case 'ILLEGAL_TRANSITION':
      return `The schedule was ${kind === 'pause' ? 'paused' : 'active'} already.`
    case 'TERMINAL':
      return 'The schedule was removed, and stays removed: make another one, which may have its name.'
    case 'CAP_REACHED':
      return 'Too many changes of the schedule waited to be counted. Send it again.'
    default:
      return `It was refused as ${reason}: look at the schedule, and send it again.`
  }
}

const statusAfter = ({ kind }: StatusCommand): 'PAUSED' | 'ACTIVE' => (kind === 'pause' ? 'PAUSED' : 'ACTIVE')
