// Says in the ledger what was signalled in Temporal, as the API says it: the same events under keys of their request, so
// that whatever is said twice is there once. What cannot be said is answered as a sentence, and is not tried again.

import { isProblem, type Problem } from '../../commands/problem.js'
import type { RunDeps } from '../../commands/run-request.js'
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
import { findSchedule } from '../../readers/found.js'
import type { View } from '../../readers/reader.js'
import type { Asked } from '../../readers/wait.js'
import type { ScheduleCommand } from '../../workflows/contract.js'

/** Who signals in the UI and gives no name. */
const SIGNALLED_BY = 'temporal'

/** `asked` is nothing to wait for where it was said before and has an outcome. */
type Said = { readonly asked: Asked | undefined } | { readonly problem: string }

type StatusCommand = Extract<ScheduleCommand, { readonly kind: 'pause' | 'resume' }>
type TriggerCommand = Extract<ScheduleCommand, { readonly kind: 'trigger' }>

export function sayStatus(submit: Submit, schedule_id: string, command: StatusCommand): Promise<Said> {
  return saying(command, async () => submitFirst(submit, [statusDraft(schedule_id, command)]))
}

/** The tick and its runs in one batch, as they are planned on this view. */
export function sayTrigger(
  { submit, ...deps }: RunDeps & { readonly submit: Submit },
  view: View | undefined,
  schedule_id: string,
  command: TriggerCommand,
): Promise<Said> {
  return saying(command, async () => {
    const { request_id, partition, instant, requested_by, reason } = command
    if (instant !== undefined && !isInstant(instant)) {
      return { problem: `instant is ${JSON.stringify(instant)}. Give it ${INSTANT_RULE}.` }
    }
    const tick_id = manualTickId(schedule_id, request_id)
    const known = await view?.row('schedule_ticks', [schedule_id, tick_id])
    const asked = { partition, instant, requested_by: nameOf(requested_by), reason: reasonOf(reason) }
    const found = await findSchedule(view, schedule_id)
    const planned = isProblem(found) ? found : await planScheduleTrigger(deps, found, asked, { request_id, now: submit.appender.now() })
    if (known !== undefined) return isProblem(planned) || isSameTick(planned, asked, known) ? { asked: undefined } : usedBefore(request_id)
    return isProblem(planned) ? { problem: planned.detail } : submitFirst(submit, planned.drafts)
  })
}

type Named = { readonly partition: string | undefined; readonly instant: string | undefined }

/** Only what is named can be told apart: what it comes to otherwise moves with time and with the definition. */
function isSameTick({ runs, scheduled_for }: TriggerPlanned, { partition, instant }: Named, known: ScheduleTickRow): boolean {
  if (instant !== undefined && instantMs(scheduled_for) !== known.scheduled_for) return false
  const { partitions } = known
  return partition === undefined || (partitions !== null && 'keys' in partitions && partitions.keys[0] === runs[0]?.partition)
}

const usedBefore = (request_id: string): Said => ({
  problem: `The request_id "${request_id}" was used before, for another partition or instant. Say what was said then, or choose another one.`,
})

async function saying(command: ScheduleCommand, say: () => Promise<Said>): Promise<Said> {
  const fault = idFault('request_key', command.request_id, 'request_id')
  const said = fault === undefined ? await say().catch(problemOf) : { problem: fault }
  return 'problem' in said ? { problem: `The ${command.kind} was not taken. ${said.problem}` } : said
}

function problemOf(error: unknown): { readonly problem: string } {
  const refused: Problem | undefined = refusedBatch(error)
  if (refused === undefined) throw error
  return { problem: refused.detail }
}

/** The outcome of the first is that of all: the others are caused by it. */
async function submitFirst(submit: Submit, drafts: readonly Draft[]): Promise<Said> {
  const { events, segment_name } = await submitDrafts(submit, drafts, 'servo/loop')
  const [event] = events
  return { asked: { idempotency_key: event?.idempotency_key ?? '', event_id: event?.event_id ?? '', segment_name } }
}

const nameOf = (requested_by: string | undefined): string =>
  requested_by !== undefined && ID_RULES.text.test(requested_by) ? requested_by : SIGNALLED_BY
const reasonOf = (reason: string | undefined): string | undefined =>
  reason === undefined ? undefined : cutText(reason, REASON_CHARACTERS_MAX)

function statusDraft(schedule_id: string, { kind, request_id, requested_by, reason }: StatusCommand): Draft {
  const to = kind === 'pause' ? 'PAUSED' : 'ACTIVE'
  return scheduleStatusDraft(schedule_id, { to, requested_by: nameOf(requested_by), reason: reasonOf(reason) }, request_id)
}
