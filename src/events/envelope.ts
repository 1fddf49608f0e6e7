// What every event has around its payload (DATA section 2). The basis is what the decision rests on: the fold checks it,
// and an event whose kind has one does not parse without it.

import { z } from 'zod'
import { REASON_CHARACTERS_MAX } from '../core/limits.js'
import { id, instant, type Parsed, text, textOf } from './value.js'

type Envelope<Type extends string, Payload, Basis> = {
  readonly event_id: string
  readonly event_type: Type
  readonly event_version: 1
  readonly timestamp: string
  /** `servo/turn`, `servo/api`, `servo/deploy`, `servo/callback`, `servo/loop`, `servo/handover`. It only informs. */
  readonly source: string
  readonly tenant_id: string
  readonly workspace_id: string
  readonly idempotency_key: string
  /** Its run, backfill or deploy. */
  readonly correlation_id?: string
  /** What caused it; an earlier event of the same batch is one it depends on. */
  readonly causation_id?: string
  /** Of the request that said it, where that is traced (core/traceparent.ts). It only informs, so what it holds is no fault. */
  readonly traceparent?: string
  readonly payload: Payload
} & Basis

/** Nothing is checked; whoever sends one all the same has it in the segment's digest. */
type NoBasis = { readonly basis?: { readonly [name: string]: unknown } }
type WithBasis<Basis> = { readonly basis: Basis }
/** Checked where it is given. */
type WithOptionalBasis<Basis> = { readonly basis?: Basis }

const ENVELOPE = {
  event_id: id('ulid'),
  timestamp: instant,
  source: id('text'),
  tenant_id: id('tenant'),
  workspace_id: id('workspace'),
  idempotency_key: id('text'),
  correlation_id: id('text').exactOptional(),
  causation_id: id('ulid').exactOptional(),
  traceparent: text.exactOptional(),
}

const NO_BASIS = z.looseObject({}).exactOptional()

/** What parse() needs to know about one version of one type. */
export type EventSchema = {
  readonly event_type: string
  readonly event_version: number
  readonly schema: z.ZodType
  /** Members of the payload that have a limit of their own, in canonical JSON. */
  readonly byte_limits: readonly { readonly member: string; readonly bytes_max: number }[]
}

type Declaration<Type extends string, Payload extends z.ZodType, Basis, OptionalBasis> = {
  readonly event_type: Type
  readonly payload: Payload
  readonly basis?: Basis
  readonly optional_basis?: OptionalBasis
  readonly byte_limits?: EventSchema['byte_limits']
}

export function defineEvent<
  const Type extends string,
  Payload extends z.ZodType,
  Basis extends z.ZodType | undefined = undefined,
  OptionalBasis extends z.ZodType | undefined = undefined,
>(declaration: Declaration<Type, Payload, Basis, OptionalBasis>) {
  const { event_type, payload, basis, optional_basis } = declaration
  const schema = z.object({
    ...ENVELOPE,
    event_type: z.literal(event_type),
    event_version: z.literal(1),
    basis: basis ?? optional_basis?.exactOptional() ?? NO_BASIS,
    payload,
  })
  return {
    event_type,
    event_version: 1,
    payload,
    basis: basis as Basis,
    optional_basis: optional_basis as OptionalBasis,
    schema,
    byte_limits: declaration.byte_limits ?? [],
  } as const
}

/** The type of the events that a definition accepts. */
export type EventOfSchema<Definition> = Definition extends {
  readonly event_type: infer Type extends string
  readonly payload: infer Payload extends z.ZodType
  readonly basis: infer Basis
  readonly optional_basis: infer OptionalBasis
}
  ? Envelope<Type, Parsed<Payload>, BasisOf<Basis, OptionalBasis>>
  : never

type BasisOf<Basis, OptionalBasis> = [Basis] extends [z.ZodType]
  ? WithBasis<Parsed<Basis>>
  : [OptionalBasis] extends [z.ZodType]
    ? WithOptionalBasis<Parsed<OptionalBasis>>
    : NoBasis

/** People's commands say who and, if they like, why. */
export const COMMANDED_BY = { requested_by: id('text').exactOptional(), reason: textOf(REASON_CHARACTERS_MAX).exactOptional() }
