// The attempts of a run over the API: what came of those that did not succeed is told after a later one succeeded.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, dispatched, MAIN, type Out } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'
import { until } from '../fixtures/until.js'

const STACK = 'Error: It broke.\n    at broken (a.ts:3:1)'
const ERROR = { code: 'BOOM', message: 'It broke.', stack: STACK }
const retry = { max_attempts: 3, backoff_seconds: 1, jitter: 0 }

let world: ApiWorld
let ask: Asker
beforeAll(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  const assets = [definition('a', { retry }), definition('b', { retry }), definition('c', { deps: [{ asset_key: 'a' }] })]
  expect(await ask.post('/code-locations/main/deploy?wait=true', { ...MAIN, assets })).toMatchObject({ status: 202 })
})
afterAll(() => world.close())

type Attempts = { readonly attempts: readonly Readonly<Record<string, unknown>>[]; readonly next_cursor: string | null }

async function outOf(run_id: string, task_key: string, attempt: number): Promise<Out> {
  return until(`attempt ${attempt} of ${task_key} is out`, async () => {
    world.passSeconds(1)
    await world.turn.run()
    const out = await dispatched(world)
    return out.find(({ claims }) => claims.run_id === run_id && claims.task_key === task_key && claims.attempt === attempt)
  })
}

async function end({ path, said, headers, claims }: Out, ending: object): Promise<void> {
  expect(await ask.post(`${path}/started`, { ...said, worker_id: `w${claims.attempt}` }, headers)).toMatchObject({ status: 200 })
  expect(await ask.post(`${path}/completed`, { ...said, ...ending }, headers)).toMatchObject({ status: 200 })
  await world.turn.run()
}

const success = ({ claims }: Out) => ({ outcome: 'SUCCEEDED', materialization_id: ulidOf(claims.attempt_id) })
const attemptsOf = async (run_id: string, query = ''): Promise<Attempts> =>
  (await ask.get(`/runs/${run_id}/attempts?fresh=true${query}`)).body as unknown as Attempts

describe('a run whose task failed, was given back, and succeeded', () => {
  let run_id = ''
  beforeAll(async () => {
    run_id = String((await ask.post('/runs', { selection: ['a', 'b', 'c'] })).body['run_id'])
    await end(await outOf(run_id, 'a', 1), { outcome: 'FAILED', error: ERROR })
    await end(await outOf(run_id, 'a', 2), { outcome: 'RELEASED', error: { code: 'WORKER_DRAINED', message: 'It ends.' } })
    const last = await outOf(run_id, 'a', 3)
    await end(last, success(last))
    await outOf(run_id, 'b', 1)
  })

  test('has all of its attempts, with the errors and stacks of those that did not succeed', async () => {
    const { attempts, next_cursor } = await attemptsOf(run_id)
    expect(next_cursor).toBeNull()
    expect(attempts.filter(({ task_key }) => task_key !== 'c')).toMatchObject([
      { task_key: 'a', attempt: 1, state: 'FAILED', reason: null, error: ERROR, worker_id: 'w1', finished_at: expect.stringMatching(/Z$/) },
      { task_key: 'a', attempt: 2, state: 'LOST', reason: 'RELEASED', error: { code: 'WORKER_DRAINED' }, worker_id: 'w2' },
      { task_key: 'a', attempt: 3, state: 'SUCCEEDED', reason: null, error: null, worker_id: 'w3' },
      { task_key: 'b', attempt: 1, state: 'DISPATCHED', error: null, finished_at: null },
    ])
    expect((await ask.get(`/runs/${run_id}/tasks/a?fresh=true`)).body).toMatchObject({ state: 'SUCCEEDED', error: null })
  })

  test('has them in pages of any size, each once', async () => {
    const { attempts } = await attemptsOf(run_id)
    for (let limit = 1; limit <= attempts.length; limit++) {
      const paged: unknown[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page: Attempts = await attemptsOf(run_id, `&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`)
        expect(page.attempts.length).toBeLessThanOrEqual(limit)
        paged.push(...page.attempts)
        cursor = page.next_cursor
      }
      expect(paged).toEqual(attempts)
    }
    expect((await attemptsOf(run_id, '&task_key=b')).attempts).toMatchObject([{ task_key: 'b', attempt: 1 }])
  })

  test('has their ends among its events, with the error', async () => {
    const { events } = (await ask.get(`/runs/${run_id}/events?fresh=true`)).body as { events: readonly Readonly<Record<string, unknown>>[] }
    const ends = events.filter(({ task_key, event_type }) => task_key === 'a' && /TaskFinished|AttemptLost/.test(String(event_type)))
    expect(ends).toMatchObject([
      { event_type: 'TaskFinished', attempt: 1, detail: { state: 'FAILED', error: ERROR } },
      { event_type: 'AttemptLost', attempt: 2, detail: { reason: 'RELEASED', error: { code: 'WORKER_DRAINED' } } },
      { event_type: 'TaskFinished', attempt: 3, detail: { state: 'SUCCEEDED' } },
    ])
  })

  test('has them beside the logs of its attempts', async () => {
    const endOf = async (attempt: number) => (await ask.get(`/runs/${run_id}/tasks/a/logs?attempt=${attempt}&fresh=true`)).body['end']
    expect(await endOf(1)).toEqual({ outcome: 'FAILED', reason: null, error: ERROR, finished_at: expect.stringMatching(/Z$/) })
    expect(await endOf(2)).toMatchObject({ outcome: 'LOST', reason: 'RELEASED' })
    expect(await endOf(3)).toBeNull()
  })

  test('has the log of an attempt whose dispatch is forgotten', async () => {
    world.passDays(31)
    await ask.post('/runs?wait=true', { selection: ['b'] })
    expect((await world.look('dispatch_outbox')).rows.filter(({ task_key, attempt }) => task_key === 'a' && attempt === 1)).toEqual([])
    expect((await ask.get(`/runs/${run_id}/tasks/a/logs?attempt=1`)).body).toMatchObject({ attempt: 1, end: { error: ERROR } })
  })
})

test.each([
  ['/runs/run_aaaaaaaaaaaaaaaaaaaaaaaaaa/attempts', 404],
  ['/runs/RUN/attempts?task_key=nobody', 404],
  ['/runs/RUN/attempts?cursor=nonsense', 400],
])('%s is answered with %d', async (path, status) => {
  const { runs } = (await ask.get('/runs?fresh=true')).body as { runs: readonly { run_id: string }[] }
  expect((await ask.get(path.replace('RUN', String(runs[0]?.run_id)))).status).toBe(status)
})
