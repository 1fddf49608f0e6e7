import { describe, expect, test } from '@jest/globals'
import { asset } from './asset.js'
import { defineCodeLocation } from './code-location.js'
import { schedule } from './schedule.js'

const daily = (name: string) => schedule({ name, cron: '@daily', assets: 'a' })
const of = (key: string, ...deps: string[]) => asset({ key, deps, run: () => undefined })

test('assets come in the order of their keys, and dependencies of other locations are no fault', () => {
  const location = defineCodeLocation({ name: 'analytics', assets: [of('b', 'elsewhere'), of('a', 'b')], schedules: [], sensors: [] })
  expect(location.name).toBe('analytics')
  expect(location.assets.map(({ key }) => key)).toEqual(['a', 'b'])
})

test('every fault is in one error', () => {
  const options = {
    name: 'my location',
    assets: [of('a', 'b'), of('b', 'a'), of('c'), of('c'), {}],
    schedules: [{}],
    sensors: [{}],
    asets: [],
  }
  expect(() => defineCodeLocation(options as never)).toThrow(
    new Error(
      [
        'code location "my location" has 7 faults:',
        '  - name is "my location". Give it 1 to 100 letters, digits, _ . and -, the first a letter or digit.',
        '  - assets[4] is an object with no members. Give it what asset(…) returns.',
        '  - schedules[0] is an object with no members. Give it what schedule(…) returns.',
        '  - sensors has 1, and this version of Servo has no sensors. Leave it empty; what notices new data can request runs.',
        '  - asets is not known here. Did you mean assets?',
        '  - assets has "c" twice. Give each asset a key of its own, and list it once.',
        '  - deps make a cycle: a needs b needs a. Remove one of these dependencies.',
      ].join('\n'),
    ),
  )
})

describe('what is wrong is said with the field and the cure', () => {
  test.each([
    [undefined, 'defineCodeLocation(…) is wrong: Its options are undefined.'],
    [{ assets: [] }, 'name is missing. Give it 1 to 100 letters'],
    [{ name: 'a' }, 'assets is missing. Give it a list of what asset(…) returns.'],
    [{ name: 'a', assets: [undefined] }, 'assets[0] is missing. Give it what asset(…) returns.'],
    [{ name: 'a', assets: [], schedules: {} }, 'schedules is an object with no members. Give it a list of what schedule(…) returns.'],
    [
      { name: 'a', assets: [], schedules: [daily('x'), daily('x')] },
      'schedules has "x" more than once. Give each schedule a name of its own.',
    ],
    [
      { name: 'a', assets: Array.from({ length: 1_900 }, (_, i) => of(`a${i}`)), schedules: [daily('x')] },
      'assets and schedules are 1901 together, and 1900 is the most of a location.',
    ],
    [{ name: 'a', assets: Array.from({ length: 1_901 }, (_, i) => of(`a${i}`)) }, 'assets has 1901, and 1900 is the most of a location.'],
    [{ name: 'a', assets: [of('b'), of('b'), of('b')] }, 'assets has "b" 3 times.'],
  ])('%#', (options, sentence) => {
    expect(() => defineCodeLocation(options as never)).toThrow(sentence)
  })
})

test('as many as fit are taken', () => {
  expect(defineCodeLocation({ name: 'a', assets: Array.from({ length: 1_900 }, (_, i) => of(`a${i}`)) }).assets).toHaveLength(1_900)
})
