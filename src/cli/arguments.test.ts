import { expect, test } from '@jest/globals'
import { collectTag, parseCount, parseInstant, parseInteger, parseOneOf, parsePort, tagsOf } from './arguments.js'

const STATES = ['RUNNING', 'FAILED']

test('states are found as people type them', () => {
  expect(parseOneOf(STATES)('failed')).toBe('FAILED')
  expect(() => parseOneOf(STATES)('runing')).toThrow('Did you mean RUNNING?')
  expect(() => parseOneOf(STATES)('everything')).toThrow('There are RUNNING, FAILED.')
})

test('numbers are whole, and in their bounds', () => {
  expect([parseCount('7'), parseInteger('-7'), parsePort('0')]).toEqual([7, -7, 0])
  for (const text of ['0', '-1', '1.5', 'many', '']) expect(() => parseCount(text)).toThrow('Give a whole number from 1 on.')
  for (const text of ['1.5', '--1', '']) expect(() => parseInteger(text)).toThrow('Give a whole number.')
  for (const text of ['65536', '-1', 'http']) expect(() => parsePort(text)).toThrow('Give a port from 0 to 65535.')
})

test('instants name their zone', () => {
  expect(parseInstant('2025-03-09 03:00-04:00')).toBe(Date.UTC(2025, 2, 9, 7))
  expect(() => parseInstant('2025-03-09 07:00')).toThrow('Write 2025-03-09T07:00:00Z for UTC, or 2025-03-09T07:00:00-04:00 for a clock')
  expect(() => parseInstant('now')).toThrow('Give an instant of RFC 3339 with its zone: 2025-03-09T07:00:00Z for UTC, or')
})

test('tags are collected, the last of a name counts', () => {
  expect(tagsOf(collectTag('a=2', collectTag('a=1')))).toEqual({ a: '2' })
  expect(() => collectTag('=1')).toThrow('Write NAME=VALUE.')
})
