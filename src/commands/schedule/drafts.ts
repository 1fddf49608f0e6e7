// The events that define and remove a schedule, whether somebody asks for it by the API or deploys it.

import { definitionHash, scheduleDefinedKey, scheduleRemovedKey } from '../../core/keys.js'
import type { Draft } from '../../events/draft.js'
import type { ScheduleDefinition } from '../../events/schedule.js'
import { type By, by } from '../by.js'

type Defined = {
  readonly schedule_id: string
  readonly schedule_name: string
  readonly location_name?: string
  readonly definition: ScheduleDefinition
  /** 0: it is new. */
  readonly expected: number
}

type Request = { readonly request_id: string; readonly asked: By }

export const definedDraft = ({ definition, expected, ...named }: Defined, { request_id, asked }: Request): Draft => ({
  event_type: 'ScheduleDefined',
  idempotency_key: scheduleDefinedKey(named, request_id),
  basis: { expected_definition_version: expected },
  payload: { ...named, definition_hash: definitionHash(definition), definition, ...by(asked) },
})

export const removedDraft = (schedule_id: string, { request_id, asked }: Request): Draft => ({
  event_type: 'ScheduleRemoved',
  idempotency_key: scheduleRemovedKey({ schedule_id }, request_id),
  payload: { schedule_id, ...by(asked) },
})
