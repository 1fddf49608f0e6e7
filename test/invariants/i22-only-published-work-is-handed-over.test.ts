import { afterAll, expect, test } from '@jest/globals'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { API_TOKEN, createApiWorld, createAsker, MAIN } from '../fixtures/api-world.js'
import { createScenario } from '../fixtures/scenario.js'
import { createWorker } from '../fixtures/worker.js'

let open: ReturnType<typeof createApiWorld> | undefined
// Also where a test fails: a server that listens keeps the process alive.
afterAll(async () => {
  await open?.close()
})

test('I22 whoever hands over finds nothing before the publish, whichever call the turn dies at, and everything after it', async () => {
  for (let at = 1; ; at++) {
    const { say, writer, decider, tell, world, defineAssets, rows, expectInvariants } = createScenario()
    await tell(defineAssets)
    await tell(() => writer().append([say.runRequested('user:1', { assets: { keys: ['a', 'b', 'c'] } })]))
    const before = world.callCount()
    let isKilled = false
    world.intercept((call) => {
      if (call.process !== 'doomed' || call.phase !== 'after' || call.number !== before + at) return
      isKilled = true
      call.kill()
    })
    void decider('doomed').turn()
    await world.time.pass(30_000)
    const worker = createWorker(world, world.start('worker'))
    await tell(() => worker.work())
    await tell(async () => {
      const { turn } = decider('restarted')
      for (let round = 0; round < 4; round++) {
        await turn()
        await worker.work()
      }
      await turn()
    })
    expect((await rows('tasks')).map(({ state }) => state)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED'])
    expect(world.oracle.handovers).toHaveLength(3)
    await expectInvariants()
    if (!isKilled) return
    expect(at).toBeLessThan(60)
  }
})

test('I22 the hand-over sends what the published revision has, once with the publish, and again by the sweep until it starts', async () => {
  const sent: { readonly dispatch: Dispatch; readonly was_published: boolean }[] = []
  const world = (open = createApiWorld({
    port: {
      port: 'DIRECT',
      async send(_url, dispatches) {
        const view = await world.reader.latest()
        for (const dispatch of dispatches) {
          const row = await view?.row('dispatch_outbox', [dispatch.run_id, dispatch.task_key, dispatch.attempt])
          sent.push({ dispatch, was_published: row?.['attempt_id'] === dispatch.attempt_id && (view?.sequence ?? 0) >= dispatch.sequence })
        }
        return dispatches.map(() => ({ answer: 'ACCEPTED' }))
      },
    },
  }))
  const people = createAsker(await world.start({ api_token: API_TOKEN }), { authorization: `Bearer ${API_TOKEN}` })
  await people.post('/code-locations/main/deploy', MAIN)
  for (let run = 0; run < 5; run++) await people.post('/runs?wait=true', { selection: ['a', 'b'] })
  await world.turn.run()
  await world.hand_over?.settled()
  expect(sent.map(({ dispatch, was_published }) => [dispatch.task_key, was_published])).toEqual(
    Array.from({ length: 5 }, () => ['a', true]),
  )
  expect(new Set(sent.map(({ dispatch }) => dispatch.attempt_id)).size).toBe(5)

  // Nothing has started: what is out for longer than a moment goes out again, and the ledger hears that a worker has it.
  world.passSeconds(10)
  expect(await world.hand_over?.sweep()).toBe(5)
  expect(sent).toHaveLength(10)
  await world.turn.run()
  expect((await world.look('dispatch_outbox')).rows.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'ACKED'))
})
