import { expect, test } from '@jest/globals'
import { parseDefinition } from '../partitions/definition.js'
import { daily, partitionsFaults, staticPartitions } from './partitions.js'

test('what comes out is what src/partitions reads', () => {
  const days = daily({ start_date: '2025-01-01', end_date: '2025-02-01', timezone: 'Europe/Berlin', exclusions: ['2025-01-06'] })
  expect(days).toEqual({
    type: 'daily',
    start_date: '2025-01-01',
    end_date: '2025-02-01',
    timezone: 'Europe/Berlin',
    exclusions: ['2025-01-06'],
  })
  expect(parseDefinition(days)).toMatchObject({ type: 'daily', timezone: 'Europe/Berlin' })
  const regions = staticPartitions(['europe', 'asia'])
  expect(regions).toEqual({ type: 'static', keys: ['europe', 'asia'] })
  expect(parseDefinition(regions)).toEqual(regions)
})

test('keys that change afterwards do not get in', () => {
  const keys = ['europe']
  const regions = staticPartitions(keys)
  keys.push('asia')
  expect(regions.keys).toEqual(['europe'])
})

test('a member that is undefined is one that is left out', () => {
  const options = { start_date: '2025-01-01', timezone: undefined } as unknown as { start_date: string }
  expect(partitionsFaults(daily(options))).toEqual([])
})

test.each([
  [() => daily({ start_date: '2025-02-30' }), 'daily(…) is wrong: The partitions\' start_date "2025-02-30" is no time'],
  [() => daily({ start_date: '2025-01-01', timezone: 'Berlin' }), 'There is no time zone "Berlin". Did you mean "Europe/Berlin"?'],
  [
    () => daily({ start_date: '2025-01-01', time_zone: 'UTC' } as never),
    'the field "time_zone", which this version does not know for their type: remove it. Did you mean timezone?',
  ],
  [
    () => daily({ start_date: '2025-01-01', cron: '0 0 * * *' } as never),
    'the field "cron", which this version does not know for their type: remove it.',
  ],
  [() => staticPartitions([]), "staticPartitions(…) is wrong: The partitions' keys must have at least one key."],
  [() => staticPartitions(['a', 'a']), 'keys[1] "a" is there twice'],
  [() => staticPartitions('a' as never), 'keys is "a". Give it a list of keys.'],
])('%#', (make, sentence) => {
  expect(make).toThrow(sentence)
})
