// What every event has around its payload (DATA section 2). The basis is what the decision rests on: the fold checks it,
// and an event whose kind has one does not parse without it.

import { z } from 'zod'
import { REASON_CHARACTERS_MAX } from '../core/limits.js'
import { id, instant, type Parsed, text, textOf } from './value.js'

type Envelope<Type extends string, Version extends number, Payload, Basis> = {
  readonly event_id: string
  readonly event_type: Type
  readonly event_version: Version
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

/** One version of one type, for code that handles every event alike. */
export type EventSchema = {
  readonly event_type: string
  readonly event_version: number
  /** The first fold version that knows it: an older one would quarantine it for good (DATA section 7). */
  readonly folded_since: number
  readonly schema: z.ZodType
  /** Members of the payload that have a limit of their own, in canonical JSON. */
  readonly byte_limits: readonly { readonly member: string; readonly bytes_max: number }[]
  /** Frozen: a test compares it with test/golden/events. */
  readonly example: object
}

type Declaration<Type extends string, Version extends number, Payload extends z.ZodType, Basis, OptionalBasis> = {
  readonly event_type: Type
  /** 1 where it is left out. */
  readonly event_version?: Version
  /** 1 where it is left out. */
  readonly folded_since?: number
  readonly example: NoInfer<Envelope<Type, Version, Parsed<Payload>, BasisOf<Basis, OptionalBasis>>>
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
  const Version extends number = 1,
>(declaration: Declaration<Type, Version, Payload, Basis, OptionalBasis>) {
  const { event_type, payload, basis, optional_basis, example } = declaration
  const event_version = declaration.event_version ?? (1 as Version)
  const schema = z.object({
    ...ENVELOPE,
    event_type: z.literal(event_type),
    event_version: z.literal(event_version),
    basis: basis ?? optional_basis?.exactOptional() ?? NO_BASIS,
    payload,
  })
  return {
    event_type,
    event_version,
    folded_since: declaration.folded_since ?? 1,
    payload,
    basis: basis as Basis,
    optional_basis: optional_basis as OptionalBasis,
    schema,
    byte_limits: declaration.byte_limits ?? [],
    example,
  } as const
}

type EventsByType<Schema extends EventSchema> = {
  readonly [Type in Schema['event_type']]: readonly Extract<Schema, { event_type: Type }>[]
}

/** The events of a noun: of each type its versions, oldest first. */
export function eventsByType<const Schemas extends readonly EventSchema[]>(...schemas: Schemas): EventsByType<Schemas[number]> {
  const types = new Set(schemas.map(({ event_type }) => event_type))
  return Object.fromEntries(
    [...types].map((event_type) => [event_type, schemas.filter((schema) => schema.event_type === event_type)]),
  ) as unknown as EventsByType<Schemas[number]>
}

/** The events that the schemas of a noun accept. */
export type EventsIn<ByType> = {
  readonly [Type in keyof ByType]: ByType[Type] extends readonly (infer Schema)[] ? EventOfSchema<Schema> : never
}[keyof ByType]

type EventOfSchema<Definition> = Definition extends {
  readonly event_type: infer Type extends string
  readonly event_version: infer Version extends number
  readonly payload: infer Payload extends z.ZodType
  readonly basis: infer Basis
  readonly optional_basis: infer OptionalBasis
}
  ? Envelope<Type, Version, Parsed<Payload>, BasisOf<Basis, OptionalBasis>>
  : never

type BasisOf<Basis, OptionalBasis> = [Basis] extends [z.ZodType]
  ? WithBasis<Parsed<Basis>>
  : [OptionalBasis] extends [z.ZodType]
    ? WithOptionalBasis<Parsed<OptionalBasis>>
    : NoBasis

/** People's commands say who and, if they like, why. */
export const COMMANDED_BY = { requested_by: id('text').exactOptional(), reason: textOf(REASON_CHARACTERS_MAX).exactOptional() }
