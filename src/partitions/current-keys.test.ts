// Which rows are keys of a definition, and which of these exist.

import { describe, expect, it } from '@jest/globals'
import { openCurrentKeys } from './current-keys.js'
import { isRefusal } from './key-order.js'
import { keyOrderOf } from './order.js'

const NOON = Date.parse('2025-01-16T12:00:00Z')
const DAYS = { type: 'daily', start_date: '2025-01-14' }
const REGIONS = { type: 'static', keys: ['us', 'eu'] }
const GRID = { type: 'multi', dimensions: { area: REGIONS, date: DAYS } }

/** A row as a task of this definition writes it. */
function rowOf(definition: object, key: string) {
  const order = keyOrderOf(definition)
  const found = isRefusal(order) ? order : order.indexOf(key)
  if (isRefusal(order) || isRefusal(found)) throw new Error(`${key} is no key.`)
  const entry = order.entryAt(found.index)
  if (entry === null) throw new Error(`${key} has no entry.`)
  return entry
}

describe('a row', () => {
  it.each<[string, object | null, object, string, string]>([
    ['of a listed key', REGIONS, REGIONS, 'us', 'exists'],
    ['of a key that is not listed any more', { type: 'static', keys: ['us', 'asia'] }, REGIONS, 'eu', 'gone'],
    ['of a day that is over', DAYS, DAYS, '2025-01-15', 'exists'],
    ['of a day that is under way', DAYS, DAYS, '2025-01-16', 'ahead'],
    ['of a day before the start', { ...DAYS, start_date: '2025-01-15' }, DAYS, '2025-01-14', 'gone'],
    ['of a day past the end', { ...DAYS, end_date: '2025-01-15' }, DAYS, '2025-01-15', 'gone'],
    ['of a day that is left out', { ...DAYS, exclusions: ['2025-01-14'] }, DAYS, '2025-01-14', 'gone'],
    ['of a day that an offset brings', { ...DAYS, end_offset: 1 }, DAYS, '2025-01-16', 'exists'],
    ['of a day that an offset takes', { ...DAYS, end_offset: -1 }, DAYS, '2025-01-15', 'ahead'],
    // The older version wrote it under the same definition.
    ['of a day that an offset holds back for good', { ...DAYS, end_date: '2025-01-16', end_offset: -1 }, DAYS, '2025-01-15', 'gone'],
    ['of a day of another zone', { ...DAYS, timezone: 'Asia/Tokyo' }, DAYS, '2025-01-14', 'gone'],
    ['of combinations', GRID, GRID, 'area=eu|date=2025-01-15', 'exists'],
    ['of a combination that is under way', GRID, GRID, 'area=eu|date=2025-01-16', 'ahead'],
    [
      'of a dimension that has another name',
      { ...GRID, dimensions: { region: REGIONS, date: DAYS } },
      GRID,
      'area=eu|date=2025-01-15',
      'gone',
    ],
    ['of fewer dimensions', GRID, DAYS, '2025-01-15', 'gone'],
    ['of more dimensions', DAYS, GRID, 'area=eu|date=2025-01-15', 'gone'],
    ['of an asset that has no partitions any more', null, DAYS, '2025-01-15', 'gone'],
  ])('%s', (_, definition, written, key, standing) => {
    expect(openCurrentKeys(definition, NOON)(rowOf(written, key), false)).toBe(standing)
  })

  it('of an asset without partitions exists, and is none of an asset that got some', () => {
    const bare = { sort_key: '', partition_key: '' }
    expect([null, REGIONS, GRID].map((definition) => openCurrentKeys(definition, NOON)(bare, false))).toEqual(['exists', 'gone', 'gone'])
  })

  it('that is known to be a key is looked up only to tell what is ahead from what is gone', () => {
    const cut = { ...DAYS, end_date: '2025-01-16', end_offset: -1 }
    const standingOf = openCurrentKeys(cut, NOON)
    expect(['2025-01-14', '2025-01-15'].map((key) => standingOf(rowOf(DAYS, key), true))).toEqual(['exists', 'gone'])
    expect(openCurrentKeys(GRID, NOON)(rowOf(GRID, 'area=us|date=2025-01-16'), true)).toBe('ahead')
    expect(openCurrentKeys({ ...DAYS, start_date: '2025-02-01' }, NOON)(rowOf(DAYS, '2025-01-15'), false)).toBe('gone')
  })

  it('of a definition that this version does not know is kept', () => {
    expect(openCurrentKeys({ type: 'lunar' }, NOON)({ sort_key: 'x', partition_key: 'x' }, false)).toBe('exists')
  })
})
