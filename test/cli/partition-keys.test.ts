// `servo partition keys`, which needs nothing but itself.

import { describe, expect, test } from '@jest/globals'
import { runServo, startServo } from '../fixtures/servo-process.js'
import { plantTree, removeTree } from '../tidy/tree.js'

const keysOf = (definition: unknown, ...args: readonly string[]) =>
  startServo(
    ['partition', 'keys', '--definition', '-', ...args],
    {},
    typeof definition === 'string' ? definition : JSON.stringify(definition),
  ).finished

const DAYS = { type: 'daily', start_date: '2025-01-01', timezone: 'Europe/Berlin', exclusions: ['2025-01-06', '0 0 * * 0'] }
const FALL = { type: 'hourly', start_date: '2024-11-03', end_date: '2024-11-04', timezone: 'America/New_York' }

describe('servo partition keys', () => {
  test('prints one value for programs: what exists then, what the zone makes of it', async () => {
    expect(await keysOf(DAYS, '--now', '2025-01-09T00:00:00+01:00', '--json')).toEqual({
      code: 0,
      stdout: '{"count":6,"keys":["2025-01-01","2025-01-02","2025-01-03","2025-01-04","2025-01-07","2025-01-08"]}',
      stderr: '',
    })
    const { stdout } = await keysOf(FALL, '--range', '2024-11-03-01:00..2024-11-03-03:00', '--limit', '2', '--windows', '--json')
    expect(JSON.parse(stdout)).toEqual({
      count: 4,
      keys: ['2024-11-03-01:00', '2024-11-03-01:00-0500'],
      windows: [
        ['2024-11-03T01:00:00-04:00', '2024-11-03T01:00:00-05:00'],
        ['2024-11-03T01:00:00-05:00', '2024-11-03T02:00:00-05:00'],
      ],
    })
  })

  test('reads a file, and tells people a table and what is not in it', async () => {
    const folder = plantTree({ 'hours.json': JSON.stringify(FALL) }, [])
    try {
      const { code, stdout, stderr } = await runServo([
        'partition',
        'keys',
        '--definition',
        `${folder}/hours.json`,
        '--limit',
        '1',
        '--windows',
      ])
      expect({ code, stderr }).toEqual({ code: 0, stderr: 'These are the first 1 of 25. Say --limit or --range to see others.' })
      expect(stdout).toContain('│ 2024-11-03-00:00 │ 2024-11-03T00:00:00-04:00 │ 2024-11-03T01:00:00-04:00 │')
    } finally {
      removeTree(folder)
    }
  })

  test('of dimensions are named, and their windows are those of the one that has time', async () => {
    const grid = { type: 'multi', dimensions: { region: { type: 'static', keys: ['us'] }, date: { ...DAYS, end_date: '2025-01-03' } } }
    const { stdout } = await keysOf(grid, '--windows', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      keys: ['date=2025-01-01|region=us', 'date=2025-01-02|region=us'],
      windows: [['2025-01-01T00:00:00+01:00', '2025-01-02T00:00:00+01:00'], expect.anything()],
    })
  })

  test.each<[string, unknown, readonly string[], string]>([
    ['what is no JSON', 'days', [], '--definition: stdin is no JSON.'],
    ['a wrong definition', { ...DAYS, timezone: 'Berlin' }, [], 'There is no time zone "Berlin". Did you mean "Europe/Berlin"?'],
    ['a wrong key', DAYS, ['--range', '2025-01-01..2025-01-06'], 'The nearest key is "2025-01-07".'],
    [
      'a key that is not there yet',
      DAYS,
      ['--range', '2025-01-01..2025-01-08', '--now', '2025-01-05T00:00:00Z'],
      'The nearest key is "2025-01-04".',
    ],
    [
      'a key before there is any',
      DAYS,
      ['--range', '2025-01-01..2025-01-02', '--now', '2024-12-31T00:00:00Z'],
      '"2025-01-01" is no key: there is none yet. The definition begins with "2025-01-01".',
    ],
    ['a misspelled member', { ...DAYS, enddate: '2025-01-03' }, [], 'remove it. Did you mean end_date?'],
    ['a misspelled type', { ...DAYS, type: 'Daily' }, [], 'or a later version. Did you mean daily?'],
    ['a range that runs backwards', DAYS, ['--range', '2025-01-03..2025-01-02'], 'The range runs backwards'],
    ['half a range', DAYS, ['--range', '2025-01-03'], '--range is "2025-01-03". Write its first and its last key'],
    [
      'too many keys',
      { type: 'hourly', start_date: '1900-01-01' },
      ['--json'],
      'and 1000000 is the most at once. Give --limit, or a --range.',
    ],
    [
      'keys that are added later',
      { type: 'dynamic', name: 'customers' },
      [],
      'The keys of the dynamic partitions "customers" are added while',
    ],
  ])('%s is refused in a sentence', async (_, definition, args, sentence) => {
    const { code, stdout, stderr } = await keysOf(definition, ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
    expect(stderr.split('\n')).toHaveLength(1)
  })
})
