// Appends events that come as lines of JSON. Every line is checked before the first one is appended: a fault in the last
// line leaves the ledger as it was.

import { isUtf8 } from 'node:buffer'
import type { Scope } from '../core/ids.js'
import { BATCH_BYTES_MAX, BATCH_EVENTS_MAX, SEGMENT_BYTES_MAX } from '../core/limits.js'
import { type LedgerEvent, parseEvent } from '../events/event.js'
import type { Appender } from '../ledger/append.js'
import { batchFaults, segmentName } from '../ledger/segment.js'

type LineBatch = { readonly lines: readonly number[]; readonly events: readonly LedgerEvent[]; readonly bytes: number }

export type LineFault = { readonly line: number; readonly problem: string }

export type LineAnswer = {
  readonly line: number
  readonly event_id: string
  readonly idempotency_key: string
  readonly answer: 'appended' | 'duplicate'
  readonly segment: string
}

type ParsedLines = { readonly batches: readonly LineBatch[]; readonly faults: readonly LineFault[] }

type BatchLabel = string | number | undefined

/** Consecutive lines with the same `batch` member are one batch; the member itself is no part of the event. */
export function parseLines(input: Uint8Array, scope: Scope): ParsedLines {
  const batches: { label: BatchLabel; lines: number[]; events: LedgerEvent[]; bytes: number }[] = []
  const faults: LineFault[] = []
  for (const [index, content] of linesOf(input).entries()) {
    const line = index + 1
    if (content?.trim() === '') continue
    const parsed = parseLine(content, scope)
    if ('problem' in parsed) {
      faults.push({ line, problem: parsed.problem })
      continue
    }
    const { label, event } = parsed
    // As packBatch weighs it, so that what fits here fits there.
    const bytes = Buffer.byteLength(JSON.stringify(event)) + 1
    const open = batches.at(-1)
    if (open !== undefined && label !== undefined && open.label === label) {
      open.lines.push(line)
      open.events.push(event)
      open.bytes += bytes
    } else {
      batches.push({ label, lines: [line], events: [event], bytes })
    }
  }
  for (const batch of batches) {
    const problem = sizeProblem(batch, scope)
    if (problem !== undefined) faults.push({ line: batch.lines[0] as number, problem })
  }
  return { batches, faults: faults.sort((left, right) => left.line - right.line) }
}

const BYTE_ORDER_MARK = '\ufeff'

/** undefined: a line that is no UTF-8. Read leniently, it would become an event that nobody wrote. */
function linesOf(input: Uint8Array): readonly (string | undefined)[] {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength)
  const lines = bytes.toString('utf8').split('\n')
  if (lines[0]?.startsWith(BYTE_ORDER_MARK)) lines[0] = lines[0].slice(BYTE_ORDER_MARK.length)
  if (isUtf8(bytes)) return lines
  let start = 0
  return lines.map((line) => {
    const end = bytes.indexOf('\n', start)
    const own = bytes.subarray(start, end < 0 ? bytes.length : end)
    start += own.length + 1
    return isUtf8(own) ? line : undefined
  })
}

type ParsedLine = { readonly event: LedgerEvent; readonly label: BatchLabel } | { readonly problem: string }

function parseLine(content: string | undefined, scope: Scope): ParsedLine {
  if (content === undefined) return { problem: 'The line is not UTF-8. Save the file in that encoding.' }
  let raw: unknown
  try {
    raw = JSON.parse(content)
  } catch {
    return { problem: 'The line is not JSON. Write one event as one JSON object on one line.' }
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return { problem: 'The line is no JSON object. `servo ledger example EVENT_TYPE` prints an event, ready to edit.' }
  }
  const { batch, ...rest } = raw as { readonly batch?: unknown }
  if (batch !== undefined && typeof batch !== 'string' && typeof batch !== 'number') {
    return { problem: 'batch is neither text nor a number. Give the lines of one batch the same name, or leave it out.' }
  }
  const parsed = parseEvent(rest, scope)
  return parsed.kind === 'event' ? { event: parsed.event, label: batch } : { problem: parsed.detail }
}

/** Around the events of a batch: its own members, well rounded up. */
const BATCH_HEAD_BYTES_MAX = 1_024

function sizeProblem({ events, bytes }: Pick<LineBatch, 'events' | 'bytes'>, scope: Scope): string | undefined {
  if (events.length <= BATCH_EVENTS_MAX && bytes + BATCH_HEAD_BYTES_MAX <= BATCH_BYTES_MAX) return undefined
  const [fault] = batchFaults(events, scope)
  return fault === undefined ? undefined : `${fault.message} The batch begins with this line.`
}

/** Batches that go into one segment: enough to be quick, the same ones when the same input is given again. */
const GROUP_EVENTS = 500

/** One segment after another, so that what comes later in the input is folded later. */
export async function* appendBatches(appender: Appender, batches: readonly LineBatch[]): AsyncGenerator<readonly LineAnswer[]> {
  for (const group of groupsOf(batches)) {
    const { kind, head } = await appender.appendTogether(group.map(({ events }) => events))
    const segment = segmentName(head.name)
    yield group.flatMap(({ lines, events }) =>
      events.map(({ event_id, idempotency_key }, index) => ({
        line: lines[index] as number,
        event_id,
        idempotency_key,
        answer: kind,
        segment,
      })),
    )
  }
}

function groupsOf(batches: readonly LineBatch[]): LineBatch[][] {
  const groups: LineBatch[][] = []
  let events = GROUP_EVENTS
  let bytes = 0
  for (const batch of batches) {
    const isFull = events >= GROUP_EVENTS || bytes + batch.bytes > SEGMENT_BYTES_MAX / 2
    if (isFull) {
      groups.push([])
      events = 0
      bytes = 0
    }
    groups.at(-1)?.push(batch)
    events += batch.events.length
    bytes += batch.bytes
  }
  return groups
}
