import { expect, test } from '@jest/globals'
import { parseSecrets } from './secrets.js'

test('entries are read in their order, without the spaces around them', () => {
  expect(parseSecrets('k2:with:colons , k1: one')).toEqual([
    { secret_key_id: 'k2', secret: 'with:colons' },
    { secret_key_id: 'k1', secret: 'one' },
  ])
})

test.each([
  ['hidden', { fault: 'unreadable', entry: 1 }],
  ['k1:one,', { fault: 'unreadable', entry: 2 }],
  ['k1:one,:hidden', { fault: 'unreadable', entry: 2 }],
  ['k=1:hidden', { fault: 'unreadable', entry: 1 }],
  ['k1:one,k2:two,k1:hidden', { fault: 'twice', secret_key_id: 'k1' }],
])('%p has a fault that shows no secret', (text, fault) => {
  expect(parseSecrets(text)).toEqual(fault)
})
