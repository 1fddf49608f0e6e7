// Where nobody named a collector nothing is sent, recorded or loaded for it; and a collector that is not there harms nothing.

import { afterEach, expect, test } from '@jest/globals'
import { freePort } from '../fixtures/free-port.js'
import { type SpanReceiver, startSpanReceiver } from '../fixtures/span-receiver.js'
import { isSdk, PARTS, startTracedSystem, type TracedSystem } from '../fixtures/traced-system.js'
import { until } from '../fixtures/until.js'
import { readStore } from './side-effects.js'

const TIMEOUT_MS = 120_000

let traced: TracedSystem | undefined
let receiver: SpanReceiver | undefined
afterEach(async () => {
  await traced?.stop()
  await receiver?.close()
  traced = undefined
  receiver = undefined
}, TIMEOUT_MS)

test(
  'without an endpoint nothing is recorded, and what sends spans is not even loaded',
  async () => {
    traced = await startTracedSystem({})
    await traced.run({ selection: 'traced.failing' }, 'FAILED')
    for (const part of PARTS) expect([part, (await traced.endAndTell(part)).filter(isSdk)]).toEqual([part, []])
    const { runs, events } = await readStore({ store: traced.system.store })
    expect(runs.map(({ traceparent }) => traceparent)).toEqual([null])
    expect(events.filter((event) => 'traceparent' in event)).toEqual([])
  },
  TIMEOUT_MS,
)

test(
  'with one it is loaded by each process',
  async () => {
    receiver = await startSpanReceiver()
    traced = await startTracedSystem({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
    await traced.run({ selection: 'traced.failing' }, 'FAILED')
    for (const part of PARTS) expect((await traced.endAndTell(part)).filter(isSdk)).toContain('@opentelemetry/sdk-trace-node')
    // What was left when they ended was sent, too: nothing else is sent within the first seconds.
    const services = new Set(receiver.spans.map(({ service }) => service))
    expect([...services].sort()).toEqual(['servo-api', 'servo-automation', 'servo-worker'])
  },
  TIMEOUT_MS,
)

test(
  'a collector that is not there is told of once by each process, and runs go on',
  async () => {
    const port = await freePort()
    traced = await startTracedSystem({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_SCHEDULE_DELAY: '50' })
    const { system } = traced
    const complaints = (part: 'api' | 'automation' | 'worker') =>
      system
        .log(part)
        .split('\n')
        .filter((line) => line.includes('Spans cannot be sent to'))
    await traced.run({ selection: 'traced.failing' }, 'FAILED')
    for (const part of PARTS) await until(`${part} says so`, () => complaints(part).length > 0, TIMEOUT_MS)
    await traced.run({ selection: 'traced.failing' }, 'FAILED')
    receiver = await startSpanReceiver(port)
    await traced.run({ selection: 'traced.failing' }, 'FAILED')
    for (const part of PARTS) await until(`${part} sends again`, () => system.log(part).includes('Spans are sent to'), TIMEOUT_MS)
    for (const part of PARTS) expect([part, complaints(part).length]).toEqual([part, 1])
  },
  TIMEOUT_MS,
)
