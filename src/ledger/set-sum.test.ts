import { expect, test } from '@jest/globals'
import { addToSetSum, EMPTY_SET_SUM, setSumFrom, setSumText } from './set-sum.js'

// Worked out with another language: every revision that was ever published has a sum of this form.
const GOLDEN = [
  ['01JHMPFN80G8M4P9V0MMKSSZ7N', '1c291ca3', 'b85c286a79066a478013151e6ed810eb68a9ce9396c06a1952bf71ef6e79b78b'],
  ['01JHMPFN80G8M4P9V0MMKSSZ7P', '00000000', '3c9b39ddacb745ac5cf8cb6c32824e7e3282639387e4b06b68490c75675a29d0'],
  ['01JHMPFN80G8M4P9V0MMKSSZ7Q', 'ffffffff', 'c4d01be9b46b640a21069d8d99d299189ccbeefe134967d556b4a51080418799'],
] as const

test('the sum of known segments is known, past the modulus too', () => {
  let sum = EMPTY_SET_SUM
  expect(setSumText(sum)).toBe('0'.repeat(64))
  for (const [segment_name, crc32c, expected] of GOLDEN) {
    sum = addToSetSum(sum, segment_name, crc32c)
    expect(setSumText(sum)).toBe(expected)
    expect(setSumFrom(expected)).toBe(sum)
  }
})

test('the order of the segments makes no difference', () => {
  const sumOf = (members: readonly (typeof GOLDEN)[number][]) =>
    members.reduce((sum, [segment_name, crc32c]) => addToSetSum(sum, segment_name, crc32c), EMPTY_SET_SUM)
  expect(setSumText(sumOf([...GOLDEN].reverse()))).toBe(GOLDEN.at(-1)?.[2])
})
