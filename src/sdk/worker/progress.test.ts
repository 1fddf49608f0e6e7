import { expect, test } from '@jest/globals'
import { heartbeatRequest } from '../../api/contract/worker.js'
import { progressOf } from './progress.js'

test.each([
  [undefined, undefined],
  ['half', undefined],
  [{}, undefined],
  [{ done: Number.NaN, total: -1, message: 7 }, undefined],
  [
    { done: 1.7, total: 3 },
    { done: 1, total: 3 },
  ],
  [{ done: 2 ** 40, message: 'on' }, { message: 'on' }],
  [{ message: 'x'.repeat(300) }, { message: 'x'.repeat(200) }],
])('%#: what a beat can carry of it', (given, expected) => {
  const progress = progressOf(given)
  expect(progress).toEqual(expected)
  const beat = { execution_id: '01JHKZ8M2C0000000000000EXE', sequence: 0, seq: 0, ...(progress === undefined ? {} : { progress }) }
  expect(heartbeatRequest.safeParse(beat).success).toBe(true)
})
