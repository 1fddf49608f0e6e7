// The events of a noun that is defined: they have the same shape for every noun, under its own words.

import { definedKey, definitionHash, removedKey, statusKey } from '../../core/keys.js'
import type { Draft } from '../../events/draft.js'
import { type By, by } from '../by.js'
import type { Definition, Noun } from './noun.js'

type EventWords = Pick<Noun, 'word' | 'event_label' | 'id_member' | 'name_member'>

type Defined = {
  readonly id: string
  readonly name: string
  readonly location_name?: string
  readonly definition: Definition
  /** The version that it has; 0: it is new. */
  readonly expected: number
  readonly asked: By
}

export const definedDraft = ({ word, event_label, id_member, name_member }: EventWords, defined: Defined, request_id: string): Draft => {
  const { id, name, location_name, definition, expected, asked } = defined
  return draft({
    event_type: `${event_label}Defined`,
    idempotency_key: definedKey(word, id, request_id),
    basis: { expected_definition_version: expected },
    payload: {
      [id_member]: id,
      [name_member]: name,
      ...(location_name === undefined ? {} : { location_name }),
      definition_hash: definitionHash(definition),
      definition,
      ...by(asked),
    },
  })
}

export const removedDraft = ({ word, event_label, id_member }: EventWords, id: string, asked: By, request_id: string): Draft =>
  draft({
    event_type: `${event_label}Removed`,
    idempotency_key: removedKey(word, id, request_id),
    payload: { [id_member]: id, ...by(asked) },
  })

export type StatusRequest = By & { readonly to: 'ACTIVE' | 'PAUSED'; readonly expected_state_version?: number | undefined }

/** For signals of a loop as well, which are appended unseen: what cannot be is refused by the fold. */
export const statusDraft = ({ word, event_label, id_member }: EventWords, id: string, asked: StatusRequest, request_id: string): Draft =>
  draft({
    event_type: `${event_label}StatusChanged`,
    idempotency_key: statusKey(word, id, request_id),
    ...(asked.expected_state_version === undefined ? {} : { basis: { expected_state_version: asked.expected_state_version } }),
    payload: { [id_member]: id, to: asked.to, ...by(asked) },
  })

type Untyped = {
  readonly event_type: string
  readonly idempotency_key: string
  readonly basis?: object
  readonly payload: Readonly<Record<string, unknown>>
}

/** Its members are named by the noun, which the compiler cannot follow; the schema of the event checks them before the append. */
const draft = (untyped: Untyped): Draft => untyped as Draft
