// What is said of an attempt that is over: the same again is answered the same, and of one that was given up nothing is taken.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, dispatched, MAIN, type Out } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'
import { until } from '../fixtures/until.js'

/** None of them is tried again: the first loss is the last. */
const ONCE = { retry: { max_attempts: 1, max_infra_losses: 0 } }
const ASSETS = [
  definition('silent', { ...ONCE, heartbeat_timeout_seconds: 6 }),
  definition('slow', { ...ONCE, heartbeat_timeout_seconds: 600, timeout_seconds: 6 }),
  definition('unwilling', { ...ONCE, heartbeat_timeout_seconds: 600, cancel_grace_seconds: 6 }),
  definition('given_back', ONCE),
  definition('fine', ONCE),
]
const EXECUTION = ulidOf('one')
const SUCCESS = { outcome: 'SUCCEEDED', materialization_id: ulidOf('materialization') }
const ERROR = { code: 'X', message: 'It is so.' }

let world: ApiWorld
let asker: Asker

beforeAll(async () => {
  world = createApiWorld()
  asker = createAsker(await world.start())
  await asker.post('/code-locations/main/deploy', { ...MAIN, assets: ASSETS })
})
afterAll(() => world.close())

async function started(asset_key: string): Promise<Out> {
  const { body } = await asker.post('/runs?wait=true', { selection: asset_key })
  await world.turn.run()
  const out = (await dispatched(world)).find(({ claims }) => claims.run_id === body['run_id'])
  if (out === undefined) throw new Error('Nothing was dispatched.')
  const answer = await asker.post(`${out.path}/started`, { ...out.said, execution_id: EXECUTION, worker_id: 'w1' }, out.headers)
  expect(answer.status).toBe(200)
  await world.turn.run()
  return out
}
const completed = (out: Out, body: object, at = asker) =>
  at.post(`${out.path}/completed`, { ...out.said, execution_id: EXECUTION, ...body }, out.headers)
/** What is over is known to every process a second later. */
async function folded(): Promise<void> {
  await world.turn.run()
  world.passSeconds(2)
}
const taskOf = async ({ claims: { run_id, task_key } }: Out) => (await asker.get(`/runs/${run_id}/tasks/${task_key}?fresh=true`)).body
const cancel = ({ claims }: Out) => asker.post(`/runs/${claims.run_id}/cancel?wait=true`)
/** A turn after a gap gives nobody up, so the time passes in small steps. */
const passes = (out: Out, reason: string) =>
  until(`the attempt ended by ${reason}`, async () => {
    world.passSeconds(2)
    await world.turn.run()
    const task = await taskOf(out)
    return task['outcome_reason'] === reason && task
  })

describe('a success that comes after its attempt was given up for good', () => {
  test.each([
    ['HEARTBEAT', 'silent', 'FAILED'],
    ['TIMEOUT', 'slow', 'FAILED'],
    ['CANCEL_GRACE', 'unwilling', 'CANCELLED'],
  ])('by %s is refused, and the worker told to stop', async (reason, asset_key, state) => {
    const out = await started(asset_key)
    if (reason === 'CANCEL_GRACE') await cancel(out)
    expect(await passes(out, reason)).toMatchObject({ state, attempt: 1, execution_id: EXECUTION })
    const detail = `This attempt of ${asset_key} is over: the task is ${state}. Stop working on it.`
    expect(await completed(out, SUCCESS)).toMatchObject({ status: 409, body: { type: 'urn:servo:problem:attempt-over', detail } })
    await world.turn.run()
    expect(await taskOf(out)).toMatchObject({ state, outcome_reason: reason, materialization_id: null })
  })

  test('by its own worker is refused', async () => {
    const out = await started('given_back')
    expect(await completed(out, { outcome: 'REFUSED', error: ERROR })).toMatchObject({ status: 200 })
    await folded()
    expect(await taskOf(out)).toMatchObject({ state: 'FAILED', outcome_reason: 'HANDOVER_REFUSED' })
    expect(await completed(out, SUCCESS)).toMatchObject({ status: 409 })
  })

  test('is refused by a process that has not looked since', async () => {
    const out = await started('silent')
    const quiet = createAsker(await world.start())
    expect(await quiet.get(`/runs/${out.claims.run_id}`)).toMatchObject({ status: 200 })
    expect(await quiet.post(`${out.path}/heartbeat`, { ...out.said, execution_id: EXECUTION, seq: 0 }, out.headers)).toMatchObject({
      status: 200,
    })
    await passes(out, 'HEARTBEAT')
    world.passSeconds(2)
    expect(await completed(out, SUCCESS, quiet)).toMatchObject({ status: 409 })
  })
})

describe('an end that is said again, because its answer was lost', () => {
  test.each([
    ['SUCCEEDED', SUCCESS, { outcome: 'SUCCEEDED', materialization_id: ulidOf('another') }],
    ['FAILED', { outcome: 'FAILED', error: ERROR }, SUCCESS],
    ['SKIPPED', { outcome: 'SKIPPED', skip_reason: 'Nothing new.' }, SUCCESS],
    ['CANCELLED', { outcome: 'CANCELLED' }, { outcome: 'SKIPPED' }],
  ])('is answered: %s; and another end is not', async (state, said, other) => {
    const out = await started('fine')
    expect(await completed(out, said)).toMatchObject({ status: 200 })
    await folded()
    expect(await taskOf(out)).toMatchObject({ state })
    expect(await completed(out, said)).toMatchObject({ status: 200, body: { accepted_event_id: expect.any(String) } })
    expect(await completed(out, other)).toMatchObject({ status: 409 })
  })

  test('is answered where it failed while its run was to be cancelled', async () => {
    const out = await started('fine')
    await cancel(out)
    const said = { outcome: 'FAILED', error: ERROR }
    expect(await completed(out, said)).toMatchObject({ status: 200 })
    await folded()
    expect(await taskOf(out)).toMatchObject({ state: 'CANCELLED', outcome_reason: 'ERROR' })
    expect(await completed(out, said)).toMatchObject({ status: 200 })
    expect(await completed(out, { outcome: 'CANCELLED' })).toMatchObject({ status: 409 })
  })
})
