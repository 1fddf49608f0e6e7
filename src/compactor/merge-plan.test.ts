import { describe, expect, test } from '@jest/globals'
import type { Part } from '../tables/revision.js'
import { planMerge } from './merge-plan.js'

const part = (level: number, rows: number): Part => ({
  name: `${level}-${rows}`,
  level,
  rows,
  bytes: rows,
  crc32c: '00000000',
  min_key: ['a'],
  max_key: ['z'],
  times: {},
  filter: null,
  period: null,
})

describe('planMerge', () => {
  test('nothing fresh is nothing to do', () => {
    expect(planMerge([part(1, 10)], 'due')).toBeUndefined()
    expect(planMerge([], 'due')).toBeUndefined()
  })

  test('fresh files go together into the first free level of their tier, and leave the runs alone', () => {
    const plan = planMerge([part(0, 100), part(0, 200), part(1, 5_000)], 'due')
    expect(plan?.inputs.map(({ level }) => level)).toEqual([0, 0])
    expect(plan?.kept.map(({ level }) => level)).toEqual([1])
    expect(plan?.level).toBe(2)
  })

  test('a full tier becomes one run of the next one', () => {
    const plan = planMerge([part(0, 100), part(1, 9_000), part(2, 9_000), part(3, 9_000), part(4, 9_000), part(5, 70_000)], 'due')
    expect(plan?.inputs.map(({ level }) => level).sort()).toEqual([0, 1, 2, 3, 4])
    expect(plan?.level).toBe(6)
    expect(plan?.kept.map(({ level }) => level)).toEqual([5])
  })

  test('many rows begin in a higher tier', () => {
    expect(planMerge([part(0, 50_000)], 'due')?.level).toBe(5)
    expect(planMerge([part(0, 1_000_000)], 'due')?.level).toBe(13)
  })

  test('the whole table is one run afterwards, and is left alone when it is one already', () => {
    const plan = planMerge([part(1, 10), part(2, 10)], 'whole')
    expect(plan).toMatchObject({ level: 1, kept: [] })
    expect(plan?.inputs).toHaveLength(2)
    expect(planMerge([part(3, 10)], 'whole')).toBeUndefined()
  })

  test('what is fresh alone goes into a free level, of a higher tier where there is none, and no run is written again', () => {
    const runs = [part(1, 9_000), part(2, 9_000), part(3, 9_000), part(4, 9_000), part(5, 70_000)]
    const plan = planMerge([part(0, 100), ...runs], 'fresh')
    expect(plan?.inputs.map(({ level }) => level)).toEqual([0])
    expect(plan?.kept).toEqual(runs)
    expect(plan?.level).toBe(6)
    expect(planMerge(runs, 'fresh')).toBeUndefined()
  })

  test('rewrites grow with the logarithm of the table, and so does the number of runs', () => {
    let parts: readonly Part[] = []
    let rewritten = 0
    const merges = 512
    for (let merge = 0; merge < merges; merge++) {
      const plan = planMerge([...parts, part(0, 20_000)], 'due')
      const rows = plan?.inputs.reduce((sum, input) => sum + input.rows, 0) ?? 0
      rewritten += rows
      parts = [...(plan?.kept ?? []), part(plan?.level ?? 0, rows)]
    }
    expect(parts.reduce((sum, { rows }) => sum + rows, 0)).toBe(merges * 20_000)
    expect(rewritten / (merges * 20_000)).toBeLessThanOrEqual(5)
    expect(parts.length).toBeLessThanOrEqual(16)
  })
})
