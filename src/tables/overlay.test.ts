import { describe, expect, test } from '@jest/globals'
import type { LooseRow } from '../projections/tables.js'
import { EMPTY_OVERLAY, inKeyOrder, overlayAfter, overlayRow, overlayRowCount, overlayRows, overlayWith } from './overlay.js'

const pool = (pool_key: string, row_version: number): LooseRow => ({ pool_key, row_version, last_event_id: '', in_use: row_version })
const with_ = (overlay: typeof EMPTY_OVERLAY, sequence: number, ...keys: string[]) =>
  overlayWith(overlay, sequence, new Map([['pools', keys.map((key) => pool(key, sequence))]]))

describe('overlay', () => {
  test('the newest revision of a key is what is found', () => {
    const overlay = with_(with_(EMPTY_OVERLAY, 1, 'a', 'b'), 2, 'b')
    expect(overlayRow(overlay, 'pools', ['a'])).toMatchObject({ row_version: 1 })
    expect(overlayRow(overlay, 'pools', ['b'])).toMatchObject({ row_version: 2 })
    expect(overlayRow(overlay, 'pools', ['c'])).toBeUndefined()
    expect(overlayRow(overlay, 'runs', ['a'])).toBeUndefined()
  })

  test('an overlay that somebody holds does not change', () => {
    const first = with_(EMPTY_OVERLAY, 1, 'a')
    with_(first, 2, 'a')
    expect(overlayRow(first, 'pools', ['a'])).toMatchObject({ row_version: 1 })
  })

  test('a merge takes away what it has read and leaves what came later', () => {
    const overlay = with_(with_(with_(EMPTY_OVERLAY, 1, 'a', 'b'), 2, 'b'), 3, 'c')
    const after = overlayAfter(overlay, 2)
    expect([...overlayRows(after, 'pools').keys()]).toEqual(['c'])
    expect(overlayRowCount(overlayAfter(overlay, 3))).toBe(0)
  })

  test('rows come in key order, each once, sorted once for each state', () => {
    const overlay = with_(with_(EMPTY_OVERLAY, 1, 'b', 'd'), 2, 'a', 'b', 'c', '😀', '\uffff')
    const sorted = inKeyOrder('pools', overlayRows(overlay, 'pools'))
    expect(sorted.map(({ key, row }) => [...key, row.row_version])).toEqual([
      ['a', 2],
      ['b', 2],
      ['c', 2],
      ['d', 1],
      ['\uffff', 2],
      ['😀', 2],
    ])
    expect(inKeyOrder('pools', overlayRows(overlay, 'pools'))).toBe(sorted)
  })

  test('however many revisions, few layers are asked, and all rows are there', () => {
    let overlay = EMPTY_OVERLAY
    for (let sequence = 1; sequence <= 500; sequence++) overlay = with_(overlay, sequence, `k${sequence % 70}`, `only-${sequence}`)
    expect(overlay.get('pools')?.length).toBeLessThanOrEqual(10)
    expect(overlayRows(overlay, 'pools').size).toBe(570)
    for (let k = 0; k < 70; k++) {
      const newest = 500 - ((500 - k) % 70)
      expect(overlayRow(overlay, 'pools', [`k${k}`])).toMatchObject({ row_version: newest })
      expect(overlayRows(overlay, 'pools').get(`k${k}`)).toMatchObject({ row_version: newest })
    }
  })
})
