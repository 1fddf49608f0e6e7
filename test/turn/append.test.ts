// What an append acknowledges of what it finds in the store.

import { expect, test } from '@jest/globals'
import { sha256Hex } from '../../src/core/hash.js'
import { MINUTE_MS } from '../../src/core/time.js'
import { createAppender } from '../../src/ledger/append.js'
import { createWriter } from '../fixtures/roles.js'
import { createScenario, loseAnswer, once } from '../fixtures/scenario.js'

test('a create that was stalled into a closed minute, and whose answer was lost, is not acknowledged when it is found', async () => {
  const { say, writer, decider, tell, world, expectInvariants } = createScenario()
  const { turn } = decider()
  await tell(async () => {
    await turn()
    once(world, 'before', { process: 'stalled', operation: 'put' }, async () => {
      await world.time.sleep(20 * MINUTE_MS)
      await writer('other').append([say.poolDefined('pool:y', 1)])
      await turn()
    })
    once(world, 'after', { process: 'stalled', operation: 'put' }, loseAnswer)
    const answer = writer('stalled').append([say.poolDefined('pool:x', 1)])
    await expect(answer).rejects.toThrow('append them again with the same keys')
  })
  await expectInvariants()
})

test('the same key on another basis is appended, in the same minute too', async () => {
  const { say, writer, tell, world, expectInvariants } = createScenario()
  const { append } = writer()
  const name = { run_id: 'run_x', task_key: 'a', attempt: 2 }
  const basis = { task_state: 'RETRY_WAIT', previous_attempt: 1, definition_hash: sha256Hex('definition') } as const
  const [first, again, moved] = await tell(async () => [
    await append([say.dispatchRequested(name, basis)]),
    await append([say.dispatchRequested(name, basis)]),
    await append([say.dispatchRequested(name, { ...basis, task_state: 'READY' })]),
  ])
  expect([first?.kind, again?.kind, moved?.kind]).toEqual(['appended', 'duplicate', 'appended'])
  expect(world.oracle.ledger.size).toBe(2)
  await expectInvariants()
})

test('the same key with another payload leaves what was there, and a line in the log', async () => {
  const { say, tell, world, expectInvariants } = createScenario()
  const lines: string[] = []
  const { append } = createWriter(world, world.start('writer'), (line) => lines.push(line))
  const first = say.poolDefined('pool:x', 1)
  const same = { ...say.poolDefined('pool:x', 1), idempotency_key: first.idempotency_key }
  const other = { ...say.poolDefined('pool:x', 2), idempotency_key: first.idempotency_key }
  const kinds = await tell(async () => [
    (await append([first])).kind,
    (await append([same])).kind,
    lines.length,
    (await append([other])).kind,
  ])
  expect(kinds).toEqual(['appended', 'duplicate', 0, 'duplicate'])
  expect(lines).toEqual([expect.stringMatching(/^payload_divergence: ledger\/orchestration\/\w+\.json .* pool_def:pool:x/)])
  await expectInvariants()
})

test('the same request with an id by another secret leaves what was there, and no line in the log', async () => {
  const { say, tell, world, expectInvariants } = createScenario()
  const lines: string[] = []
  const { append } = createWriter(world, world.start('writer'), (line) => lines.push(line))
  const first = say.runRequested('user:1')
  const made = (payload: object) => ({ ...first, payload: { ...first.payload, ...payload } })
  const kinds = await tell(async () => [
    (await append([first])).kind,
    (await append([made({ secret_key_id: 's2', run_id: 'run_by_another_secret' })])).kind,
    lines.length,
    // By the same secret another id, and by another one another priority: nothing makes those by itself.
    (await append([made({ run_id: 'run_by_another_secret' })])).kind,
    (await append([made({ secret_key_id: 's2', run_id: 'run_by_another_secret', priority: 5 })])).kind,
  ])
  expect(kinds).toEqual(['appended', 'duplicate', 0, 'duplicate', 'duplicate'])
  expect(lines).toEqual([1, 2].map(() => expect.stringMatching(/^payload_divergence: .* runreq:user:1:/)))
  await expectInvariants()
})

test('an event is stamped with what the store says its time is now, and with what has passed since its last answer where it says nothing', async () => {
  const { say, tell, world } = createScenario({ latency_ms: () => 10 })
  const { store, clock, random } = world.start('writer', { skew_ms: () => 7 * MINUTE_MS })
  const deps = { store, clock, random: random.bytes, scope: world.scope, server_time: world.clock.now(), closedThrough: () => 0 }
  const [plain, telling] = [createAppender(deps), createAppender({ ...deps, store: { ...store, now: () => 1_736_935_200_777 } })]
  await tell(async () => {
    for (const [index, appender] of [plain, telling].entries()) await appender.append([say.poolDefined(`pool:${index}`, 1)])
    await world.time.sleep(5_000)
  })
  expect(plain.now()).toBeGreaterThan(world.time.now() - 20)
  expect(plain.now()).toBeLessThanOrEqual(world.time.now())
  expect(telling.now()).toBe(1_736_935_200_777)
})
