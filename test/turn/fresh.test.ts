// What a fresh read folds by itself, when it does not, and what it costs.

import { describe, expect, test } from '@jest/globals'
import { unavailable } from '../../src/core/errors.js'
import { CREATION_SKEW_MS_MAX, FRESH_FOLD_AGE_MS_MAX, FRESH_FOLD_EVENTS_MAX } from '../../src/core/limits.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import type { TableName } from '../../src/projections/tables.js'
import { readFresh } from '../../src/readers/fresh.js'
import { createReader, type View } from '../../src/readers/reader.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { merge } from '../fixtures/roles.js'
import { createScenario, once } from '../fixtures/scenario.js'
import { freshTailOf } from '../fixtures/tail.js'

function createStory() {
  const scenario = createScenario()
  const { world, reader } = scenario
  const { process, reader: published } = reader('reader')
  const tail = freshTailOf(world, process, published)
  let pokes = 0
  const calls: string[] = []
  world.intercept((call) => {
    if (call.phase === 'before' && call.process === 'reader') calls.push(`${call.operation} ${call.name}`)
    return undefined
  })
  const fresh = () => readFresh({ reader: published, clock: process.clock, poke: () => void pokes++, tail })
  const capOf = async () => (await (await fresh()).view?.row('pools', ['pool:x']))?.['max_running']
  return { ...scenario, ...scenario.decider('turn', { reconcile: foldOnly }), published, tail, calls, fresh, capOf, pokes: () => pokes }
}

describe('a fresh read', () => {
  test('folds what was acknowledged, publishes nothing, and says by which revision it stands', async () => {
    const { say, writer, turn, tell, world, fresh, published, expectInvariants, calls } = createStory()
    await tell(async () => {
      const { sequence } = await turn()
      await writer().append([say.poolDefined('pool:x', 4)])
      const answer = await fresh()
      expect(answer).toMatchObject({ is_fresh: true, view: { sequence } })
      expect(await answer.view?.row('pools', ['pool:x'])).toMatchObject({ max_running: 4, row_version: sequence + 1 })
      expect((await answer.view?.few('pools', []))?.map(({ pool_key }) => pool_key)).toContain('pool:x')
      expect(await (await published.latest())?.row('pools', ['pool:x'])).toBeUndefined()
    })
    expect(calls.filter((call) => /^(put|delete)/.test(call))).toEqual([])
    expect(world.oracle.pointers).toHaveLength(1)
    await expectInvariants()
  })

  test('sees each write that came before it, and folds none twice', async () => {
    const { say, writer, turn, tell, capOf, calls } = createStory()
    await tell(async () => {
      await turn()
      const { append } = writer()
      for (let cap = 1; cap <= 5; cap++) {
        await append([say.poolDefined('pool:x', cap)])
        expect(await capOf()).toBe(cap)
      }
      expect(calls.filter((call) => call.startsWith('get ledger/'))).toHaveLength(5)
    })
  })

  test('sees what was named long before it was created', async () => {
    const { say, writer, turn, tell, world, fresh } = createStory()
    await tell(async () => {
      await turn()
      await world.time.sleep(10 * MINUTE_MS - (world.time.now() % MINUTE_MS))
      once(world, 'before', { process: 'slow', operation: 'put', name: 'ledger/' }, async () => {
        await world.time.sleep(CREATION_SKEW_MS_MAX - 5 * SECOND_MS)
        await writer('quick').append([say.poolDefined('pool:y', 1)])
        await turn()
      })
      await writer('slow').append([say.poolDefined('pool:x', 1)])
      expect(await (await fresh()).view?.row('pools', ['pool:x'])).toMatchObject({ max_running: 1 })
    })
  })

  test('folds in the order of the turn what a listing did not show at first', async () => {
    const { say, writer, turn, tell, world, row } = createStory()
    const process = world.start('late reader')
    let hidden = ''
    const list: typeof process.store.list = async (...asked) => {
      const page = await process.store.list(...asked)
      return { ...page, objects: page.objects.filter(({ name }) => name !== hidden) }
    }
    const store = { ...process.store, list }
    const tail = freshTailOf(world, { ...process, store }, createReader({ store, files: process.files }))
    const capOf = async () => (await (await tail.read()).view?.row('pools', ['pool:x']))?.['max_running']
    await tell(async () => {
      await turn()
      const { append } = writer()
      const first = await append([say.poolDefined('pool:x', 1)])
      await append([say.poolDefined('pool:x', 2)])
      hidden = first.head.name
      expect(await capOf()).toBe(2)
      hidden = ''
      expect(await capOf()).toBe(2)
      await turn()
    })
    expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 2 })
  })

  test('compares its rows with a fresh load every hour, and gives them up where they differ', async () => {
    const { say, writer, turn, tell, world, expectInvariants } = createStory()
    const process = world.start('drifting reader')
    let isWrong = false
    const decode: typeof process.files.decode = async (...asked) => {
      const rows = await process.files.decode(...asked)
      return isWrong && asked[0] === 'pools' ? rows.map((row) => ({ ...row, max_running: 7 })) : rows
    }
    const files = { ...process.files, decode }
    const log: string[] = []
    const tail = freshTailOf(world, { ...process, files }, createReader({ store: process.store, files }), (line) => void log.push(line))
    await tell(async () => {
      await turn()
      const { append } = writer()
      const readOver = async (cap: number) => {
        await append([say.poolDefined('pool:x', cap)])
        await turn()
        // Something to fold, so that the rows are asked for.
        await append([say.poolDefined('pool:y', cap)])
        expect((await tail.read()).missing.size).toBe(0)
      }
      await readOver(1)
      isWrong = true
      await readOver(2)
      isWrong = false
      await turn()
      await merge(world.start('merger'))
      await world.time.sleep(HOUR_MS)
      await append([say.poolDefined('pool:z', 2)])
      await turn()
      await append([say.poolDefined('pool:z', 3)])
      expect((await tail.read()).missing.size).toBe(0)
      expect(log).toEqual([
        expect.stringMatching(/^hot_state_drift: 1 rows in memory are not those of revision \d+, first pools pool:x\.$/),
      ])
    })
    await expectInvariants()
  })

  test('that comes while another folds shares the fold after it', async () => {
    const { say, writer, turn, tell, fresh, calls } = createStory()
    await tell(async () => {
      await turn()
      await writer().append([say.poolDefined('pool:x', 1)])
      const answers = await Promise.all(Array.from({ length: 20 }, fresh))
      expect(answers.every(({ is_fresh }) => is_fresh)).toBe(true)
      expect(calls.filter((call) => call.startsWith('get ledger/'))).toHaveLength(1)
      expect(calls.filter((call) => call.startsWith('list ledger/')).length).toBeLessThanOrEqual(4)
    })
  })

  test('shares no look that began before the question', async () => {
    const { say, writer, turn, tell, world, capOf } = createStory()
    await tell(async () => {
      await turn()
      const { append } = writer()
      await append([say.poolDefined('pool:x', 1)])
      // It has listed, and reads what it found.
      const asked = new Promise<number | undefined>((resolve) => {
        once(world, 'before', { process: 'reader', operation: 'get', name: 'ledger/' }, async () => {
          await append([say.poolDefined('pool:x', 2)])
          resolve(undefined)
        })
      })
      const early = capOf()
      await asked
      expect(await capOf()).toBe(2)
      expect(await early).toBe(1)
    })
  })

  test('asks for a turn where something is unpublished, and for none where nothing is', async () => {
    const { say, writer, turn, tell, fresh, pokes, calls } = createStory()
    await tell(async () => {
      await turn()
      expect(await fresh()).toMatchObject({ is_fresh: true })
      expect({ pokes: pokes(), loaded: calls.filter((call) => call.includes('/l0/')) }).toEqual({ pokes: 0, loaded: [] })
      await writer().append([say.poolDefined('pool:x', 1)])
      await fresh()
      expect(pokes()).toBe(1)
    })
  })

  test.each([
    ['more events than are worth it', 'events'],
    ['older than a minute', 'age'],
    ['of another version of the fold', 'version'],
    ['longer to fold than it may take', 'time'],
  ])('waits for the publish where the tail is %s, and says that it did not come', async (_, what) => {
    const { say, writer, tell, world, fresh, decider } = createStory()
    await tell(async () => {
      await decider('first', { reconcile: foldOnly, ...(what === 'version' ? { fold_version: 1 } : {}) }).turn()
      const { append } = writer()
      const events = what === 'events' ? FRESH_FOLD_EVENTS_MAX : 0
      for (let at = 0; at <= events; at += 1_000) {
        await append(Array.from({ length: 1_000 }, (_, i) => say.poolDefined(`pool:${at + i}`, 1)))
      }
      if (what === 'age') await world.time.sleep(FRESH_FOLD_AGE_MS_MAX + 1)
      if (what === 'time') once(world, 'before', { process: 'reader', operation: 'get', name: 'ledger/' }, () => world.time.sleep(300))
      const answer = await fresh()
      expect(answer).toMatchObject({ is_fresh: false, view: { sequence: 1 } })
      expect(answer.view?.snapshot.unpublished).toBeUndefined()
      // What was cut off by the time alone goes on from there.
      if (what === 'time') expect(await fresh()).toMatchObject({ is_fresh: true })
    })
  })

  test('folds no further than its time, and the next one goes on from there', async () => {
    const { say, writer, turn, tell, world, fresh, calls } = createStory()
    const segmentReads = () => calls.filter((call) => call.startsWith('get ledger/')).length
    await tell(async () => {
      await turn()
      const { append } = writer()
      for (let at = 0; at < 4; at++) await append(Array.from({ length: 400 }, (_, i) => say.poolDefined(`pool:${at}-${i}`, 1)))
      world.intercept((call) => (call.process === 'reader' && call.name.startsWith('ledger/') ? world.time.sleep(60) : undefined))
      expect(await fresh()).toMatchObject({ is_fresh: false })
      const read_count = segmentReads()
      expect(read_count).toBeLessThan(4)
      while (!(await fresh()).is_fresh) continue
      expect(segmentReads()).toBe(4)
    })
  })

  test('makes anew what is made of whole tables, where the preview changes one of them', async () => {
    const { say, writer, turn, tell, fresh, published } = createStory()
    const countOf = async (view: View | undefined, table: TableName) =>
      view?.derived(`count of ${table}`, [table], async () => (await view.few(table, [])).length)
    await tell(async () => {
      await writer().append([say.poolDefined('pool:a', 1)])
      await turn()
      const before = await published.latest()
      const count = (await countOf(before, 'pools')) ?? 0
      await writer().append([say.poolDefined('pool:x', 1)])
      expect(await countOf((await fresh()).view, 'pools')).toBe(count + 1)
      await writer().append([say.poolDefined('pool:y', 1)])
      expect(await countOf((await fresh()).view, 'pools')).toBe(count + 2)
      expect(await countOf(await published.latest(), 'pools')).toBe(count)
    })
  })

  test('that the store fails folds afresh the next time', async () => {
    const { say, writer, turn, tell, world, fresh, capOf } = createStory()
    await tell(async () => {
      await turn()
      const { append } = writer()
      await append([say.poolDefined('pool:x', 1)])
      await append([say.poolDefined('pool:x', 2)])
      expect(await capOf()).toBe(2)
      await append([say.poolDefined('pool:x', 3)])
      once(world, 'after', { process: 'reader', operation: 'get', name: 'ledger/' }, () => {
        throw unavailable('It did not answer.')
      })
      expect(await fresh()).toMatchObject({ is_fresh: false })
      expect(await capOf()).toBe(3)
    })
  })

  test('goes on where a page of it ended, whatever was published meanwhile', async () => {
    const { say, writer, turn, tell, fresh } = createStory()
    await tell(async () => {
      await turn()
      const names = Array.from({ length: 9 }, (_, i) => `pool:${i}`)
      await writer().append(names.map((name) => say.poolDefined(name, 1)))
      const found: unknown[] = []
      for (let after: readonly (string | number)[] | undefined; ; ) {
        const page = await (await fresh()).view?.page('pools', { limit: 4, ...(after === undefined ? {} : { after }) })
        found.push(...(page?.rows ?? []).map(({ pool_key }) => pool_key))
        if (page === undefined || page.is_last) break
        after = page.last_key
        await turn()
      }
      expect(found.filter((key) => String(key).startsWith('pool:'))).toEqual(names)
    })
  })
})
