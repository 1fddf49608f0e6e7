// What a turn and a merge publish, when others say the same at once, uploads stall, or rows have had their time.

import { afterAll, describe, expect, test } from '@jest/globals'
import { unavailable } from '../../src/core/errors.js'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/core/time.js'
import { ulidAt } from '../../src/core/ulid.js'
import type { Rows } from '../../src/projections/tables.js'
import { openSnapshot, partsOf, readPointer } from '../../src/tables/snapshot.js'
import type { TableFiles } from '../../src/tables/table-files.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createParquetShelf } from '../fixtures/parquet-world.js'
import { merge, mergePatiently } from '../fixtures/roles.js'
import { createScenario, once } from '../fixtures/scenario.js'
import { stubDecider } from '../fixtures/stub-decider.js'
import { createVirtualTime } from '../fixtures/virtual-time.js'
import { listAll } from '../invariants/evidence.js'

describe('what is published', () => {
  test('a decision that somebody else has stored in other words is folded in the stored words', async () => {
    const { say, writer, decider, tell, world, defineAssets, rows, expectInvariants } = createScenario()
    const first = decider('first')
    const second = decider('second', { reconcile: stubDecider({ plans_backwards: true }) })
    await tell(async () => {
      await defineAssets()
      await writer().append([say.runRequested('user:1', { assets: { keys: ['a', 'c'] } })])
      once(world, 'before', { process: 'first', operation: 'put', name: 'ledger/' }, async () => {
        once(world, 'after', { process: 'second', operation: 'put', name: 'ledger/' }, ({ kill }) => kill())
        void second.turn()
        await world.time.sleep(SECOND_MS)
      })
      await first.turn()
    })
    const tasks = (await rows('tasks')).toSorted((left, right) => Number(left['task_index']) - Number(right['task_index']))
    expect(tasks.map(({ task_key }) => task_key)).toEqual(['c', 'a'])
    await expectInvariants()
  })

  test('instants of publication never go back, whatever the store says the time is', async () => {
    let back_ms = 0
    const { say, writer, decider, tell, world } = createScenario({
      wrap: (store) => ({
        ...store,
        async get(name) {
          const answer = await store.get(name)
          return { ...answer, server_time: answer.server_time - back_ms }
        },
      }),
    })
    await tell(async () => {
      for (const max of [1, 2, 3]) {
        await writer(`writer ${max}`).append([say.poolDefined('pool:x', max)])
        await decider(`decider ${max}`).turn()
        back_ms += 5 * SECOND_MS
        if (max === 2) await merge(world.start('merger'), true)
      }
    })
    const instants = world.oracle.pointers.map(({ pointer }) => pointer.published_at)
    expect(instants).toHaveLength(4)
    expect(instants).toEqual(instants.toSorted())
  })

  test('an upload that stalls holds the publish up', async () => {
    const { say, writer, decider, tell, world, row, expectInvariants } = createScenario()
    const { turn } = decider()
    await tell(async () => {
      await turn()
      await writer().append([say.poolDefined('pool:x', 1)])
      once(world, 'before', { operation: 'put', name: 'pools.' }, () => world.time.sleep(30 * SECOND_MS))
      once(world, 'before', { operation: 'put', name: 'manifest.json' }, async () => {
        const uploaded = (await listAll(world.bucket, 'state/')).map(({ name }) => name)
        expect(uploaded.filter((name) => name.includes('pools.'))).toHaveLength(1)
      })
      await turn()
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 1 })
    await expectInvariants()
  })

  test('a row that has expired does not uncover its older version in a run that a merge leaves alone', async () => {
    const { say, writer, decider, tell, world, defineAssets, rows, expectInvariants } = createScenario()
    const { append } = writer()
    const { turn } = decider()
    const keeper = world.start('keeper')
    await tell(async () => {
      await defineAssets()
      await append([say.runRequested('user:1', { assets: { keys: ['a'] } })])
      await turn()
      await merge(keeper)
      const [out] = await rows('dispatch_outbox')
      expect(out).toMatchObject({ status: 'PENDING' })
      const name = { run_id: String(out?.['run_id']), task_key: String(out?.['task_key']), attempt: 1 }
      await append([say.taskStarted(name, {}, { at: world.time.now() })])
      await append([say.taskFinished(name, 'SUCCEEDED', {}, { at: world.time.now() })])
      await turn()
      await world.time.sleep(40 * DAY_MS)
      await append([say.poolDefined('pool:x', 1)])
      await turn()
      expect((await merge(keeper)).kind).toBe('merged')
    })
    expect(await rows('dispatch_outbox')).toEqual([])
    await expectInvariants()
  })

  test('a few changes are left by a merge of the clock until they are old, and many are not', async () => {
    const { say, writer, decider, tell, world } = createScenario()
    const keeper = world.start('keeper')
    const { turn } = decider()
    const { append } = writer()
    let version = 0
    const change = async (count: number) => {
      for (let i = 0; i < count; i++) {
        await append([say.poolDefined('pool:x', ++version)])
        await turn()
      }
    }
    await tell(async () => {
      // The first revision is a checkpoint itself.
      await change(1 + 7)
      expect((await mergePatiently(keeper)).kind).toBe('nothing_due')
      await change(1)
      expect((await mergePatiently(keeper)).kind).toBe('merged')
      await change(1)
      expect((await mergePatiently(keeper)).kind).toBe('nothing_due')
      await world.time.sleep(DAY_MS)
      expect((await mergePatiently(keeper)).kind).toBe('merged')
      expect((await mergePatiently(keeper)).kind).toBe('nothing_due')
    })
  })

  test('a process that starts from a merged checkpoint knows what is folded in minutes that are still open', async () => {
    const { say, writer, decider, tell, world, expectInvariants } = createScenario()
    await tell(async () => {
      await writer().append([say.poolDefined('pool:x', 1)])
      await decider('first', { reconcile: foldOnly }).turn()
      await merge(world.start('keeper'))
      expect(await decider('next', { reconcile: foldOnly }).turn()).toMatchObject({
        published_count: 0,
        counts: { applied: 0, duplicate: 0, refused: 0, quarantined: 0 },
      })
    })
    await expectInvariants()
  })
})

describe('of two versions of a row in Parquet files', () => {
  const shelf = createParquetShelf()
  afterAll(() => shelf.close())

  /** A pool with one version in each of so many revisions, the newest with an id that is older than all others. */
  async function createVersions(merges: 'each' | 'last') {
    const time = createVirtualTime()
    let files: TableFiles | undefined
    const scenario = createScenario({ time, filesOf: (bucket) => (files ??= shelf.filesIn(bucket, time)) })
    const { say, writer, decider, tell, world } = scenario
    const { append } = writer()
    const { turn } = decider()
    const keeper = world.start('keeper')
    const ages = [2, 1, 3]
    await tell(async () => {
      for (const [round, hours] of ages.entries()) {
        const event_id = ulidAt(world.time.now() - hours * HOUR_MS, new Uint8Array(10))
        await append([say.poolDefined('pool:x', round + 1, { event_id })])
        await turn()
        if (merges === 'each') expect((await merge(keeper)).kind).toBe('merged')
      }
      if (merges === 'last') expect((await merge(keeper, true)).kind).toBe('merged')
    })
    const { published } = await readPointer(world.bucket)
    if (published === undefined) throw new Error('It was published.')
    const parts = partsOf(await openSnapshot({ store: world.bucket, files: world.files }, published.pointer), 'pools')
    return { ...scenario, part_count: parts.length }
  }

  test('a merge keeps the one that was recorded later, whatever their ids say', async () => {
    const { part_count, row, expectInvariants } = await createVersions('last')
    expect(part_count).toBe(1)
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 3 })
    await expectInvariants()
  })

  test('a look-up and a page take the one that was recorded later from the runs of the base, whatever their ids say', async () => {
    const { part_count, row, rows, expectInvariants } = await createVersions('each')
    expect(part_count).toBe(3)
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 3 })
    expect(await rows('pools')).toMatchObject([{ max_running: 3 }])
    await expectInvariants()
  })
})

describe('turns of one process', () => {
  test('that are asked for at once run one after the other, also after one that failed', async () => {
    const { say, writer, decider, tell, world, expectInvariants } = createScenario()
    const { turn } = decider('turn')
    await tell(async () => {
      const { append } = writer()
      await append([say.poolDefined('pool:x', 1)])
      const answers = await Promise.all([turn(), turn(), turn()])
      expect(answers.map(({ counts }) => counts.applied)).toEqual([1, 0, 0])
      await append([say.poolDefined('pool:y', 1)])
      once(world, 'before', { process: 'turn', operation: 'get', name: 'manifest.json' }, () => {
        throw unavailable('The store is away.')
      })
      const [failed, next] = await Promise.allSettled([turn(), turn()])
      expect([failed?.status, next?.status]).toEqual(['rejected', 'fulfilled'])
    })
    await expectInvariants()
  })
})

describe('what a turn remembers', () => {
  test('is compared with a fresh load every hour, and given up where they differ', async () => {
    const { say, writer, decider, tell, world, row } = createScenario()
    const { turn, log, workspace } = decider()
    const drifted = 'hot_state_drift: 1 rows in memory are not those of revision 2, first pools pool:x.'
    await tell(async () => {
      await turn()
      await writer().append([say.poolDefined('pool:x', 1)])
      await turn()
      await world.time.sleep(HOUR_MS)
      await turn()
      expect(log).toEqual([])
      const pool = workspace().rows.get('pools', 'pool:x')
      workspace().rows.follow('pools', [{ ...pool, max_running: 7 } as Rows['pools']])
      await turn()
      expect(log).toEqual([])
      await world.time.sleep(HOUR_MS)
      await turn()
      expect(log).toEqual([drifted])
      expect(workspace().rows.get('pools', 'pool:x')?.max_running).toBe(1)
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 1 })
    // A drift by itself is what every simulation and crash test fails by.
    expect(world.oracle.problems).toEqual([drifted])
  })
})
