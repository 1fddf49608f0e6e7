// Rows of which there are few are the same as a page of all of them shows, at every revision, whatever was merged below it
// and whoever was asked before.

import { expect, test } from '@jest/globals'
import { keyTextOfRow, type LooseRow } from '../../src/projections/tables.js'
import { readAll } from '../../src/readers/pages.js'
import { createReader, type View } from '../../src/readers/reader.js'
import { createRandom } from '../fixtures/random.js'
import { merge } from '../fixtures/roles.js'
import { createScenario } from '../fixtures/scenario.js'
import { createWorker } from '../fixtures/worker.js'

const OPEN = [{ column: 'status', in: ['PENDING', 'ACKED'] }] as const
const STEPS = 60

const textOf = (rows: readonly LooseRow[]) =>
  rows.map((row) => `${keyTextOfRow('dispatch_outbox', row)} ${row.row_version} ${String(row['status'])}`).toSorted()

async function expectSame(view: View | undefined): Promise<number> {
  if (view === undefined) return 0
  const few = await view.few('dispatch_outbox', OPEN)
  expect(textOf(few)).toEqual(textOf(await readAll(view, 'dispatch_outbox', { where: OPEN, limit: 100_000 })))
  return few.length
}

test('few rows are remembered of the questions that came last, and of no more of them than it may', async () => {
  const { writer, say, decider, tell, world, defineAssets } = createScenario({ seed: 'few, remembered' })
  const process = world.start('reader')
  let scans = 0
  const files: typeof process.files = { ...process.files, scan: (...asked) => (scans++, process.files.scan(...asked)) }
  const { turn } = decider()
  await tell(async () => {
    await defineAssets()
    await writer().append([say.runRequested('user:1', { assets: { keys: ['a'] } })])
    await turn()
    await merge(world.start('merger'), true)
    const view = (await createReader({ store: process.store, files }).latest()) as View
    const ask = async (number: number) => {
      const before = scans
      await view.few('runs', [{ column: 'run_key', is: '=', value: `user:${number}` }])
      return scans > before
    }
    expect([await ask(0), await ask(0)]).toEqual([true, false])
    for (let number = 1; number < 32; number++) expect(await ask(number)).toBe(true)
    // Asked for again it is among the last, and another one goes.
    expect([await ask(0), await ask(32), await ask(0), await ask(1)]).toEqual([false, true, false, true])
  })
})

test.each([11, 12, 13, 14])('seed %s: few rows are those that a page shows, in the newest view and in one that is held', async (seed) => {
  const { say, writer, decider, tell, world, defineAssets } = createScenario({ seed })
  const random = createRandom(`few ${seed}`)
  const process = world.start('reader')
  const reader = createReader({ store: process.store, files: process.files })
  const worker = createWorker(world, world.start('worker'), { silent: 0.3 })
  const { turn } = decider()
  const { append } = writer()
  let held: View | undefined
  let most = 0
  await tell(async () => {
    await defineAssets()
    for (let step = 0; step < STEPS; step++) {
      const dice = random.below(6)
      if (dice <= 1) await append([say.runRequested(`user:${step}`, { assets: { keys: ['a', 'b', 'c'] } })])
      else if (dice <= 3) await turn()
      else if (dice === 4) await worker.work()
      else await merge(world.start(`merger ${step}`), random.below(2) === 0)
      const newest = await reader.latest()
      most = Math.max(most, await expectSame(newest), await expectSame(held))
      if (random.below(4) === 0) held = newest
    }
  })
  expect(most).toBeGreaterThan(0)
})
