import { describe, expect, it } from '@jest/globals'
import { runIdOf, ulidOf } from '../../test/fixtures/say.js'
import { createScheduleStory, requestedIn, SCHEDULE_ID, tickedIn, toldTicks } from '../../test/fixtures/schedule-story.js'
import { canonicalBytes } from '../core/canonical.js'
import { requestFingerprint, scheduleRunKey, scheduleTickedKey, tickId } from '../core/keys.js'
import { EVENT_BYTES_MAX } from '../core/limits.js'
import { DAY_MS, HOUR_MS, instantText, MINUTE_MS, SECOND_MS } from '../core/time.js'
import { nextScheduleAt } from './schedule-due.js'

const NOON = Date.parse('2025-01-15T12:00:00Z')
const MIDNIGHT = '0 0 * * *'
const HOURLY = '0 * * * *'
const at = (text: string): number => Date.parse(text)

describe('the controller of schedules', () => {
  it('says a tick and its run in one batch, by the formulas', () => {
    const story = createScheduleStory({ a: {}, b: { deps: [{ asset_key: 'a' }] } })
    story.define(NOON - MINUTE_MS, { cron_expressions: [HOURLY], asset_selection: ['+b'], tags: { team: 'core' }, priority: 7 })
    expect(story.ask(NOON - SECOND_MS)).toEqual([])
    const [decision] = story.ask(NOON + 2 * SECOND_MS)
    const run_key = scheduleRunKey(SCHEDULE_ID, NOON / 1_000)
    const tick_id = tickId(SCHEDULE_ID, NOON / 1_000)
    const request_fingerprint = requestFingerprint({ assets: ['a', 'b'], partitions: null, tags: { team: 'core' } })
    expect(decision).toMatchObject({
      said_by: 'schedules',
      drafts: [
        {
          event_type: 'ScheduleTicked',
          idempotency_key: scheduleTickedKey(SCHEDULE_ID, NOON / 1_000),
          correlation_id: runIdOf(run_key),
          basis: { expected_state_version: 1 },
          payload: {
            kind: 'CRON',
            from: instantText(NOON - MINUTE_MS),
            to: instantText(NOON),
            ticks: [{ tick_id, scheduled_for: instantText(NOON), status: 'TRIGGERED', run_count: 1, run_key, request_fingerprint }],
            assets: { keys: ['a', 'b'] },
            definition_version: 1,
          },
        },
        {
          event_type: 'RunRequested',
          caused_by: 0,
          correlation_id: runIdOf(run_key),
          payload: { run_key, tags: { team: 'core' }, priority: 7, trigger: { type: 'SCHEDULE', schedule_id: SCHEDULE_ID, tick_id } },
        },
      ],
    })
    expect(decision?.drafts).toHaveLength(2)
    story.decide(NOON + 2 * SECOND_MS)
    expect(story.ask(NOON + 2 * SECOND_MS)).toEqual([])
    expect(story.ticks()).toMatchObject([{ tick_id, status: 'TRIGGERED', run_id: runIdOf(run_key), request_fingerprint }])
  })

  it('decides all that are due together, by their instant and their id', () => {
    const story = createScheduleStory()
    const ids = ['three', 'one', 'two'].map(ulidOf)
    for (const id of ids) story.define(NOON - MINUTE_MS, { cron_expressions: [HOURLY] }, id)
    const late = ulidOf('late')
    story.define(NOON - MINUTE_MS, { cron_expressions: ['59 * * * *'] }, late)
    const said = story.ask(NOON + 59 * MINUTE_MS).map(({ drafts }) => (drafts[0]?.payload as { schedule_id: string }).schedule_id)
    expect(said).toEqual([...ids.sort(), late])
  })

  it('writes down what it selects by the definitions of now', () => {
    const story = createScheduleStory({ a: { group: 'g' } })
    story.define(NOON - HOUR_MS - MINUTE_MS, { cron_expressions: [HOURLY], asset_selection: ['group:g'] })
    expect(requestedIn(story.decide(NOON - HOUR_MS))[0]?.assets).toEqual({ keys: ['a'] })
    story.fold(story.say.locationDeployed('main', 1), story.say.assetDefined('b', { group: 'g' }))
    expect(requestedIn(story.decide(NOON))[0]?.assets).toEqual({ keys: ['a', 'b'] })
  })

  it('names more assets than an event holds by a list, which is to be written first', () => {
    const keys = Array.from({ length: 101 }, (_, index) => `asset-${String(index).padStart(3, '0')}`)
    const story = createScheduleStory(Object.fromEntries(keys.map((key) => [key, {}])))
    story.define(NOON - MINUTE_MS, { cron_expressions: [HOURLY], asset_selection: ['*'] })
    expect(story.ask(NOON)[0]?.lists).toEqual([keys])
    const events = story.decide(NOON)
    const { assets } = requestedIn(events)[0] ?? {}
    expect(assets).toMatchObject({ list: { count: 101 } })
    expect(tickedIn(events)[0]?.assets).toEqual(assets)
  })

  it('says the same at each second until the next instant, and rests on the version that it has seen', () => {
    const story = createScheduleStory()
    story.define(NOON - MINUTE_MS, { cron_expressions: [HOURLY] })
    expect(story.ask(NOON + 59 * MINUTE_MS)).toEqual(story.ask(NOON))
    const [early] = story.ask(NOON)
    const state_event_id = story.story.row('schedule_state', SCHEDULE_ID)?.last_event_id
    story.status(NOON + SECOND_MS, 'PAUSED')
    story.status(NOON + 2 * SECOND_MS, 'ACTIVE')
    expect(early?.drafts[0]?.basis).toEqual({ expected_state_version: 1, state_event_id })
    expect(story.story.row('schedule_state', SCHEDULE_ID)?.state_version).toBe(3)
  })

  it.each([
    ['an asset that has gone', { asset_selection: ['gone'] }, 'BAD_SELECTION', /gone is not defined/],
    ['a selection of nothing', { asset_selection: ['group:none'] }, 'BAD_SELECTION', /No asset is in the group "none"/],
    ['partitions that nobody names', { asset_selection: ['daily'] }, 'BAD_PARTITIONS', /give the schedule a partition_mapping/],
    [
      'partitions where there are none',
      { asset_selection: ['a'], partition_mapping: { type: 'LAST_COMPLETE', end_offset: 0 } },
      'BAD_PARTITIONS',
      /Leave partition_mapping out/,
    ],
    [
      'assets with other partitions each',
      { asset_selection: ['daily', 'late'], partition_mapping: { type: 'LAST_COMPLETE', end_offset: 0 } },
      'BAD_PARTITIONS',
      /daily and late have other partitions at that time \("2025-01-14" and "2025-01-13"\)/,
    ],
  ] as const)('fails a tick for %s, with a sentence, and goes on', (_, changes, code, message) => {
    const daily = { type: 'daily', start_date: '2025-01-01' } as const
    const story = createScheduleStory({ a: {}, daily: { partitions: daily }, late: { partitions: { ...daily, end_offset: -1 } } })
    story.define(NOON - MINUTE_MS, { cron_expressions: [HOURLY], ...changes })
    expect(requestedIn(story.decide(NOON))).toEqual([])
    expect(story.ticks()).toMatchObject([{ status: 'FAILED', scheduled_for: NOON, run_count: 0, error: { code } }])
    expect(story.ticks()[0]?.error?.message).toMatch(message)
    expect(story.story.row('schedule_state', SCHEDULE_ID)).toMatchObject({ consecutive_failures: 1, floor_at: NOON })
    story.decide(NOON + HOUR_MS)
    expect(story.ticks()).toHaveLength(2)
  })

  it.each([
    ['a cron', { cron_expressions: ['61 * * * *'] }],
    ['a zone', { timezone: 'Europe/Belrin' }],
  ])('fails one tick for %s that cannot be read, and says no more of it', (_, changes) => {
    const story = createScheduleStory()
    story.define(NOON - MINUTE_MS, { cron_expressions: [HOURLY], ...changes })
    story.decide(NOON)
    story.decide(NOON + 30 * DAY_MS)
    expect(story.ticks()).toMatchObject([{ status: 'FAILED', scheduled_for: NOON - 59 * SECOND_MS, error: { code: 'BAD_CRON' } }])
    expect(nextScheduleAt(story.story.rows, NOON)).toBe(Number.POSITIVE_INFINITY)
    story.define(NOON + 31 * DAY_MS, { cron_expressions: [HOURLY] })
    story.decide(NOON + 31 * DAY_MS + HOUR_MS)
    expect(toldTicks(story).slice(1)).toEqual(['2025-02-15T13:00 TRIGGERED'])
    story.define(NOON + 32 * DAY_MS, { cron_expressions: ['nonsense'] })
    story.decide(NOON + 33 * DAY_MS)
    expect(story.ticks().at(-1)).toMatchObject({ status: 'FAILED', error: { code: 'BAD_CRON' } })
  })

  it('wakes for the earliest of those that are active, and for none that is paused or removed', () => {
    const story = createScheduleStory()
    const [hourly, daily, removed] = ['hourly', 'daily', 'removed'].map(ulidOf) as [string, string, string]
    story.define(NOON, { cron_expressions: [HOURLY] }, hourly)
    story.define(NOON, { cron_expressions: [MIDNIGHT] }, daily)
    story.define(NOON, { cron_expressions: ['* * * * * *'] }, removed)
    story.fold(story.say.scheduleRemoved(removed, { at: NOON }))
    const wake = () => nextScheduleAt(story.story.rows, NOON)
    expect(wake()).toBe(NOON + HOUR_MS)
    story.status(NOON, 'PAUSED', hourly)
    expect(wake()).toBe(NOON + 12 * HOUR_MS)
    story.status(NOON, 'PAUSED', daily)
    expect(wake()).toBe(Number.POSITIVE_INFINITY)
    expect(story.ask(NOON + DAY_MS)).toEqual([])
  })
})

describe('what the controller says', () => {
  it('fits an event, with as many failed ticks as there may be, each with the longest sentence', () => {
    const story = createScheduleStory()
    const asset_selection = Array.from({ length: 100 }, (_, index) => `gone-${'x'.repeat(190)}-${index}`)
    story.define(NOON - 9 * DAY_MS, { cron_expressions: [HOURLY], asset_selection, max_catchup_ticks: 100, catchup_window_minutes: 99_999 })
    const [ticked] = tickedIn(story.decide(NOON))
    expect(ticked?.ticks.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 'FAILED'))
    expect(canonicalBytes(ticked)).toBeLessThan(EVENT_BYTES_MAX)
  })

  it('is no more in a round than a turn holds in memory, and the rest in the next', () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `k${index}`)
    const story = createScheduleStory({ a: { partitions: { type: 'static', keys } } })
    const mapping = { type: 'LAST_COMPLETE', end_offset: 0 } as const
    const ids = Array.from({ length: 22 }, (_, index) => ulidOf(`schedule ${index}`))
    for (const id of ids) story.define(NOON - MINUTE_MS, { cron_expressions: [HOURLY], partition_mapping: mapping }, id)
    const round = story.ask(NOON)
    expect(round).toHaveLength(20)
    expect(round.every(({ drafts }) => drafts.length === 1_001)).toBe(true)
  })
})

describe('partitions of a tick', () => {
  const daily = { type: 'daily', start_date: '2025-01-14' } as const
  const mapped = (end_offset: number) => ({
    cron_expressions: [MIDNIGHT],
    partition_mapping: { type: 'LAST_COMPLETE', end_offset } as const,
    max_catchup_ticks: 100,
    catchup_window_minutes: 100_000,
  })

  it.each([
    [0, ['2025-01-14', '2025-01-15', '2025-01-16']],
    [1, ['2025-01-14', '2025-01-15', '2025-01-16', '2025-01-17']],
    [-1, ['2025-01-14', '2025-01-15']],
  ])('are the last complete one, moved by %i, and none where there is none yet', (end_offset, keys) => {
    const story = createScheduleStory({ a: { partitions: daily } })
    story.define(at('2025-01-13T12:00:00Z'), mapped(end_offset))
    const events = story.decide(at('2025-01-17T01:00:00Z'))
    expect(requestedIn(events).map(({ partitions }) => partitions)).toEqual(keys.map((key) => ({ keys: [key] })))
    // The run of a partition that is not over says that it may be.
    const offset = end_offset > 0 ? end_offset : undefined
    expect(requestedIn(events).map(({ partition_end_offset }) => partition_end_offset)).toEqual(keys.map(() => offset))
    const missing = 4 - keys.length
    expect(tickedIn(events)[0]?.skipped?.reasons).toEqual(missing === 0 ? undefined : { NO_PARTITION: missing })
    expect(requestedIn(events).every(({ run_key }) => /^sched:[^:]*:\d+$/.test(run_key))).toBe(true)
  })

  it('are each key of what is not time, a run for each', () => {
    const story = createScheduleStory({ a: { partitions: { type: 'static', keys: ['us', 'eu'] } } })
    story.define(NOON - MINUTE_MS, { ...mapped(0), cron_expressions: [HOURLY] })
    const requests = requestedIn(story.decide(NOON))
    expect(requests.map(({ run_key, partitions }) => [run_key.slice(-3), partitions])).toEqual([
      [':us', { keys: ['us'] }],
      [':eu', { keys: ['eu'] }],
    ])
    expect(story.ticks()).toMatchObject([{ run_count: 2, partitions: { all: true } }])
  })

  it('are too many where they do not fit a batch, and of older ticks only as many as there is room for', () => {
    const keysOf = (count: number) => ({ type: 'static', keys: Array.from({ length: count }, (_, index) => `k${index}`) }) as const
    const story = createScheduleStory({ a: { partitions: keysOf(1_001) }, b: { partitions: keysOf(400) } })
    story.define(NOON - 3 * HOUR_MS - MINUTE_MS, { ...mapped(0), cron_expressions: [HOURLY], asset_selection: ['b'] })
    expect(requestedIn(story.decide(NOON))).toHaveLength(800)
    expect(toldTicks(story)).toEqual([
      '2025-01-15T10:00 SKIPPED 2 {"CATCH_UP":2}',
      '2025-01-15T11:00 TRIGGERED',
      '2025-01-15T12:00 TRIGGERED',
    ])
    story.define(NOON, { ...mapped(0), cron_expressions: [HOURLY] })
    story.decide(NOON + HOUR_MS)
    expect(story.ticks().at(-1)).toMatchObject({ status: 'FAILED', error: { code: 'BAD_PARTITIONS' } })
    expect(story.ticks().at(-1)?.error?.message).toMatch(/^a: 1001 keys .* 1000 is the most/)
  })
})
