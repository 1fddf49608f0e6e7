// Pauses and resumes.

import { instantText } from '../../core/time.js'
import { type Problem, problem } from '../problem.js'
import type { Planned } from './define.js'
import { type StatusRequest, statusDraft } from './drafts.js'
import type { Entity, Noun } from './noun.js'

export function planStatus(noun: Noun, entity: Entity, asked: StatusRequest, request_id: string): Planned | Problem {
  const refused = staleState(noun, entity, asked) ?? sameStatus(noun, entity, asked)
  if (refused !== undefined) return refused
  const { id, name } = entity
  return { id, name, drafts: [statusDraft(noun, id, asked, request_id)], warnings: [] }
}

function staleState({ word, sentences }: Noun, entity: Entity, { expected_state_version: expected }: StatusRequest): Problem | undefined {
  const { name, state_version } = entity
  if (expected === undefined || expected === state_version) return undefined
  return problem(
    'conflict',
    `The ${word} ${name} is at state version ${state_version}, and this was asked for at version ${expected}: ${sentences.moved} or was changed since. Look at it again.`,
    { members: { state_version } },
  )
}

function sameStatus({ word, sentences }: Noun, entity: Entity, { to }: StatusRequest): Problem | undefined {
  const { name, status, paused_at, status_changed_by, status_reason } = entity
  if (status !== to) return undefined
  const who = status_changed_by === null ? '' : ` by ${status_changed_by}`
  const why = status_reason === null ? '.' : `: ${status_reason}${/[.?!]$/.test(status_reason) ? '' : '.'}`
  const sentence =
    paused_at === null
      ? 'is active already. There is nothing to do; to hold it back, pause it.'
      : `is paused already, since ${instantText(paused_at)}${who}${why} There is nothing to do; to let it ${sentences.resumed}, resume it.`
  return problem('conflict', `The ${word} ${name} ${sentence}`, { members: { [`${word}_status`]: status } })
}
