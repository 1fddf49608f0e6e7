// Says in the ledger what was signalled in Temporal, as the API says it: the same events under keys of their request, so
// that whatever is said twice is there once. What cannot be said is answered as a sentence, and is not tried again.

import { ID_RULES, idFault } from '../../core/ids.js'
import { REASON_CHARACTERS_MAX } from '../../core/limits.js'
import { cutText } from '../../core/text.js'
import { scheduleStatusDraft } from '../../commands/schedule/status.js'
import { refusedBatch, type Submit, submitDrafts } from '../../commands/submit.js'
import type { Draft } from '../../events/draft.js'
import type { Asked } from '../../readers/wait.js'
import type { ScheduleCommand } from '../../workflows/contract.js'

/** Who signals in the UI and gives no name. */
export const SIGNALLED_BY = 'temporal'

export type Said = { readonly asked: Asked } | { readonly problem: string }

type StatusCommand = Extract<ScheduleCommand, { readonly kind: 'pause' | 'resume' }>

export async function sayStatus(submit: Submit, schedule_id: string, command: StatusCommand): Promise<Said> {
  const fault = idFault('request_key', command.request_id, 'request_id')
  if (fault !== undefined) return { problem: `The ${command.kind} was not taken: ${fault}` }
  try {
    const { events, segment_name } = await submitDrafts(submit, [statusDraft(schedule_id, command)], 'servo/loop')
    const [event] = events
    return { asked: { idempotency_key: event?.idempotency_key ?? '', event_id: event?.event_id ?? '', segment_name } }
  } catch (error) {
    const refused = refusedBatch(error)
    if (refused === undefined) throw error
    return { problem: `The ${command.kind} was not taken: ${refused.detail}` }
  }
}

function statusDraft(schedule_id: string, { kind, request_id, requested_by, reason }: StatusCommand): Draft {
  const by = requested_by !== undefined && ID_RULES.text.test(requested_by) ? requested_by : SIGNALLED_BY
  const why = reason === undefined ? undefined : cutText(reason, REASON_CHARACTERS_MAX)
  return scheduleStatusDraft(schedule_id, { to: kind === 'pause' ? 'PAUSED' : 'ACTIVE', requested_by: by, reason: why }, request_id)
}
