import { expect, test } from '@jest/globals'
import { createToldSpans, traceparentNumber } from '../../test/fixtures/told-spans.js'
import { NO_TRACES, traceCompaction, withTrace } from './trace.js'

const clock = { now: () => 10_000, elapsed: () => 700, sleep: async () => undefined }
const turn = { 'servo.sequence': 7 }
const compacted = (given: readonly string[], first_folded_at: number | null = 500) => ({
  traces: given.reduce(withTrace, NO_TRACES),
  segments: [1, 2],
  first_folded_at,
})

test('what was folded of a trace is one span in it, below the first that spoke and linked to the others', () => {
  const tracing = createToldSpans()
  const [first, second, other] = [traceparentNumber(1, 1), traceparentNumber(1, 2), traceparentNumber(2, 1)]
  traceCompaction({ tracing, clock }, compacted([first, other, second, first]), turn)
  const attributes = { 'servo.sequence': 7, 'servo.segment_count': 2 }
  expect(tracing.spans).toMatchObject([
    {
      name: 'compaction',
      parent: first,
      links: [second],
      at: 9_800,
      ended_at: 10_000,
      attributes: { ...attributes, 'servo.event_count': 3 },
    },
    { name: 'compaction', parent: other, links: [], at: 9_800, ended_at: 10_000, attributes: { ...attributes, 'servo.event_count': 1 } },
  ])
})

test('of two thousand traces sixty-four are told of, and of two thousand requests in one of them thirty-two', () => {
  const tracing = createToldSpans()
  const requests = Array.from({ length: 2_000 }, (_, index) => traceparentNumber(0, index))
  const others = Array.from({ length: 2_000 }, (_, index) => traceparentNumber(index, 0))
  traceCompaction({ tracing, clock }, compacted([...requests, ...others]), turn)
  expect(tracing.spans).toHaveLength(64)
  expect(tracing.spans[0]?.links).toHaveLength(31)
  expect(tracing.spans[0]?.attributes?.['servo.event_count']).toBe(2_001)
})

test('what no tracer could have made is as good as nothing', () => {
  const tracing = createToldSpans()
  traceCompaction({ tracing, clock }, compacted(['', 'x'.repeat(100_000), `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`]), turn)
  expect(tracing.spans).toEqual([])
})
