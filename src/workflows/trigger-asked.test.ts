import { describe, expect, it } from '@jest/globals'
import { triggerFault } from './trigger-asked.js'

describe('what a trigger by an update is asked with', () => {
  it('is taken with all that it may say', () => {
    expect(triggerFault({ request_id: 'r-1' })).toBeUndefined()
    const all = { request_id: 'r-1', partition: '2025-01-15', instant: '2025-01-15T10:00:00Z', requested_by: 'user:1', reason: '' }
    expect(triggerFault(all)).toBeUndefined()
  })

  it.each([undefined, null, 'r-1', [], {}, { request_id: '' }, { request_id: 7 }])('has to have a request_id: %j', (asked) => {
    expect(triggerFault(asked)).toMatch(/^The trigger has no request_id\. Give it one, such as/)
  })

  it.each([
    [{ partition: 20_250_115 }, 'partition is 20250115. Give it text, such as "2025-01-15", or leave it out.'],
    [{ instant: null }, 'instant is null. Give it text, such as "2025-01-15T10:00:00.000Z", or leave it out.'],
    [{ reason: { a: 1 } }, 'reason is {"a":1}. Give it text'],
    [{ partitions: '2025-01-15' }, '"partitions" is no member of a trigger. It has request_id, partition, instant, requested_by, reason'],
  ])('is refused where something of it would be lost: %j', (more, sentence) => {
    expect(triggerFault({ request_id: 'r-1', ...more })).toContain(sentence)
  })

  it('is told in a sentence of bounded length', () => {
    expect(triggerFault({ request_id: 'r-1', partition: ['x'.repeat(10_000)] })?.length).toBeLessThan(300)
    expect(triggerFault({ request_id: 'r-1', ['x'.repeat(10_000)]: 'x' })?.length).toBeLessThan(300)
  })
})
