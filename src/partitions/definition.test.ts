import { describe, expect, test } from '@jest/globals'
import { parseDefinition } from './definition.js'

const problemOf = (definition: unknown): string => {
  const parsed = parseDefinition(definition)
  return 'problem' in parsed ? parsed.problem : 'none'
}
const daily = { type: 'daily', start_date: '2025-01-01' }

test('what is left out has its default', () => {
  expect(parseDefinition(daily)).toMatchObject({
    timezone: 'UTC',
    start_ms: Date.parse('2025-01-01T00:00:00Z'),
    end_ms: null,
    end_offset: 0,
    cron: { hours: [0], minutes: [0] },
    left_out: [],
    removed: [],
    format: { text: '%Y-%m-%d' },
  })
})

test('formats are as short as keys can be told apart by', () => {
  const formatOf = (definition: object) => {
    const parsed = parseDefinition(definition)
    return 'format' in parsed ? parsed.format.text : parsed
  }
  const cron = { type: 'cron', start: '2025-01-01' }
  expect(formatOf({ ...cron, cron_schedule: '0 6 * * 1-5' })).toBe('%Y-%m-%d')
  expect(formatOf({ ...cron, cron_schedule: '*/15 6 * * *' })).toBe('%Y-%m-%d-%H:%M')
  expect(formatOf({ ...cron, cron_schedule: '30 * * * * *' })).toBe('%Y-%m-%d-%H:%M:%S')
  expect(formatOf({ type: 'monthly', start_date: '2025-01', fmt: '%Y-%m' })).toBe('%Y-%m')
  expect(formatOf({ ...cron, cron_schedule: '0 0 1 4 *', fmt: '%Y' })).toBe('%Y')
})

test('a time without an offset is one of the zone', () => {
  const times = ['2025-06-01', '2025-06-01T00:00:00', '2025-06-01 00:00', '2025-06-01T00:00:00+02:00', '2025-05-31T22:00:00Z']
  for (const start_date of times) {
    expect(parseDefinition({ ...daily, start_date, timezone: 'Europe/Berlin' })).toMatchObject({
      start_ms: Date.parse('2025-05-31T22:00:00Z'),
    })
  }
})

describe('what is wrong is said with the field and the cure', () => {
  test.each([
    [{}, 'The partitions have no type. Give "type" one of these: hourly, daily, weekly, monthly, cron, static, dynamic and multi.'],
    ['daily', 'The partitions have no type.'],
    [{ type: 'lunar' }, 'Partitions of type "lunar" are not known to this version of Servo, which knows hourly, daily,'],
    [{ type: 'daily' }, 'The partitions\' start_date must be text, such as "2025-01-01".'],
    [{ ...daily, start_date: '2025-02-30' }, 'The partitions\' start_date "2025-02-30" is no time of the years 1900 to 9999'],
    [{ ...daily, start_date: 'tomorrow' }, 'write a date, or a time of UTC, such as "2025-01-01"'],
    [{ ...daily, start_date: '1850-01-01' }, 'is no time of the years 1900 to 9999'],
    [{ ...daily, end_date: '2025-01-01T25:00:00' }, "The partitions' end_date"],
    [{ ...daily, end_date: '2024-01-01' }, "The partitions' end_date is before start_date: make it later than 2025-01-01."],
    [{ ...daily, timezone: 'UTC+2' }, `The partitions' timezone is not right: There is no time zone "UTC+2".`],
    [{ ...daily, timezone: 'UTC+2' }, 'An offset is no zone: it hides changes of the clocks.'],
    [{ ...daily, timezone: 'Europe/Berln' }, 'There is no time zone "Europe/Berln". Did you mean "Europe/Berlin"?'],
    [{ ...daily, timezone: 2 }, "The partitions' timezone must be text"],
    [{ ...daily, hour_offset: 24 }, "The partitions' hour_offset must be a whole number from 0 to 23."],
    [{ ...daily, minute_offset: 1.5 }, "The partitions' minute_offset must be a whole number from 0 to 59."],
    [{ ...daily, end_offset: '1' }, "The partitions' end_offset must be a whole number"],
    [{ ...daily, fmt: '%Y-%m' }, "The partitions' fmt needs %Y, %m and %d"],
    [{ ...daily, fmt: '%Y-%m-%d %A' }, "The partitions' fmt has %A, which is not known"],
    [{ ...daily, fmt: '%Y-%m-%d%' }, "The partitions' fmt has %, which is not known"],
    [{ ...daily, fmt: '%Y-%m-%d-%d' }, "The partitions' fmt has the same directive twice"],
    [{ ...daily, fmt: '%Y-%m-%d\n' }, "The partitions' fmt makes a key that has a control character"],
    [{ ...daily, exclusions: ['Christmas'] }, 'The partitions\' exclusions[0] "Christmas" is no key, no time and no cron expression'],
    [{ ...daily, exclusions: ['0 0 * * 8'] }, 'such as "2025-12-25" or "0 0 * * 6". The cron expression "0 0 * * 8"'],
    [{ ...daily, exclusions: ['0 0 * * *'] }, "The partitions' exclusions leave nothing: make them fewer."],
    [{ ...daily, exclusions: '2025-01-01' }, "The partitions' exclusions must be a list of keys, times or cron expressions"],
    [{ ...daily, exclusions: Array.from({ length: 30 }, (_, hour) => `${hour} 7 * * *`) }, "The partitions' exclusions are too many"],
    [{ ...daily, exclusions: Array(1_001).fill('2025-01-01') }, "The partitions' exclusions must have at most 1000 entries"],
    [{ type: 'hourly', start_date: '2025-01-01', fmt: '%Y-%m-%d' }, "The partitions' fmt needs %Y, %m, %d and %H, so that two"],
    [{ type: 'hourly', start_date: '2025-01-01', hour_offset: 1 }, 'The partitions have the field "hour_offset"'],
    [{ type: 'weekly', start_date: '2025-01-01', day_offset: 7 }, "The partitions' day_offset must be a whole number from 0 to 6."],
    [{ type: 'monthly', start_date: '2025-01-01', day_offset: 0 }, "The partitions' day_offset must be a whole number from 1 to 31."],
    [{ type: 'monthly', start_date: '2025-01-01', fmt: '%Y-%d' }, "The partitions' fmt needs %Y, %m and %d"],
    [{ type: 'cron', start: '2025-01-01' }, "The partitions' cron_schedule must be text, such as"],
    [{ type: 'cron', start: '2025-01-01', cron_schedule: '61 * * * *' }, "The partitions' cron_schedule is not right: The cron expression"],
    [
      { ...daily, start_date: '2201-01-01' },
      "The partitions' start_date is 2201-01-01, and no partition ends after 2200-01-01: make it earlier.",
    ],
    [{ type: 'cron', start: '2200-01-01', cron_schedule: '@daily' }, "The partitions' start is 2200-01-01, and no partition ends after"],
    [{ type: 'cron', start: '2025-01-02', end: '2025-01-01', cron_schedule: '@daily' }, "The partitions' end is before start"],
    [{ type: 'cron', start: '2025-01-01', cron_schedule: '0 6,7 * * *', fmt: '%Y-%m-%d' }, "The partitions' fmt needs %Y, %m, %d and %H"],
    [{ type: 'dynamic' }, "The partitions' name must be a name of 1 to 100 letters"],
    [{ type: 'multi' }, "The partitions' dimensions must be an object with a definition for each name."],
    [{ type: 'multi', dimensions: {} }, "The partitions' dimensions has 0 names: give it 1 to 10."],
    [{ type: 'multi', dimensions: { 'a b': daily } }, "The partitions' dimensions.a b must be a name"],
    [
      { type: 'multi', dimensions: { day: { ...daily, timezone: 'X' } } },
      'The dimension "day" is wrong: The partitions\' timezone is not right: There is no time zone "X"',
    ],
    [
      { type: 'multi', dimensions: { a: { type: 'multi', dimensions: { b: daily } } } },
      "The partitions' dimensions.a has dimensions of its own",
    ],
    [{ type: 'multi', dimensions: { a: { type: 'static', keys: ['x|y'] } } }, 'The partitions\' dimensions.a has the key "x|y"'],
    [{ type: 'multi', dimensions: { a: { type: 'static', keys: ['x'.repeat(255)] } } }, 'make keys of 257 bytes, and 256 is the most'],
    [
      {
        type: 'multi',
        dimensions: Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { type: 'hourly', start_date: '2025-01-01' }])),
      },
      "The partitions' dimensions have more keys together than can be counted",
    ],
    [{ ...daily, day_offset: 1 }, 'The partitions have the field "day_offset", which this version does not know'],
    [{ type: 'static', keys: [] }, "The partitions' keys must have at least one key."],
    [{ type: 'static', keys: ['a', 1] }, 'The partitions\' keys[1] must be text, such as "europe".'],
    [{ type: 'static', keys: ['a', 'b', 'a'] }, 'The partitions\' keys[2] "a" is there twice: name each key once.'],
    [{ type: 'static', keys: ['a', '...'] }, 'The partitions\' keys[1] "..." is reserved: choose another one.'],
  ])('%j', (definition, sentence) => {
    expect(problemOf(definition)).toContain(sentence)
  })
})
