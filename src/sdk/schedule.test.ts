import { describe, expect, test } from '@jest/globals'
import { SCHEDULE_BODIES } from '../api/contract/schedule.js'
import { definitionHash } from '../core/keys.js'
import { asset } from './asset.js'
import { defineCodeLocation } from './code-location.js'
import { describeLocation } from './definition.js'
import { lastComplete, schedule } from './schedule.js'

const summary = asset({ key: 'analytics.daily_summary', deps: [], run: () => undefined })

test('what is written is what a deploy takes, which fills in the rest', () => {
  const { definition } = schedule({ name: 'nightly', cron: '30 2 * * *', assets: summary })
  expect(definition).toEqual({ schedule_name: 'nightly', cron_expressions: ['30 2 * * *'], asset_selection: ['analytics.daily_summary'] })
  expect(SCHEDULE_BODIES.deployed.parse(definition)).toEqual({
    ...definition,
    timezone: 'UTC',
    catchup_window_minutes: 1440,
    max_catchup_ticks: 3,
    catch_up_on_resume: false,
    overlap_policy: 'ALLOW',
    default_status: 'ACTIVE',
  })
})

test('every member arrives under its own name', () => {
  const policy = {
    catchup_window_minutes: 60,
    max_catchup_ticks: 1,
    catch_up_on_resume: true,
    overlap_policy: 'SKIP',
    tags: { team: 'core' },
    priority: 5,
    description: 'Each night.',
    default_status: 'PAUSED',
  } as const
  const { definition } = schedule({
    ...policy,
    name: 'nightly',
    cron: ['30 2 * * *', '@hourly'],
    timezone: 'Europe/Berlin',
    assets: [summary, 'group:core'],
    partitions: lastComplete({ end_offset: -1, dims: { region: { keys: ['eu'] } } }),
    renamed_from: 'old',
  })
  expect(definition).toEqual({
    ...policy,
    schedule_name: 'nightly',
    renamed_from: 'old',
    cron_expressions: ['30 2 * * *', '@hourly'],
    timezone: 'Europe/Berlin',
    asset_selection: ['analytics.daily_summary', 'group:core'],
    partition_mapping: { type: 'LAST_COMPLETE', end_offset: -1, dims: { region: { keys: ['eu'] } } },
  })
  expect(SCHEDULE_BODIES.deployed.parse(definition)).toEqual(definition)
})

test('schedules are part of what a location is, in the order of their names', () => {
  const named = (name: string) => schedule({ name, cron: '@daily', assets: summary })
  const of = (...names: string[]) => describeLocation(defineCodeLocation({ name: 'a', assets: [summary], schedules: names.map(named) }))
  expect(of('y', 'x').schedules.map(({ schedule_name }) => schedule_name)).toEqual(['x', 'y'])
  expect(of('y', 'x').content_sha256).toBe(of('x', 'y').content_sha256)
  expect(of('x').content_sha256).not.toBe(of('x', 'y').content_sha256)
  expect(definitionHash(of('x').schedules[0] ?? {})).toMatch(/^[0-9a-f]{64}$/)
})

describe('what is wrong is said with the field and the cure', () => {
  const right = { name: 'nightly', cron: '@daily', assets: 'a' }

  test.each<readonly [unknown, string]>([
    [undefined, 'schedule(…) is wrong: Its options are undefined. Give it an object.'],
    [{ ...right, name: 'my schedule' }, 'name is "my schedule". Give it 1 to 100 letters'],
    [{ ...right, cron: [] }, 'cron is a list of 0. Give it a cron expression such as "0 6 * * *"'],
    [{ ...right, cron: '0 25 * * *' }, 'The cron expression "0 25 * * *"'],
    [{ ...right, timezone: 'Berlin' }, 'Berlin'],
    [{ ...right, assets: [] }, 'assets is a list of 0. Give it an asset, a selector such as "group:core", or a list of 1 to 100.'],
    [{ ...right, assets: [{}] }, 'assets[0] is an object with no members.'],
    [{ ...right, partitions: 'last' }, 'partitions is "last". Give it what lastComplete(…) returns.'],
    [{ ...right, overlap_policy: 'skip' }, 'overlap_policy is "skip". Give it "ALLOW" or "SKIP".'],
    [{ ...right, catch_up_on_resume: 'yes' }, 'catch_up_on_resume is "yes". Give it true or false.'],
    [{ ...right, max_catchup_ticks: 0 }, 'max_catchup_ticks is 0. Give it a whole number from 1 to 100.'],
    [{ ...right, timezon: 'UTC' }, 'timezon is not known here. Did you mean timezone?'],
  ])('%#', (options, sentence) => {
    expect(() => schedule(options as never)).toThrow(sentence)
  })

  test('all of it at once', () => {
    expect(() => schedule({ name: 'x' } as never)).toThrow('schedule "x" has 2 faults:')
  })
})
