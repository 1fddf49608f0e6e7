// A segment is one object of the ledger: batches of events as JSON. Reading one never fails: what cannot become an event
// becomes a quarantine entry with its text. It knows nothing of stores, and nothing of what was folded.

import { isUtf8 } from 'node:buffer'
import { assert, messageOf } from '../core/errors.js'
import { isUlid, type Scope } from '../core/ids.js'
import { BATCH_BYTES_MAX, BATCH_EVENTS_MAX, QUARANTINE_RAW_BYTES_MAX, SEGMENT_BYTES_MAX, SEGMENT_EVENTS_MAX } from '../core/limits.js'
import { type LedgerEvent, parseEvent, type QuarantinedEvent, type QuarantineReason } from '../events/event.js'
import type { ObjectMeta } from '../storage/object-store.js'
import { batchSpans, type Span } from './json-span.js'

export const LEDGER_PREFIX = 'ledger/orchestration/'
export const SEGMENT_SCHEMA = 'servo-segment-v1'

/** From the ULID that revisions record to the object's name, and back. */
export const segmentObjectName = (segment_name: string): string => `${LEDGER_PREFIX}${segment_name}.json`
export const segmentName = (object_name: string): string => object_name.slice(LEDGER_PREFIX.length, -'.json'.length)
/** False for what somebody else left under the prefix: it has no time, and nobody acknowledged it. */
export const isSegmentObject = (object_name: string): boolean =>
  object_name.startsWith(LEDGER_PREFIX) && object_name.endsWith('.json') && isUlid(segmentName(object_name))

export type EventBatch = {
  readonly batch_id: string
  readonly events: readonly LedgerEvent[]
  /** The events as JSON, where they were written already. */
  readonly json?: string
}

export type Segment = Scope & {
  readonly write_id: string
  readonly written_at: string
  readonly batches: readonly EventBatch[]
}

// Writing

export function encodeSegment({ tenant_id, workspace_id, write_id, written_at, batches }: Segment): Uint8Array {
  const head = JSON.stringify({ schema: SEGMENT_SCHEMA, tenant_id, workspace_id, write_id, written_at })
  const written = batches.map(({ batch_id, events, json = JSON.stringify(events) }) => `{"batch_id":"${batch_id}","events":${json}}`)
  const bytes = Buffer.from(`${head.slice(0, -1)},"batches":[${written.join(',')}]}`)
  assert(bytes.length <= SEGMENT_BYTES_MAX, `A segment of ${bytes.length} bytes was put together, ${SEGMENT_BYTES_MAX} are the limit.`)
  return bytes
}

/** What a HEAD tells about a segment without reading it. */
export function segmentMeta({
  keys_sha256,
  write_id,
  batches,
}: Pick<Segment, 'write_id' | 'batches'> & { readonly keys_sha256: string }): ObjectMeta {
  const lead = batches[0]?.events[0]
  assert(lead !== undefined, 'A segment without an event was put together.')
  return {
    schema: SEGMENT_SCHEMA,
    keys_sha256,
    write_id,
    batch_count: String(batches.length),
    count: String(batches.reduce((sum, { events }) => sum + events.length, 0)),
    lead_event_id: lead.event_id,
  }
}

/** The events of a batch that cannot be appended, and why. Whoever made them has to change them. */
export class BatchRefusedError extends Error {
  readonly faults: readonly BatchFault[]

  constructor(faults: readonly BatchFault[]) {
    super(faults.map(({ message }) => message).join(' '))
    this.name = 'BatchRefusedError'
    this.faults = faults
  }
}

type BatchFault = {
  /** WHOLE: the batch itself. */
  readonly event_index: number
  readonly reason: QuarantineReason
  readonly message: string
}

/** In quarantine entries and faults: not one event, but the whole batch, or the whole segment. */
export const WHOLE = -1

export type PackedBatch = {
  readonly events: readonly LedgerEvent[]
  readonly json: string
  /** What the batch adds to a segment. */
  readonly bytes: number
}

/** The batch as it will be stored. Throws a BatchRefusedError for what every reader would quarantine. */
export function packBatch(events: readonly LedgerEvent[], scope: Scope): PackedBatch {
  const packed = pack(events, scope)
  if ('faults' in packed) throw new BatchRefusedError(packed.faults)
  return packed
}

/** As packBatch, with the faults as a value: for whoever reports several. */
export function batchFaults(events: readonly LedgerEvent[], scope: Scope): readonly BatchFault[] {
  const packed = pack(events, scope)
  return 'faults' in packed ? packed.faults : []
}

/** Around the events of a batch: its own members and their names. */
const BATCH_HEAD_BYTES = 64

function pack(events: readonly LedgerEvent[], scope: Scope): PackedBatch | { readonly faults: readonly BatchFault[] } {
  const whole = (message: string, reason: QuarantineReason) => ({ faults: [{ event_index: WHOLE, reason, message }] })
  if (events.length === 0) return whole('The batch has no events. Append at least one.', 'BAD_SCHEMA')
  if (events.length > BATCH_EVENTS_MAX) return whole(tooManyEvents(events.length), 'TOO_LARGE')
  const faults: BatchFault[] = []
  for (const [event_index, event] of events.entries()) {
    const parsed = parseEvent(event, scope)
    if (parsed.kind === 'event') continue
    faults.push({ event_index, reason: parsed.reason, message: `Event ${event_index} of the batch: ${parsed.detail}` })
  }
  if (faults.length > 0) return { faults }
  const json = JSON.stringify(events)
  const bytes = BATCH_HEAD_BYTES + Buffer.byteLength(json)
  return bytes > BATCH_BYTES_MAX ? whole(tooManyBytes(bytes), 'TOO_LARGE') : { events, json, bytes }
}

const tooManyEvents = (count: number): string =>
  `The batch has ${count} events, ${BATCH_EVENTS_MAX} are the limit. Divide what need not be applied together.`
const tooManyBytes = (bytes: number): string =>
  `The batch has ${bytes} bytes, ${BATCH_BYTES_MAX} are the limit. Divide what need not be applied together.`

// Reading

type QuarantineEntry = QuarantinedEvent & {
  /** WHOLE: the batch, or in a batch numbered WHOLE the segment. */
  readonly event_index: number
  /** The text exactly as it was stored, cut to QUARANTINE_RAW_BYTES_MAX; base64 where the bytes are no text. */
  readonly raw: string
}

export type SegmentEntry = { readonly kind: 'event'; readonly event: LedgerEvent } | QuarantineEntry

type ParsedBatch = {
  /** WHOLE: it stands for a segment that could not be read. */
  readonly batch_index: number
  /** Empty where there is none. */
  readonly batch_id: string
  /** One for each event, in order; or one alone for a batch or segment that is quarantined whole. */
  readonly entries: readonly SegmentEntry[]
}

export type ParsedSegment = { readonly batches: readonly ParsedBatch[] }

export function parseSegment(bytes: Uint8Array, scope: Scope): ParsedSegment {
  if (bytes.length > SEGMENT_BYTES_MAX) {
    return quarantinedSegment('TOO_LARGE', bytes, `The segment has ${bytes.length} bytes, ${SEGMENT_BYTES_MAX} are the limit.`)
  }
  if (!isUtf8(bytes)) return quarantinedSegment('BAD_JSON', bytes, 'The segment is not UTF-8.')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  let raw: unknown
  try {
    raw = JSON.parse(text)
  } catch (error) {
    return quarantinedSegment('BAD_JSON', bytes, `The segment is not JSON: ${messageOf(error)}.`)
  }
  const head = headFault(raw, scope)
  if (head !== undefined) return quarantinedSegment(head.reason, bytes, head.message)
  const count = countParts(raw)
  if (count > SEGMENT_EVENTS_MAX) {
    return quarantinedSegment('TOO_LARGE', bytes, `The segment has ${count} events and batches, ${SEGMENT_EVENTS_MAX} are the limit.`)
  }
  const spans = spansOnDemand(text)
  const { batches } = raw as { readonly batches: readonly unknown[] }
  const isLarge = bytes.length > BATCH_BYTES_MAX
  return { batches: batches.map((batch, index) => parseBatch({ batch, index, scope, spans, isLarge })) }
}

/** Whatever a segment holds, it makes a bounded number of rows. */
function countParts(raw: unknown): number {
  const { batches } = raw as { readonly batches: readonly unknown[] }
  let count = batches.length
  for (const batch of batches) {
    const events = typeof batch === 'object' && batch !== null && 'events' in batch ? batch.events : undefined
    if (Array.isArray(events)) count += events.length
  }
  return count
}

/** A segment that becomes one quarantine row: what parse() finds, or that it came too late. */
export function quarantinedSegment(reason: QuarantineReason, bytes: Uint8Array, detail: string): ParsedSegment {
  const entry: QuarantineEntry = { kind: 'quarantine', reason, detail: wellFormed(detail), event_index: WHOLE, raw: rawOf(bytes) }
  return { batches: [{ batch_index: WHOLE, batch_id: '', entries: [entry] }] }
}

function headFault(raw: unknown, scope: Scope): { readonly reason: QuarantineReason; readonly message: string } | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return badHead('The segment is no JSON object.')
  const { schema, tenant_id, workspace_id, write_id, batches } = raw as Readonly<Record<string, unknown>>
  if (schema !== SEGMENT_SCHEMA) {
    if (typeof schema !== 'string' || !schema.startsWith('servo-segment-')) return badHead(`The segment's schema is not ${SEGMENT_SCHEMA}.`)
    const message = `The segment's schema is ${schema.slice(0, 40)}, and this version of Servo reads ${SEGMENT_SCHEMA}. Install a later one.`
    return { reason: 'UNKNOWN_VERSION', message }
  }
  if (tenant_id !== scope.tenant_id || workspace_id !== scope.workspace_id) {
    const message = `The segment is of another workspace than tenant ${scope.tenant_id}, workspace ${scope.workspace_id}.`
    return { reason: 'WRONG_WORKSPACE', message }
  }
  if (typeof write_id !== 'string' || !isUlid(write_id)) return badHead("The segment's write_id is no ULID.")
  return Array.isArray(batches) ? undefined : badHead("The segment's batches are no list.")
}

const badHead = (message: string) => ({ reason: 'BAD_SCHEMA', message }) as const

type BatchInput = {
  readonly batch: unknown
  readonly index: number
  readonly scope: Scope
  readonly spans: SpansOnDemand
  /** The segment is larger than a batch may be. */
  readonly isLarge: boolean
}

function parseBatch({ batch, index, scope, spans, isLarge }: BatchInput): ParsedBatch {
  const { batch_id, events } = (typeof batch === 'object' && batch !== null ? batch : {}) as Readonly<Record<string, unknown>>
  const whole = (reason: QuarantineReason, detail: string): ParsedBatch => ({
    batch_index: index,
    batch_id: typeof batch_id === 'string' ? wellFormed(batch_id.slice(0, 100)) : '',
    entries: [{ kind: 'quarantine', reason, detail, event_index: WHOLE, raw: spans.batchText(index) }],
  })
  if (typeof batch_id !== 'string' || !isUlid(batch_id)) return whole('BAD_SCHEMA', "The batch's batch_id is no ULID.")
  if (!Array.isArray(events)) return whole('BAD_SCHEMA', "The batch's events are no list.")
  if (events.length > BATCH_EVENTS_MAX) return whole('TOO_LARGE', tooManyEvents(events.length))
  if (isLarge) {
    const bytes = spans.batchBytes(index)
    if (bytes > BATCH_BYTES_MAX) return whole('TOO_LARGE', tooManyBytes(bytes))
  }
  const entries = events.map((raw: unknown, event_index): SegmentEntry => {
    const parsed = parseEvent(raw, scope)
    return parsed.kind === 'event' ? parsed : { ...parsed, event_index, raw: spans.eventText(index, event_index) }
  })
  return { batch_index: index, batch_id, entries }
}

type SpansOnDemand = {
  readonly batchText: (batch_index: number) => string
  readonly batchBytes: (batch_index: number) => number
  readonly eventText: (batch_index: number, event_index: number) => string
}

/** Nearly every segment is good: where its parts lie is found out only when one of them is asked for. */
function spansOnDemand(text: string): SpansOnDemand {
  let found: ReturnType<typeof batchSpans> | undefined
  const batchAt = (index: number) => {
    found ??= batchSpans(text)
    const span = found[index]
    assert(span !== undefined, `Batch ${index} of a segment was not found in its text.`)
    return span
  }
  const textOf = ({ start, end }: Span) => text.slice(start, end)
  return {
    batchText: (index) => cut(textOf(batchAt(index))),
    batchBytes: (index) => Buffer.byteLength(textOf(batchAt(index))),
    eventText(batch_index, event_index) {
      const span = batchAt(batch_index).events[event_index]
      assert(span !== undefined, `Event ${event_index} of batch ${batch_index} of a segment was not found in its text.`)
      return cut(textOf(span))
    },
  }
}

const rawOf = (bytes: Uint8Array): string => {
  const some = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, QUARANTINE_RAW_BYTES_MAX + 4))
  return isUtf8(bytes) ? cut(some.toString('utf8')) : some.subarray(0, QUARANTINE_RAW_BYTES_MAX).toString('base64')
}

/** Cut between two characters, never within one. */
function cut(text: string): string {
  if (Buffer.byteLength(text) <= QUARANTINE_RAW_BYTES_MAX) return text
  const bytes = Buffer.from(text)
  let end = QUARANTINE_RAW_BYTES_MAX
  while (((bytes[end] as number) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end).toString('utf8')
}

const wellFormed = (text: string): string => text.toWellFormed()
