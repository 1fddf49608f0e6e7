import { expect, test } from '@jest/globals'
import { readSecrets } from './secrets.js'

test.each([
  [undefined, []],
  ['  ', []],
  ['k1:one', [{ secret_key_id: 'k1', secret: 'one' }]],
  [
    'k2:with:colons, k1:one',
    [
      { secret_key_id: 'k2', secret: 'with:colons' },
      { secret_key_id: 'k1', secret: 'one' },
    ],
  ],
])('%p', (text, secrets) => {
  expect(readSecrets(text)).toEqual(secrets)
})

test.each(['hidden', ':hidden', 'k1:', 'k1:hidden,', 'k=1:hidden', 'k1:hidden,k1:hidden'])('%p is refused, and not shown', (text) => {
  const read = readSecrets(text)
  expect(read).toMatchObject({ problem: expect.stringMatching(/SERVO_WORKER_SECRETS.*\.$/) })
  expect(JSON.stringify(read)).not.toContain('hidden')
})
