// The plot that shows a flat line, the table beside it and the figures of both are the same.

import { describe, expect, test } from '@jest/globals'
import { flatLinePlot, flatLineSchema, flatLineTable } from '../../bench/plot/flat-line.js'
import { readText } from '../tidy/tree.js'

describe('the flat line', () => {
  const flatLine = flatLineSchema.parse(JSON.parse(readText('docs/plots/flat-line.json')))
  const page = readText('docs/performance.md')

  // After a change of the figures: `npm run plots`, and the table that it prints.
  test('is drawn from the figures that are written down, and stands on the page with the same', () => {
    expect(readText('docs/plots/flat-line.svg')).toBe(flatLinePlot(flatLine))
    expect(page).toContain(flatLineTable(flatLine))
    expect(page).toContain('](plots/flat-line.svg)')
    expect(page).toContain(flatLine.command)
    expect(page.replace(/\s+/g, ' ')).toContain(flatLine.machine)
  })

  test('has the figures of its ancestor as the page has them', () => {
    expect(flatLine.ancestor.map(({ ms }) => ms)).toEqual([35, 3_100, 91_000])
    expect(page).toContain('1,000 events take 35 ms in an empty workspace, 3.1 s at 100,000 finished\ntasks, 91 s and 12 GB at 1,000,000')
  })
})
