import { expect, test } from '@jest/globals'
import { readApiConfig, readAutomationConfig } from './config.js'

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
