// The events of this version, and the one way in: parse() makes of anything an event or something to quarantine.
// It never throws, and it never changes or copies what it was given.

import { z } from 'zod'
import { boundedJsonBytes, canonicalBytes, JSON_DEPTH_MAX } from '../core/canonical.js'
import type { Scope } from '../core/ids.js'
import { EVENT_BYTES_MAX } from '../core/limits.js'
import { ASSET_EVENTS } from './asset.js'
import type { EventSchema, EventsIn } from './envelope.js'
import { faultOf, ruleOf } from './fault.js'
import { RETENTION_EVENTS } from './retention.js'
import { RUN_EVENTS } from './run.js'
import { SCHEDULE_EVENTS } from './schedule.js'
import { TASK_EVENTS } from './task.js'

const SCHEMAS = { ...ASSET_EVENTS, ...RETENTION_EVENTS, ...SCHEDULE_EVENTS, ...RUN_EVENTS, ...TASK_EVENTS }

export type EventType = keyof typeof SCHEMAS
export type EventOf<Type extends EventType> = EventsIn<Pick<typeof SCHEMAS, Type>>
export type LedgerEvent = EventOf<EventType>

/** The schemas of a type, oldest version first. */
const versionsOf = (event_type: EventType): readonly EventSchema[] => SCHEMAS[event_type]

/** The first fold version that knows this version of the type. What is said without a version is of the first one. */
export const foldedSince = (event_type: EventType, event_version = 1): number =>
  versionsOf(event_type).find((schema) => schema.event_version === event_version)?.folded_since ?? Number.POSITIVE_INFINITY

export const EVENT_TYPES = Object.keys(SCHEMAS) as readonly EventType[]
export const isEventType = (text: string): text is EventType => Object.hasOwn(SCHEMAS, text)

/** The golden example of an event type, ready to be edited. */
export const exampleOf = <Type extends EventType>(event_type: Type): EventOf<Type> =>
  versionsOf(event_type).at(-1)?.example as unknown as EventOf<Type>

export type QuarantineReason =
  | 'BAD_JSON'
  | 'BAD_SCHEMA'
  | 'UNKNOWN_TYPE'
  | 'UNKNOWN_VERSION'
  | 'TOO_LARGE'
  | 'LATE'
  | 'LIST_MISSING'
  | 'WRONG_WORKSPACE'

export type QuarantinedEvent = {
  readonly kind: 'quarantine'
  readonly reason: QuarantineReason
  /** What was wrong and what to do, in a sentence. */
  readonly detail: string
  // As far as they could be read.
  readonly event_type?: string
  readonly event_version?: number
  readonly event_id?: string
}

type ParsedEvent = { readonly kind: 'event'; readonly event: LedgerEvent } | QuarantinedEvent

type Reader = { readonly version: number; readonly schema: () => z.ZodType; readonly byte_limits: EventSchema['byte_limits'] }

const READERS: ReadonlyMap<string, readonly Reader[]> = new Map(
  Object.entries(SCHEMAS).map(([event_type, versions]) => [event_type, versions.map((schema) => readerOf(schema))]),
)

/** Compiled, a schema checks in a tenth of the time and copies nothing. Compiling takes milliseconds: it waits for the
 *  first event of the type, because most commands read a few types or none. */
function readerOf({ event_version, schema, byte_limits }: EventSchema): Reader {
  let compiled: z.ZodType | undefined
  return { version: event_version, byte_limits, schema: () => (compiled ??= z.compile(schema, { strict: true })) }
}

export function parseEvent(raw: unknown, scope: Scope): ParsedEvent {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return { kind: 'quarantine', reason: 'BAD_SCHEMA', detail: 'An event is a JSON object. Give it one.' }
  }
  const { event_type, event_version } = raw as Readonly<Record<string, unknown>>
  if (typeof event_type !== 'string')
    return quarantined(raw, 'BAD_SCHEMA', 'event_type is missing or no text. Give it the name of an event.')
  const readers = READERS.get(event_type)
  if (readers === undefined) return quarantined(raw, 'UNKNOWN_TYPE', unknownType(event_type))
  const reader = readers.find(({ version }) => version === event_version)
  if (reader === undefined) return withoutReader(raw, event_type, event_version)
  const schema = reader.schema()
  if (!z.validate(schema, raw)) return quarantined(raw, 'BAD_SCHEMA', schemaFault(schema, raw))
  const event = raw as LedgerEvent
  if (event.tenant_id !== scope.tenant_id || event.workspace_id !== scope.workspace_id) {
    return quarantined(raw, 'WRONG_WORKSPACE', wrongWorkspace(event, scope))
  }
  const bytes = boundedJsonBytes(raw)
  if (bytes === undefined) return quarantined(raw, 'BAD_SCHEMA', NO_JSON)
  const fault = sizeFault(event, reader, bytes)
  if (fault !== undefined) return quarantined(raw, 'TOO_LARGE', fault)
  return { kind: 'event', event }
}

const NO_JSON =
  `The event holds what canonical JSON cannot say: a number beyond 1.8e308, half a surrogate pair, ` +
  `or members nested more than ${JSON_DEPTH_MAX} deep. Remove it.`

function withoutReader(raw: object, event_type: string, event_version: unknown): QuarantinedEvent {
  if (!Number.isSafeInteger(event_version)) {
    return quarantined(raw, 'BAD_SCHEMA', 'event_version is missing or no whole number. Give it the version of the event.')
  }
  return quarantined(
    raw,
    'UNKNOWN_VERSION',
    `Version ${String(event_version)} of ${event_type} is not known to this version of Servo. Install a later one, and append the event again under a new event_id.`,
  )
}

const unknownType = (event_type: string): string =>
  `Events of type ${JSON.stringify(event_type.slice(0, 80))} are not known to this version of Servo. ` +
  `Correct the name or install a later version, and append the event again under a new event_id.`

const wrongWorkspace = (event: LedgerEvent, { tenant_id, workspace_id }: Scope): string =>
  `The event is of tenant ${event.tenant_id}, workspace ${event.workspace_id}; this is the ledger of tenant ${tenant_id}, ` +
  `workspace ${workspace_id}. Append it to its own.`

function schemaFault(schema: z.ZodType, raw: object): string {
  const parsed = schema.safeParse(raw, { error: ruleOf })
  return parsed.success ? 'The event is not what its schema says.' : faultOf(parsed.error, raw)
}

/** An upper bound of the bytes is known already; only an event that it does not clear is measured. */
function sizeFault(event: LedgerEvent, { byte_limits }: Reader, bytesAtMost: number): string | undefined {
  for (const { member, bytes_max } of byte_limits) {
    if (bytesAtMost <= bytes_max) continue
    const value = (event.payload as Readonly<Record<string, unknown>>)[member]
    const bytes = value === undefined ? 0 : canonicalBytes(value)
    if (bytes > bytes_max) return tooLarge(`payload.${member} has`, bytes, bytes_max)
  }
  if (bytesAtMost <= EVENT_BYTES_MAX) return undefined
  const bytes = canonicalBytes(event)
  return bytes > EVENT_BYTES_MAX ? tooLarge('The event has', bytes, EVENT_BYTES_MAX) : undefined
}

const tooLarge = (what: string, bytes: number, bytes_max: number): string =>
  `${what} ${bytes} bytes in canonical JSON, ${bytes_max} are the limit. Keep what is large in a store of your own and name it here.`

/** Of what was sent, in the columns of a quarantine row; the whole text is in `raw`. */
const SHOWN_CHARACTERS_MAX = 200
const DETAIL_CHARACTERS_MAX = 1_000

function quarantined(raw: object, reason: QuarantineReason, detail: string): QuarantinedEvent {
  const { event_type, event_version, event_id } = raw as Readonly<Record<string, unknown>>
  return {
    kind: 'quarantine',
    reason,
    detail: rowText(detail, DETAIL_CHARACTERS_MAX),
    ...(typeof event_type === 'string' ? { event_type: rowText(event_type, SHOWN_CHARACTERS_MAX) } : {}),
    ...(Number.isSafeInteger(event_version) ? { event_version: event_version as number } : {}),
    ...(typeof event_id === 'string' ? { event_id: rowText(event_id, SHOWN_CHARACTERS_MAX) } : {}),
  }
}

/** Whatever was sent, a row must be the same text after it was written and read: no half characters. */
const rowText = (text: string, characters_max: number): string => text.slice(0, characters_max).toWellFormed()
