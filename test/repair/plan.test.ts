// A run that nobody planned: it is in the tables, and nothing that would announce it again is on its way.

import { expect, test } from '@jest/globals'
import { MINUTE_MS } from '../../src/core/time.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createRepairWorld, type RepairWorld } from '../fixtures/repair-world.js'

/** Folded by somebody who decides nothing, as `servo ledger compact` does while no automation runs. */
async function withUnplannedRun(world: RepairWorld): Promise<void> {
  const { say, append, tell, decider, defineAssets } = world
  await tell(defineAssets)
  await append(say.runRequested('user:1', { assets: { keys: ['a', 'b'] } }))
  await tell(() => decider('compact', { reconcile: foldOnly }).turn())
}

test('a run without a plan goes on: the next turn plans it, and dispatches what is ready', async () => {
  const world = createRepairWorld()
  const { append, say, automation, pass, rows, states, expectInvariants } = world
  await withUnplannedRun(world)
  const { turn, sweep, settled, repairs } = automation()
  await pass(MINUTE_MS)
  expect(await sweep()).toBe(0)
  expect([await rows('runs'), await rows('tasks')]).toMatchObject([[{ state: 'PENDING', planned_at: null }], []])

  await turn()
  expect(await rows('runs')).toMatchObject([{ state: 'PLANNED' }])
  expect(await states()).toEqual(['DISPATCHED', 'BLOCKED'])
  await settled()
  expect(world.handed).toHaveLength(1)
  expect(await repairs()).toEqual({ plan_late: 1 })

  // What is asked for and planned by the turn that folds it is no repair.
  await append(say.runRequested('user:2', { assets: { keys: ['c'] } }))
  await turn()
  expect(await repairs()).toEqual({ plan_late: 1 })
  await expectInvariants()
})

test('a run that cannot be planned goes on: the next turn fails it, with the reason', async () => {
  const world = createRepairWorld()
  const { say, append, tell, decider, defineAssets, automation, pass, rows } = world
  await tell(defineAssets)
  await append(say.runRequested('user:1', { assets: { keys: ['a', 'nobody-knows-it'] } }))
  await tell(() => decider('compact', { reconcile: foldOnly }).turn())
  await pass(MINUTE_MS)
  const { turn, repairs } = automation()
  await turn()
  expect(await rows('runs')).toMatchObject([{ state: 'FAILED', error: { code: 'UNKNOWN_ASSET' } }])
  expect(await repairs()).toEqual({ plan_late: 1 })
})
