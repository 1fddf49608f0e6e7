// Plots: where values lie, which marks an axis has, and that nothing is drawn outside of its panel.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { scaleOf, shortNumber } from '../../bench/plot/scale.js'
import { drawPlot, type Panel } from '../../bench/plot/svg.js'

describe('a scale', () => {
  test('has round marks around its values', () => {
    expect(scaleOf('linear', [3, 47]).ticks).toEqual([0, 10, 20, 30, 40, 50])
    expect(scaleOf('linear', [0.12, 0.31], 0).ticks).toEqual([0, 0.1, 0.2, 0.3, 0.4])
    expect(scaleOf('log', [35, 91_000]).ticks).toEqual([10, 100, 1_000, 10_000, 100_000])
    expect(scaleOf('linear', [7, 7]).at(7)).toBeGreaterThanOrEqual(0)
    expect(() => scaleOf('log', [0])).toThrow('no value')
  })

  test('keeps every value between its ends, and their order', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('linear' as const, 'log' as const),
        fc.array(fc.double({ min: 1e-3, max: 1e9 }), { minLength: 1 }),
        (kind, values) => {
          const { at, ticks } = scaleOf(kind, values)
          const places = [...values].sort((left, right) => left - right).map(at)
          expect(ticks.length).toBeGreaterThan(1)
          expect(places.every((place, i) => place >= -1e-9 && place <= 1 + 1e-9 && (i === 0 || place >= (places[i - 1] as number)))).toBe(
            true,
          )
        },
      ),
      { seed: 7 },
    )
  })

  test('says numbers briefly', () => {
    expect([0, 0.5, 12, 1_500, 2_000_000].map(shortNumber)).toEqual(['0', '0.5', '12', '1.5k', '2M'])
  })
})

describe('a plot', () => {
  const panel = (points: readonly (readonly [number, number])[]): Panel => ({
    title: 'A & B <C>',
    x: { label: 'minutes', low: 0 },
    y: { label: 'ms', low: 0 },
    series: [
      { name: 'measured', points, style: 'dots' },
      { name: 'computed', points, style: 'dashed' },
    ],
  })
  const plot = drawPlot({
    title: 'T',
    subtitle: 'S',
    columns: 2,
    panels: [
      panel([
        [0, 1],
        [5, 9],
      ]),
      panel([
        [1, 1],
        [2, 2],
      ]),
      panel([[1, 1]]),
    ],
  })

  test('has its words with their signs written out, and styles of its own for each line', () => {
    expect(plot).toContain('A &amp; B &lt;C&gt;')
    expect(plot).not.toContain('<C>')
    expect(plot.match(/class="line s1 dashed" points/g)).toHaveLength(3)
    expect(plot.match(/<circle/g)).toHaveLength(5)
  })

  test('draws every point inside its panel', () => {
    const places = [...plot.matchAll(/points="([^"]+)"/g)].flatMap(([, points]) =>
      (points as string).split(' ').map((place) => place.split(',').map(Number)),
    )
    expect(places.length).toBeGreaterThan(0)
    for (const [x, y] of places as [number, number][]) {
      expect(x).toBeGreaterThanOrEqual(62)
      expect(x).toBeLessThanOrEqual(422)
      expect(y).toBeGreaterThanOrEqual(62)
      expect(y).toBeLessThanOrEqual(234)
    }
  })
})
