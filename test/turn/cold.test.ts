// Cold parts one rule at a time: what goes and when, which lists change, what is opened for a question, and that nothing is
// lost where a row changes afterwards.

import { beforeAll, describe, expect, test } from '@jest/globals'
import { coldMoveOf } from '../../src/compactor/base/cold.js'
import { verify } from '../../src/compactor/verify.js'
import { manualScheduleRunKey, manualTickId } from '../../src/core/keys.js'
import { FOLD_VERSION } from '../../src/core/limits.js'
import { DAY_MS, HOUR_MS, instantMs, instantText, MINUTE_MS } from '../../src/core/time.js'
import { coldCut, RETENTION } from '../../src/projections/retention.js'
import type { LooseRow } from '../../src/projections/tables.js'
import { readNewest } from '../../src/readers/newest.js'
import { createReader, type View } from '../../src/readers/reader.js'
import type { ObjectStore } from '../../src/storage/object-store.js'
import { openColdList } from '../../src/tables/cold/list.js'
import { COLD_PREFIX, type ColdList, type Revision } from '../../src/tables/revision.js'
import { partsOf } from '../../src/tables/snapshot.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createPlainFiles } from '../fixtures/plain-files.js'
import { collect, merge } from '../fixtures/roles.js'
import { runIdOf, ulidOf } from '../fixtures/say.js'
import { createScenario, type Scenario } from '../fixtures/scenario.js'
import { listAll } from '../invariants/evidence.js'

const NIGHTLY = ulidOf('nightly')
const TABLES = ['runs', 'schedule_ticks'] as const
/** From the middle of January to the beginning of March. */
const DAYS = 48

async function latest({ world }: Scenario, store: ObjectStore = world.bucket): Promise<View> {
  const view = await createReader({ store, files: createPlainFiles({ store }) }).latest()
  if (view === undefined) throw new Error('Nothing was published.')
  return view
}

function tickOf({ say, world }: Scenario, request: string) {
  const at = world.time.now()
  const tick = say.scheduleTriggered(NIGHTLY, request, 1, at)
  const trigger = { type: 'SCHEDULE', schedule_id: NIGHTLY, tick_id: manualTickId(NIGHTLY, request) } as const
  return [tick, say.runRequested(keyOf(request), { trigger }, { at, causation_id: tick.event_id })] as const
}

const keyOf = (request: string): string => manualScheduleRunKey(NIGHTLY, request)

/** On each of these days a tick by hand, and a run of it that is over at once; then a merge. */
async function tellDays(scenario: Scenario, days: readonly number[], afterDay?: (day: number) => Promise<void>): Promise<void> {
  const { world, say, writer, decider, tell } = scenario
  const { time } = world
  const start = time.now()
  const keeper = world.start('keeper')
  const { append } = writer()
  await tell(async () => {
    const schedule = say.scheduleDefined(NIGHTLY, { cron_expressions: ['0 0 1 1 *'] }, {}, { at: start })
    await append([say.locationDeployed('main', 0), say.assetDefined('a'), schedule])
    const { turn } = decider('decider', { reconcile: foldOnly })
    await turn()
    for (const day of days) {
      await time.sleep(Math.max(0, start + day * DAY_MS - time.now()))
      await append([...tickOf(scenario, String(day))])
      await append([say.runCancelRequested(runIdOf(keyOf(String(day))), { at: time.now() })])
      await turn()
      await merge(keeper)
      await afterDay?.(day)
    }
  })
}

type Seen = {
  readonly day: number
  readonly lists: ReadonlyMap<string, readonly ColdList[]> /** Of what a checkpoint says of these tables. */
  readonly bytes: number
}

describe('what goes', () => {
  const at = (fold_time: string, cold_after_days = RETENTION.cold_after_days) =>
    ({ fold_time, retention: { ...RETENTION, cold_after_days } }) as Revision
  const through = (text: string) => ({ cold_through: instantMs(text) })

  test('goes by fold time alone, and by whole days of it', () => {
    const before = (revision: Revision) => instantText(coldMoveOf({ cold_through: null }, revision)?.before ?? 0)
    expect(before(at('2025-01-15T00:00:00.000Z'))).toBe('2025-01-08T00:00:00.000Z')
    expect(before(at('2025-01-15T23:59:59.999Z'))).toBe('2025-01-08T00:00:00.000Z')
    expect(before(at('2025-01-16T00:00:00.000Z'))).toBe('2025-01-09T00:00:00.000Z')
  })

  test('goes once a day, and never comes back where the limit is set later', () => {
    const done = through('2025-01-08T00:00:00.000Z')
    expect(coldMoveOf(done, at('2025-01-15T23:59:59.999Z'))).toBeUndefined()
    expect(coldMoveOf(done, at('2025-01-16T00:00:00.000Z'))?.slices).toEqual([
      { day: '2025-01-08', from: Number.NEGATIVE_INFINITY, before: instantMs('2025-01-08T00:00:00.000Z'), is_late: true },
      { day: '2025-01-08', from: instantMs('2025-01-08T00:00:00.000Z'), before: instantMs('2025-01-09T00:00:00.000Z'), is_late: false },
    ])
    expect(coldMoveOf(done, at('2025-01-20T00:00:00.000Z', 14))).toBeUndefined()
  })

  test('goes a week at a time at most, with what is older beside the first day of it', () => {
    const days = coldMoveOf({ cold_through: null }, at('2026-01-15T00:00:00.000Z'))?.slices.map(({ day }) => day)
    expect(days).toEqual(['01', '01', '02', '03', '04', '05', '06', '07'].map((day) => `2026-01-${day}`))
  })
})

describe('a workspace of some weeks', () => {
  const scenario = createScenario({ seed: 'cold days' })
  const seen: Seen[] = []

  beforeAll(async () => {
    await tellDays(
      scenario,
      Array.from({ length: DAYS }, (_, day) => day),
      async (day) => {
        const { snapshot } = await latest(scenario)
        const { cold } = snapshot.checkpoint
        const base = TABLES.map((table) => partsOf(snapshot, table))
        seen.push({ day, lists: new Map(cold), bytes: JSON.stringify([base, [...cold]]).length })
      },
    )
  }, 120_000)

  test('has in the base what is younger than the limit, and in cold parts, a day each, all else', async () => {
    const view = await latest(scenario)
    const { fold_time, retention } = view.snapshot.revision
    const cut = coldCut(instantMs(fold_time), retention)
    for (const [table, column] of [
      ['runs', 'finished_at'],
      ['schedule_ticks', 'scheduled_for'],
    ] as const) {
      for (const { times } of partsOf(view.snapshot, table)) expect(times[column]?.[0] ?? cut).toBeGreaterThanOrEqual(cut)
      const parts = (
        await Promise.all((view.snapshot.checkpoint.cold.get(table) ?? []).map((list) => openColdList(scenario.world.bucket, list)))
      ).flat()
      expect(parts.filter(({ is_late }) => is_late).map(({ name }) => name)).toEqual([])
      for (const { times, day } of parts) expect(times[column]?.map((at) => instantText(at).slice(0, 10))).toEqual([day, day])
      expect(new Set(parts.map(({ day }) => day)).size).toBe(parts.length)
      expect(parts.reduce((sum, { rows }) => sum + rows, 0)).toBe(DAYS - 8)
    }
  })

  test('names one sub-list a month, of which a finished one never changes again', () => {
    for (const table of TABLES) {
      const lists = seen.at(-1)?.lists.get(table) ?? []
      expect(lists.map(({ day_min, day_max, filters }) => [day_min.slice(0, 7), day_max.slice(0, 7), filters.length])).toEqual([
        ['2025-01', '2025-01', 1],
        ['2025-02', '2025-02', 0],
      ])
      const january = new Set(
        seen.flatMap(({ lists: then }) => ((then.get(table)?.length ?? 0) > 1 ? [JSON.stringify(then.get(table)?.[0])] : [])),
      )
      expect([...january]).toEqual([JSON.stringify(lists[0])])
    }
  })

  test('has checkpoints of one size, however many days have gone cold', () => {
    const [some, many] = [seen[30], seen.at(-1)] as [Seen, Seen]
    expect(some.lists.get('runs')?.[1]?.parts).toBeLessThan((many.lists.get('runs')?.[1]?.parts ?? 0) - 10)
    expect(many.bytes - some.bytes).toBeLessThan(500)
  })

  test('opens no sub-list for a page of the last day, and one month after the other for what is older', async () => {
    const { store, opened } = watchedStore(scenario)
    const view = await latest(scenario, store)
    const last_day = instantText(instantMs(view.snapshot.revision.fold_time) - DAY_MS)
    const page = async (limit: number, from?: string) => {
      const { rows } = await readNewest(view, 'runs', { at: 'requested_at', id: 'run_id', where: [], limit, from })
      return [rows.length, opened().filter((name) => name.startsWith(COLD_PREFIX)).length]
    }
    expect(await page(10, last_day)).toEqual([1, 0])
    expect(await page(20)).toEqual([20, 1])
    expect(await page(DAYS)).toEqual([DAYS, 2])
  })

  test('opens none for runs that are not over', async () => {
    const { store, opened } = watchedStore(scenario)
    const view = await latest(scenario, store)
    expect(await view.few('runs', [{ column: 'state', in: ['PENDING', 'RUNNING'] }])).toEqual([])
    expect((await view.page('runs', { where: [{ column: 'finished_at', is_null: true }], limit: 10 })).rows).toEqual([])
    expect(opened().filter((name) => name.startsWith(COLD_PREFIX))).toEqual([])
  })

  test('finds a key that is nowhere without a table file, and opens no month that is over', async () => {
    const { store, opened } = watchedStore(scenario)
    const view = await latest(scenario, store)
    expect(await view.row('runs', [runIdOf('user:nowhere')])).toBeUndefined()
    expect(await view.row('schedule_ticks', [NIGHTLY, manualTickId(NIGHTLY, 'nowhere')])).toBeUndefined()
    const base = opened().filter((name) => name.startsWith('state/') && !name.endsWith('.bloom'))
    const cold = new Set((await coldParts(view, scenario)).map(({ name }) => name))
    expect(base.filter((name) => cold.has(name))).toEqual([])
    expect(opened().filter((name) => name.startsWith(COLD_PREFIX)).length).toBe(2)
    const asked = opened().length
    expect(await view.row('runs', [runIdOf('user:nowhere else')])).toBeUndefined()
    // Not even a filter of a month: those are at hand.
    expect(
      opened()
        .slice(asked)
        .filter((name) => !name.endsWith('.bloom')),
    ).toEqual([])
  })

  test('finds each of its rows by key', async () => {
    const view = await latest(scenario)
    for (let day = 0; day < DAYS; day++) {
      expect((await view.row('runs', [runIdOf(keyOf(String(day)))]))?.['run_key']).toBe(keyOf(String(day)))
      expect((await view.row('schedule_ticks', [NIGHTLY, manualTickId(NIGHTLY, String(day))]))?.['run_id']).toBe(
        runIdOf(keyOf(String(day))),
      )
    }
  })

  test('is whole to every check, and loses to collection what nobody needs any more', async () => {
    const { world, tell } = scenario
    const { bucket, files, scope } = world
    await tell(async () => {
      await world.time.sleep(31 * DAY_MS + 2 * HOUR_MS)
      await collect(world.start('collector'))
    })
    await scenario.expectInvariants()
    expect((await verify({ store: bucket, files, scope })).problems).toEqual([])
    const named = [...(await latest(scenario)).snapshot.checkpoint.cold.values()].flat().map(({ name }) => name)
    expect((await listAll(bucket, COLD_PREFIX)).map(({ name }) => name).sort()).toEqual(named.sort())
  })
})

const coldParts = async ({ snapshot }: View, { world }: Scenario) =>
  (await Promise.all([...snapshot.checkpoint.cold.values()].flat().map((list) => openColdList(world.bucket, list)))).flat()

/** A process of its own: nothing is at hand. */
function watchedStore({ world: { bucket } }: Scenario) {
  const names: string[] = []
  const store: ObjectStore = {
    ...bucket,
    get(name) {
      names.push(name)
      return bucket.get(name)
    },
  }
  return { store, opened: () => names }
}

describe('a row that changes after it has gone cold', () => {
  const scenario = createScenario({ seed: 'cold change' })
  const TICK = [NIGHTLY, manualTickId(NIGHTLY, '0')] as const
  const isChanged = (row: LooseRow | undefined, event_id: string) => expect(row?.last_event_id).toBe(event_id)

  async function expectNewest(event_id: string, rows: number): Promise<View> {
    const view = await latest(scenario)
    isChanged(await view.row('schedule_ticks', TICK), event_id)
    const all = (await view.page('schedule_ticks', { limit: 1_000 })).rows
    expect(all.length).toBe(rows)
    isChanged(
      all.find(({ tick_id }) => tick_id === TICK[1]),
      event_id,
    )
    const before = (await view.page('schedule_ticks', { where: [{ column: 'last_event_id', is: '!=', value: event_id }], limit: 1_000 }))
      .rows
    expect(before.map(({ tick_id }) => tick_id)).not.toContain(TICK[1])
    return view
  }

  test('is read as it is now: from above the base, from the base, and as a late one from another part', async () => {
    const { world, say, writer, decider, tell } = scenario
    // The rows of the first two days go in February, to parts of January; what is said of them then goes to one of February.
    await tellDays(scenario, [0, 1, 28, 29])
    const keeper = world.start('changer')
    const again = say.runRequested(
      'user:again',
      {
        trigger: { type: 'SCHEDULE', schedule_id: NIGHTLY, tick_id: TICK[1] } as never,
      },
      { at: world.time.now() },
    )
    const { turn } = decider('second', { reconcile: foldOnly })
    await tell(async () => {
      await writer('again').append([again])
      await turn()
    })
    await expectNewest(again.event_id, 4)
    await tell(async () => void (await merge(keeper)))
    await expectNewest(again.event_id, 4)
    await tell(async () => {
      await world.time.sleep(DAY_MS)
      await writer('later').append([...tickOf(scenario, 'later')])
      await turn()
      await merge(keeper)
    })
    const view = await expectNewest(again.event_id, 5)
    const holders = (await coldTicks()).filter(({ min_key, max_key }) => String(min_key[1]) <= TICK[1] && TICK[1] <= String(max_key[1]))
    expect(holders.map(({ day, is_late }) => [day.slice(0, 7), is_late])).toEqual([
      ['2025-01', true],
      ['2025-02', true],
    ])
    // Of a question that none of them fits the older one must stay hidden by the newer: whoever drops that one shows the other.
    const asked = await view.files('schedule_ticks', [{ column: 'scheduled_for', is: '<', value: 0 }])
    expect(asked.filter(({ is_late }) => is_late).map(({ name }) => name)).toEqual(
      (await coldTicks()).filter(({ is_late }) => is_late).map(({ name }) => name),
    )
    expect(asked.filter(({ day, is_late }) => day !== undefined && is_late !== true)).toEqual([])
    for (const { times } of partsOf(view.snapshot, 'schedule_ticks'))
      expect(times['scheduled_for']?.[0]).toBeGreaterThan(world.time.now() - 8 * DAY_MS - MINUTE_MS)
    await scenario.expectInvariants()
  })

  const coldTicks = async () => {
    const { snapshot } = await latest(scenario)
    return (
      await Promise.all((snapshot.checkpoint.cold.get('schedule_ticks') ?? []).map((list) => openColdList(scenario.world.bucket, list)))
    ).flat()
  }
})

describe('a process of another fold version', () => {
  const tellOne = async (scenario: Scenario, fold_version: number) => {
    const { world, decider, writer, tell, say } = scenario
    const { turn } = decider(`version ${fold_version}`, { reconcile: foldOnly, fold_version })
    await tell(async () => {
      await writer('a word').append([
        say.poolDefined('pool:small', fold_version, { at: world.time.now(), request: String(world.time.now()) }),
      ])
      await turn()
    })
  }

  test('that is older reads no cold parts, and none are made before the first turn of this one', async () => {
    const scenario = createScenario({ seed: 'cold before' })
    const { world, tell, say, writer } = scenario
    const run = say.runRequested('user:1')
    await tell(async () => void (await writer().append([run, say.runCancelRequested(run.payload.run_id)])))
    await tellOne(scenario, FOLD_VERSION - 1)
    await tell(async () => world.time.sleep(9 * DAY_MS))
    await tellOne(scenario, FOLD_VERSION - 1)
    const keeper = world.start('keeper')
    await tell(async () => void (await merge(keeper, true)))
    expect((await latest(scenario)).snapshot.checkpoint.cold.size).toBe(0)
    await tellOne(scenario, FOLD_VERSION)
    await tell(async () => void (await merge(keeper)))
    expect([...(await latest(scenario)).snapshot.checkpoint.cold.keys()]).toEqual(['runs'])
  })

  test('that is newer takes them over with its first checkpoint', async () => {
    const scenario = createScenario({ seed: 'cold after' })
    await tellDays(scenario, [0, 9])
    await tellOne(scenario, FOLD_VERSION + 1)
    const { snapshot, row } = await latest(scenario)
    expect(snapshot.checkpoint.fold_version).toBe(FOLD_VERSION + 1)
    expect((await row('runs', [runIdOf(keyOf('0'))]))?.['state']).toBe('CANCELLED')
  })
})

describe('verify', () => {
  const scenario = createScenario({ seed: 'cold damage' })
  beforeAll(() => tellDays(scenario, [0, 1, 9, 10]), 60_000)

  test('names a sub-list that is gone, and a cold part whose bytes are others', async () => {
    const { bucket, files, scope } = scenario.world
    const view = await latest(scenario)
    const [list] = view.snapshot.checkpoint.cold.get('runs') ?? []
    const [part] = await openColdList(bucket, list as ColdList)
    const damaged: ObjectStore = {
      ...bucket,
      get: async (name) => {
        const answer = await bucket.get(name)
        if (name === (view.snapshot.checkpoint.cold.get('schedule_ticks') ?? [])[0]?.name)
          return { kind: 'absent', server_time: answer.server_time }
        if (name !== part?.name || answer.kind === 'absent') return answer
        const bytes = Uint8Array.from(answer.bytes)
        bytes[0] = 0
        return { ...answer, bytes }
      },
    }
    const { problems } = await verify({ store: damaged, files, scope })
    expect(problems.some((problem) => problem.includes(part?.name ?? 'none'))).toBe(true)
    expect(problems.join('\n')).toContain('/cold/')
  })
})
