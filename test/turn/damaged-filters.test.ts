// Filters of every kind that are damaged or gone: turns and readers go on without them and find what is there, each is reported
// once, and maintenance of the same process rebuilds them.

import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { asyncLocalStorage, type Context } from '@temporalio/activity'
import { createMaintenance } from '../../src/activities/maintenance.js'
import { repairFilters } from '../../src/compactor/base/repair-filters.js'
import { verify } from '../../src/compactor/verify.js'
import { manualScheduleRunKey, manualTickId } from '../../src/core/keys.js'
import { DAY_MS } from '../../src/core/time.js'
import { CREATE } from '../../src/storage/object-store.js'
import { buildFilter, keyDigest, mightContain, openFilter } from '../../src/tables/bloom.js'
import { damagedFiltersOf } from '../../src/tables/damaged-filters.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { backUpTo, createShelf, elsewhere, restoreFrom } from '../fixtures/backup.js'
import { allFilters, bytesOf, damage, type FiltersByKind, filtersOf, remove } from '../fixtures/damage.js'
import { createPlainFiles } from '../fixtures/plain-files.js'
import { merge } from '../fixtures/roles.js'
import { runIdOf, ulidOf } from '../fixtures/say.js'
import { createScenario } from '../fixtures/scenario.js'
import type { Process } from '../fixtures/world.js'

const NIGHTLY = ulidOf('nightly')
/** From the middle of January to the end of February, so that a month of cold parts is over. */
const DAYS = 40

const scenario = createScenario({ seed: 'damaged filters' })
const { world, say, tell, writer, decider } = scenario
const { bucket, files, scope } = world
const run_ids: string[] = []
let filters: FiltersByKind
/** As they were written. */
const intact = new Map<string, Uint8Array>()

/** Twice a day a tick by hand, whose run is over at once; and a merge. */
beforeAll(async () => {
  const { append } = writer()
  const { turn } = decider('first', { reconcile: foldOnly })
  const keeper = world.start('keeper')
  await tell(async () => {
    const schedule = say.scheduleDefined(NIGHTLY, { cron_expressions: ['0 0 1 1 *'] }, {}, { at: world.time.now() })
    await append([say.locationDeployed('main', 0), say.assetDefined('a'), schedule])
    for (let half = 0; half < 2 * DAYS; half++) {
      await append([...tickNow(`tick ${half}`)])
      await append([say.runCancelRequested(run_ids.at(-1) as string, { at: world.time.now() })])
      await turn()
      await merge(keeper)
      await world.time.sleep(DAY_MS / 2)
    }
  })
  filters = await filtersOf({ store: bucket, files })
  for (const name of allFilters(filters)) intact.set(name, await bytesOf(bucket, name))
}, 120_000)

function tickNow(request: string) {
  const at = world.time.now()
  const tick = say.scheduleTriggered(NIGHTLY, request, 1, at)
  const trigger = { type: 'SCHEDULE', schedule_id: NIGHTLY, tick_id: manualTickId(NIGHTLY, request) } as const
  const run_key = manualScheduleRunKey(NIGHTLY, request)
  run_ids.push(runIdOf(run_key))
  return [tick, say.runRequested(run_key, { trigger }, { at, causation_id: tick.event_id })] as const
}

/** As the automation runs it, in the process that takes turns. */
async function maintain({ store, clock, random }: Process, log: (line: string) => void): Promise<void> {
  const deps = {
    store,
    files: createPlainFiles({ store }),
    clock,
    random: random.bytes,
    scope,
    listing_window_ms: world.listing_window_ms,
    stopping: new AbortController().signal,
    log,
  }
  const beating = { heartbeat: () => undefined, cancellationSignal: new AbortController().signal } as unknown as Context
  await asyncLocalStorage.run(beating, () => createMaintenance(deps).maintain({ ...scope, merge: true, collect: false }))
}

/** Those whose bytes are not what was written first. */
async function changed(names: readonly string[]): Promise<readonly string[]> {
  const bytes = await Promise.all(names.map((name) => bytesOf(bucket, name)))
  return names.filter((name, i) => !Buffer.from(bytes[i] as Uint8Array).equals(intact.get(name) ?? Buffer.alloc(0)))
}

const named = async () => filtersOf({ store: bucket, files })
const problems = async () => (await verify({ store: bucket, files, scope })).problems

test('the story has filters of every kind', () => {
  for (const [kind, names] of Object.entries(filters)) expect([kind, names.length > 0]).toEqual([kind, true])
})

describe('where all filters are damaged', () => {
  const automation = decider('automation', { reconcile: foldOnly })
  const { process } = automation
  const reads = new Map<string, number>()
  const repaired: string[] = []
  /** Of what turns have met, that which the newest revision still names when maintenance comes. */
  let standing: readonly string[]
  let changed_after: readonly string[]
  let left: readonly string[]

  beforeAll(async () => {
    for (const name of allFilters(filters)) await damage(bucket, name)
    const stop = world.intercept(({ phase, process: by, operation, name }) => {
      if (phase === 'before' && by === process.name && operation === 'get') reads.set(name, (reads.get(name) ?? 0) + 1)
    })
    await tell(async () => {
      const { append } = writer('second')
      for (let round = 0; round < 4; round++) {
        // Others may have repaired some by then: each is opened once more.
        if (round === 2) await merge(world.start('keeper'))
        await append([...tickNow(`round ${round}`)])
        // Of one that went cold in January, and of one that is new.
        for (const run_id of [run_ids[0], run_ids.at(-1)] as string[]) {
          await append([say.runCancelRequested(run_id, { at: world.time.now(), request: `cancel ${round}` })])
        }
        await automation.turn()
      }
    })
    stop()
    const names = allFilters(await named())
    standing = met().filter((name) => names.includes(name))
    await tell(() => maintain(process, (line) => repaired.push(line)))
    changed_after = await changed(standing)
    left = damagedFiltersOf(process.store).names()
  }, 60_000)

  const met = (): readonly string[] =>
    automation.log.map((line) => /^The filter (\S+\.bloom) is damaged\. Rows are looked up without it/.exec(line)?.[1] ?? line)

  test('turns fold what is new, know what is not, and report each filter that they meet once', async () => {
    expect(met().length).toBeGreaterThan(filters.of_days.length)
    expect(met().filter((name) => !intact.has(name))).toEqual([])
    expect(new Set(met()).size).toBe(met().length)
    for (const run_id of run_ids) expect(await scenario.row('runs', run_id)).toMatchObject({ state: 'CANCELLED' })
  })

  test('each is read once, and once more after a merge', () => {
    const times = met().map((name) => reads.get(name) ?? 0)
    expect([Math.min(...times), Math.max(...times)]).toEqual([1, 2])
  })

  test('maintenance rebuilds what turns have met: with the same bytes, and over a day one that admits every key', async () => {
    expect(repaired.toSorted()).toEqual(standing.map((name) => `The filter ${name} was damaged or gone, and has been rebuilt.`).toSorted())
    expect(left).toEqual([])
    const of_days = standing.filter((name) => filters.of_days.includes(name))
    expect(of_days.length).toBeGreaterThan(0)
    expect(changed_after.toSorted()).toEqual(of_days.toSorted())
    for (const name of of_days) expect(mightContain(openFilter(await bytesOf(bucket, name)), keyDigest('anything'))).toBe(true)
  })

  test('what is rebuilt is opened again without a restart', async () => {
    const said = automation.log.length
    reads.clear()
    const stop = world.intercept(({ phase, process: by, name }) => {
      if (phase === 'before' && by === process.name && standing.includes(name)) reads.set(name, 1)
    })
    await tell(async () => {
      await writer('third').append([...tickNow('third')])
      await automation.turn()
    })
    stop()
    expect([automation.log.length, reads.size > 0]).toEqual([said, true])
  })

  test('an operator has the others rebuilt, and all is whole to every check then', async () => {
    await tell(async () => void (await repairFilters(world.start('operator'), { looks_at_all: true })))
    expect(await problems()).toEqual([])
    await scenario.expectInvariants()
  })
})

describe('where one filter is damaged', () => {
  beforeEach(async () => {
    await tell(async () => void (await repairFilters(world.start('operator'), { looks_at_all: true })))
  })

  test('a filter whose table file is damaged as well is left, and that is said once', async () => {
    const [filter = ''] = (await named()).of_parts
    const part = filter.slice(0, -'.bloom'.length)
    const bytes = await bytesOf(bucket, part)
    await damage(bucket, filter)
    await bucket.put(part, Buffer.from('else'), { if_generation: await generationOf(part) })
    const operator = world.start('operator of two')
    const lines: string[] = []
    await tell(async () => {
      for (let tries = 0; tries < 3; tries++) {
        expect(await repairFilters({ ...operator, log: (line) => lines.push(line) }, { looks_at_all: true })).toBe(0)
      }
    })
    expect(lines).toEqual([expect.stringMatching(`^The filter ${filter} could not be rebuilt, and rows are looked up without it: `)])
    await bucket.put(part, bytes, { if_generation: await generationOf(part) })
    await tell(async () => expect(await repairFilters(operator)).toBe(1))
  })

  test('a backup goes on where the one before has other bytes under the name of a filter that was rebuilt', async () => {
    const [of_day = ''] = (await named()).of_days
    const before = await bytesOf(bucket, of_day)
    const shelf = createShelf(world)
    await tell(async () => {
      const keeper = world.start('keeper')
      await backUpTo(world, keeper, shelf.store)
      await bucket.put(of_day, Buffer.concat([before, Buffer.from('longer')]), { if_generation: await generationOf(of_day) })
      expect(await repairFilters(keeper, { looks_at_all: true })).toBe(1)
      await bucket.put(of_day, buildFilter(['another']), { if_generation: await generationOf(of_day) })
      await backUpTo(world, keeper, shelf.store)
    })
    const copy = elsewhere(scenario)
    await tell(async () => void (await restoreFrom(shelf.store, copy.world, copy.world.start('restorer'))))
    expect(Buffer.from(await bytesOf(copy.world.bucket, of_day)).equals(buildFilter(['another']))).toBe(true)
    await bucket.put(of_day, before, { if_generation: await generationOf(of_day) })
  })

  // Last: the oracle of the world takes what a test removes for something that collection did.
  test('verify names each that is damaged or gone, with what to do, and a turn goes on without one that is gone', async () => {
    const { of_parts, of_days, of_cold_months } = await named()
    const [damaged, gone, of_day] = [of_parts[0], of_cold_months[0], of_days[0]] as [string, string, string]
    await damage(bucket, damaged)
    await remove(bucket, gone)
    await remove(bucket, of_day)
    const cure = 'Rebuild it with `servo ledger compact --filters`.'
    expect((await problems()).toSorted()).toEqual(
      [
        `${damaged} has another checksum than its content. ${cure}`,
        `${gone} is gone, though a revision names it. ${cure}`,
        `${of_day} is gone, though a revision names it. ${cure}`,
      ].toSorted(),
    )
    const automation = decider('last', { reconcile: foldOnly })
    await tell(async () => {
      await writer('last').append([...tickNow('last')])
      expect(await automation.turn()).toMatchObject({ more: false, counts: { applied: 2 } })
      expect(damagedFiltersOf(automation.process.store).names()).toEqual(expect.arrayContaining([gone, of_day]))
      await maintain(automation.process, () => undefined)
      await repairFilters(automation.process, { looks_at_all: true })
    })
    expect(await problems()).toEqual([])
  })
})

async function generationOf(name: string): Promise<string> {
  const found = await bucket.head(name)
  return found.kind === 'found' ? found.head.generation : CREATE
}
