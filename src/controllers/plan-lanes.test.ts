// Which partitions of each asset a run makes, and which tasks wait for which, where assets are made from others by mappings.

import { describe, expect, it, test } from '@jest/globals'
import fc from 'fast-check'
import { createPlanStory, faultIn, pagesOf, tasksIn } from '../../test/fixtures/plan-story.js'
import { NOW } from '../../test/fixtures/say.js'
import type { AssetDefinition } from '../events/asset.js'
import type { Selector } from '../events/value.js'
import { isRefusal } from '../partitions/key-order.js'
import { boxesOfKeys, entryIn, existingIn, placesIn } from '../partitions/mapping/boxes.js'
import { openLink } from '../partitions/mapping/link.js'
import { upstreamBoxes } from '../partitions/mapping/map-boxes.js'
import { expandSelector } from '../partitions/selector.js'

type Assets = Readonly<Record<string, Partial<AssetDefinition>>>
type Mapping = AssetDefinition['deps'][number]['mapping']

const HOURS = { type: 'hourly', start_date: '2024-12-01' } as const
const DAYS = { type: 'daily', start_date: '2024-12-01' } as const
const WEEKS = { type: 'weekly', start_date: '2024-12-01' } as const
const REGIONS = { type: 'static', keys: ['eu', 'us'] } as const
const COUNTRIES = { type: 'static', keys: ['de', 'fr', 'it', 'ny'] } as const
const GRID = { type: 'multi', dimensions: { date: DAYS, region: REGIONS } } as const
const TIME = { type: 'time_window' } as const
const LISTED = { type: 'static', upstream_keys: { eu: ['de', 'fr'], us: ['ny'] } } as const
const BY_DATE = { type: 'dimension', dimension: 'date' } as const

const from = (asset_key: string, mapping?: Mapping) => ({ deps: [{ asset_key, ...(mapping === undefined ? {} : { mapping }) }] })

/** Each asset with what its tasks have, in their order. */
function lanesIn(assets: Assets, partitions: Selector, partition_end_offset = 0): Readonly<Record<string, readonly unknown[]>> {
  const lanes: Record<string, unknown[]> = {}
  for (const page of pagesOf(
    createPlanStory(assets).plan({ partitions, ...(partition_end_offset === 0 ? {} : { partition_end_offset }) }),
  )) {
    for (const { d, p } of page.tasks) {
      const asset_key = page.definitions[d]?.asset_key ?? ''
      lanes[asset_key] = [...(lanes[asset_key] ?? []), p]
    }
  }
  return lanes
}

describe('the partitions of a run are those of what it ends with', () => {
  const range = (start: string, end: string) => ({ range: { start, end } })

  it.each<[string, Assets, Selector, Readonly<Record<string, readonly unknown[]>>]>([
    [
      'the hours of a day',
      { day: { partitions: DAYS, ...from('hour', TIME) }, hour: { partitions: HOURS } },
      { keys: ['2024-12-24'] },
      { hour: [range('2024-12-24-00:00', '2024-12-24-23:00')], day: [{ keys: ['2024-12-24'] }] },
    ],
    [
      'the hours of the days of a week, and what has the same keys as the days',
      {
        week: { partitions: WEEKS, ...from('day', TIME) },
        day: { partitions: DAYS, deps: [{ asset_key: 'hour', mapping: TIME }, { asset_key: 'rate' }] },
        hour: { partitions: HOURS },
        rate: { partitions: DAYS },
      },
      { keys: ['2024-12-08'] },
      {
        week: [{ keys: ['2024-12-08'] }],
        day: [range('2024-12-08', '2024-12-14')],
        rate: [range('2024-12-08', '2024-12-14')],
        hour: [range('2024-12-08-00:00', '2024-12-14-23:00')],
      },
    ],
    [
      'both of two that need it in other ways',
      {
        today: { partitions: DAYS, ...from('raw') },
        before: { partitions: DAYS, ...from('raw', { ...TIME, start_offset: -1, end_offset: -1 }) },
        raw: { partitions: DAYS },
      },
      { keys: ['2024-12-24'] },
      { today: [{ keys: ['2024-12-24'] }], before: [{ keys: ['2024-12-24'] }], raw: [range('2024-12-23', '2024-12-24')] },
    ],
    [
      'scattered keys, each in its part',
      { region: { partitions: REGIONS, ...from('country', LISTED) }, country: { partitions: COUNTRIES, partitions_per_task: 2 } },
      { all: true },
      { region: [{ all: true }], country: [{ keys: ['de', 'fr'] }, { keys: ['ny'] }] },
    ],
    [
      'all of the other dimensions',
      { day: { partitions: DAYS, ...from('grid', BY_DATE) }, grid: { partitions: GRID } },
      range('2024-12-24', '2024-12-26'),
      { day: [range('2024-12-24', '2024-12-26')], grid: [{ dims: { date: range('2024-12-24', '2024-12-26'), region: { all: true } } }] },
    ],
    [
      'nothing of what none of it is made from',
      {
        region: { partitions: REGIONS, ...from('country', { type: 'static', upstream_keys: { eu: ['de'] } }) },
        country: { partitions: COUNTRIES },
      },
      { keys: ['us'] },
      { region: [{ keys: ['us'] }] },
    ],
    [
      'what the run names of something whose only user has no partitions',
      { total: from('day', { type: 'last' }), day: { partitions: DAYS } },
      { keys: ['2024-12-24'] },
      { total: [null], day: [{ keys: ['2024-12-24'] }] },
    ],
  ])('%s', (_, assets, partitions, expected) => {
    expect(lanesIn(assets, partitions)).toEqual(expected)
  })

  it('what is there by then and no more: an offset of days adds no hours', () => {
    const assets = { day: { partitions: DAYS, ...from('hour', TIME) }, hour: { partitions: HOURS } }
    expect(lanesIn(assets, { keys: ['2025-01-15'] }, 1)).toEqual({
      hour: [range('2025-01-15-00:00', '2025-01-15-09:00')],
      day: [{ keys: ['2025-01-15'] }],
    })
  })

  it('and are refused where these have no such keys', () => {
    const story = createPlanStory({ day: { partitions: DAYS, ...from('hour', TIME) }, hour: { partitions: HOURS } })
    expect(faultIn(story.plan({ partitions: { keys: ['2024-12-24-05:00'] } }).drafts[0])).toMatch(/^BAD_PARTITION day: The partition key/)
  })

  it('and an upstream asset whose definition changed in the meantime is named', () => {
    const story = createPlanStory({ day: { partitions: DAYS, ...from('hour', TIME) }, hour: { partitions: REGIONS } })
    expect(faultIn(story.plan({ partitions: { keys: ['2024-12-24'] } }).drafts[0])).toMatch(
      /^BAD_PARTITION hour: day is made from it, and it cannot be told how. The mapping is by time, and the upstream asset has/,
    )
  })

  it('a long list of them is written before the plan', () => {
    const shops = { type: 'static', keys: Array.from({ length: 300 }, (_, i) => `shop${i}`) } as const
    const even = { type: 'static', upstream_keys: { eu: shops.keys.filter((_, i) => i % 2 === 0) } } as const
    const story = createPlanStory({
      region: { partitions: REGIONS, ...from('shop', even) },
      shop: { partitions: shops, partitions_per_task: 120 },
    })
    const decision = story.plan({ partitions: { keys: ['eu'] } })
    expect(decision.lists).toEqual([[...even.upstream_keys.eu].sort()])
    const tasks = pagesOf(decision).flatMap((page) => page.tasks)
    expect(tasks.map(({ n }) => n)).toEqual([120, 30, 1])
    expect(tasksIn(decision)).toEqual(['shop#0', 'shop#1', 'region after shop#0 shop#1'])
  })
})

describe('a task waits for the tasks that make what it is made from', () => {
  const edges = (assets: Assets, partitions: Selector) => tasksIn(createPlanStory(assets).plan({ partitions }))
  const split = (partitions: AssetDefinition['partitions'], partitions_per_task: number): Partial<AssetDefinition> => ({
    ...(partitions === undefined ? {} : { partitions }),
    partitions_per_task,
  })

  it('of its own hours', () => {
    const assets = { day: { ...split(DAYS, 1), ...from('hour', TIME) }, hour: split(HOURS, 12) }
    expect(edges(assets, { keys: ['2024-12-24', '2024-12-26'] }).filter((task) => task.startsWith('day'))).toEqual([
      'day#0 after hour#0 hour#1',
      'day#1 after hour#2 hour#3',
    ])
  })

  it('of the day before', () => {
    const assets = { next: { ...split(DAYS, 1), ...from('day', { ...TIME, start_offset: -1, end_offset: -1 }) }, day: split(DAYS, 1) }
    expect(edges(assets, { range: { start: '2024-12-24', end: '2024-12-25' } })).toEqual([
      'day#0',
      'day#1',
      'next#0 after day#0',
      'next#1 after day#1',
    ])
  })

  it('with its own key, where that asset makes others, too', () => {
    const assets = {
      today: { ...split(DAYS, 1), ...from('raw') },
      before: { ...split(DAYS, 1), ...from('raw', { ...TIME, start_offset: -1, end_offset: -1 }) },
      raw: split(DAYS, 1),
    }
    expect(edges(assets, { keys: ['2024-12-24'] })).toEqual(['raw#0', 'raw#1', 'before#0 after raw#0', 'today#0 after raw#1'])
  })

  it('of its own countries, and for none where none is listed', () => {
    const assets = {
      region: { ...split(REGIONS, 1), ...from('country', { type: 'static', upstream_keys: { eu: ['de', 'it'] } }) },
      country: split(COUNTRIES, 1),
    }
    expect(edges(assets, { all: true })).toEqual(['country#0', 'country#1', 'region#0 after country#0 country#1', 'region#1'])
  })

  it('of its date in each region', () => {
    const assets = { day: { ...split(DAYS, 1), ...from('grid', BY_DATE) }, grid: split(GRID, 2) }
    expect(edges(assets, { range: { start: '2024-12-24', end: '2024-12-25' } })).toEqual([
      'grid#0',
      'grid#1',
      'day#0 after grid#0',
      'day#1 after grid#1',
    ])
  })

  it('for the last one alone, without partitions too', () => {
    expect(NOW).toBeGreaterThan(Date.parse('2025-01-01'))
    const ended = { ...DAYS, end_date: '2024-12-27' }
    const assets = { total: from('day', { type: 'last' }), day: split(ended, 1) }
    expect(edges(assets, { range: { start: '2024-12-24', end: '2024-12-26' } })).toEqual(['day#0', 'day#1', 'day#2', 'total after day#2'])
  })
})

describe('whatever the mappings are', () => {
  const kinds = { HOURS, DAYS, WEEKS, REGIONS, COUNTRIES, GRID }
  type Kind = keyof typeof kinds
  const forms = (down: Kind, up: Kind): readonly Mapping[] => {
    const times: readonly Kind[] = ['HOURS', 'DAYS', 'WEEKS']
    const both = [down, up]
    return [
      { type: 'all' },
      { type: 'last' },
      ...(down === up ? [undefined] : []),
      ...(both.every((kind) => times.includes(kind))
        ? [TIME, { ...TIME, start_offset: -2 }, { ...TIME, start_offset: 1, end_offset: 1 }]
        : []),
      ...(down === 'REGIONS' && up === 'COUNTRIES' ? [LISTED] : []),
      ...(both.includes('GRID') && both.includes('DAYS') ? [BY_DATE, { ...BY_DATE, mapping: { ...TIME, start_offset: -1 } }] : []),
    ]
  }
  const chosen: Readonly<Record<Kind, Selector>> = {
    HOURS: { range: { start: '2024-12-24-22:00', end: '2024-12-25-03:00' } },
    DAYS: { range: { start: '2024-12-24', end: '2024-12-26' } },
    WEEKS: { keys: ['2024-12-15'] },
    REGIONS: { all: true },
    COUNTRIES: { keys: ['de', 'ny'] },
    GRID: { keys: ['date=2024-12-24|region=eu', 'date=2024-12-26|region=us'] },
  }
  const kind = fc.constantFrom(...(Object.keys(kinds) as Kind[]))
  /** The last one is what the run ends with; each needs one or two of those before it, or none. */
  const graph = fc.array(
    fc.record({ kind, size: fc.integer({ min: 0, max: 5 }), needs: fc.array(fc.nat(), { maxLength: 2 }), form: fc.nat() }),
    {
      minLength: 2,
      maxLength: 5,
    },
  )

  test('each partition waits for exactly the tasks that make what it is made from, and nothing else is made', () => {
    fc.assert(
      fc.property(graph, (nodes) => {
        const name = (index: number) => `asset${index}`
        const definitions = new Map(
          nodes.map((node, index): [string, AssetDefinition] => {
            // Everything leads to the last asset, so that it alone is what the run ends with.
            const above = index === 0 ? [] : [...new Set([index - 1, ...node.needs.map((each) => each % index)])]
            const deps = above.map((each) => {
              const possible = forms(node.kind, nodes[each]?.kind ?? 'DAYS')
              const mapping = possible[(node.form + each) % possible.length]
              return { asset_key: name(each), ...(mapping === undefined ? {} : { mapping }) }
            })
            const size = node.size === 0 ? {} : { partitions_per_task: node.size }
            return [name(index), { asset_key: name(index), partitions: kinds[node.kind], deps, ...size }]
          }),
        )
        const last = nodes.at(-1)?.kind ?? 'DAYS'
        const decision = createPlanStory(Object.fromEntries(definitions)).plan({ partitions: chosen[last] })
        // Hours that each need all of the hours before them, one asset after the other, are more edges than a run may have.
        fc.pre(decision.drafts[0]?.event_type !== 'PlanFailed' || !faultIn(decision.drafts[0]).startsWith('PLAN_TOO_LARGE'))
        const tasks = pagesOf(decision).flatMap((page) =>
          page.tasks.map((task) => ({ ...task, asset_key: page.definitions[task.d]?.asset_key ?? '' })),
        )
        const keysOf = (asset_key: string, p: Selector) => {
          const expanded = expandSelector(definitions.get(asset_key)?.partitions, p, listIn(decision.lists), 100_000)
          if (isRefusal(expanded)) throw new Error(expanded.problem)
          return expanded.keys.map(({ partition_key }) => partition_key)
        }
        const made = tasks.map(({ asset_key, p }) => ({ asset_key, keys: keysOf(asset_key, p) }))
        const wanted = new Map<string, Set<string>>()
        for (const [index, task] of tasks.entries()) {
          const waits = new Set<number>()
          for (const { asset_key, mapping } of definitions.get(task.asset_key)?.deps ?? []) {
            const needed = neededOf(mapping, definitions, task.asset_key, asset_key, made[index]?.keys ?? [])
            wanted.set(asset_key, new Set([...(wanted.get(asset_key) ?? []), ...needed]))
            for (const [place, other] of made.entries()) {
              if (other.asset_key === asset_key && other.keys.some((key) => needed.has(key))) waits.add(place)
            }
          }
          expect([task.k, task.w ?? []]).toEqual([task.k, [...waits].sort((left, right) => left - right)])
        }
        for (const asset_key of definitions.keys()) {
          const keys = made.filter((each) => each.asset_key === asset_key).flatMap((each) => each.keys)
          expect(new Set(keys).size).toBe(keys.length)
          if (asset_key !== name(nodes.length - 1))
            expect([asset_key, new Set(keys)]).toEqual([asset_key, wanted.get(asset_key) ?? new Set()])
        }
      }),
      { numRuns: 25 },
    )
  })

  const listIn = (lists: readonly (readonly string[])[] = []) => {
    const byCount = new Map(lists.map((list) => [list.length, list]))
    return (): readonly string[] | undefined => [...byCount.values()][0]
  }

  /** One partition at a time, as the mapping alone says. */
  function neededOf(
    mapping: unknown,
    definitions: ReadonlyMap<string, AssetDefinition>,
    down: string,
    up: string,
    keys: readonly string[],
  ): ReadonlySet<string> {
    const link = openLink(mapping, definitions.get(down)?.partitions, definitions.get(up)?.partitions, NOW + 1)
    if (isRefusal(link)) throw new Error(link.problem)
    const { downstream, upstream } = link.sides
    const found = keys.flatMap((key) => {
      const boxes = existingIn(upstream, upstreamBoxes(link.mapping, link.sides, boxesOfKeys(downstream, [key])), NOW + 1)
      return boxes.flatMap((box) => [...placesIn(box)].map((places) => entryIn(upstream, places).partition_key))
    })
    return new Set(found)
  }
})
