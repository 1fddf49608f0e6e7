import { expect, test } from '@jest/globals'
import type { Dispatch, DispatchRequest } from '../../api/contract/worker.js'
import { locationSecret } from '../../core/location-secret.js'
import { type Secrets, signBody } from '../../core/token.js'
import { type Admission, callbackFault, foreignFault, unsignedFault } from './admission.js'

const W1 = { secret_key_id: 'w1', secret: 'that-of-the-installation' }
const OWN = locationSecret(W1, { tenant_id: 'acme', workspace_id: 'prod', location_name: 'shop' })
const API = 'https://servo.example.com/base'
const admission = (members: Partial<Admission> = {}): Admission => ({ secrets: [], api_urls: [API], allowed_hosts: [], ...members })

const requestFor = (...urls: readonly { readonly callback_url: string; readonly callbacks_url?: string }[]) =>
  ({ protocol: 'servo-worker-v1', dispatches: urls.map((each) => each as Dispatch) }) satisfies DispatchRequest

test.each([`${API}/attempts/1`, 'https://SERVO.example.com:443/base/attempts/1', `${API}/a/../attempts/1`])(
  'a worker reports to %s, which is its API',
  (callback_url) => {
    expect(callbackFault(admission(), requestFor({ callback_url, callbacks_url: `${API}/callbacks` }))).toBeUndefined()
    expect(callbackFault(admission({ api_urls: ['http://api:7800', API] }), requestFor({ callback_url }))).toBeUndefined()
  },
)

test.each([
  'http://servo.example.com/base/attempts/1',
  'https://servo.example.com:8443/base/attempts/1',
  'https://servo.example.com/other/attempts/1',
  'https://servo.example.com/base2/attempts/1',
  'https://servo.example.com/base/../attempts/1',
  'https://servo.example.com.evil.example/base/attempts/1',
  'https://evil.example/base/attempts/1',
  'https://servo.example.com@evil.example/base/attempts/1',
  'https://user@servo.example.com/base/attempts/1',
  'https://servo.example.com\\@evil.example/base/1',
  'no address',
])('a worker reports nothing to %s', (foreign) => {
  const here = { callback_url: `${API}/attempts/1` }
  const words = /^This worker reports to https:\/\/servo\.example\.com\/base alone, and .* Set SERVO_API_URL of the worker/
  expect(callbackFault(admission(), requestFor(here, { callback_url: foreign }))).toMatch(words)
  expect(callbackFault(admission(), requestFor({ ...here, callbacks_url: foreign }))).toMatch(words)
})

test('a worker with the secret of its location takes no other kind of signature, and one without takes that of the release before', () => {
  const [body, now] = ['{}', Date.parse('2025-01-15T10:00:00.000Z')]
  const by = (...secrets: Secrets) => signBody(secrets, body, now)
  const fault = (secrets: Admission['secrets'], headers: object) => unsignedFault(admission({ secrets }), { ...headers }, body, now)
  const both = { 'servo-location-signature': by(OWN), 'servo-signature': by(W1) }
  expect(fault([OWN], both)).toBeUndefined()
  expect(fault([OWN], { 'servo-signature': by(OWN) })).toBe('The request has no signature in its header servo-location-signature.')
  expect(fault([OWN], { ...both, 'servo-location-signature': by(W1) })).toBe('The signature of the request is wrong.')
  expect(fault([W1], both)).toBeUndefined()
  expect(fault([W1], { 'servo-location-signature': by(OWN) })).toBe('The request has no signature in its header servo-signature.')
  expect(fault([], {})).toBeUndefined()
})

test('a worker without a secret is called by a name of its machine, and by no page', () => {
  const open = admission({ allowed_hosts: ['host.docker.internal'] })
  for (const host of ['127.0.0.1:7801', 'localhost', 'host.docker.internal:7801']) expect(foreignFault(open, { host })).toBeUndefined()
  expect(foreignFault(open, { host: 'evil.example:7801' })).toMatch(/^This worker has no secret/)
  expect(foreignFault({ ...open, secrets: [OWN] }, { host: 'worker.example.com' })).toBeUndefined()
  expect(foreignFault({ ...open, proof: () => undefined }, { host: 'worker.example.com' })).toBeUndefined()
  for (const each of [open, { ...open, secrets: [OWN] }])
    expect(foreignFault(each, { host: '127.0.0.1:7801', origin: 'http://evil.example' })).toMatch(/^It comes from a page/)
})
