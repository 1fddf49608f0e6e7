import { expect, test } from '@jest/globals'
import { dispatchRequest } from '../../api/contract/worker.js'
import { badRequest, pathText } from './problem.js'

test('every member that is wrong is named by its path, with what to give', () => {
  const read = dispatchRequest.safeParse({ protocol: 'servo-worker-v2', dispatches: [{ attempt_id: 'a', sequence: -1 }] })
  const problem = badRequest('DispatchRequest', read.error as NonNullable<typeof read.error>)
  expect(problem).toMatchObject({ status: 400, detail: expect.stringMatching(/: \d+ members are wrong\.$/) })
  const messages = new Map(problem.errors?.map(({ path, message }) => [path, message]))
  expect(messages.get('protocol')).toBe('Invalid input: expected "servo-worker-v1".')
  expect(messages.get('dispatches[0].attempt_id')).toBe(
    'Give it a ULID: 26 digits of 0-9 and A-Z without I, L, O and U, the first at most 7.',
  )
  expect(messages.get('dispatches[0].sequence')).toMatch(/^Give it a whole number from 0 to \d+\.$/)
  expect([...messages.values()].every((message) => message.endsWith('.'))).toBe(true)
})

test('a path is written as JavaScript would', () => {
  expect(pathText([])).toBe('')
  expect(pathText(['a', 0, 'b'])).toBe('a[0].b')
})
