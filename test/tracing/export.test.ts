// What is sent to a collector, and what the variables that everybody knows do to it.

import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { startExport } from '../../src/telemetry/open-telemetry.js'
import { inSpan, type Tracing, within } from '../../src/telemetry/tracing.js'
import { type SpanReceiver, startSpanReceiver } from '../fixtures/span-receiver.js'
import { traceparentNumber } from '../fixtures/told-spans.js'

let receiver: SpanReceiver
let logged: string[] = []
const before = { ...process.env }
beforeEach(async () => {
  receiver = await startSpanReceiver()
  logged = []
})
afterEach(async () => {
  await receiver.close()
  process.env = { ...before }
})

const open = (environment: Readonly<Record<string, string>> = {}): Tracing => {
  Object.assign(process.env, environment)
  return startExport({
    url: `${receiver.url}/v1/traces`,
    service_name: 'servo-api',
    attributes: { 'servo.workspace': 'prod' },
    is_shared: false,
    log: (line) => logged.push(line),
  })
}

test('spans that are called in each other are below each other, also when many go on at once', async () => {
  const tracing = open()
  const outer = ['a', 'b', 'c'].map((name) =>
    within(tracing.start(name, { is_root: true }), async () => {
      await Promise.resolve()
      return inSpan(tracing, `in ${name}`, { 'servo.event_count': 2 }, async () => tracing.traceparent())
    }),
  )
  const traceparents = await Promise.all(outer)
  expect(tracing.traceparent()).toBeUndefined()
  expect(await inSpan(tracing, 'alone', {}, async (span) => span)).toBeUndefined()
  await tracing.close()
  const ids = new Map(receiver.spans.map(({ name, span_id }) => [name, span_id]))
  expect(receiver.spans.map(({ name, parent_id }) => [name, parent_id]).sort()).toEqual([
    ['a', undefined],
    ['b', undefined],
    ['c', undefined],
    ...['a', 'b', 'c'].map((name) => [`in ${name}`, ids.get(name)]),
  ])
  expect(traceparents.map((traceparent) => traceparent?.split('-')[2])).toEqual(['a', 'b', 'c'].map((name) => ids.get(`in ${name}`)))
  expect(receiver.text()).toContain('"servo.workspace"')
})

test('of an error its kind is sent, and no word of it', async () => {
  const tracing = open()
  const failing = within(tracing.start('work'), async () => Promise.reject(new RangeError('no word of it')))
  await expect(failing).rejects.toThrow('no word of it')
  await tracing.close()
  expect(receiver.spans).toMatchObject([{ is_error: true, attributes: { 'error.type': 'RangeError' } }])
  expect(receiver.text()).not.toContain('no word of it')
})

test('what is not sampled is not sent, and says so to nobody', async () => {
  const tracing = open({ OTEL_TRACES_SAMPLER: 'always_off' })
  const span = tracing.start('work', { parent: traceparentNumber(1, 1) })
  expect([span.traceparent, span.within(() => tracing.traceparent())]).toEqual([undefined, undefined])
  span.end()
  await tracing.close()
  expect(receiver.requests()).toBe(0)
})

test('a caller who keeps no spans is followed in it', async () => {
  const tracing = open()
  const span = tracing.start('work', { parent: traceparentNumber(1, 1).replace(/01$/, '00') })
  expect(span.traceparent).toBeUndefined()
  span.end()
  await tracing.close()
  expect(receiver.requests()).toBe(0)
})

test('what the operator says of the process stands', async () => {
  const tracing = open({ OTEL_SERVICE_NAME: 'servo-api-eu', OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=eu' })
  tracing.start('work').end()
  await tracing.close()
  expect(receiver.spans.map(({ service }) => service)).toEqual(['servo-api-eu'])
  expect(receiver.text()).toContain('"deployment.environment"')
})

test('a collector that refuses is told of once, and the process that ends does not wait for it', async () => {
  const tracing = open({ OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1', OTEL_BSP_SCHEDULE_DELAY: '1' })
  receiver.answerWith(400)
  for (let count = 0; count < 5; count++) tracing.start('work').end()
  await tracing.close()
  expect(logged).toHaveLength(1)
  expect(logged[0]).toMatch(
    /^Spans cannot be sent to http:\/\/127\.0\.0\.1:\d+\/v1\/traces now, and are dropped until it answers; everything else goes on: \w/,
  )
  expect(receiver.requests()).toBe(5)
})
