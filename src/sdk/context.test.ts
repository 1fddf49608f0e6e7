import { expect, test } from '@jest/globals'
import { cutProgress, runPartitions } from './context.js'
import { daily, staticPartitions } from './partitions.js'

const days = daily({ start_date: '2025-01-01', exclusions: ['2025-01-03'] })

test('keys that follow one another are a range, one key too', () => {
  expect(runPartitions(days, ['2025-01-02', '2025-01-04'])).toEqual({
    keys: ['2025-01-02', '2025-01-04'],
    range: { start: '2025-01-02', end: '2025-01-04' },
  })
  expect(runPartitions(days, ['2025-01-02'])?.range).toEqual({ start: '2025-01-02', end: '2025-01-02' })
})

test('keys with a gap, out of order or of another definition are none', () => {
  expect(runPartitions(days, ['2025-01-01', '2025-01-04'])?.range).toBeNull()
  expect(runPartitions(days, ['2025-01-02', '2025-01-01'])?.range).toBeNull()
  expect(runPartitions(staticPartitions(['a', 'b']), ['a', 'c'])?.range).toBeNull()
})

test('an asset without partitions has null', () => {
  expect(runPartitions(undefined, [''])).toBeNull()
})

test('a message of progress is cut to what is kept', () => {
  expect(cutProgress({ done: 1, message: 'x'.repeat(300) })).toEqual({ done: 1, message: 'x'.repeat(200) })
  expect(cutProgress({ total: 2 })).toEqual({ total: 2 })
})
