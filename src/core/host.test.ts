import { expect, test } from '@jest/globals'
import { isForeignOrigin, isLoopback, isOwnHost, listeningFault } from './host.js'

test('loopback is this machine alone', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1']) expect(isLoopback(host)).toBe(true)
  for (const host of ['0.0.0.0', '::', '', '10.0.0.1', '127.0.0.1.example.org', 'localhost.example.org'])
    expect(isLoopback(host)).toBe(false)
})

test('the API listens beyond loopback with a token only', () => {
  for (const host of ['127.0.0.1', 'localhost', '::1']) expect(listeningFault({ host, has_token: false })).toBeUndefined()
  expect(listeningFault({ host: '0.0.0.0', has_token: true })).toBeUndefined()
  expect(listeningFault({ host: '0.0.0.0', has_token: false })).toBe(
    'SERVO_HOST is "0.0.0.0", which others can reach, and SERVO_API_TOKEN is not set: everybody there could deploy and run code. Set a token of 16 characters or more, or listen on 127.0.0.1.',
  )
})

const NAMES = ['servo.example.com']

test.each(['127.0.0.1', '127.0.0.1:8800', 'localhost:1', 'LOCALHOST', '[::1]:8800', 'servo.example.com', 'Servo.Example.com:443'])(
  'a request for %p is for this server',
  (host) => {
    expect(isOwnHost(host, NAMES)).toBe(true)
  },
)

test.each([
  undefined,
  '',
  'evil.example:8800',
  '0.0.0.0:8800',
  '10.0.0.1',
  'localhost.evil.example',
  'evil.example/localhost',
  'evil.example#@localhost',
  'user@localhost',
  'a.servo.example.com',
])('a request for %p is not for this server', (host) => {
  expect(isOwnHost(host, NAMES)).toBe(false)
})

test.each([
  [undefined, '127.0.0.1:8800'],
  ['http://127.0.0.1:8800', '127.0.0.1:8800'],
  ['https://api.example.com', 'api.example.com'],
  ['https://api.example.com', 'api.example.com:443'],
  ['https://servo.example.com', 'api:7800'],
  ['https://servo.example.com:8443', undefined],
])('the origin %p is not foreign for the host %p', (origin, host) => {
  expect(isForeignOrigin(origin, host, NAMES)).toBe(false)
})

test.each([
  ['null', '127.0.0.1:8800'],
  ['', '127.0.0.1:8800'],
  ['http://evil.example', '127.0.0.1:8800'],
  ['http://127.0.0.1:3000', '127.0.0.1:8800'],
  ['http://localhost:8800', '127.0.0.1:8800'],
  ['http://evil.example', undefined],
  ['file://', '127.0.0.1:8800'],
  ['http://servo.example.com.evil.example', '127.0.0.1:8800'],
])('the origin %p is foreign for the host %p', (origin, host) => {
  expect(isForeignOrigin(origin, host, NAMES)).toBe(true)
})
