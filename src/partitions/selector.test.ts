import { describe, expect, test } from '@jest/globals'
import { expandSelector, type PartitionSelector } from './selector.js'

const DAYS = { type: 'daily', start_date: '2025-01-01', end_date: '2025-02-01', timezone: 'Europe/Berlin', exclusions: ['2025-01-10'] }
const OPEN_DAYS = { type: 'daily', start_date: '2025-01-01' }
const REGIONS = { type: 'static', keys: ['us', 'eu', 'asia', 'EU-west'] }
const HOURS = { type: 'hourly', start_date: '2025-01-01-00:00' }
const LATER = { type: 'lunar', start_date: '2025-01-01' }
const GRID = { type: 'multi', dimensions: { region: REGIONS, date: DAYS } }
const OPEN_GRID = { type: 'multi', dimensions: { region: REGIONS, date: OPEN_DAYS } }
const LISTS: Readonly<Record<string, readonly string[]>> = { aa: ['2025-01-03', '2025-01-04', '2025-01-07'] }

const expand = (definition: unknown, selector: PartitionSelector, limit = 100) =>
  expandSelector(definition, selector, (sha256) => LISTS[sha256], limit)
const pairs = (definition: unknown, selector: PartitionSelector) => {
  const selected = expand(definition, selector)
  return 'problem' in selected ? selected.problem : selected.keys.map((key) => [key.partition_key, key.sort_key])
}
const problem = (definition: unknown, selector: PartitionSelector, limit = 100) => {
  const selected = expand(definition, selector, limit)
  return 'problem' in selected ? selected.problem : 'none'
}

describe('what is selected', () => {
  test('nothing is the one partition of an asset without', () => {
    expect(expand(null, null)).toEqual({ keys: [{ partition_key: '', sort_key: '', partition_values: null }] })
    expect(pairs(DAYS, null)).toEqual([['', '']])
  })

  test('days sort by the start of their window', () => {
    const days = [
      ['2025-01-03', '2025-01-02T23:00:00.000Z'],
      ['2025-01-04', '2025-01-03T23:00:00.000Z'],
    ]
    expect(pairs(DAYS, { keys: ['2025-01-03', '2025-01-04'] })).toEqual(days)
    expect(pairs(DAYS, { range: { start: '2025-01-03', end: '2025-01-04' } })).toEqual(days)
    expect(pairs(DAYS, { list: { sha256: 'aa', count: 2 } })).toEqual(days)
    expect(pairs(DAYS, { list: { sha256: 'aa', count: 1, offset: 2 } })).toEqual([['2025-01-07', '2025-01-06T23:00:00.000Z']])
  })

  test('a range leaves out what the definition leaves out', () => {
    expect(pairs(DAYS, { range: { start: '2025-01-09', end: '2025-01-11' } })).toEqual([
      ['2025-01-09', '2025-01-08T23:00:00.000Z'],
      ['2025-01-11', '2025-01-10T23:00:00.000Z'],
    ])
  })

  test('static keys keep the order of their definition', () => {
    expect(pairs(REGIONS, { range: { start: 'eu', end: 'EU-west' } })).toEqual([
      ['eu', 'eu'],
      ['asia', 'asia'],
      ['EU-west', 'EU-west'],
    ])
    expect(pairs(REGIONS, { all: true })).toEqual([
      ['us', 'us'],
      ['eu', 'eu'],
      ['asia', 'asia'],
      ['EU-west', 'EU-west'],
    ])
    expect(pairs(REGIONS, { keys: ['asia'] })).toEqual([['asia', 'asia']])
  })

  test('keys of what this version does not understand are taken as they are', () => {
    for (const definition of [null, undefined, LATER, { type: 'daily' }]) {
      expect(pairs(definition, { keys: ['x', 'y'] })).toEqual([
        ['x', 'x'],
        ['y', 'y'],
      ])
      expect(pairs(definition, { list: { sha256: 'aa', count: 1 } })).toEqual([['2025-01-03', '2025-01-03']])
    }
  })

  test('keys of dimensions carry their names, sort by time, and have a short form', () => {
    const keys = ['2025-01-03|asia', 'region=us|date=2025-01-03', 'date=2025-01-03|region=us']
    const us = ['date=2025-01-03|region=us', 'date=2025-01-02T23:00:00.000Z|region=us']
    expect(pairs(GRID, { keys })).toEqual([['date=2025-01-03|region=asia', 'date=2025-01-02T23:00:00.000Z|region=asia'], us, us])
    expect(expand(GRID, { keys: ['2025-01-03|us'] })).toMatchObject({ keys: [{ partition_values: { date: '2025-01-03', region: 'us' } }] })
  })

  test('dimensions are selected each for itself, and a range goes through them in their order', () => {
    const short = (selector: PartitionSelector, definition: unknown = GRID) => {
      const selected = expand(definition, selector)
      return 'problem' in selected
        ? selected.problem
        : selected.keys.map(({ partition_values }) => Object.values(partition_values ?? {}).join(' '))
    }
    const dims = { date: { range: { start: '2025-01-09', end: '2025-01-11' } }, region: { match: ['*e*', 'eu'] } }
    expect(short({ dims })).toEqual(['2025-01-09 eu', '2025-01-09 EU-west', '2025-01-11 eu', '2025-01-11 EU-west'])
    expect(short({ dims: { date: { keys: ['2025-01-04', '2025-01-03'] }, region: { keys: ['asia'] } } })).toEqual([
      '2025-01-03 asia',
      '2025-01-04 asia',
    ])
    for (const definition of [GRID, OPEN_GRID]) {
      expect(short({ range: { start: '2025-01-03|EU-west', end: '2025-01-04|us' } }, definition)).toEqual([
        '2025-01-03 EU-west',
        '2025-01-04 us',
      ])
    }
    expect(expand(GRID, { all: true }, 120)).toMatchObject({ keys: { length: 120 } })
  })

  test('the limit is a number of keys, and a range up to it is expanded', () => {
    const range = { start: '2025-01-01', end: '2052-05-18' }
    expect(problem(OPEN_DAYS, { range }, 10_000)).toBe('none')
    expect(expand(OPEN_DAYS, { range }, 10_000)).toMatchObject({ keys: { length: 10_000 } })
  })
})

describe('what is refused names what would do', () => {
  test.each<[unknown, PartitionSelector, string]>([
    [
      DAYS,
      { keys: ['2024-12-31'] },
      'The partition key "2024-12-31" is none of the days from "2025-01-01" to "2025-01-31" in Europe/Berlin. The nearest key is "2025-01-01".',
    ],
    [DAYS, { keys: ['2025-02-01'] }, 'The nearest key is "2025-01-31".'],
    [DAYS, { keys: ['2025-01-10'] }, 'The nearest key is "2025-01-11".'],
    [OPEN_DAYS, { keys: ['2025-02-30'] }, 'is none of the days from "2025-01-01" on in UTC. The nearest key is "2025-03-02".'],
    [DAYS, { keys: ['2025-1-4'] }, 'The partition key "2025-1-4" is not written as %Y-%m-%d. The nearest key is "2025-01-04".'],
    [DAYS, { keys: ['2025-13-3'] }, 'The partition key "2025-13-3" is not written as %Y-%m-%d, such as "2025-01-01", the first key.'],
    [{ ...OPEN_DAYS, end_date: '2025-01-01' }, { keys: ['2025-01-01'] }, 'the definition has none'],
    [
      DAYS,
      { range: { start: '2025-01-04', end: '2025-01-03' } },
      'The range runs backwards: "2025-01-03" comes before "2025-01-04". Name the earlier key first.',
    ],
    [DAYS, { range: { start: '2024-01-04', end: '2025-01-03' } }, 'The range\'s start "2024-01-04" is none of the days'],
    [DAYS, { range: { start: '2025-01-04', end: '2025-03-03' } }, 'The range\'s end "2025-03-03" is none of the days'],
    [
      OPEN_DAYS,
      { range: { start: '2025-01-01', end: '2026-01-01' } },
      'The range has 366 keys, and 100 is the most here: end it at "2025-04-10" or before.',
    ],
    [REGIONS, { keys: ['EU'] }, 'The partition key "EU" is none of its keys. The nearest is "eu".'],
    [REGIONS, { keys: ['asai'] }, 'The nearest is "asia".'],
    [REGIONS, { keys: ['sia'] }, 'The nearest is "asia".'],
    [REGIONS, { keys: ['EU-south'] }, 'The nearest is "EU-west".'],
    [REGIONS, { keys: ['xx'] }, 'The partition key "xx" is none of its keys. There are 4: the first is "us", the last "EU-west".'],
    [{ type: 'static', keys: ['a'] }, { keys: ['d'] }, '"d" is none of its keys. The only one is "a".'],
    [GRID, { keys: ['date=2025-01-03|region=xx'] }, 'the last "EU-west".'],
    [REGIONS, { range: { start: 'asia', end: 'us' } }, 'The range runs backwards'],
    [
      OPEN_DAYS,
      { all: true },
      'All at once cannot be selected of the days from "2025-01-01" on in UTC, which have no end: select a range.',
    ],
    [null, { all: true }, 'All partitions cannot be selected. The asset has no partitions.'],
    [LATER, { all: true }, 'Partitions of type "lunar" are not known to this version'],
    [LATER, { range: { start: 'a', end: 'b' } }, 'A range needs partitions that have an order. Partitions of type "lunar" are not known'],
    [LATER, { keys: [''] }, 'The partition key "" is empty'],
    [HOURS, { keys: ['2025-01-01-00:20'] }, 'The nearest key is "2025-01-01-00:00".'],
    [DAYS, { dims: { date: { all: true } } }, 'Dimensions are selected of partitions that have some, and these are the days from'],
    [
      GRID,
      { keys: ['date=2025-01-03'] },
      '"date=2025-01-03" is no key: write the date and the region, such as "date=2025-01-03|region=us".',
    ],
    [GRID, { keys: ['=2025-01-03|=us'] }, 'is no key: write the date and the region'],
    [GRID, { keys: ['eu'] }, 'write the date and the region, such as "date=2025-01-01|region=eu".'],
    [GRID, { keys: ['eu|2025-01-03|x'] }, 'such as "date=2025-01-03|region=eu".'],
    [GRID, { keys: ['date=2025-01-10|zone=eu'] }, 'such as "date=2025-01-11|region=us".'],
    [GRID, { keys: ['2025-01-10|us'] }, 'is no key: its date "2025-01-10" is none of the days'],
    [GRID, { keys: ['2025-01-10|asai'] }, 'Say "date=2025-01-11|region=asia".'],
    [GRID, { dims: { date: { all: true } } }, 'The dimension "region" is missing: select something of each of date, region.'],
    [GRID, { dims: { date: { all: true }, zone: { all: true } } }, 'The dimension "zone" is not there: there are date, region.'],
    [GRID, { dims: { date: { match: ['2025*'] }, region: { all: true } } }, 'The dimension "date": Patterns are for keys that are listed'],
    [GRID, { dims: { date: { all: true }, region: { match: ['af*'] } } }, 'The dimension "region": No key fits af*.'],
    [
      OPEN_GRID,
      { dims: { date: { all: true }, region: { all: true } } },
      'The dimension "date": the days from "2025-01-01" on in UTC have no end.',
    ],
    [DAYS, { list: { sha256: 'bb', count: 1 } }, 'The list bb is not there'],
    [DAYS, { list: { sha256: 'aa', count: 2, offset: 2 } }, 'The list aa has 3 keys, and 2 from 2 on are selected'],
  ])('%j %j', (definition, selector, sentence) => {
    expect(problem(definition, selector)).toContain(sentence)
  })

  test('more than the limit', () => {
    expect(problem(REGIONS, { all: true }, 3)).toContain('All partitions are 4 keys, and 3 is the most here')
    expect(problem(null, { keys: ['a', 'b'] }, 1)).toContain('2 keys are selected, and 1 is the most here')
  })
})
