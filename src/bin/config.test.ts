import { expect, test } from '@jest/globals'
import { readApiConfig, readAutomationConfig, readInstallationSecrets, readTracing, readWorkerConfig } from './config.js'

const SECRETS = { SERVO_SECRETS: 'k1:servo-golden-secret' }

test('an API that others can reach is not configured without a token', () => {
  const open = { ...SECRETS, SERVO_HOST: '0.0.0.0' }
  expect(() => readApiConfig(open)).toThrow(/^SERVO_HOST is "0\.0\.0\.0", .* SERVO_API_TOKEN is not set/)
  expect(readApiConfig({ ...open, SERVO_API_TOKEN: 'a-token-of-some-length' })).toMatchObject({ host: '0.0.0.0' })
  expect(readApiConfig(SECRETS)).toMatchObject({ host: '127.0.0.1', api_tokens: [] })
})

test('an API has one token or several, and shows none of them', () => {
  const tokens = (text: string) => readApiConfig({ ...SECRETS, SERVO_API_TOKEN: text }).api_tokens
  expect(tokens('a-token-of-some-length')).toEqual(['a-token-of-some-length'])
  expect(tokens('a-token-of-some-length, the-one-before-it-as-well')).toEqual(['a-token-of-some-length', 'the-one-before-it-as-well'])
  for (const text of ['a-short-one', 'a-token-of-some-length,', 'a-token-of-some-length,a-short-one', 'a token with spaces in it']) {
    expect(() => tokens(text)).toThrow(/^SERVO_API_TOKEN is not as it should be\. Give it 16 characters or more without spaces/)
    expect(() => tokens(text)).not.toThrow(/a-/)
  }
})

test('an API answers to the names that are configured, and to that of its URL', () => {
  const names = (environment: object) => readApiConfig({ ...SECRETS, ...environment }).allowed_hosts
  expect(names({})).toEqual([])
  expect(names({ SERVO_API_URL: 'http://[::1]:7800' })).toEqual([])
  expect(names({ SERVO_API_URL: 'https://API.example.com:8443', SERVO_ALLOWED_HOSTS: 'Servo.example.com, api.example.com' })).toEqual([
    'api.example.com',
    'servo.example.com',
  ])
  expect(() => names({ SERVO_ALLOWED_HOSTS: 'https://servo.example.com' })).toThrow(
    'Give it names without a port, such as servo.example.com',
  )
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

const QUEUE = {
  SERVO_DISPATCH: 'cloud_tasks',
  SERVO_CLOUD_TASKS_PROJECT: 'my-project',
  SERVO_CLOUD_TASKS_LOCATION: 'europe-west1',
  SERVO_CLOUD_TASKS_QUEUE: 'attempts',
}

test('attempts go straight to workers where nobody says otherwise', () => {
  expect(readAutomationConfig(SECRETS).dispatch).toEqual({ kind: 'direct' })
  const { SERVO_DISPATCH: _, ...without } = QUEUE
  expect(readAutomationConfig({ ...SECRETS, ...without }).dispatch).toEqual({ kind: 'direct' })
})

test('a queue has a name, and limits of its own that are left alone', () => {
  expect(readAutomationConfig({ ...SECRETS, ...QUEUE }).dispatch).toMatchObject({
    kind: 'cloud_tasks',
    queue: { project: 'my-project', location: 'europe-west1', queue: 'attempts' },
    service_account: undefined,
    deadline_seconds: 30,
    settings_mode: 'leave',
    settings: { tries: 100, backoff_max_seconds: 10 },
  })
})

test('all that is wrong with the queue is told at once', () => {
  const wrong = {
    ...SECRETS,
    SERVO_DISPATCH: 'cloud_tasks',
    SERVO_CLOUD_TASKS_QUEUE: 'with_underscore',
    SERVO_CLOUD_TASKS_SERVICE_ACCOUNT: 'nobody',
    SERVO_CLOUD_TASKS_DEADLINE_SECONDS: '10',
    SERVO_CLOUD_TASKS_PER_SECOND: '501',
    SERVO_CLOUD_TASKS_SETTINGS: 'maybe',
  }
  expect(() => readAutomationConfig(wrong)).toThrow(
    [
      '6 settings are wrong:',
      '  - SERVO_CLOUD_TASKS_QUEUE is "with_underscore". Use letters, digits and hyphens, 100 at most.',
      '  - SERVO_CLOUD_TASKS_SERVICE_ACCOUNT is "nobody". Give it the e-mail address of a service account, such as servo@my-project.iam.gserviceaccount.com.',
      '  - SERVO_CLOUD_TASKS_DEADLINE_SECONDS is "10". Give it a whole number from 15 to 1800.',
      '  - SERVO_CLOUD_TASKS_SETTINGS is "maybe". Give it one of leave, compare, apply.',
      '  - SERVO_CLOUD_TASKS_PER_SECOND is "501". Give it a whole number from 1 to 500.',
      '  - SERVO_DISPATCH is "cloud_tasks", and SERVO_CLOUD_TASKS_PROJECT, SERVO_CLOUD_TASKS_LOCATION are not set. Name the queue.',
    ].join('\n'),
  )
  expect(() => readAutomationConfig({ ...SECRETS, SERVO_DISPATCH: 'pigeon' })).toThrow('Give it one of direct, cloud_tasks.')
})

test('who has to prove who it is, is told with by which keys', () => {
  expect(readApiConfig(SECRETS).callback_oidc).toBeUndefined()
  expect(readApiConfig({ ...SECRETS, SERVO_CALLBACK_OIDC_AUDIENCE: 'https://servo.example.com' }).callback_oidc).toEqual({
    audience: 'https://servo.example.com',
    issuer: 'https://accounts.google.com',
    keys: 'https://www.googleapis.com/oauth2/v3/certs',
    email: undefined,
  })
  expect(
    readWorkerConfig({
      SERVO_DELIVERY_OIDC_AUDIENCE: 'me',
      SERVO_DELIVERY_OIDC_KEYS: 'keys.json',
      SERVO_CALLBACK_IDENTITY: 'file:token',
    }),
  ).toMatchObject({ delivery_oidc: { audience: 'me', keys: 'keys.json' }, identity: { kind: 'file', path: 'token' } })
  expect(readWorkerConfig({})).toEqual({
    delivery_oidc: undefined,
    identity: undefined,
    api_urls: ['http://127.0.0.1:7800'],
    allowed_hosts: [],
  })
})

test.each([
  [
    { SERVO_DELIVERY_OIDC_KEYS: 'keys.json' },
    /^SERVO_DELIVERY_OIDC_AUDIENCE is not set, so no token would be asked for\. .* or leave SERVO_DELIVERY_OIDC_KEYS out\.$/,
  ],
  [
    { SERVO_DELIVERY_OIDC_AUDIENCE: 'me', SERVO_DELIVERY_OIDC_KEYS: 'http://keys.example.com/' },
    /Give it a file with a JSON Web Key Set, or an https address/,
  ],
  [
    { SERVO_DELIVERY_OIDC_AUDIENCE: 'me', SERVO_DELIVERY_OIDC_EMAIL: 'me' },
    /^SERVO_DELIVERY_OIDC_EMAIL is "me"\. Give it the e-mail address/,
  ],
  [{ SERVO_CALLBACK_IDENTITY: 'token' }, /^SERVO_CALLBACK_IDENTITY is "token"\. Write file:PATH, or google:AUDIENCE/],
])('a worker with %j is not configured', (environment, message) => {
  expect(() => readWorkerConfig(environment)).toThrow(message)
})

test('a worker reports to the API that it is told of, or to several while that moves', () => {
  const urls = (text: string) => readWorkerConfig({ SERVO_API_URL: text }).api_urls
  expect(urls('https://servo.example.com/')).toEqual(['https://servo.example.com'])
  expect(urls('http://api:7800, https://servo.example.com/base')).toEqual(['http://api:7800', 'https://servo.example.com/base'])
  expect(() => urls('http://api:7800,')).toThrow(/^SERVO_API_URL is "http:\/\/api:7800,"\. Give it a URL/)
})

test('the automation derives the secrets of locations, and is not given one', () => {
  const one = 'swl_FoIqkbL6r9F3b2o9r6y0dUe1nUu6qLZ9yZkz3m1QhVw'
  expect(readInstallationSecrets({ SERVO_WORKER_SECRETS: 'w1:a-secret-of-some-length' })).toEqual([
    { secret_key_id: 'w1', secret: 'a-secret-of-some-length' },
  ])
  expect(readInstallationSecrets({})).toBeUndefined()
  expect(() => readAutomationConfig({ ...SECRETS, SERVO_WORKER_SECRETS: `w1:${one}` })).toThrow(
    'SERVO_WORKER_SECRETS is not as it should be. It holds the secret of one location.',
  )
  expect(() => readAutomationConfig({ ...SECRETS, SERVO_WORKER_SECRETS: `w1:${one}` })).not.toThrow(/swl_/)
})
