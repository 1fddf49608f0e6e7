import { expect, test } from '@jest/globals'
import { readTraceparent, traceIdOf } from './traceparent.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const FIT = `00-${TRACE}-00f067aa0ba902b7-01`

test('what W3C calls a traceparent is read, and its trace found', () => {
  expect(readTraceparent(FIT)).toBe(FIT)
  expect(traceIdOf(FIT)).toBe(TRACE)
})

test.each([
  undefined,
  7,
  '',
  FIT.toUpperCase(),
  `${FIT} `,
  `01${FIT.slice(2)}`,
  `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
])('%j is none', (given) => {
  expect(readTraceparent(given)).toBeUndefined()
})
