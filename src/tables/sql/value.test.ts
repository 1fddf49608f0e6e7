import { expect, test } from '@jest/globals'
import { loadApi } from '../duckdb.js'
import { instantOf, jsonOf } from './value.js'

const api = loadApi()

test.each([
  [0n, '1970-01-01T00:00:00.000Z'],
  [1_736_935_200_000_000n, '2025-01-15T10:00:00.000Z'],
  [1_736_935_200_123_456n, '2025-01-15T10:00:00.123456Z'],
  [-1n, '1969-12-31T23:59:59.999999Z'],
  [-1_001n, '1969-12-31T23:59:59.998999Z'],
  [-1_000n, '1969-12-31T23:59:59.999Z'],
])('%s microseconds are %s', (micros, text) => {
  expect(instantOf(micros)).toBe(text)
})

test('an instant that a date cannot hold keeps its own text', () => {
  expect(instantOf(2n ** 63n - 1n)).toBeUndefined()
  expect(jsonOf(api.DuckDBTimestampTZValue.PosInf)).toBe('infinity')
})

test.each([
  [9_007_199_254_740_991n, 9_007_199_254_740_991],
  [9_007_199_254_740_993n, '9007199254740993'],
  [-(2n ** 100n), String(-(2n ** 100n))],
  [api.decimalValue(15n, 2, 1), 1.5],
  [api.decimalValue(-123_456_789_012_345n, 15, 2), -1_234_567_890_123.45],
  [api.decimalValue(1_234_567_890_123_456_789n, 20, 2), '12345678901234567.89'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
  [Number.NaN, 'NaN'],
  [0.1, 0.1],
  [null, null],
  [true, true],
])('%s is not rounded', (value, expected) => {
  expect(jsonOf(value)).toBe(expected)
})

test('lists, structs and maps are values all the way down', () => {
  const at = new api.DuckDBTimestampTZValue(1_736_935_200_000_000n)
  const list = api.listValue([1n, null, api.structValue({ at, inside: api.listValue([at]) })])
  expect(jsonOf(list)).toEqual([1, null, { at: '2025-01-15T10:00:00.000Z', inside: ['2025-01-15T10:00:00.000Z'] }])
  expect(jsonOf(api.mapValue([{ key: 'a', value: at }]))).toEqual([{ key: 'a', value: '2025-01-15T10:00:00.000Z' }])
})
