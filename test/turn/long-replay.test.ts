// Folds of a whole history that take hours, while others publish, merge, pack and collect: what such a fold began with is gone
// by its end, and it is compared with what is there then.

import { tmpdir } from 'node:os'
import { describe, expect, test } from '@jest/globals'
import { verify } from '../../src/compactor/verify.js'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { LEDGER_PREFIX } from '../../src/ledger/segment.js'
import { POINTER_NAME, STATE_PREFIX } from '../../src/tables/revision.js'
import { readPointer } from '../../src/tables/snapshot.js'
import { replay } from '../../src/turn/replay.js'
import { fillPages, PAGE } from '../fixtures/full-pages.js'
import { rebuildIn, replaySinceIn } from '../fixtures/rebuild.js'
import { replayed } from '../fixtures/replayed.js'
import { collect, merge, pack } from '../fixtures/roles.js'
import { createScenario, once, type Scenario } from '../fixtures/scenario.js'
import type { Process } from '../fixtures/world.js'
import { publishWrongRows } from '../fixtures/wrong-rows.js'

const ROUNDS = 2
const PAGES = 3

const replayIn = ({ scope }: Scenario['world'], { store, files }: Process) =>
  replay({ live: { store, files }, scope, scratch_folder: tmpdir(), held: { rows: 10, bytes: 1_000 } })

const LONG = {
  'a replay': replayIn,
  'a replay from a checkpoint': (world: Scenario['world'], process: Process) => replaySinceIn(world, process),
  'a rebuild that only says what would change': (world: Scenario['world'], process: Process) => rebuildIn(world, process, { is_dry: true }),
}

/** What lies between the beginning and the end of the fold. */
type Meanwhile = (keeper: Process, round: number) => Promise<void>

/** At its first segment, and again where it reads the first of what came since, the fold waits for hours. */
async function slowed<T>(
  scenario: Scenario,
  fold: (world: Scenario['world'], process: Process) => Promise<T>,
  meanwhile?: Meanwhile,
): Promise<{ readonly answer: T; readonly begun_with: readonly string[]; readonly deleted_count: number }> {
  const { world, say, writer, decider } = scenario
  const keeper = await fillPages(scenario, PAGES)
  const { append } = writer('busy')
  const { turn } = decider('busy')
  let deleted_count = 0
  const begun_with: string[] = []
  const pass = async (round: number): Promise<void> => {
    begun_with.push((await newest(scenario)).revision)
    // In the same minute, so that the one before is the last of none.
    await append([say.poolDefined('pool:since', 10 + round)])
    await turn()
    await merge(keeper, true, PAGE)
    await world.time.sleep(2 * HOUR_MS)
    await append([say.poolDefined('pool:later', 20 + round)])
    await turn()
    await merge(keeper, true, PAGE)
    await pack(keeper)
    deleted_count += (await collect(keeper)).deleted_count
    await meanwhile?.(keeper, round)
    if (round < ROUNDS) once(world, 'before', { process: 'slow', operation: 'get', name: LEDGER_PREFIX }, () => pass(round + 1))
  }
  once(world, 'before', { process: 'slow', operation: 'get', name: LEDGER_PREFIX }, () => pass(1))
  const answer = await fold(world, world.start('slow'))
  return { answer, begun_with, deleted_count }
}

async function newest({ world }: Scenario) {
  const { published } = await readPointer(world.bucket)
  if (published === undefined) throw new Error('There is a pointer.')
  return published.pointer
}

describe('while it takes hours, and all that it began with is packed, merged away or collected', () => {
  test.each(Object.entries(LONG))('%s goes on to what is newest, and compares with that', async (_, fold) => {
    const scenario = createScenario()
    const { tell, expectInvariants } = scenario
    await tell(async () => {
      const { answer, begun_with, deleted_count } = await slowed<{ sequence: number; differences: readonly unknown[] }>(scenario, fold)
      expect(begun_with).toHaveLength(ROUNDS)
      expect(deleted_count).toBeGreaterThan(ROUNDS)
      expect(answer).toMatchObject({ differences: [], sequence: (await newest(scenario)).sequence })
    })
    await expectInvariants()
  })

  test.each(Object.entries(LONG))('%s finds what is wrong in the newest tables', async (_, fold) => {
    const scenario = createScenario()
    const { tell, row } = scenario
    await tell(async () => {
      const { answer } = await slowed<{ differences: readonly unknown[] }>(scenario, fold, async (keeper, round) => {
        if (round === ROUNDS) await publishWrongRows(keeper, 'pools', [{ ...(await row('pools', 'pool:since')), max_running: 77 }])
      })
      expect(answer.differences).toMatchObject([{ table: 'pools', key: ['pool:since'], live: { max_running: 77 } }])
    })
  })

  test('a rebuild publishes what the ledger says by then', async () => {
    const scenario = createScenario()
    const { world, tell, row, expectInvariants } = scenario
    await tell(async () => {
      const { answer } = await slowed(
        scenario,
        (_, process) => rebuildIn(world, process),
        async (keeper, round) => {
          if (round === ROUNDS) await publishWrongRows(keeper, 'pools', [{ ...(await row('pools', 'pool:since')), max_running: 77 }])
        },
      )
      expect(answer).toMatchObject({ published_sequence: (await newest(scenario)).sequence, differences: [{ table: 'pools' }] })
      expect(await row('pools', 'pool:since')).toMatchObject({ max_running: 10 + ROUNDS })
    })
    expect(await replayed(world)).toEqual([])
    expect((await verify({ store: world.bucket, files: world.files, scope: world.scope })).problems).toEqual([])
    await expectInvariants()
  })

  test('a replay from a checkpoint says that the tables were made anew', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      const made = slowed(
        scenario,
        (_, process) => replaySinceIn(world, process),
        async (_, round) => {
          if (round === ROUNDS) await rebuildIn(world, world.start('rebuild'))
        },
      )
      await expect(made).rejects.toThrow('were made anew meanwhile')
    })
  })

  test('no fold goes on from a history that was put back', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      await fillPages(scenario, 1)
      const before = await world.bucket.get(POINTER_NAME)
      const made = slowed(scenario, replayIn, async (_, round) => {
        if (round < ROUNDS) return
        const now = await world.bucket.head(POINTER_NAME)
        if (before.kind === 'absent' || now.kind === 'absent') throw new Error('There is a pointer.')
        await world.bucket.put(POINTER_NAME, before.bytes, { if_generation: now.head.generation })
        await world.time.sleep(MINUTE_MS)
      })
      await expect(made).rejects.toThrow('somebody has put an older state back')
    })
  })

  test('verify misses nothing that was removed because nobody can reach it any more', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 1)
      await scenario.writer().append([scenario.say.poolDefined('pool:x', 9)])
      await scenario.decider().turn()
      const { store, files } = world.start('slow')
      let deleted_count = 0
      once(world, 'before', { process: 'slow', operation: 'get', name: STATE_PREFIX }, async () => {
        await merge(keeper, true, PAGE)
        await world.time.sleep(2 * HOUR_MS)
        deleted_count = (await collect(keeper)).deleted_count
      })
      expect(await verify({ store, files, scope: world.scope })).toMatchObject({ problems: [] })
      expect(deleted_count).toBeGreaterThan(0)
    })
  })
})
