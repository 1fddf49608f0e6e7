import { describe, expect, test } from '@jest/globals'
import { CREATION_SKEW_MS_MAX, STORE_CLOCKS_APART_MS, WRITE_MS_MAX } from '../core/limits.js'
import { DAY_MS, instantText, MINUTE_MS, SECOND_MS } from '../core/time.js'
import { recentListingAfter, wholeListingAfter } from './listed-after.js'

const NOON = DAY_MS / 2
const marksAt = (last_processed_at: number, closed_through = 0) => ({
  last_processed_at: instantText(last_processed_at),
  closed_through: instantText(closed_through),
})

describe('the listing of what is recent', () => {
  test('begins before every minute in which something may lie that could not be seen at the processed mark, and was acknowledged', () => {
    for (let minute = NOON; minute < NOON + 3 * MINUTE_MS; minute += MINUTE_MS) {
      // Created as late as an appender takes it, by a clock that is behind the others, and seen as late as its store allows.
      const seen_at = minute + CREATION_SKEW_MS_MAX + WRITE_MS_MAX + STORE_CLOCKS_APART_MS
      for (let mark = seen_at - 1; mark > seen_at - 5 * MINUTE_MS; mark -= 7 * SECOND_MS) {
        expect(recentListingAfter(marksAt(mark))).toBeLessThan(minute)
      }
    }
  })

  test('lists less than three minutes of what is closed five minutes after its end', () => {
    for (let mark = NOON; mark < NOON + MINUTE_MS; mark += SECOND_MS) {
      const first_listed = recentListingAfter(marksAt(mark)) + MINUTE_MS
      expect(mark - first_listed).toBeLessThan(3 * MINUTE_MS)
    }
  })

  test('never lists what is closed', () => {
    const marks = marksAt(NOON, NOON - MINUTE_MS)
    expect([recentListingAfter(marks), wholeListingAfter(marks)]).toEqual([NOON - MINUTE_MS, NOON - MINUTE_MS])
  })
})
