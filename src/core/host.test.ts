import { expect, test } from '@jest/globals'
import { isLoopback, listeningFault } from './host.js'

test('loopback is this machine alone', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1']) expect(isLoopback(host)).toBe(true)
  for (const host of ['0.0.0.0', '::', '', '10.0.0.1', '127.0.0.1.example.org', 'localhost.example.org'])
    expect(isLoopback(host)).toBe(false)
})

test('the API listens beyond loopback with a token only', () => {
  for (const host of ['127.0.0.1', 'localhost', '::1']) expect(listeningFault({ host, api_token: undefined })).toBeUndefined()
  expect(listeningFault({ host: '0.0.0.0', api_token: 'x' })).toBeUndefined()
  expect(listeningFault({ host: '0.0.0.0', api_token: undefined })).toBe(
    'SERVO_HOST is "0.0.0.0", which others can reach, and SERVO_API_TOKEN is not set: everybody there could deploy and run code. Set a token of 16 characters or more, or listen on 127.0.0.1.',
  )
})
