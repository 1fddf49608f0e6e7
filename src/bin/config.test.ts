import { expect, test } from '@jest/globals'
import { readApiConfig, readAutomationConfig, readTracing } from './config.js'

const SECRETS = { SERVO_SECRETS: 'k1:servo-golden-secret' }

test('an API that others can reach is not configured without a token', () => {
  const open = { ...SECRETS, SERVO_HOST: '0.0.0.0' }
  expect(() => readApiConfig(open)).toThrow(/^SERVO_HOST is "0\.0\.0\.0", .* SERVO_API_TOKEN is not set/)
  expect(readApiConfig({ ...open, SERVO_API_TOKEN: 'a-token-of-some-length' })).toMatchObject({ host: '0.0.0.0' })
  expect(readApiConfig(SECRETS)).toMatchObject({ host: '127.0.0.1', api_token: undefined })
})

test('all that is wrong is told at once, and no secret of it', () => {
  const wrong = { SERVO_SECRETS: 'k1:short', SERVO_PORT: 'many', SERVO_HOST: '0.0.0.0' }
  expect(() => readApiConfig(wrong)).toThrow(/^3 settings are wrong:\n/)
  expect(() => readApiConfig(wrong)).not.toThrow(/short/)
})

test.each([
  [{}, { host: '127.0.0.1', port: 7802 }],
  [
    { SERVO_METRICS_PORT: '9100', SERVO_METRICS_HOST: '::1' },
    { host: '::1', port: 9100 },
  ],
  [{ SERVO_METRICS_PORT: 'none' }, undefined],
  [{ SERVO_METRICS_PORT: '0' }, undefined],
])('an automation with %j serves its metrics at %j', (environment, metrics) => {
  expect(readAutomationConfig({ ...SECRETS, ...environment }).metrics).toEqual(metrics)
})

test('an automation whose port of metrics is none that there can be is not configured', () => {
  expect(() => readAutomationConfig({ ...SECRETS, SERVO_METRICS_PORT: '70000' })).toThrow(
    'SERVO_METRICS_PORT is "70000". Give it a port from 1 to 65535, or none.',
  )
})

test.each([
  [{}, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' }, 'http://127.0.0.1:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/other' }, 'http://127.0.0.1:4318/other'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'True' }, undefined],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, undefined],
])('with %j spans are sent to %j', (environment, traces_url) => {
  expect(readTracing(environment)).toEqual({ traces_url })
  expect(readApiConfig({ ...SECRETS, ...environment }).traces_url).toBe(traces_url)
})

test('an endpoint that cannot be spoken to is told of at the start', () => {
  const wrong = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
  expect(() => readTracing(wrong)).toThrow('OTEL_EXPORTER_OTLP_ENDPOINT is "collector:4317". Give it a URL')
  expect(() => readTracing({ ...wrong, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4317' })).toThrow(
    'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc". Spans are sent over HTTP',
  )
})
