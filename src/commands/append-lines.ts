// Appends events that come as lines of JSON. Every line is checked before the first one is appended: a fault in the last
// line leaves the ledger as it was.

import { BATCH_EVENTS_MAX, SEGMENT_BYTES_MAX } from '../core/limits.js'
import type { Scope } from '../core/ids.js'
import { type LedgerEvent, parseEvent } from '../events/event.js'
import type { Appender } from '../ledger/append.js'
import { segmentName } from '../ledger/segment.js'

export type LineBatch = { readonly first_line: number; readonly events: readonly LedgerEvent[]; readonly bytes: number }

export type LineFault = { readonly line: number; readonly problem: string }

export type LineAnswer = {
  readonly line: number
  readonly event_id: string
  readonly idempotency_key: string
  readonly answer: 'appended' | 'duplicate'
  readonly segment: string
}

export type ParsedLines = { readonly batches: readonly LineBatch[]; readonly faults: readonly LineFault[] }

/** Consecutive lines with the same `batch` member are one batch; the member itself is no part of the event. */
export function parseLines(text: string, scope: Scope): ParsedLines {
  const batches: { first_line: number; label: unknown; events: LedgerEvent[]; bytes: number }[] = []
  const faults: LineFault[] = []
  for (const [index, content] of text.split('\n').entries()) {
    if (content.trim() === '') continue
    const line = index + 1
    const parsed = parseLine(content, scope)
    if ('problem' in parsed) {
      faults.push({ line, problem: parsed.problem })
      continue
    }
    const open = batches.at(-1)
    if (open !== undefined && parsed.label !== undefined && open.label === parsed.label) {
      open.events.push(parsed.event)
      open.bytes += content.length
    } else {
      batches.push({ first_line: line, label: parsed.label, events: [parsed.event], bytes: content.length })
    }
  }
  for (const { first_line, events } of batches) {
    if (events.length > BATCH_EVENTS_MAX) {
      faults.push({
        line: first_line,
        problem: `The batch that begins here has ${events.length} events, ${BATCH_EVENTS_MAX} are the limit. Divide it.`,
      })
    }
  }
  return { batches, faults }
}

function parseLine(content: string, scope: Scope): { readonly event: LedgerEvent; readonly label: unknown } | { readonly problem: string } {
  let raw: unknown
  try {
    raw = JSON.parse(content)
  } catch {
    return { problem: 'The line is not JSON. Write one event as one JSON object on one line.' }
  }
  if (typeof raw !== 'object' || raw === null) return { problem: 'An event is a JSON object. `servo ledger example TYPE` shows one.' }
  const { batch, ...rest } = raw as { readonly batch?: unknown }
  const parsed = parseEvent(rest, scope)
  return parsed.kind === 'event' ? { event: parsed.event, label: batch } : { problem: parsed.detail }
}

/** Batches that go into one segment: enough to be quick, the same ones when the same input is given again. */
const GROUP_EVENTS = 500

/** One segment after another, so that what comes later in the input is folded later. */
export async function* appendBatches(appender: Appender, batches: readonly LineBatch[]): AsyncGenerator<readonly LineAnswer[]> {
  for (const group of groupsOf(batches)) {
    const { kind, head } = await appender.appendTogether(group.map(({ events }) => events))
    const segment = segmentName(head.name)
    yield group.flatMap(({ first_line, events }) =>
      events.map(({ event_id, idempotency_key }, index) => ({
        line: first_line + index,
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
