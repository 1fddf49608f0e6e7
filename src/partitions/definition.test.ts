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
    time_of_day_ms: 0,
    excluded_days: [],
    format: { text: '%Y-%m-%d' },
  })
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
    [{}, 'The partitions have no type. Give "type" one of these: daily and static.'],
    ['daily', 'The partitions have no type.'],
    [{ type: 'hourly' }, 'Partitions of type "hourly" are not known to this version of Servo, which knows daily and static.'],
    [{ type: 'daily' }, 'The partitions\' start_date must be text, such as "2025-01-01".'],
    [{ ...daily, start_date: '2025-02-30' }, 'The partitions\' start_date "2025-02-30" is no time of the years 1900 to 9999'],
    [{ ...daily, start_date: 'tomorrow' }, 'write a date, or a time of UTC, such as "2025-01-01"'],
    [{ ...daily, start_date: '1850-01-01' }, 'is no time of the years 1900 to 9999'],
    [{ ...daily, end_date: '2025-01-01T25:00:00' }, "The partitions' end_date"],
    [{ ...daily, end_date: '2024-01-01' }, "The partitions' end_date is before start_date: make it later than 2025-01-01."],
    [{ ...daily, timezone: 'UTC+2' }, "The partitions' timezone must be a name of the IANA time zone database"],
    [{ ...daily, timezone: 2 }, "The partitions' timezone must be text"],
    [{ ...daily, hour_offset: 24 }, "The partitions' hour_offset must be a whole number from 0 to 23."],
    [{ ...daily, minute_offset: 1.5 }, "The partitions' minute_offset must be a whole number from 0 to 59."],
    [{ ...daily, end_offset: '1' }, "The partitions' end_offset must be a whole number"],
    [{ ...daily, fmt: '%Y-%m' }, "The partitions' fmt needs %Y, %m and %d"],
    [{ ...daily, fmt: '%Y-%m-%d %A' }, "The partitions' fmt has %A, which is not known"],
    [{ ...daily, fmt: '%Y-%m-%d%' }, "The partitions' fmt has %, which is not known"],
    [{ ...daily, fmt: '%Y-%m-%d-%d' }, "The partitions' fmt has the same directive twice"],
    [{ ...daily, fmt: '%Y-%m-%d\n' }, "The partitions' fmt makes a key that has a control character"],
    [{ ...daily, exclusions: ['0 0 * * 6'] }, 'The partitions\' exclusions[0] "0 0 * * 6" is no date'],
    [{ ...daily, exclusions: '2025-01-01' }, "The partitions' exclusions must be a list of dates"],
    [{ ...daily, day_offset: 1 }, 'The partitions have the field "day_offset", which this version does not know'],
    [{ type: 'static', keys: [] }, "The partitions' keys must have at least one key."],
    [{ type: 'static', keys: ['a', 1] }, 'The partitions\' keys[1] must be text, such as "europe".'],
    [{ type: 'static', keys: ['a', 'b', 'a'] }, 'The partitions\' keys[2] "a" is there twice: name each key once.'],
    [{ type: 'static', keys: ['a', '...'] }, 'The partitions\' keys[1] "..." is reserved: choose another one.'],
  ])('%j', (definition, sentence) => {
    expect(problemOf(definition)).toContain(sentence)
  })
})
