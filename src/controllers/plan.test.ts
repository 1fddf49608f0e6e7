import { describe, expect, it } from '@jest/globals'
import { createPlanStory, faultIn, pack, pagesOf, tasksIn } from '../../test/fixtures/plan-story.js'
import { listSha256 } from '../core/keys.js'
import type { AssetDefinition } from '../events/asset.js'
import type { EventOf } from '../events/event.js'
import type { Selector } from '../events/value.js'

/** Long enough ago that more than one task may have exist. */
const DAILY = { type: 'daily', start_date: '1990-01-01' } as const
const needs = (...asset_keys: string[]) => ({ deps: asset_keys.map((asset_key) => ({ asset_key })) })
const daily = (partitions_per_task?: number, ...deps: string[]): Partial<AssetDefinition> => ({
  ...needs(...deps),
  partitions: DAILY,
  ...(partitions_per_task === undefined ? {} : { partitions_per_task }),
})
const numbered = (count: number, partitions_per_task: number): Partial<AssetDefinition> => ({
  partitions: { type: 'static', keys: Array.from({ length: count }, (_, i) => `n${i}`) },
  partitions_per_task,
})
const day = (number: number): string => new Date(Date.UTC(1990, 0, number)).toISOString().slice(0, 10)
const days = (count: number) => ({ range: { start: day(1), end: day(count) } })
const keys = (...of: string[]) => ({ assets: { keys: of } })

describe('the order of a plan', () => {
  it.each([
    ['keys of independent assets', { c: {}, a: {}, b: {} }, ['a', 'b', 'c']],
    ['dependencies before keys', { a: needs('c'), b: {}, c: needs('b') }, ['b', 'c after b', 'a after c']],
    ['each dependency once', { a: {}, b: needs('a', 'a') }, ['a', 'b after a']],
    ['a diamond', { d: needs('c', 'b'), c: needs('a'), b: needs('a'), a: {} }, ['a', 'b after a', 'c after a', 'd after b c']],
    ['only selected assets', { b: needs('other') }, ['b']],
  ])('is that of %s', (_, assets, expected) => {
    expect(tasksIn(createPlanStory(assets).plan())).toEqual(expected)
  })

  it('leaves out what is between two selected assets and is not selected', () => {
    const story = createPlanStory({ a: {}, b: needs('a'), c: needs('b') })
    expect(tasksIn(story.plan(keys('c', 'a')))).toEqual(['a', 'c'])
  })

  it('is that of urgent runs first, then of age, then of their ids', () => {
    const { say, story, fold, reconcile } = createPlanStory({ a: {} })
    const asked = [
      say.runRequested('user:late', {}, { at: story.rows.hotRows('asset_definitions')[0]?.defined_at ?? 0 }),
      say.runRequested('user:urgent', { priority: 5 }),
      say.runRequested('user:old', {}, { at: 1_000 }),
    ]
    for (const request of asked) fold(request)
    const runKeys = reconcile().map(({ drafts }) => story.row('runs', String(drafts[0]?.correlation_id))?.run_key)
    expect(runKeys).toEqual(['user:urgent', 'user:old', 'user:late'])
  })
})

describe('the tasks of an asset', () => {
  const ofAsset = (definition: Partial<AssetDefinition>, partitions: Parameters<ReturnType<typeof createPlanStory>['plan']>[0]) => {
    const story = createPlanStory({ a: definition })
    return pagesOf(story.plan(partitions)).flatMap(({ tasks }) => tasks.map(({ k, p, n }) => [k, p, n]))
  }
  const LIST = [5, 3, 9, 4, 1].map(day)
  const STATIC = { type: 'static', keys: ['eu', 'us', 'ap'] } as const

  it('is one without partitions where it has none, whatever the run names', () => {
    expect(ofAsset({ partitions_per_task: 2 }, { partitions: days(3) })).toEqual([['a', null, 1]])
  })

  it('is one with all partitions of the run', () => {
    expect(ofAsset(daily(), { partitions: days(3) })).toEqual([['a', days(3), 3]])
  })

  it('is a numbered one for every partitions_per_task of a range', () => {
    expect(ofAsset(daily(2), { partitions: days(5) })).toEqual([
      ['a#0', { range: { start: day(1), end: day(2) } }, 2],
      ['a#1', { range: { start: day(3), end: day(4) } }, 2],
      ['a#2', { keys: [day(5)] }, 1],
    ])
  })

  it('is a numbered one where everything fits it', () => {
    expect(ofAsset(daily(9), { partitions: days(5) })).toEqual([['a#0', days(5), 5]])
  })

  it('has a part of the keys', () => {
    expect(ofAsset(daily(2), { partitions: { keys: [day(2), day(4), day(7)] } })).toEqual([
      ['a#0', { keys: [day(2), day(4)] }, 2],
      ['a#1', { keys: [day(7)] }, 1],
    ])
  })

  it('has a part of all static keys, in the order of the definition', () => {
    expect(ofAsset({ partitions: STATIC, partitions_per_task: 2 }, { partitions: { all: true } })).toEqual([
      ['a#0', { range: { start: 'eu', end: 'us' } }, 2],
      ['a#1', { keys: ['ap'] }, 1],
    ])
    expect(ofAsset({ partitions: STATIC }, { partitions: { all: true } })).toEqual([['a', { all: true }, 3]])
  })

  it.each([
    [
      0,
      [
        [undefined, 2],
        [2, 2],
        [4, 1],
      ],
    ],
    [
      1,
      [
        [1, 2],
        [3, 2],
      ],
    ],
  ])('has a slice of a list, counted from its offset %i', (offset, expected) => {
    const sha256 = listSha256(LIST)
    const story = createPlanStory({ a: daily(2) })
    story.story.lists.set(sha256, LIST)
    const list = { sha256, count: LIST.length - offset, ...(offset === 0 ? {} : { offset }) }
    const tasks = pagesOf(story.plan({ partitions: { list } })).flatMap((page) => page.tasks)
    expect(tasks.map(({ p }) => (p !== null && 'list' in p ? [p.list.offset, p.list.count] : p))).toEqual(expected)
  })
})

describe('the edges between the tasks of split assets', () => {
  it.each([
    ['the same parts', daily(2), daily(2, 'a'), ['b#0 after a#0', 'b#1 after a#1', 'b#2 after a#2']],
    ['larger parts', daily(2), daily(3, 'a'), ['b#0 after a#0 a#1', 'b#1 after a#1 a#2']],
    ['smaller parts', daily(4), daily(3, 'a'), ['b#0 after a#0', 'b#1 after a#0 a#1']],
    ['one task', daily(2), daily(undefined, 'a'), ['b after a#0 a#1 a#2']],
    ['parts of one task', daily(), daily(3, 'a'), ['b#0 after a', 'b#1 after a']],
    ['a task without partitions', daily(3), needs('a'), ['b after a#0 a#1']],
    ['parts of an asset without partitions', {}, daily(3, 'a'), ['b#0 after a', 'b#1 after a']],
    [
      'the same key where that is written',
      daily(3),
      { ...daily(3), deps: [{ asset_key: 'a', mapping: { type: 'identity' } }] },
      ['b#0 after a#0', 'b#1 after a#1'],
    ],
    [
      'the same keys of another calendar',
      daily(3),
      { ...daily(3, 'a'), partitions: { ...DAILY, timezone: 'Europe/Berlin' } },
      ['b#0 after a#0', 'b#1 after a#1'],
    ],
  ])('lead to %s', (_, a, b, expected) => {
    const tasks = tasksIn(createPlanStory({ a, b }).plan({ partitions: days(6) }))
    expect(tasks.filter((task) => task.startsWith('b'))).toEqual(expected)
  })

  it('follow the keys of the run where they are spelled out, whatever the calendars', () => {
    const b = { ...daily(1, 'a'), partitions: { ...DAILY, timezone: 'Europe/Berlin' } }
    expect(tasksIn(createPlanStory({ a: daily(1), b }).plan({ partitions: { keys: [day(1), day(2)] } }))).toEqual([
      'a#0',
      'a#1',
      'b#0 after a#0',
      'b#1 after a#1',
    ])
  })
})

describe('what a run may name is what exists when it is requested', () => {
  const ENDED = { type: 'daily', start_date: '2025-01-11', end_date: '2025-02-01' } as const
  const OPEN = { type: 'daily', start_date: '2025-01-11' } as const
  const REGIONS = { type: 'static', keys: ['eu', 'us'] } as const
  const multi = (dimensions: Readonly<Record<string, object>>) => ({ type: 'multi', dimensions }) as AssetDefinition['partitions']
  const range = (start: string, end: string) => ({ range: { start, end } })
  // It is the 15th, at ten.
  const last4 = ['2025-01-11', '2025-01-12', '2025-01-13', '2025-01-14']
  type Definition = NonNullable<AssetDefinition['partitions']>
  const planOf = (partitions: Definition | undefined, asked: Partial<EventOf<'RunRequested'>['payload']>) =>
    createPlanStory({ a: partitions === undefined ? {} : { partitions } }).plan(asked)

  it.each<[string, Definition | undefined, Selector, readonly unknown[]]>([
    ['all', ENDED, { all: true }, [range('2025-01-11', '2025-01-14'), 4]],
    ['all of one', { ...ENDED, start_date: '2025-01-14' }, { all: true }, [{ keys: ['2025-01-14'] }, 1]],
    ['all that there will ever be', { ...ENDED, end_date: '2025-01-13' }, { all: true }, [{ all: true }, 2]],
    [
      'all, with the days slowest',
      multi({ date: ENDED, region: REGIONS }),
      { all: true },
      [range('date=2025-01-11|region=eu', 'date=2025-01-14|region=us'), 8],
    ],
    [
      'all, with the days fastest',
      multi({ area: REGIONS, date: ENDED }),
      { all: true },
      [{ keys: ['eu', 'us'].flatMap((area) => last4.map((date) => `area=${area}|date=${date}`)) }, 8],
    ],
    [
      'a range across the days that go on',
      multi({ area: REGIONS, date: OPEN }),
      range('area=eu|date=2025-01-13', 'area=us|date=2025-01-12'),
      [{ keys: ['eu|13', 'eu|14', 'us|11', 'us|12'].map((key) => `area=${key.replace('|', '|date=2025-01-')}`) }, 4],
    ],
    [
      'all of a dimension',
      multi({ area: REGIONS, date: ENDED }),
      { dims: { area: { keys: ['us'] }, date: { all: true } } },
      [{ keys: last4.map((date) => `area=us|date=${date}`) }, 4],
    ],
    [
      'a range of a dimension',
      multi({ area: REGIONS, date: OPEN }),
      { dims: { area: { all: true }, date: range('2025-01-12', '2025-01-14') } },
      [{ dims: { area: { all: true }, date: range('2025-01-12', '2025-01-14') } }, 6],
    ],
  ])('as %s', (_, partitions, selector, expected) => {
    const [page] = pagesOf(planOf(partitions, { partitions: selector }))
    expect(page?.tasks.map(({ p, n }) => [p, n])).toEqual([expected])
  })

  it.each<[string, Definition | undefined, Selector, RegExp]>([
    ['a key', OPEN, { keys: ['2025-01-14', '2025-01-15'] }, /"2025-01-15" is none of the days from "2025-01-11" to "2025-01-14" in UTC/],
    ['the end of a range', OPEN, range('2025-01-11', '2026-03-01'), /The range's end "2026-03-01" .* The nearest key is "2025-01-14"/],
    ['a key of dimensions', multi({ area: REGIONS, date: OPEN }), { keys: ['area=eu|date=2025-01-15'] }, /its date "2025-01-15" is none/],
    [
      'a dimension',
      multi({ area: REGIONS, date: OPEN }),
      { dims: { area: { all: true }, date: { keys: ['2025-01-15'] } } },
      /"date": The key "2025-01-15"/,
    ],
    ['all of none', { ...ENDED, start_date: '2025-01-20' }, { all: true }, /There is nothing to select: it has no day yet/],
    [
      'none of a dimension',
      multi({ area: REGIONS, date: { ...ENDED, start_date: '2025-01-20' } }),
      { dims: { area: { all: true }, date: { all: true } } },
      /There is nothing to select/,
    ],
    ['all of what has no end', OPEN, { all: true }, /All at once cannot be selected of the days from "2025-01-11" on in UTC/],
    [
      'an hour that is not over',
      { type: 'hourly', start_date: '2025-01-11' },
      { keys: ['2025-01-15-10:00'] },
      /"2025-01-15-10:00" is none/,
    ],
    ['what an end_offset holds back', { ...OPEN, end_offset: -1 }, { keys: ['2025-01-14'] }, /"2025-01-14" is none/],
  ])('and %s that does not is BAD_PARTITION', (_, partitions, selector, sentence) => {
    const [draft] = planOf(partitions, { partitions: selector }).drafts
    expect(faultIn(draft)).toMatch(/^BAD_PARTITION a: /)
    expect(faultIn(draft)).toMatch(sentence)
  })

  it('and as many more as the mapping of its schedule adds, none further', () => {
    const asked = (day: string, partition_end_offset: number) =>
      planOf(OPEN, { partitions: { keys: [day] }, partition_end_offset }).drafts[0]?.event_type
    expect([asked('2025-01-15', 1), asked('2025-01-16', 1), asked('2025-01-16', 2)]).toEqual(['PlanCreated', 'PlanFailed', 'PlanCreated'])
    const ended = { ...OPEN, end_date: '2025-01-16' } as const
    const [draft] = planOf(ended, { partitions: { keys: ['2025-01-16'] }, partition_end_offset: 5 }).drafts
    expect(faultIn(draft)).toMatch(/^BAD_PARTITION a: .*"2025-01-16" is none of the days from "2025-01-11" to "2025-01-15"/)
  })

  it('and many that no range holds are a list', () => {
    const partitions = multi({ area: REGIONS, date: { ...ENDED, start_date: '2024-10-01' } })
    const decision = createPlanStory({ a: { ...(partitions === undefined ? {} : { partitions }), partitions_per_task: 150 } }).plan({
      partitions: { all: true },
    })
    expect(decision.lists?.map(({ length }) => length)).toEqual([212])
    expect(pagesOf(decision).flatMap(({ tasks }) => tasks.map(({ p, n }) => [Object.keys(p ?? {}), n]))).toEqual([
      [['list'], 150],
      [['keys'], 62],
    ])
  })
})

describe('a run that cannot be planned', () => {
  const chain = Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`asset_number_${i}`, needs(`asset_number_${(i + 1) % 99}`)]))

  it.each([
    ['CYCLE', { a: needs('a') }, {}, 'a circle: a needs a.'],
    ['CYCLE', { d: needs('c'), c: needs('b'), b: needs('a'), a: needs('c') }, {}, 'a circle: a needs c, c needs b, b needs a.'],
    ['UNKNOWN_ASSET', { a: {} }, keys('z', 'a', 'y'), 'These 2 assets are not defined: y, z.'],
    ['NO_PARTITIONS', { a: {}, b: daily() }, {}, 'The asset b has partitions'],
    ['BAD_PARTITION', { a: daily() }, { partitions: { keys: [day(0)] } }, 'a: The partition key "1989-12-31" is none of the days'],
    ['BAD_PARTITION', { a: daily() }, { partitions: { range: { start: day(3), end: day(1) } } }, 'a: The range runs backwards'],
    ['BAD_PARTITION', { a: daily() }, { partitions: { all: true as const } }, 'a: All at once cannot be selected of the days from'],
    ['BAD_PARTITION', { a: daily() }, { partitions: { dims: {} } }, 'a: Dimensions are selected of partitions that have some'],
    ['PLAN_TOO_LARGE', { a: daily() }, { partitions: days(10_001) }, 'a would have 10001 partitions, and 10000 is the most'],
    ['PLAN_TOO_LARGE', { a: daily(1) }, { partitions: days(10_001) }, '10001 tasks, and 10000 is the most'],
    [
      'PLAN_TOO_LARGE',
      { a: numbered(400, 1), b: { ...numbered(400, 1), deps: [{ asset_key: 'a', mapping: { type: 'all' } }] } },
      { partitions: { all: true as const } },
      '160000 edges',
    ],
  ])('is %s', (code, assets, changes, sentence) => {
    const [draft] = createPlanStory(assets).plan(changes).drafts
    expect(faultIn(draft)).toContain(sentence)
    expect(faultIn(draft)).toMatch(new RegExp(`^${code} `))
  })

  it('fails with a message that fits its event, however much there is to name', () => {
    const names = Array.from({ length: 99 }, (_, i) => `${'x'.repeat(150)}${i}`)
    const decisions = [
      createPlanStory(chain).plan(),
      createPlanStory({ a: {} }).plan(keys(...names)),
      createPlanStory({ a: { partitions: { ...DAILY, exclusions: ['ä'.repeat(4_000)] } } }).plan({ partitions: days(2) }),
    ]
    expect(decisions.map(({ drafts }) => drafts[0]?.event_type)).toEqual(['PlanFailed', 'PlanFailed', 'PlanFailed'])
    for (const decision of decisions) pack(decision)
    expect(faultIn(decisions[1]?.drafts[0])).toMatch(/ and \d\d more\. Deploy/)
  })

  it('is over with that error', () => {
    const story = createPlanStory({ a: needs('a') })
    const run_id = story.request()
    const [decision] = story.reconcile()
    expect(decision === undefined ? [] : story.foldDecision(decision)).toEqual(['applied'])
    expect(story.story.row('runs', run_id)).toMatchObject({ state: 'FAILED', error: { code: 'CYCLE' } })
    expect(story.reconcile()).toEqual([])
  })
})

describe('the pages of a plan', () => {
  it('are one batch of two hundred tasks each, which the fold takes', () => {
    const story = createPlanStory({ a: daily(1), b: daily(1, 'a') })
    const run_id = story.request({ partitions: days(450) })
    const [decision] = story.reconcile()
    if (decision === undefined) throw new Error('There is no decision.')
    expect(
      pagesOf(decision).map(({ page, pages, task_offset, task_count, tasks, definitions }) => [
        page,
        pages,
        task_offset,
        task_count,
        tasks.length,
        definitions.length,
      ]),
    ).toEqual([
      [0, 5, 0, 900, 200, 1],
      [1, 5, 200, 900, 200, 1],
      [2, 5, 400, 900, 200, 2],
      [3, 5, 600, 900, 200, 1],
      [4, 5, 800, 900, 100, 1],
    ])
    expect(new Set(story.foldDecision(decision))).toEqual(new Set(['applied']))
    expect(story.story.row('runs', run_id)).toMatchObject({ state: 'PLANNED', tasks_total: 900 })
  })

  it('fit an event and a batch with the most tasks, and with the most edges', () => {
    expect(pack(createPlanStory({ a: daily(1) }).plan({ partitions: days(10_000) })).events).toHaveLength(50)
    const ofAll = { ...numbered(2_000, 8), deps: [{ asset_key: 'a', mapping: { type: 'all' } }] }
    const dense = createPlanStory({ a: numbered(2_000, 5), b: ofAll }).plan({ partitions: { all: true } })
    expect(pagesOf(dense).reduce((sum, { tasks }) => sum + tasks.reduce((edges, { w = [] }) => edges + w.length, 0), 0)).toBe(100_000)
    expect(pack(dense).events).toHaveLength(4)
    expect(pagesOf(dense)[2]?.tasks.length).toBeLessThan(200)
  })

  it('are none where the tasks name more keys than a batch holds', () => {
    const assets = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`a${i}`, { partitions: { type: 'static', keys: longKeys } } as const]),
    )
    const { fold, say, story, reconcile } = createPlanStory(assets)
    const more = Array.from({ length: 200 }, (_, i) => `b${i}`)
    fold(...more.map((asset_key) => say.assetDefined(asset_key, { partitions: { type: 'static', keys: longKeys } })))
    const all = [...Object.keys(assets), ...more]
    const sha256 = listSha256(all)
    story.lists.set(sha256, all)
    fold(say.runRequested('user:many', { assets: { list: { sha256, count: all.length } }, partitions: { keys: longKeys } }))
    expect(faultIn(reconcile()[0]?.drafts[0])).toMatch(/^PLAN_TOO_LARGE The plan of 300 tasks has \d{7} bytes, and 4194304 is the most/)
  })
  const longKeys = Array.from({ length: 100 }, (_, i) => `${'k'.repeat(150)}${String(i).padStart(3, '0')}`)
})

describe('a round of plans', () => {
  it('ends with the run that makes it as large as the largest plan', () => {
    const story = createPlanStory({ a: daily(1) })
    for (const count of [6_000, 6_000, 1]) story.request({ partitions: count === 1 ? { keys: [day(1)] } : days(count) })
    expect(story.reconcile()).toHaveLength(2)
    for (const decision of story.reconcile()) story.foldDecision(decision)
    expect(story.reconcile()).toHaveLength(1)
  })
})
