// One run of real processes is one trace, from the request to the report of its last task, with the spans of the user's own
// code in it; and it holds nothing that is not for the eyes of whoever watches.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type ReceivedSpan, type SpanReceiver, startSpanReceiver, treeOf } from '../fixtures/span-receiver.js'
import { startTracedSystem, type TracedSystem } from '../fixtures/traced-system.js'
import { until } from '../fixtures/until.js'

const TIMEOUT_MS = 120_000
const REQUEST = 'POST /api/v1/orchestration/runs'

let receiver: SpanReceiver
let traced: TracedSystem

beforeAll(async () => {
  receiver = await startSpanReceiver()
  traced = await startTracedSystem({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '100' })
}, TIMEOUT_MS)
afterAll(async () => {
  await traced?.stop()
  await receiver?.close()
}, TIMEOUT_MS)

const named = (name: string, spans: readonly ReceivedSpan[] = receiver.spans) => spans.filter((span) => span.name === name)

/** All spans of the run's trace, once everything that was said of it has been compacted. */
async function traceOf(asked: object, state: string, tasks = 1): Promise<readonly ReceivedSpan[]> {
  const run_id = await traced.run(asked, state)
  return until('its spans have come', () => {
    const trace_id = named('dispatch').find(({ attributes }) => attributes['servo.run_id'] === run_id)?.trace_id
    const spans = receiver.spans.filter((span) => span.trace_id === trace_id)
    const compacted = new Set(named('compaction', spans).flatMap(({ parent_id = '', links }) => [parent_id, ...links]))
    const speakers = spans.filter(({ name }) => name === REQUEST || name.startsWith('callback'))
    // Each process sends its own spans when it likes: what a task has in any of them is counted.
    const ofEach = ['dispatch', 'attempt', 'callback started', 'callback completed'].map((name) => named(name, spans).length)
    const isWhole = speakers.every(({ span_id }) => compacted.has(span_id)) && ofEach.every((count) => count === tasks)
    return isWhole ? spans : undefined
  })
}

const attempt = (code: readonly object[], reports: readonly object[]) => ({
  name: 'servo-automation dispatch',
  below: [{ name: 'servo-worker attempt', below: [...reports, ...code] }],
})
const said = (name: string) => ({ name: `servo-api ${name}`, below: [{ name: 'servo-api append', below: [] }] })

test(
  'a run is one tree of spans, from the request to the last report',
  async () => {
    const partitions = { keys: ['partition-kept-out-of-spans'] }
    const spans = await traceOf({ selection: ['traced.first', 'traced.second'], partitions }, 'SUCCEEDED', 2)
    const [top, ...others] = spans.filter(({ parent_id }) => parent_id === undefined)
    expect([top?.name, others]).toEqual([REQUEST, []])
    const code = [{ name: 'servo-worker code', below: [{ name: 'servo-worker load rows', below: [] }] }]
    const task = attempt(code, [said('callback completed'), said('callback started')])
    // Whoever is folded together shares a compaction: which is below which depends on when a turn came.
    expect(treeOf(spans, top as ReceivedSpan, ({ name }) => name !== 'compaction')).toEqual({
      name: `servo-api ${REQUEST}`,
      below: [{ name: 'servo-api append', below: [] }, task, task],
    })
    const ids = new Set(spans.map(({ span_id }) => span_id))
    expect(named('compaction', spans).filter(({ parent_id = '', links }) => ![parent_id, ...links].every((id) => ids.has(id)))).toEqual([])
    expect(spans.filter(({ began_ms, ended_ms }) => began_ms > ended_ms)).toEqual([])
    expect(named('dispatch', spans).map(({ attributes }) => attributes['servo.task_key'])).toEqual(['traced.first', 'traced.second'])
    expect(named('attempt', spans).map(({ attributes }) => attributes['servo.outcome'])).toEqual(['SUCCEEDED', 'SUCCEEDED'])
  },
  TIMEOUT_MS,
)

test(
  'code that fails is a span that says so, and nothing of what it said is in it',
  async () => {
    const spans = await traceOf({ selection: 'traced.failing' }, 'FAILED')
    expect(named('code', spans)).toMatchObject([{ is_error: true, attributes: { 'error.type': 'TypeError' } }])
    expect(named('attempt', spans)).toMatchObject([{ is_error: false, attributes: { 'servo.outcome': 'FAILED' } }])
    expect(receiver.text()).not.toContain('kept-out-of-spans')
    for (const secret of Object.values(traced.system.environment).filter((value) => value.includes('secret'))) {
      expect(receiver.text()).not.toContain(secret.split(':')[1])
    }
    expect(receiver.text()).not.toMatch(/servo1\./)
  },
  TIMEOUT_MS,
)

test(
  'a caller who is traced finds the run in his own trace, and a read too',
  async () => {
    const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736'
    const headers = { traceparent: `00-${trace_id}-00f067aa0ba902b7-01`, 'content-type': 'application/json' }
    const url = `${traced.system.environment['SERVO_API_URL']}/api/v1/orchestration/runs`
    await fetch(url, { method: 'POST', headers, body: JSON.stringify({ selection: 'traced.failing' }) })
    await fetch(url, { headers })
    await fetch(url)
    const own = () => receiver.spans.filter((span) => span.trace_id === trace_id)
    await until('the attempt is in the trace', () => named('attempt', own()).length > 0)
    await until('the read is in the trace', () => named('GET /api/v1/orchestration/runs', own()).length > 0)
    expect(
      own()
        .filter(({ parent_id }) => parent_id === '00f067aa0ba902b7')
        .map(({ name }) => name),
    ).toContain(REQUEST)
    expect(receiver.spans.filter(({ name }) => name.startsWith('GET')).every((span) => span.trace_id === trace_id)).toBe(true)
  },
  TIMEOUT_MS,
)
