// What the commands of every kind of entity share: they are appended as the API appends them, under keys of their request, so that a
// command that is sent twice takes effect once. What cannot be appended is answered as a sentence, and is not tried again.

import { statusDraft } from '../../commands/definitions/drafts.js'
import type { Noun } from '../../commands/definitions/noun.js'
import { refusedBatch, type Submit, submitDrafts } from '../../commands/submit.js'
import { ID_RULES, idFault } from '../../core/ids.js'
import { REASON_CHARACTERS_MAX } from '../../core/limits.js'
import { cutText } from '../../core/text.js'
import type { Draft } from '../../events/draft.js'
import type { Outcome } from '../../readers/wait.js'
import type { CommandAnswer, EntityCommand, StatusCommand } from '../../workflows/contract.js'
import type { AppendDeps, Appended } from './kind.js'

export async function appendCommand({ request_id }: EntityCommand, append: () => Promise<Appended>): Promise<Appended> {
  const problem = idFault('request_key', request_id, 'request_id')
  if (problem !== undefined) return { problem }
  try {
    return await append()
  } catch (error) {
    const refused = refusedBatch(error)
    if (refused === undefined) throw error
    return { problem: refused.detail }
  }
}

/** The outcome of the first is that of all: the others are caused by it. */
export async function submitFirst(submit: Submit, drafts: readonly Draft[]): Promise<Appended> {
  const { events, segment_name } = await submitDrafts(submit, drafts, 'servo/loop')
  const [event] = events
  return { pending: { idempotency_key: event?.idempotency_key ?? '', event_id: event?.event_id ?? '', segment_name } }
}

/** The requester of a command without a name. */
const REQUESTED_BY_TEMPORAL = 'temporal'

export const requesterOf = ({ requested_by, reason }: EntityCommand) => ({
  requested_by: requested_by !== undefined && ID_RULES.text.test(requested_by) ? requested_by : REQUESTED_BY_TEMPORAL,
  reason: reason === undefined ? undefined : cutText(reason, REASON_CHARACTERS_MAX),
})

/** Pause and resume of what is defined under a name. */
export const appendStatus = (noun: Noun, { submit }: AppendDeps, entity_id: string, command: StatusCommand): Promise<Appended> =>
  submitFirst(submit, [statusDraft(noun, entity_id, { to: statusAfter(command), ...requesterOf(command) }, command.request_id)])

export const answerStatus = (noun: Noun, command: StatusCommand, outcome: Outcome | undefined): CommandAnswer =>
  outcome?.kind === 'refused' || outcome?.kind === 'quarantined'
    ? { problem: refusalText(noun, command, outcome.reason) }
    : { status: statusAfter(command) }

const statusAfter = ({ kind }: StatusCommand): 'PAUSED' | 'ACTIVE' => (kind === 'pause' ? 'PAUSED' : 'ACTIVE')

function refusalText({ word }: Noun, { kind }: StatusCommand, reason: string): string {
  switch (reason) {
    case 'ILLEGAL_TRANSITION':
      return `The ${word} was ${kind === 'pause' ? 'paused' : 'active'} already.`
    case 'TERMINAL':
      return `The ${word} was removed, and stays removed: make another one, which may have its name.`
    case 'CAP_REACHED':
      return `Too many changes of the ${word} waited to be counted. Send it again.`
    default:
      return `It was refused as ${reason}: look at the ${word}, and send it again.`
  }
}
