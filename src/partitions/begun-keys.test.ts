// How many keys a new definition adds, against counting them one by one.

import { describe, expect, it, test } from '@jest/globals'
import { createRandom } from '../../test/fixtures/random.js'
import { drawDefinition, drawInstant } from '../../test/oracle/partition-draw.js'
import { countBegunKeys } from './begun-keys.js'
import { isRefusal } from './key-order.js'
import { keyOrderOf } from './order.js'
import { UNPARTITIONED } from './unpartitioned.js'

const NOON = Date.parse('2025-01-16T12:00:00Z')
const SEED = process.env['SERVO_TEST_SEED'] ?? '1'

/** As rows are kept: by what they are sorted by, and by their key. */
function rowsOf(definition: object | null, now_ms: number): ReadonlySet<string> {
  const order = definition === null ? UNPARTITIONED : keyOrderOf(definition)
  if (isRefusal(order)) throw new Error(order.problem)
  const existing = order.at(now_ms)
  const entries = Array.from({ length: existing.total ?? 0 }, (_, index) => existing.entryAt(index))
  return new Set(entries.map((entry) => `${entry?.sort_key} ${entry?.partition_key}`))
}

const countedOneByOne = (before: object | null, after: object | null, now_ms: number): number => {
  const old = rowsOf(before, now_ms)
  return [...rowsOf(after, now_ms)].filter((row) => !old.has(row)).length
}

describe('the keys that begin', () => {
  const DAYS = { type: 'daily', start_date: '2025-01-01' }
  const MINUTES = { type: 'cron', start: '2025-01-06', cron_schedule: '* * * * *', exclusions: ['2025-01-12T00:00:00'] }
  it.each<[string, object | null, object | null, number]>([
    ['listed', { type: 'static', keys: ['eu', 'us', 'apac'] }, { type: 'static', keys: ['eu', 'us', 'asia'] }, 1],
    ['from a later start', DAYS, { ...DAYS, start_date: '2025-01-10' }, 0],
    ['from an earlier start', DAYS, { ...DAYS, start_date: '2024-12-30' }, 2],
    ['in another zone', DAYS, { ...DAYS, timezone: 'Asia/Tokyo' }, 15],
    ['of a first partitioning', null, DAYS, 15],
    ['of none any more', DAYS, null, 1],
    ['of many, by their bounds', MINUTES, { ...MINUTES, start: '2025-01-04', end_offset: -10 }, 2 * 24 * 60],
    ['of many that have none in common', { ...MINUTES, start: '2024-12-01', end: '2024-12-10' }, MINUTES, 10.5 * 24 * 60 - 1],
  ])('are counted: %s', (_, before, after, count) => {
    expect(countBegunKeys(before, after, NOON)).toBe(count)
    expect(countedOneByOne(before, after, NOON)).toBe(count)
  })

  it('are not counted where too many would be compared', () => {
    const many = { ...MINUTES, start: '2024-12-20' }
    expect(countBegunKeys(many, { ...many, cron_schedule: '*/2 * * * *' }, NOON)).toBeNull()
    expect(countBegunKeys(MINUTES, { type: 'lunar' }, NOON)).toBeNull()
  })

  test('are as many as are found one by one', () => {
    let begun = 0
    for (let number = 0; number < 24; number++) {
      const random = createRandom(`begun-keys/${SEED}/${number}`)
      const [{ definition: before }, other] = [drawDefinition(random), drawDefinition(random)]
      // Half of them change a member alone, as deploys do.
      const after = random.isTrue(0.5) ? other.definition : { ...before, ...('start_date' in before ? { end_offset: 1 } : {}) }
      const now_ms = drawInstant(random)
      const told = `seed ${SEED}, number ${number}: ${JSON.stringify({ before, after, now: new Date(now_ms) })}`
      const count = countedOneByOne(before, after, now_ms)
      expect([told, countBegunKeys(before, after, now_ms)]).toEqual([told, count])
      begun += count
    }
    expect(begun).toBeGreaterThan(50)
  }, 120_000)
})
