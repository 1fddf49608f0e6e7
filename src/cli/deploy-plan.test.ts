import { describe, expect, test } from '@jest/globals'
import { isEmptyDiff, keptLine, planLine, planLines } from './deploy-plan.js'

const NOTHING = { added: [], changed: [], removed: [], location: [], unchanged_count: 0 }
const PLAIN = { hasColour: false }

describe('the plan of a deploy', () => {
  test('names what is added, changed with its members, removed, and counts the rest', () => {
    const diff = {
      added: ['events_daily'],
      changed: [
        {
          asset_key: 'raw_events',
          members: [
            { member: 'code_version', from: '1', to: '2' },
            { member: 'retry', from: null, to: { max_attempts: 3 } },
          ],
        },
      ],
      removed: ['old'],
      unchanged_count: 7,
      location: [{ member: 'slots', from: 64, to: 8 }],
      schedules: {
        added: ['nightly'],
        changed: [{ schedule_name: 'hourly', members: [{ member: 'timezone', from: 'UTC', to: 'Europe/Berlin' }] }],
        removed: ['weekly'],
        unchanged_count: 2,
      },
    }
    expect(planLines(diff, 'quickstart', PLAIN)).toEqual([
      '+ events_daily',
      '+ schedule nightly',
      '~ location quickstart',
      '    slots: 64 -> 8',
      '~ raw_events',
      '    code_version: "1" -> "2"',
      '    retry: (none) -> {"max_attempts":3}',
      '~ schedule hourly',
      '    timezone: "UTC" -> "Europe/Berlin"',
      '- old',
      '- schedule weekly',
      '= 9 unchanged',
    ])
    expect(planLine(diff)).toBe(
      '- old, - schedule weekly, ~ the location (slots), ~ raw_events (code_version, retry), ~ schedule hourly (timezone), + events_daily, + schedule nightly',
    )
  })

  test('has a line of a few names, and counts the others', () => {
    const added = Array.from({ length: 11 }, (_, index) => `a${index}`)
    expect(planLine({ ...NOTHING, added })).toBe('+ a0, + a1, + a2, + a3, + a4, + a5, + a6, + a7, and 3 more')
    expect(planLine({ ...NOTHING, added: added.slice(3) })).toMatch(/, \+ a10$/)
    expect(planLine(NOTHING)).toBe('')
  })

  test('names what stays though it is not in the deploy', () => {
    expect(keptLine({ ...NOTHING, kept: { assets: ['old'], schedules: ['nightly'] } })).toBe('old, schedule nightly')
    expect([keptLine({ ...NOTHING, kept: { assets: [], schedules: [] } }), keptLine(NOTHING)]).toEqual(['', ''])
  })

  test.each([
    [[1, 0, 1, true], '1 materialized key ends and stays as history; 1 key begins, not materialized yet'],
    [[150, 3, 200, true], '150 materialized keys end and stay as history; 200 keys begin, 3 of them materialized before'],
    [[0, 0, 0, true], 'no materialized key ends; no key begins'],
    [[12, 0, null, false], 'at least 12 materialized keys end and stay as history; how many keys begin is not counted: they are too many'],
  ] as const)('says of new partitions which keys end and which begin: %j', ([ended, again, begun, is_complete], sentence) => {
    const partition_keys = { materialized_ended: ended, materialized_begun: again, begun, is_complete }
    const members = [{ member: 'partitions', from: { keys: ['eu'] }, to: { keys: ['us'] } }]
    const lines = planLines({ ...NOTHING, changed: [{ asset_key: 'a', members, partition_keys }] }, 'quickstart', PLAIN)
    expect(lines.slice(0, 2)).toEqual(['~ a', '    partitions: {"keys":["eu"]} -> {"keys":["us"]}'])
    expect(lines[2]).toContain(`    ${sentence}`)
  })

  test('has nothing to say of nothing', () => {
    expect(planLines(NOTHING, 'quickstart', PLAIN)).toEqual([])
    expect(isEmptyDiff(NOTHING)).toBe(true)
    expect(isEmptyDiff({ ...NOTHING, unchanged_count: 3 })).toBe(true)
    expect(isEmptyDiff({ ...NOTHING, schedules: { added: ['x'], changed: [], removed: [], unchanged_count: 0 } })).toBe(false)
    expect(isEmptyDiff({ ...NOTHING, location: [{ member: 'slots', from: 1, to: 2 }] })).toBe(false)
  })

  test('cuts what is long, and colours what changes on a terminal alone', () => {
    const long = { ...NOTHING, location: [{ member: 'sdk', from: null, to: 'x'.repeat(500) }] }
    expect(planLines(long, 'a', PLAIN)[1]).toMatch(/^ {4}sdk: \(none\) -> "x{78}…$/)
    expect(planLines({ ...NOTHING, added: ['a'] }, 'a', { hasColour: true })).toEqual(['\u001b[32m+ a\u001b[0m'])
  })
})
