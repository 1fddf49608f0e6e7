// Deadlines beside retries that wait.

import { expect, test } from '@jest/globals'
import { SECOND_MS } from '../../src/core/time.js'
import { createRepairWorld } from '../fixtures/repair-world.js'

test('an attempt that falls silent while a retry waits for room is given up in time: what was due before it has been looked at', async () => {
  const world = createRepairWorld()
  const { say, append, automation, pass, rows, worker } = world
  const retry = { max_attempts: 2, backoff_seconds: 5, jitter: 0 }
  const slow = say.assetDefined('c', { heartbeat_timeout_seconds: 60 })
  await append(say.locationDeployed('main', 0), say.assetDefined('a', { retry }), slow, say.poolDefined('global', 1))
  await append(say.runRequested('user:1', { assets: { keys: ['a'] } }))
  const { turn, settled, repairs } = automation()
  await turn()
  await settled()
  await worker.start()
  await worker.finish('FAILED')
  await append(say.runRequested('user:2', { assets: { keys: ['c'] }, priority: 5 }))
  await turn()
  await settled()
  await worker.start()
  let { wake_in_ms } = await turn()
  // The loop comes whenever it was asked to: for the retry, which finds no room, and then for the deadline.
  for (let wakes = 0; wakes < 2; wakes++) {
    await pass(Math.max(SECOND_MS, wake_in_ms ?? 0))
    ;({ wake_in_ms } = await turn())
  }
  expect(await rows('tasks')).toContainEqual(expect.objectContaining({ asset_key: 'c', outcome_reason: 'HEARTBEAT' }))
  expect(await repairs()).toEqual({})
})
