import { describe, expect, test } from '@jest/globals'
import { assetTree } from './tree.js'

const node = (asset_key: string, group_name: string | null = null) => ({ asset_key, group_name, location_name: 'l' })
const graph = (keys: readonly string[], edges: readonly (readonly [string, string])[]) => ({
  nodes: keys.map((key) => node(key)),
  edges: edges.map(([from, to]) => ({ from, to })),
})

describe('the tree of assets', () => {
  test('has what needs it below each asset', () => {
    expect(
      assetTree(
        graph(
          ['a', 'b', 'c', 'd', 'z'],
          [
            ['a', 'b'],
            ['a', 'c'],
            ['b', 'd'],
          ],
        ),
      ),
    ).toEqual(['a', '├─ b', '│  └─ d', '└─ c', 'z'])
  })

  test('goes into an asset below the last that it needs, so that upstream comes first', () => {
    const lines = assetTree(
      graph(
        ['left', 'right', 'root', 'sum', 'report'],
        [
          ['root', 'left'],
          ['root', 'right'],
          ['left', 'sum'],
          ['right', 'sum'],
          ['sum', 'report'],
        ],
      ),
    )
    expect(lines).toEqual(['root', '├─ left', '│  └─ sum  (further down)', '└─ right', '   └─ sum', '      └─ report'])
  })

  test('says the group, and leaves out what is not there', () => {
    const edges = [{ from: 'gone', to: 'a' }]
    expect(assetTree({ nodes: [node('a', 'ingest')], edges })).toEqual(['a  [ingest]'])
    expect(assetTree({ nodes: [], edges: [] })).toEqual([])
  })

  test('prints every asset whole once, upstream first, whatever the graph', () => {
    const keys = Array.from({ length: 60 }, (_, i) => `k${String(i).padStart(2, '0')}`)
    const edges = keys.flatMap((to, i) =>
      [1, 7, 13].flatMap((step) => (i - step >= 0 && (i * step) % 3 !== 1 ? [[keys[i - step] as string, to] as const] : [])),
    )
    const whole = assetTree(graph(keys, edges))
      .filter((line) => !line.endsWith('(further down)'))
      .map((line) => /k\d\d/.exec(line)?.[0] as string)
    expect([...whole].sort()).toEqual(keys)
    for (const [from, to] of edges) expect(whole.indexOf(from)).toBeLessThan(whole.indexOf(to))
  })

  test('is as deep as the graph', () => {
    const keys = Array.from({ length: 5_000 }, (_, i) => `k${String(i).padStart(4, '0')}`)
    expect(
      assetTree(
        graph(
          keys,
          keys.slice(1).map((to, i) => [keys[i] as string, to] as const),
        ),
      ),
    ).toHaveLength(5_000)
  })
})
