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

test('instants have an offset, and days that there are', () => {
  expect(parseInstant('2025-03-09T03:00:00-04:00')).toBe(Date.UTC(2025, 2, 9, 7))
  expect(parseInstant('2025-03-09T07:00Z')).toBe(Date.UTC(2025, 2, 9, 7))
  for (const text of ['2025-03-09', '2025-03-09T07:00:00', '2025-02-30T00:00:00Z', '2025-13-01T00:00:00Z', 'now', '']) {
    expect(() => parseInstant(text)).toThrow('Give an instant with its offset, such as 2025-03-09T03:00:00-04:00')
  }
})

test('tags are collected, the last of a name counts', () => {
  expect(tagsOf(collectTag('a=2', collectTag('a=1')))).toEqual({ a: '2' })
  expect(() => collectTag('=1')).toThrow('Write NAME=VALUE.')
})
