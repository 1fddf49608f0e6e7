// Pauses and resumes a schedule, for the API and for the signals of its loop alike.

import { scheduleStatusKey } from '../../core/keys.js'
import { instantText } from '../../core/time.js'
import type { Draft } from '../../events/draft.js'
import type { View } from '../../readers/reader.js'
import type { Schedule } from '../../readers/schedules.js'
import { type By, by } from '../by.js'
import { isProblem, type Problem, problem } from '../problem.js'
import { livingSchedule } from './target.js'

type StatusAsked = By & {
  readonly to: 'ACTIVE' | 'PAUSED'
  readonly expected_state_version?: number | undefined
}

type StatusPlanned = { readonly schedule_id: string; readonly schedule_name: string; readonly drafts: readonly Draft[] }

export async function planScheduleStatus(
  view: View | undefined,
  id_or_name: string,
  asked: StatusAsked,
  request_id: string,
): Promise<StatusPlanned | Problem> {
  const found = await livingSchedule(view, id_or_name)
  if (isProblem(found)) return found
  const refused = statusProblem(found, asked)
  if (refused !== undefined) return refused
  const { schedule_id, schedule_name } = found.definition
  return { schedule_id, schedule_name, drafts: [scheduleStatusDraft(schedule_id, asked, request_id)] }
}

/** For signals, too, which ask nobody first: what cannot be is refused by the fold. */
export const scheduleStatusDraft = (schedule_id: string, asked: StatusAsked, request_id: string): Draft => ({
  event_type: 'ScheduleStatusChanged',
  idempotency_key: scheduleStatusKey({ schedule_id }, request_id),
  ...(asked.expected_state_version === undefined ? {} : { basis: { expected_state_version: asked.expected_state_version } }),
  payload: { schedule_id, to: asked.to, ...by(asked) },
})

function statusProblem({ definition, state }: Schedule, { to, expected_state_version: expected }: StatusAsked): Problem | undefined {
  const { schedule_name } = definition
  const { state_version, status, paused_at, status_changed_by, status_reason } = state
  if (expected !== undefined && expected !== state_version) {
    return problem(
      'conflict',
      `The schedule ${schedule_name} is at state version ${state_version}, and this was asked for at version ${expected}: it has ticked or was changed since. Look at it again.`,
      { members: { state_version } },
    )
  }
  if (status !== to) return undefined
  const who = status_changed_by === null ? '' : ` by ${status_changed_by}`
  const why = status_reason === null ? '.' : `: ${status_reason}${/[.?!]$/.test(status_reason) ? '' : '.'}`
  const said =
    paused_at === null
      ? 'is active already. There is nothing to do; to hold it back, pause it.'
      : `is paused already, since ${instantText(paused_at)}${who}${why} There is nothing to do; to let it fire again, resume it.`
  return problem('conflict', `The schedule ${schedule_name} ${said}`, { members: { schedule_status: status } })
}
