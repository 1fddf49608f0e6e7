import { describe, expect, test } from '@jest/globals'
import { logLine } from '../../api/contract/worker.js'
import { logLineOf } from './log-line.js'

const AT = Date.parse('2025-01-15T10:00:00Z')
const fieldsOf = (fields: unknown) => logLineOf(AT, 'INFO', 'x', fields).fields

const circle: { own?: unknown } = {}
circle.own = circle
const getter = Object.defineProperty({ first: 1 }, 'second', {
  enumerable: true,
  get: () => {
    throw new Error('no')
  },
})

describe('fields of any kind become JSON', () => {
  test.each([
    [
      { rows: 3, ok: true, none: null, list: [1, { a: 'b' }] },
      { rows: 3, ok: true, none: null, list: [1, { a: 'b' }] },
    ],
    [{ left: undefined }, {}],
    [
      { big: 12n, bad: Number.NaN, far: Number.POSITIVE_INFINITY },
      { big: '12', bad: 'NaN', far: 'Infinity' },
    ],
    [
      { at: new Date(0), deep: { at: new Date(0) } },
      { at: '1970-01-01T00:00:00.000Z', deep: { at: '1970-01-01T00:00:00.000Z' } },
    ],
    [{ error: new Error('no file') }, { error: expect.stringContaining('Error: no file') }],
    [
      { map: new Map([['a', 1]]), set: new Set([1]) },
      { map: "Map(1) { 'a' => 1 }", set: 'Set(1) { 1 }' },
    ],
    [
      { run: () => 1, symbol: Symbol('s') },
      { run: '[Function: run]', symbol: 'Symbol(s)' },
    ],
    [{ circle }, { circle: expect.stringContaining('[Circular *1]') }],
    [{ half: '\ud800' }, { half: '\ufffd' }],
    [JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 1}')],
    [getter, { first: 1, left_out: expect.stringContaining('Reading the fields threw') }],
    [[1, 2], { value: [1, 2] }],
    ['text', { value: 'text' }],
    [new Error('alone'), { value: expect.stringContaining('Error: alone') }],
    [null, undefined],
  ])('%#', (fields, expected) => {
    expect(fieldsOf(fields)).toEqual(expected)
    expect(logLine.safeParse(JSON.parse(JSON.stringify(logLineOf(AT, 'WARN', 'x', fields)))).success).toBe(true)
  })
})

test.each([
  ['text', 'text'],
  [undefined, 'undefined'],
  [{ a: 1 }, '{ a: 1 }'],
  ['\ud800', '\ufffd'],
])('a message that is %p is the text %p', (message, text) => {
  expect(logLineOf(AT, 'INFO', message, undefined)).toEqual({ at: '2025-01-15T10:00:00.000Z', level: 'INFO', message: text })
})

test('a long line is cut to what the contract takes', () => {
  const line = logLineOf(AT, 'ERROR', 'x'.repeat(100_000), { a: 'y'.repeat(100_000), b: 'z'.repeat(100_000), c: 1 })
  expect(logLine.safeParse(line).success).toBe(true)
  expect(JSON.stringify(line).length).toBeLessThan(140_000)
  expect(line.message.endsWith('…')).toBe(true)
  expect(line.fields).toHaveProperty('left_out')
})
