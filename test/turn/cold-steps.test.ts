// What goes cold where there is more of it than one merge has room for: years that were never moved, tables made anew, and a day
// of more runs than memory holds.

import { describe, expect, test } from '@jest/globals'
import { verify } from '../../src/compactor/verify.js'
import { manualScheduleRunKey, manualTickId } from '../../src/core/keys.js'
import { DAY_MS, instantMs, instantText } from '../../src/core/time.js'
import { coldCut } from '../../src/projections/retention.js'
import { keyOfRow, type LooseRow, TABLE_NAMES, type TableName } from '../../src/projections/tables.js'
import { createReader, type View } from '../../src/readers/reader.js'
import { openColdList } from '../../src/tables/cold/list.js'
import { partsOf } from '../../src/tables/snapshot.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { rebuildIn } from '../fixtures/rebuild.js'
import { merge, mergeInSteps } from '../fixtures/roles.js'
import { runIdOf, ulidOf } from '../fixtures/say.js'
import { createScenario, type Scenario } from '../fixtures/scenario.js'
import { createWorker } from '../fixtures/worker.js'

const NIGHTLY = ulidOf('nightly')
const DAYS = 20
/** A tick and its run are a day's rows. */
const ONE_DAY = { rows_max: 3, ids_max: 2 }

async function latest({ world }: Scenario): Promise<View> {
  const view = await createReader({ store: world.bucket, files: world.files }).latest()
  if (view === undefined) throw new Error('Nothing was published.')
  return view
}

/** A tick by hand each day, and a run of it that is over at once; nobody merges. */
async function tellDays(scenario: Scenario): Promise<void> {
  const { world, say, writer, decider } = scenario
  const { append } = writer()
  const start = world.time.now()
  await append([
    say.locationDeployed('main', 0),
    say.assetDefined('a'),
    say.scheduleDefined(NIGHTLY, { cron_expressions: ['0 0 1 1 *'] }, {}, { at: start }),
  ])
  const { turn } = decider('decider', { reconcile: foldOnly })
  await turn()
  for (let day = 0; day < DAYS; day++) {
    await world.time.sleep(Math.max(0, start + day * DAY_MS - world.time.now()))
    const at = world.time.now()
    const tick = say.scheduleTriggered(NIGHTLY, String(day), 1, at)
    const run_key = manualScheduleRunKey(NIGHTLY, String(day))
    const trigger = { type: 'SCHEDULE', schedule_id: NIGHTLY, tick_id: manualTickId(NIGHTLY, String(day)) } as const
    await append([tick, say.runRequested(run_key, { trigger }, { at, causation_id: tick.event_id })])
    await append([say.runCancelRequested(runIdOf(run_key), { at })])
    await turn()
  }
}

const plain = (rows: readonly LooseRow[]): readonly LooseRow[] => rows.map((row) => ({ ...row, row_version: 0 }))

async function allRows(view: View): Promise<ReadonlyMap<TableName, readonly LooseRow[]>> {
  const tables = new Map<TableName, readonly LooseRow[]>()
  for (const table of TABLE_NAMES) tables.set(table, plain((await view.page(table, { limit: 100_000 })).rows))
  return tables
}

const throughOf = ({ snapshot }: View): string | undefined => {
  const { cold_through } = snapshot.checkpoint
  return cold_through === null ? undefined : instantText(cold_through).slice(0, 10)
}

function cutOf({ snapshot: { revision } }: View): string {
  return instantText(coldCut(instantMs(revision.fold_time), revision.retention)).slice(0, 10)
}

async function coldRows(scenario: Scenario, table: TableName): Promise<number[]> {
  const { snapshot } = await latest(scenario)
  const lists = snapshot.checkpoint.cold.get(table) ?? []
  return (await Promise.all(lists.map((list) => openColdList(scenario.world.bucket, list)))).flat().map(({ rows }) => rows)
}

/** Until nothing is left; where each of them came to, in turn. */
async function mergeAll(scenario: Scenario, name: string, is_patient = false): Promise<(string | undefined)[]> {
  const keeper = scenario.world.start(name)
  const reached: (string | undefined)[] = []
  for (;;) {
    const { kind } = await mergeInSteps(keeper, ONE_DAY, is_patient)
    if (kind === 'nothing_due') return reached
    const through = throughOf(await latest(scenario))
    if (reached.length > 0 && through === reached.at(-1)) return reached
    reached.push(through)
  }
}

describe('what has gone cold', () => {
  test('goes a day at a time where a merge has room for no more, and is all there in the end', async () => {
    const scenario = createScenario({ seed: 'cold steps' })
    const { tell, world, expectInvariants } = scenario
    await tell(async () => {
      await tellDays(scenario)
      const before = await allRows(await latest(scenario))
      const reached = await mergeAll(scenario, 'keeper')
      const view = await latest(scenario)
      expect(reached.at(-1)).toBe(cutOf(view))
      expect(reached.length).toBeGreaterThan(10)
      // A day each, and none of them twice.
      expect(reached).toEqual([...new Set(reached)].sort())
      expect((await coldRows(scenario, 'runs')).reduce((sum, rows) => sum + rows, 0)).toBe(reached.length)
      expect(await allRows(view)).toEqual(before)
    })
    await expectInvariants()
    expect((await verify({ store: world.bucket, files: world.files, scope: world.scope })).problems).toEqual([])
  })

  test('is gone on with by whoever looks by the clock, though nothing else is due', async () => {
    const scenario = createScenario({ seed: 'cold patience' })
    await scenario.tell(async () => {
      await tellDays(scenario)
      await mergeInSteps(scenario.world.start('first'), ONE_DAY)
      const reached = await mergeAll(scenario, 'patient', true)
      const view = await latest(scenario)
      // What is one day behind waits for more, as on any other day.
      expect(instantMs(`${cutOf(view)}T00:00:00.000Z`) - (view.snapshot.checkpoint.cold_through ?? 0)).toBeLessThanOrEqual(DAY_MS)
      expect(reached.length).toBeGreaterThan(8)
    })
  })

  test('goes in steps once more after a rebuild, which moves none of it', async () => {
    const scenario = createScenario({ seed: 'cold rebuild' })
    const { tell, world, expectInvariants } = scenario
    await tell(async () => {
      await tellDays(scenario)
      await merge(world.start('keeper'), true)
      const before = await allRows(await latest(scenario))
      const moved = await coldRows(scenario, 'runs')
      expect(await rebuildIn(world, world.start('rebuild'))).toMatchObject({ differences: [] })
      expect(throughOf(await latest(scenario))).toBeUndefined()
      const reached = await mergeAll(scenario, 'stepper')
      expect(reached.length).toBeGreaterThan(10)
      const after = await coldRows(scenario, 'runs')
      expect(after.reduce((sum, rows) => sum + rows, 0)).toBe(moved.reduce((sum, rows) => sum + rows, 0))
      expect(await allRows(await latest(scenario))).toEqual(before)
    })
    await expectInvariants()
  })

  test('goes with its runs a range of ids after the other, where a day has more than memory', async () => {
    const scenario = createScenario({ seed: 'cold ranges' })
    const { tell, world, say, writer, decider, defineAssets, expectInvariants } = scenario
    await tell(async () => {
      await defineAssets()
      const { append } = writer()
      const { turn } = decider()
      const { work } = createWorker(world, world.start('worker'), { failing: 1 })
      await append(Array.from({ length: 5 }, (_, at) => say.runRequested(`user:${at}`, { assets: { keys: ['a', 'b'] } })))
      do await turn()
      while ((await work()) > 0)
      await turn()
      await world.time.sleep(9 * DAY_MS)
      // Another one, which is open.
      await append([say.runRequested('user:open', { assets: { keys: ['a', 'b'] } }, { at: world.time.now() })])
      await turn()
      const before = await allRows(await latest(scenario))
      expect(before.get('tasks')).toHaveLength(12)
      await mergeInSteps(world.start('keeper'), { rows_max: 1_000, ids_max: 2 })
      const view = await latest(scenario)
      expect(await coldRows(scenario, 'runs')).toEqual([5])
      expect(await coldRows(scenario, 'tasks')).toEqual([4, 4, 2])
      expect(await coldRows(scenario, 'dep_satisfaction')).toEqual([2, 2, 1])
      expect(await coldRows(scenario, 'failed_attempts')).toEqual([2, 2, 1])
      const [failed] = before.get('failed_attempts') ?? []
      expect(await view.row('failed_attempts', keyOfRow('failed_attempts', failed as LooseRow))).toMatchObject({ outcome: 'FAILED' })
      expect(partsOf(view.snapshot, 'tasks').reduce((sum, { rows }) => sum + rows, 0)).toBe(2)
      expect(await allRows(view)).toEqual(before)
    })
    await expectInvariants()
  })
})
