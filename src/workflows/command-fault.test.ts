import { describe, expect, it } from '@jest/globals'
import { commandFault, readMembers } from './command-fault.js'

const MEMBERS = { partition: '2025-01-15', instant: '2025-01-15T10:00:00.000Z' }
const fault = (request: unknown) => commandFault('trigger', MEMBERS, request)

describe('the request of an update', () => {
  it('may have everything that its command has, or nothing', () => {
    expect([undefined, null, {}, { request_id: 'r-1' }].map(fault)).toEqual([undefined, undefined, undefined, undefined])
    const all = { request_id: 'r-1', partition: '2025-01-15', instant: '2025-01-15T10:00:00Z', requested_by: 'user:1', reason: '' }
    expect(fault(all)).toBeUndefined()
  })

  it.each(['r-1', 7, []])('is an object: %j', (request) => {
    expect(fault(request)).toMatch(/^The trigger came with .*\. Send it an object, such as/)
  })

  it.each([
    [{ request_id: '' }, 'request_id is "". Give it text, such as "by-hand-1", or leave it out.'],
    [{ request_id: 7 }, 'request_id is 7. Give it text'],
    [{ partition: 20_250_115 }, 'partition is 20250115. Give it text, such as "2025-01-15", or leave it out.'],
    [{ instant: null }, 'instant is null. Give it text, such as "2025-01-15T10:00:00.000Z", or leave it out.'],
    [{ reason: { a: 1 } }, 'reason is {"a":1}. Give it text'],
    [{ partitions: '2025-01-15' }, 'has no member "partitions". It has request_id, requested_by, reason, partition, instant'],
  ])('is refused where something of it would be lost: %j', (more, sentence) => {
    expect(fault({ request_id: 'r-1', ...more })).toContain(sentence)
  })

  it('is refused in a sentence of bounded length', () => {
    expect(fault({ partition: ['x'.repeat(10_000)] })?.length).toBeLessThan(300)
    expect(fault({ ['x'.repeat(10_000)]: 'x' })?.length).toBeLessThan(300)
  })
})

it('of the request of a signal is taken what is known and is text', () => {
  expect(readMembers(MEMBERS, { request_id: 'r-1', partition: 7, instant: 'soon', other: 'x' })).toEqual({
    request_id: 'r-1',
    instant: 'soon',
  })
  expect([undefined, null, 'r-1', ['r-1']].map((request) => readMembers(MEMBERS, request))).toEqual([{}, {}, {}, {}])
})
