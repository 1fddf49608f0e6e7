import { expect, test } from '@jest/globals'
import { MINUTE_MS } from '../../src/core/time.js'
import type { LooseRow } from '../../src/projections/tables.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { saidAgain } from '../fixtures/said-again.js'
import { ulidOf } from '../fixtures/say.js'
import { createScenario } from '../fixtures/scenario.js'

async function tablesAfter(deliveries: number): Promise<readonly LooseRow[]> {
  const { say, writer, decider, world, tell, rows, expectInvariants } = createScenario()
  const trigger = say.poolDefined('pool:x', 3)
  const requested = say.runRequested('sensor:01JHMPFN80G8M4P9V0MMKSSZ7N:msg:m-1', {}, { causation_id: trigger.event_id })
  await tell(async () => {
    const at = world.time.now()
    let said = 0
    for (let delivery = 0; delivery < deliveries; delivery++) {
      const again = saidAgain([trigger, requested], () => ulidOf(`delivery ${delivery} of ${++said}`))
      const batch = delivery === 0 ? [trigger, requested] : again
      await writer(`delivery ${delivery}`).append(batch)
      // In the same minute, in the same revision, in another one: wherever it comes again.
      if (delivery % 2 === 0) await decider(`turn ${delivery}`, { reconcile: foldOnly }).turn()
      if (delivery % 3 === 2) await world.time.sleep(4 * MINUTE_MS)
    }
    await world.time.sleep(at + 30 * MINUTE_MS - world.time.now())
    await decider('last', { reconcile: foldOnly }).turn()
  })
  await expectInvariants()
  const kept = ['runs', 'pools', 'tasks', 'run_key_index', 'run_key_conflicts', 'idempotency_keys'] as const
  const found = await Promise.all(kept.map(rows))
  return found.flat().map((row) => ({ ...row, row_version: 0 }))
}

test('I9 a message delivered k times is the same as delivered once', async () => {
  const once = await tablesAfter(1)
  expect(await tablesAfter(2)).toEqual(once)
  expect(await tablesAfter(7)).toEqual(once)
})
