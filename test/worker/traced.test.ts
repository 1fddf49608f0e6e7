// A worker in the trace of its dispatch: with a tracer that the user's module registered, and without any.

import { afterEach, describe, expect, test } from '@jest/globals'
import { context, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { type Dispatch, dispatchResponse } from '../../src/api/contract/worker.js'
import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { openSharedTracing } from '../../src/bin/tracing.js'
import { asset } from '../../src/sdk/asset.js'
import { defineCodeLocation } from '../../src/sdk/code-location.js'
import { startWorker, type Worker } from '../../src/sdk/worker/worker.js'
import { type Receiver, startReceiver } from '../fixtures/callback-receiver.js'
import { traceparentNumber } from '../fixtures/told-spans.js'
import { livingDispatch, newAttempt } from './living.js'
import { readStory } from './stories.js'

const template = readStory('skip').request.dispatches[0] as Dispatch
const SENT = traceparentNumber(5, 6)

let receiver: Receiver
let worker: Worker
afterEach(async () => {
  await worker.close()
  await receiver.close()
  trace.disable()
  context.disable()
  expect(receiver.faults).toEqual([])
})

/** One attempt, with what came with its callbacks. */
async function run(dispatched: Partial<Dispatch>, takes_together: boolean): Promise<readonly unknown[]> {
  receiver = await startReceiver({ takes_together })
  const code = () => trace.getTracer('pipeline').startSpan('own').end()
  worker = await startWorker({
    location: defineCodeLocation({ name: 'here', assets: [asset({ key: 'one', deps: ['source'], run: code })] }),
    host: '127.0.0.1',
    port: 0,
    slots: 1,
    secrets: [],
    api_urls: [receiver.api_url],
    worker_id: 'worker-1',
    clock: systemClock,
    random: systemRandom(),
    log: () => undefined,
    tracing: await openSharedTracing({ service_name: 'servo-worker', attributes: {}, log: () => undefined }),
  })
  const attempt_id = newAttempt()
  const living = { ...livingDispatch(receiver, template, attempt_id), asset_key: 'one', location_name: 'here', ...dispatched }
  const body = JSON.stringify({ protocol: 'servo-worker-v1', dispatches: [living] })
  const response = await fetch(`${worker.url}/servo/v1/dispatch`, { method: 'POST', body })
  expect(dispatchResponse.parse(await response.json()).answers).toMatchObject([{ answer: 'ACCEPTED' }])
  await receiver.completed(attempt_id)
  return receiver.traceparents
}

function registered(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter()
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register()
  return exporter
}

describe.each([false, true])('callbacks that go together: %j', (takes_together) => {
  test('a tracer of the user is asked for the spans of the attempt, and its context goes back', async () => {
    const exporter = registered()
    const came = await run({ traceparent: SENT }, takes_together)
    // The attempt ends when its last callback is answered, and this is told of a moment earlier.
    await worker.close()
    const spans = exporter.getFinishedSpans()
    const ids = new Map(spans.map((span) => [span.name, span.spanContext().spanId]))
    const below = Object.fromEntries(spans.map(({ name, parentSpanContext }) => [name, parentSpanContext?.spanId]))
    expect(below).toEqual({ attempt: SENT.split('-')[2], code: ids.get('attempt'), own: ids.get('code') })
    expect([...new Set(came)]).toEqual([`00-${SENT.split('-')[1]}-${ids.get('attempt')}-01`])
  })

  test('without a tracer the traceparent goes back as it came', async () => {
    expect([...new Set(await run({ traceparent: SENT }, takes_together))]).toEqual([SENT])
  })

  test('without both nothing goes back', async () => {
    expect([...new Set(await run({}, takes_together))]).toEqual([undefined])
  })
})

test('an attempt whose run is not traced begins a trace of its own', async () => {
  const exporter = registered()
  const came = await run({}, true)
  await worker.close()
  const attempt = exporter.getFinishedSpans().find(({ name }) => name === 'attempt')
  expect(attempt?.parentSpanContext).toBeUndefined()
  expect([...new Set(came)]).toEqual([`00-${attempt?.spanContext().traceId}-${attempt?.spanContext().spanId}-01`])
})
