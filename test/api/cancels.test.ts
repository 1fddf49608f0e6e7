// A run that is cancelled while an attempt of it is out: it is final at once where no code has started, whoever notices it,
// and whatever dies on the way.

import { afterEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { SendAnswer } from '../../src/activities/dispatch.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, dispatched, MAIN, type Out } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'

const SEED = Number(process.env['SERVO_TEST_SEED'] ?? 20_250_115)

let world: ApiWorld
let asker: Asker
afterEach(() => world.close())

async function begin(answer?: SendAnswer): Promise<void> {
  world = createApiWorld(
    answer === undefined ? {} : { port: { port: 'DIRECT', send: async (_, dispatches) => dispatches.map(() => answer) } },
  )
  asker = createAsker(await world.start())
  await asker.post('/code-locations/main/deploy', MAIN)
}

async function dispatch(run_key = 'one'): Promise<Out> {
  const { body } = await asker.post('/runs?wait=true', { selection: ['a', 'b'], run_key })
  await world.turn.run()
  const out = (await dispatched(world)).find(({ claims }) => claims.run_id === body['run_id'])
  if (out === undefined) throw new Error('Nothing was dispatched.')
  return out
}

const start = (out: Out, execution: string, at = asker) =>
  at.post(`${out.path}/started`, { ...out.said, execution_id: ulidOf(execution), worker_id: 'w1' }, out.headers)
const beat = (out: Out, execution: string, at = asker) =>
  at.post(`${out.path}/heartbeat`, { ...out.said, execution_id: ulidOf(execution), seq: 0 }, out.headers)
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open: () => open() }
}

const stopped = (out: Out, execution: string) =>
  asker.post(`${out.path}/completed`, { ...out.said, execution_id: ulidOf(execution), outcome: 'CANCELLED' }, out.headers)
const cancel = ({ claims }: Out) => asker.post(`/runs/${claims.run_id}/cancel?wait=true`)
const runOf = async ({ claims }: Out) => (await asker.get(`/runs/${claims.run_id}?fresh=true`)).body
const tasksOf = async ({ claims }: Out) => {
  const { rows } = await world.look('tasks')
  return rows
    .filter(({ run_id }) => run_id === claims.run_id)
    .map(({ task_key, state, outcome_reason }) => [task_key, state, outcome_reason])
}
const inUse = async () => (await world.look('pools')).rows.filter(({ in_use }) => in_use !== 0)

async function expectFinal(out: Out, reason = 'RUN_CANCELLED'): Promise<void> {
  expect(await runOf(out)).toMatchObject({ state: 'CANCELLED', tasks_cancelled: 2, tasks_open: 0 })
  expect(await tasksOf(out)).toEqual([
    ['a', 'CANCELLED', reason],
    ['b', 'CANCELLED', 'RUN_CANCELLED'],
  ])
  expect(await inUse()).toEqual([])
}

describe('a cancelled run whose attempt is out and has not started', () => {
  test.each<[string, SendAnswer]>([
    ['is not there', { answer: 'UNREACHABLE', problem: 'Nobody listens.' }],
    ['is busy', { answer: 'BUSY' }],
    ['has taken it', { answer: 'ACCEPTED' }],
  ])('is final with the next turns where the worker %s, and no execution can start it any more', async (_, answer) => {
    await begin(answer)
    const out = await dispatch()
    await cancel(out)
    await world.turn.run()
    await world.hand_over?.settled()
    await world.turn.run()
    await expectFinal(out)
    expect(await runOf(out)).toMatchObject({ started_at: null })
    expect(await start(out, 'late')).toMatchObject({ status: 409 })
  })

  test('is final by the sweep of another process where the one that published it died', async () => {
    await begin({ answer: 'BUSY' })
    const out = await dispatch()
    world.watchPuts((name) => {
      if (name.startsWith('starts/')) throw new Error('It died here.')
    })
    await cancel(out)
    await world.turn.run()
    await world.hand_over?.settled()
    expect(await runOf(out)).toMatchObject({ state: 'CANCELLING' })
    world.watchPuts(() => undefined)
    expect(await world.hand_over?.sweep()).toBe(1)
    await world.turn.run()
    await expectFinal(out)
  })

  test('is final by the worker that asks to start it, and asks again because the answer was lost', async () => {
    await begin()
    const out = await dispatch()
    await cancel(out)
    await world.turn.run()
    world.holdTurns()
    const refused = await start(out, 'one')
    expect(refused).toMatchObject({ status: 409, body: { detail: 'The run of a is to be cancelled. Stop working on it.' } })
    expect(await start(out, 'one')).toMatchObject({ status: 409 })
    // A process that has not seen the cancel yet finds the attempt taken.
    expect(await start(out, 'two', createAsker(await world.start()))).toMatchObject({ status: 409 })
    world.releaseTurns()
    await world.turn.run()
    await expectFinal(out)
  })

  test('is final by whoever asks next, where the API died between the claim and the word of it', async () => {
    await begin()
    const out = await dispatch()
    await cancel(out)
    await world.turn.run()
    world.watchPuts((name) => {
      if (name.startsWith('ledger/')) throw new Error('It died here.')
    })
    expect((await start(out, 'one')).status).toBeGreaterThanOrEqual(500)
    world.watchPuts(() => undefined)
    expect(await start(out, 'two', createAsker(await world.start()))).toMatchObject({ status: 409 })
    await world.turn.run()
    await expectFinal(out)
  })
})

describe('a cancelled run whose attempt was told to start', () => {
  test('is not taken from an execution that has the claim and is about to be answered', async () => {
    await begin({ answer: 'ACCEPTED' })
    const out = await dispatch()
    world.watchPuts((name) => {
      if (name.startsWith('ledger/')) throw new Error('It died here.')
    })
    expect((await start(out, 'one')).status).toBeGreaterThanOrEqual(500)
    world.watchPuts(() => undefined)
    await cancel(out)
    await world.turn.run()
    await world.hand_over?.settled()
    await world.hand_over?.sweep()
    await world.turn.run()
    expect(await runOf(out)).toMatchObject({ state: 'CANCELLING' })
    expect(await start(out, 'two')).toMatchObject({ status: 409 })
    expect(await start(out, 'one')).toMatchObject({ status: 200, body: { cancel: true } })
    expect(await stopped(out, 'one')).toMatchObject({ status: 200 })
    await world.turn.run()
    await expectFinal(out, 'WORKER_CANCELLED')
  })

  test('is not ended by its request once more, which a network repeats before the start is published: its code runs', async () => {
    await begin({ answer: 'ACCEPTED' })
    const out = await dispatch()
    const other = createAsker(await world.start())
    const claimed = gate()
    const released = gate()
    world.watchPuts((name) => {
      if (!name.startsWith('ledger/')) return
      world.watchPuts(() => undefined)
      claimed.open()
      return released.opened
    })
    const first = start(out, 'one')
    await claimed.opened
    await other.post(`/runs/${out.claims.run_id}/cancel?wait=true`)
    await world.turn.run()
    await world.hand_over?.settled()
    const again = await start(out, 'one', other)
    released.open()
    const told = await first
    expect(again).toMatchObject({ status: 200, body: { cancel: true } })
    expect(told.status).toBe(200)
    expect(told.body).not.toHaveProperty('cancel')
    await world.turn.run()
    expect(await runOf(out)).toMatchObject({ state: 'CANCELLING' })
    expect(await beat(out, 'one', other)).toMatchObject({ status: 200, body: { cancel: true } })
    expect(await stopped(out, 'one')).toMatchObject({ status: 200 })
    await world.turn.run()
    await expectFinal(out, 'WORKER_CANCELLED')
  })

  test('is not taken from an execution that asks once more after its start was published: its code may run', async () => {
    await begin()
    const out = await dispatch()
    expect(await start(out, 'one')).toMatchObject({ status: 200 })
    await cancel(out)
    await world.turn.run()
    expect(await start(out, 'one')).toMatchObject({ status: 200, body: { cancel: true } })
    await world.turn.run()
    expect(await runOf(out)).toMatchObject({ state: 'CANCELLING' })
    expect(await beat(out, 'one')).toMatchObject({ status: 200, body: { cancel: true } })
  })

  test('is left to its execution, which the next heartbeat tells, also where the start is not folded yet', async () => {
    await begin({ answer: 'ACCEPTED' })
    const other = await dispatch()
    world.holdTurns()
    expect(await start(other, 'one')).toMatchObject({ status: 200 })
    expect(await start(other, 'two')).toMatchObject({ status: 409 })
    world.releaseTurns()
    await cancel(other)
    await world.turn.run()
    await world.hand_over?.settled()
    await world.turn.run()
    expect(await runOf(other)).toMatchObject({ state: 'CANCELLING' })
    expect(await beat(other, 'one')).toMatchObject({ status: 200, body: { cancel: true } })
    expect(await stopped(other, 'one')).toMatchObject({ status: 200 })
    await world.turn.run()
    expect(await runOf(other)).toMatchObject({ state: 'CANCELLED' })
    expect(await inUse()).toEqual([])
  })
})

test('I21 of a cancelled run either one execution may start its code, or none may and the run is final, whoever is first', async () => {
  await begin({ answer: 'BUSY' })
  const askers = [asker, createAsker(await world.start()), createAsker(await world.start())]
  let number = 0
  const STEPS = ['cancel', 'turn', 'sweep', 'start'] as const
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ step: fc.constantFrom(...STEPS), api: fc.nat(2), waits: fc.boolean() }), { minLength: 3, maxLength: 12 }),
      async (steps) => {
        number += 1
        const out = await dispatch(`run-${number}`)
        const answers: Promise<{ readonly execution: string; readonly status: number }>[] = []
        const under_way: Promise<unknown>[] = []
        for (const [index, { step, api, waits }] of steps.entries()) {
          const at = askers[api] as Asker
          const execution = `execution ${number} ${index}`
          const done = {
            cancel: () => at.post(`/runs/${out.claims.run_id}/cancel`),
            turn: () => world.turn.run(),
            sweep: () => world.hand_over?.sweep(),
            start: () => {
              const answer = start(out, execution, at).then(({ status }) => ({ execution, status }))
              answers.push(answer)
              return answer
            },
          }[step]()
          under_way.push(Promise.resolve(done))
          if (waits) await done
        }
        await Promise.all(under_way)
        const told = (await Promise.all(answers)).filter(({ status }) => status === 200)
        expect(told.length).toBeLessThanOrEqual(1)
        await cancel(out)
        for (let turn = 0; turn < 2; turn++) {
          await world.turn.run()
          await world.hand_over?.settled()
        }
        await world.turn.run()
        const [one] = told
        if (one === undefined) return expectFinal(out)
        expect(await runOf(out)).toMatchObject({ state: 'CANCELLING' })
        expect(await stopped(out, one.execution)).toMatchObject({ status: 200 })
        await world.turn.run()
        expect(await runOf(out)).toMatchObject({ state: 'CANCELLED' })
        expect(await inUse()).toEqual([])
      },
    ),
    { seed: SEED, numRuns: 25 },
  )
})
