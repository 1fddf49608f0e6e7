import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { decodeTime, encodeTime } from 'ulid'
import { newUlid, ULID_PATTERN, ulidAt, ulidFromBytes, ulidTime, ulidTimePrefix } from './ulid.js'

const TIME_MAX = 2 ** 48 - 1
const bytes = (count: number) => fc.uint8Array({ minLength: count, maxLength: count })

describe('ulid', () => {
  test('digits of known bytes', () => {
    expect(ulidFromBytes(new Uint8Array(16))).toBe('0'.repeat(26))
    expect(ulidFromBytes(new Uint8Array(16).fill(255))).toBe('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')
    expect(ulidFromBytes(Uint8Array.from({ length: 16 }, (_, i) => (i === 15 ? 33 : 0)))).toBe(`${'0'.repeat(24)}11`)
  })

  test('is the number that the bytes are, in base 32', () => {
    fc.assert(
      fc.property(bytes(16), (value) => {
        const text = ulidFromBytes(value)
        const number = BigInt(`0x${Buffer.from(value).toString('hex')}`)
        let digits = 0n
        for (const digit of text) digits = digits * 32n + BigInt('0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(digit))
        expect(digits).toBe(number)
        expect(text).toMatch(ULID_PATTERN)
      }),
    )
  })

  test('agrees with the ulid package on time, and gives it back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: TIME_MAX }), bytes(10), (at_ms, last80bits) => {
        const text = ulidAt(at_ms, last80bits)
        expect(ulidTime(text)).toBe(at_ms)
        expect(decodeTime(text)).toBe(at_ms)
        expect(text.slice(0, 10)).toBe(encodeTime(at_ms, 10))
        expect(ulidTimePrefix(at_ms)).toBe(text.slice(0, 10))
      }),
    )
  })

  test('text order is time order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: TIME_MAX - 1 }), bytes(10), bytes(10), (at_ms, left, right) => {
        expect(ulidAt(at_ms, left) < ulidAt(at_ms + 1, right)).toBe(true)
      }),
    )
  })

  test('a new one takes its time and ten bytes of randomness', () => {
    const asked: number[] = []
    const text = newUlid(1736935200000, (count) => {
      asked.push(count)
      return new Uint8Array(count).fill(7)
    })
    expect(asked).toEqual([10])
    expect(text).toBe(ulidAt(1736935200000, new Uint8Array(10).fill(7)))
  })
})
