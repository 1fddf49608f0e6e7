import { expect, test } from '@jest/globals'
import { partitionKeyProblem } from './partition-key.js'

test.each(['2025-01-15', 'us', 'date=2025-01-15|region=us', 'é', '....', 'a b', 'x'.repeat(256), 'é'.repeat(128)])(
  '%j is a partition key',
  (key) => {
    expect(partitionKeyProblem(key)).toBeNull()
  },
)

test.each([
  ['', 'is empty'],
  ['...', 'is reserved'],
  ['a\nb', 'has a control character'],
  ['e\u0301', 'is not in the composed form'],
  ['a\ud800', 'has half a character'],
  ['x'.repeat(257), 'is longer than 256 bytes'],
  ['é'.repeat(129), 'is longer than 256 bytes'],
])('%j is refused with its reason', (key, reason) => {
  expect(partitionKeyProblem(key)).toContain(reason)
})
