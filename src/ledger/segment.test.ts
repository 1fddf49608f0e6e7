import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  BATCH_BYTES_MAX,
  BATCH_EVENTS_MAX,
  EVENT_BYTES_MAX,
  QUARANTINE_RAW_BYTES_MAX,
  SEGMENT_BYTES_MAX,
  SEGMENT_EVENTS_MAX,
} from '../core/limits.js'
import { EVENT_TYPES, exampleOf, type LedgerEvent } from '../events/event.js'
import { batchSpans } from './json-span.js'
import {
  BatchRefusedError,
  batchFaults,
  encodeSegment,
  packBatch,
  parseSegment,
  quarantinedSegment,
  type Segment,
  type SegmentEntry,
  segmentMeta,
  segmentName,
  segmentObjectName,
  WHOLE,
} from './segment.js'

const SCOPE = { tenant_id: 'acme', workspace_id: 'prod' }
const WRITE_ID = '01JHMPFN9E4W8R2T6Y0B3D5F7H'
const BATCH_ID = '01JHMPFN9D4W8R2T6Y0B3D5F7H'
const EXAMPLES = EVENT_TYPES.map((event_type): LedgerEvent => exampleOf(event_type))
const POOL = exampleOf('PoolDefined')

const segmentOf = (...batches: readonly (readonly unknown[])[]): Segment => ({
  ...SCOPE,
  write_id: WRITE_ID,
  written_at: '2025-01-15T10:00:00.130Z',
  batches: batches.map((events) => ({ batch_id: BATCH_ID, events: events as readonly LedgerEvent[] })),
})
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (segment: Segment): string => Buffer.from(encodeSegment(segment)).toString('utf8')
const parse = (text: string) => parseSegment(bytesOf(text), SCOPE)
const withNote = (characters: number) => ({ ...POOL, payload: { ...POOL.payload, note: 'x'.repeat(characters) } }) as LedgerEvent
const entriesOf = (text: string): readonly SegmentEntry[] => parse(text).batches.flatMap(({ entries }) => entries)

describe('a segment', () => {
  test('comes back as it was written', () => {
    const segment = segmentOf(EXAMPLES, [POOL])
    expect(parseSegment(encodeSegment(segment), SCOPE)).toEqual({
      batches: segment.batches.map(({ batch_id, events }, batch_index) => ({
        batch_index,
        batch_id,
        entries: events.map((event) => ({ kind: 'event', event })),
      })),
    })
    expect(textOf(segment)).toMatch(/^\{"schema":"servo-segment-v1","tenant_id":"acme","workspace_id":"prod","write_id":"01JHMPFN9E/)
  })

  test('any batches of good events come back', () => {
    const batches = fc.array(fc.array(fc.constantFrom(...EXAMPLES), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(batches, (some) => {
        const parsed = parseSegment(encodeSegment(segmentOf(...some)), SCOPE)
        expect(parsed.batches.map(({ entries }) => entries.map((entry) => entry.kind === 'event' && entry.event))).toEqual(some)
      }),
    )
  })

  test('says in its metadata what a HEAD has to tell', () => {
    const { write_id, batches } = segmentOf(EXAMPLES, [POOL])
    expect(segmentMeta({ keys_sha256: 'f'.repeat(64), write_id, batches })).toEqual({
      schema: 'servo-segment-v1',
      keys_sha256: 'f'.repeat(64),
      write_id,
      batch_count: '2',
      count: String(EXAMPLES.length + 1),
      lead_event_id: EXAMPLES[0]?.event_id,
    })
  })

  test('has the name of its ULID', () => {
    const name = segmentObjectName('01JHMPFN80G8M4P9V0MMKSSZ7N')
    expect(name).toBe('ledger/orchestration/01JHMPFN80G8M4P9V0MMKSSZ7N.json')
    expect(segmentName(name)).toBe('01JHMPFN80G8M4P9V0MMKSSZ7N')
  })
})

describe('a segment that cannot be read', () => {
  const good = JSON.parse(textOf(segmentOf([POOL]))) as Record<string, unknown>
  const changed = (members: object): string => JSON.stringify({ ...good, ...members })

  test.each([
    ['no JSON', '{"schema":', 'BAD_JSON', /^The segment is not JSON: /],
    ['nothing', '', 'BAD_JSON', /^The segment is not JSON/],
    ['another value', '[1]', 'BAD_SCHEMA', /no JSON object/],
    ['another schema', changed({ schema: 'x' }), 'BAD_SCHEMA', /schema is not servo-segment-v1/],
    ['a later schema', changed({ schema: 'servo-segment-v2' }), 'UNKNOWN_VERSION', /servo-segment-v2, .* Install a later one/],
    ['another tenant', changed({ tenant_id: 'other' }), 'WRONG_WORKSPACE', /tenant acme, workspace prod/],
    ['another workspace', changed({ workspace_id: 'other' }), 'WRONG_WORKSPACE', /another workspace/],
    ['no write id', changed({ write_id: 'w' }), 'BAD_SCHEMA', /write_id is no ULID/],
    ['no batches', changed({ batches: {} }), 'BAD_SCHEMA', /batches are no list/],
  ])('%s: is one entry with its text', (_name, text, reason, detail) => {
    const { batches } = parse(text)
    expect(batches).toMatchObject([
      { batch_index: WHOLE, batch_id: '', entries: [{ kind: 'quarantine', reason, event_index: WHOLE, raw: text }] },
    ])
    const [entry] = batches[0]?.entries ?? []
    expect(entry?.kind === 'quarantine' && entry.detail).toMatch(detail)
  })

  test('bytes that are no text are kept as base64', () => {
    const bytes = Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)
    expect(parseSegment(bytes, SCOPE).batches[0]?.entries[0]).toMatchObject({
      reason: 'BAD_JSON',
      raw: Buffer.from(bytes).toString('base64'),
    })
  })

  test('more than 8 MB are not even parsed, and kept in part', () => {
    const text = `"${'é'.repeat(SEGMENT_BYTES_MAX / 2)}"`
    const [entry] = entriesOf(text)
    expect(entry).toMatchObject({ reason: 'TOO_LARGE', detail: 'The segment has 8388610 bytes, 8388608 are the limit.' })
    // The first byte is a quote, so the cut falls into a character, which is left out.
    expect(entry?.kind === 'quarantine' && entry.raw).toBe(text.slice(0, QUARANTINE_RAW_BYTES_MAX / 2))
  })

  test('endless small parts make one row, not one each', () => {
    const batch = { batch_id: BATCH_ID, events: Array.from({ length: SEGMENT_EVENTS_MAX }, () => 0) }
    expect(entriesOf(changed({ batches: [batch] }))).toMatchObject([{ reason: 'TOO_LARGE', event_index: WHOLE }])
    expect(entriesOf(changed({ batches: Array.from({ length: SEGMENT_EVENTS_MAX + 1 }, () => 0) }))).toMatchObject([
      { reason: 'TOO_LARGE' },
    ])
  })

  test('nesting exhausts no stack', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    expect(entriesOf(deep)).toMatchObject([{ reason: 'BAD_SCHEMA' }])
    const text = changed({ batches: [{ batch_id: BATCH_ID, events: [0] }] }).replace('[0]', `[${deep}]`)
    expect(entriesOf(text)).toMatchObject([{ reason: 'BAD_SCHEMA', event_index: 0, raw: deep }])
  })

  test('one that came too late is kept the same way', () => {
    const bytes = encodeSegment(segmentOf([POOL]))
    expect(quarantinedSegment('LATE', bytes, 'Too late.').batches).toMatchObject([
      { batch_index: WHOLE, entries: [{ reason: 'LATE', detail: 'Too late.', raw: Buffer.from(bytes).toString('utf8') }] },
    ])
  })
})

describe('a batch that cannot be read', () => {
  const withBatch = (batch: unknown): string =>
    JSON.stringify({
      ...(JSON.parse(textOf(segmentOf([POOL], [POOL]))) as object),
      batches: [{ batch_id: BATCH_ID, events: [POOL] }, batch],
    })

  test.each([
    [7, 'BAD_SCHEMA', /batch_id/],
    [null, 'BAD_SCHEMA', /batch_id/],
    [{ batch_id: 'b', events: [] }, 'BAD_SCHEMA', /batch_id is no ULID/],
    [{ batch_id: BATCH_ID, events: {} }, 'BAD_SCHEMA', /events are no list/],
  ])('%j leaves the others alone', (batch, reason, detail) => {
    const [first, second] = parse(withBatch(batch)).batches
    expect(first?.entries).toEqual([{ kind: 'event', event: POOL }])
    expect(second).toMatchObject({ batch_index: 1, entries: [{ reason, event_index: WHOLE, raw: JSON.stringify(batch) }] })
    const [entry] = second?.entries ?? []
    expect(entry?.kind === 'quarantine' && entry.detail).toMatch(detail)
  })

  test('2,000 events are the limit', () => {
    const events = (count: number) => Array.from({ length: count }, () => 0)
    const parsed = (count: number) => parse(withBatch({ batch_id: BATCH_ID, events: events(count) })).batches[1]?.entries
    expect(parsed(BATCH_EVENTS_MAX)).toHaveLength(BATCH_EVENTS_MAX)
    expect(parsed(BATCH_EVENTS_MAX + 1)).toMatchObject([
      { reason: 'TOO_LARGE', event_index: WHOLE, detail: expect.stringContaining('2001 events') },
    ])
  })

  test('4 MB as stored are the limit', () => {
    const events = (count: number) => Array.from({ length: count }, () => withNote(200_000))
    const [small, large] = parse(textOf(segmentOf(events(10), events(21)))).batches
    expect(small?.entries).toHaveLength(10)
    expect(large?.entries).toMatchObject([
      { reason: 'TOO_LARGE', event_index: WHOLE, detail: expect.stringContaining('4194304 are the limit') },
    ])
  })
})

describe('an event that cannot be read', () => {
  test('keeps its place, and its text to the letter', () => {
    const later =
      '{ "event_type" :"SensorEvaluated","event_version":1,\n "event_id":"01JHMPFN9C4W8R2T6Y0B3D5F7H", "payload":{"a]}\\"":[{"x":"\\u00e9\\\\"}, 1.50e+1]} }'
    const text = textOf(segmentOf([POOL, 1, POOL])).replace(',1,{', `, ${later} ,{`)
    expect(entriesOf(text)).toEqual([
      { kind: 'event', event: POOL },
      {
        kind: 'quarantine',
        reason: 'UNKNOWN_TYPE',
        detail: expect.stringContaining('"SensorEvaluated"'),
        event_type: 'SensorEvaluated',
        event_version: 1,
        event_id: '01JHMPFN9C4W8R2T6Y0B3D5F7H',
        event_index: 1,
        raw: later,
      },
      { kind: 'event', event: POOL },
    ])
  })

  test('of another workspace, or too large', () => {
    const other = { ...POOL, workspace_id: 'test' }
    const [first, second] = entriesOf(textOf(segmentOf([other as LedgerEvent, withNote(EVENT_BYTES_MAX)])))
    expect(first).toMatchObject({ reason: 'WRONG_WORKSPACE', event_index: 0, raw: JSON.stringify(other) })
    expect(second).toMatchObject({ reason: 'TOO_LARGE', event_index: 1 })
    expect(second?.kind === 'quarantine' && second.raw).toHaveLength(QUARANTINE_RAW_BYTES_MAX)
  })
})

describe('batchSpans', () => {
  test('finds what JSON.parse finds, however the text is laid out', () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const member = fc.constantFrom('events', 'batches', 'batch_id', 'x"}]', 'é')
    const batch = fc.oneof(fc.dictionary(member, fc.oneof(value, fc.array(value))), value)
    const segment = fc.record({ before: value, batches: fc.array(batch), after: value })
    fc.assert(
      fc.property(segment, fc.constantFrom('', ' ', '\n\t', '  '), (some, indent) => {
        const text = `${indent}${JSON.stringify(some, null, indent)}${indent}`
        const parsed = JSON.parse(text) as { readonly batches: readonly unknown[] }
        const spans = batchSpans(text)
        const read = ({ start, end }: { readonly start: number; readonly end: number }): unknown => JSON.parse(text.slice(start, end))
        expect(spans.map(read)).toEqual(parsed.batches)
        for (const [index, each] of parsed.batches.entries()) {
          const events =
            typeof each === 'object' && each !== null && !Array.isArray(each) ? (each as { events?: unknown }).events : undefined
          expect(spans[index]?.events.map(read)).toEqual(Array.isArray(events) ? events : [])
        }
      }),
    )
  })

  test('takes the last of two members with one name', () => {
    const text = '{"batches":[1],"batches":[{"events":[2],"events":[3,4]}]}'
    const events = batchSpans(text)[0]?.events ?? []
    expect(events.map(({ start, end }) => text.slice(start, end))).toEqual(['3', '4'])
  })
})

describe('packBatch', () => {
  test('weighs what may be appended', () => {
    const weight = packBatch(EXAMPLES, SCOPE).bytes
    const stored = textOf(segmentOf(EXAMPLES)).length - textOf(segmentOf()).length
    expect(weight).toBeGreaterThanOrEqual(stored)
    expect(weight).toBeLessThan(stored + 50)
  })

  test('refuses with size and limit in the message', () => {
    const refusal = (events: readonly LedgerEvent[]): string => {
      try {
        packBatch(events, SCOPE)
        return 'none'
      } catch (error) {
        expect(error).toBeInstanceOf(BatchRefusedError)
        return (error as BatchRefusedError).message
      }
    }
    expect(refusal([])).toMatch(/no events/)
    expect(refusal(Array.from({ length: BATCH_EVENTS_MAX + 1 }, () => POOL))).toMatch(/2001 events, 2000 are the limit/)
    expect(refusal([POOL, withNote(EVENT_BYTES_MAX)])).toMatch(
      /^Event 1 of the batch: The event has 262\d+ bytes in canonical JSON, 262144 are the limit/,
    )
    expect(refusal(Array.from({ length: 21 }, () => withNote(200_000)))).toMatch(/^The batch has 42\d+ bytes, 4194304 are the limit/)
    expect(BATCH_BYTES_MAX).toBe(4_194_304)
  })

  test('names every event that nobody could read', () => {
    const faults = batchFaults(
      [POOL, { ...POOL, event_id: 'x' }, { ...POOL, workspace_id: 'test' }, { ...POOL, event_version: 2 } as unknown as LedgerEvent],
      SCOPE,
    )
    expect(faults.map(({ event_index, reason }) => [event_index, reason])).toEqual([
      [1, 'BAD_SCHEMA'],
      [2, 'WRONG_WORKSPACE'],
      [3, 'UNKNOWN_VERSION'],
    ])
  })
})
