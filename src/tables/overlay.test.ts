import { describe, expect, test } from '@jest/globals'
import { type LooseRow, rowsByKey } from '../projections/tables.js'
import {
  EMPTY_OVERLAY,
  inKeyOrder,
  isNewest,
  layersOf,
  loadedOnce,
  type Overlay,
  overlayAfter,
  overlayOfPreview,
  overlayRow,
  overlayRowCount,
  overlayRows,
  overlayWith,
} from './overlay.js'

const pool = (pool_key: string, row_version: number): LooseRow => ({ pool_key, row_version, last_event_id: '', in_use: row_version })
const with_ = (overlay: typeof EMPTY_OVERLAY, sequence: number, ...keys: string[]) =>
  overlayWith(
    overlay,
    sequence,
    new Map([
      [
        'pools',
        rowsByKey(
          'pools',
          keys.map((key) => pool(key, sequence)),
        ),
      ],
    ]),
  )

const row = async (overlay: Overlay, table: 'pools' | 'runs', key: string) => overlayRow(await layersOf(overlay, table), [key])
const rows = async (overlay: Overlay) => overlayRows(await layersOf(overlay, 'pools'))

/** A revision whose rows are in a file; counts how often the file is read. */
function inFile(overlay: Overlay, sequence: number, ...keys: string[]) {
  const found = rowsByKey(
    'pools',
    keys.map((key) => pool(key, sequence)),
  )
  const file = { row_count: keys.length, reads: 0, load: loadedOnce(async () => read()) }
  const read = () => {
    file.reads += 1
    return found
  }
  return { file, overlay: overlayWith(overlay, sequence, new Map([['pools', file]])) }
}

describe('overlay', () => {
  test('the newest revision of a key is what is found', async () => {
    const overlay = with_(with_(EMPTY_OVERLAY, 1, 'a', 'b'), 2, 'b')
    expect(await row(overlay, 'pools', 'a')).toMatchObject({ row_version: 1 })
    expect(await row(overlay, 'pools', 'b')).toMatchObject({ row_version: 2 })
    expect(await row(overlay, 'pools', 'c')).toBeUndefined()
    expect(await row(overlay, 'runs', 'a')).toBeUndefined()
  })

  test('an overlay that somebody holds does not change', async () => {
    const first = with_(EMPTY_OVERLAY, 1, 'a')
    with_(first, 2, 'a')
    expect(await row(first, 'pools', 'a')).toMatchObject({ row_version: 1 })
  })

  test('a merge takes away what it has read and leaves what came later', async () => {
    const overlay = with_(with_(with_(EMPTY_OVERLAY, 1, 'a', 'b'), 2, 'b'), 3, 'c')
    const after = overlayAfter(overlay, 2)
    expect([...(await rows(after)).keys()]).toEqual(['c'])
    expect(overlayRowCount(overlayAfter(overlay, 3))).toBe(0)
  })

  test('rows come in key order, each once, and layers that grow into one are not sorted again', async () => {
    const first = with_(EMPTY_OVERLAY, 1, 'b', 'd', 'e')
    const [before] = inKeyOrder('pools', await layersOf(first, 'pools'))
    const second = with_(first, 2, 'c')
    expect(inKeyOrder('pools', await layersOf(second, 'pools'))[0]).toBe(before)
    const third = await layersOf(with_(second, 3, 'a', 'b', 'c', '😀', '\uffff'), 'pools')
    expect(third).toHaveLength(1)
    expect(inKeyOrder('pools', third)[0]?.map(({ key, row }) => [...key, row.row_version])).toEqual([
      ['a', 3],
      ['b', 3],
      ['c', 3],
      ['d', 1],
      ['e', 1],
      ['\uffff', 3],
      ['😀', 3],
    ])
  })

  test('of a key that several layers have the row of the last one is the newest', async () => {
    const layers = await layersOf(with_(with_(EMPTY_OVERLAY, 1, 'a', 'b', 'c'), 2, 'b'), 'pools')
    expect(layers).toHaveLength(2)
    const newest = inKeyOrder('pools', layers).map((sorted) =>
      sorted.filter(({ row }) => isNewest(layers, 'pools', row)).map(({ key }) => key[0]),
    )
    expect(newest).toEqual([['a', 'c'], ['b']])
  })

  test('however many revisions, few layers are asked, and all rows are there', async () => {
    let overlay = EMPTY_OVERLAY
    for (let sequence = 1; sequence <= 500; sequence++) overlay = with_(overlay, sequence, `k${sequence % 70}`, `only-${sequence}`)
    expect((await layersOf(overlay, 'pools')).length).toBeLessThanOrEqual(10)
    expect((await rows(overlay)).size).toBe(570)
    for (let k = 0; k < 70; k++) {
      const newest = 500 - ((500 - k) % 70)
      expect(await row(overlay, 'pools', `k${k}`)).toMatchObject({ row_version: newest })
      expect((await rows(overlay)).get(`k${k}`)).toMatchObject({ row_version: newest })
    }
  })

  test('a file is read when somebody asks, and once for all revisions above it', async () => {
    const first = inFile(with_(EMPTY_OVERLAY, 1, 'a', 'b'), 2, 'b')
    const second = inFile(first.overlay, 3, 'c')
    const third = with_(second.overlay, 4, 'a')
    expect([first.file.reads, second.file.reads, overlayRowCount(third)]).toEqual([0, 0, 5])
    const versions = async (overlay: Overlay) => [...(await rows(overlay))].map(([key, { row_version }]) => [key, row_version]).sort()
    const newest = [
      ['a', 4],
      ['b', 2],
      ['c', 3],
    ]
    expect(await Promise.all([versions(third), versions(third)])).toEqual([newest, newest])
    expect(await versions(with_(third, 5, 'c'))).toEqual([newest[0], newest[1], ['c', 5]])
    expect(await versions(first.overlay)).toEqual([
      ['a', 1],
      ['b', 2],
    ])
    expect([first.file.reads, second.file.reads]).toEqual([1, 1])
  })

  test('a preview has its own rows over those of files, which are read when somebody asks', async () => {
    const { overlay, file } = inFile(with_(EMPTY_OVERLAY, 1, 'a', 'b', 'c'), 2, 'b')
    const previews = [1, 2].map((number) =>
      overlayOfPreview(overlay, 3, new Map([['pools', rowsByKey('pools', [pool(`new-${number}`, 3)])]])),
    )
    expect(file.reads).toBe(0)
    const seen = await Promise.all(previews.map(async (preview) => [...(await rows(preview)).keys()].sort()))
    expect(seen).toEqual([
      ['a', 'b', 'c', 'new-1'],
      ['a', 'b', 'c', 'new-2'],
    ])
    expect([...(await rows(overlay)).keys()].sort()).toEqual(['a', 'b', 'c'])
    expect(file.reads).toBe(1)
  })

  test('a merge takes away files that nobody has read', async () => {
    const { overlay, file } = inFile(inFile(EMPTY_OVERLAY, 1, 'a').overlay, 2, 'b')
    expect([...(await rows(overlayAfter(overlay, 1))).keys()]).toEqual(['b'])
    expect(overlayRowCount(overlayAfter(overlay, 2))).toBe(0)
    expect(file.reads).toBe(1)
  })

  test('a file that could not be read is read again', async () => {
    let reads = 0
    const load = loadedOnce(async () => {
      if (++reads === 1) throw new Error('The store does not answer.')
      return rowsByKey('pools', [pool('a', 1)])
    })
    const overlay = overlayWith(EMPTY_OVERLAY, 1, new Map([['pools', { row_count: 1, load }]]))
    await expect(rows(overlay)).rejects.toThrow('does not answer')
    expect((await rows(overlay)).size).toBe(1)
  })
})
