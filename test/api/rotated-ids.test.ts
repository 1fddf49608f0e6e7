// While secrets are rotated, two processes of the API make different ids for one run key. The first request that is recorded
// says which one is the run's, and everybody who asks is answered with that.

import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { Secrets } from '../../src/core/token.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, MAIN, SECRETS } from '../fixtures/api-world.js'

const [OLD] = SECRETS
const NEW = { secret_key_id: 's2', secret: 'the-secret-that-comes-next' }
/** One uses the old key and accepts the new one, the other uses the new one already. */
const MIXED: readonly Secrets[] = [
  [OLD, NEW],
  [NEW, OLD],
]

let world: ApiWorld
let apis: readonly Asker[]
beforeEach(async () => {
  world = createApiWorld()
  apis = await Promise.all(MIXED.map(async (secrets) => createAsker(await world.start({ secrets }))))
  await apis[0]?.post('/code-locations/main/deploy', MAIN)
})
afterEach(() => world.close())

const idsOf = (answers: readonly { readonly status: number; readonly body: Readonly<Record<string, unknown>> }[]) => {
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202))
  return answers.map(({ body }) => String(body['run_id']))
}
const runsNow = async () => {
  world.releaseTurns()
  const { body } = (await apis[0]?.get('/runs?fresh=true')) as { readonly body: Readonly<Record<string, unknown>> }
  return body['runs'] as readonly { readonly run_id: string; readonly run_key: string; readonly state: string }[]
}

test.each([
  ['one after the other', async (ask: (api: Asker) => Promise<never>) => [await ask(apis[0] as Asker), await ask(apis[1] as Asker)]],
  ['at the same time', async (ask: (api: Asker) => Promise<never>) => Promise.all(apis.map(ask))],
])('a run key that both are asked for %s is one run, under one id', async (_, askBoth) => {
  world.holdTurns()
  const ids = idsOf(await askBoth((api) => api.post('/runs', { selection: 'a', run_key: 'same' }) as never))
  expect(new Set(ids).size).toBe(1)
  expect(await runsNow()).toMatchObject([{ run_id: ids[0], run_key: 'user:same' }])
})

test.each([
  ['one after the other', async (ask: (api: Asker) => Promise<never>) => [await ask(apis[0] as Asker), await ask(apis[1] as Asker)]],
  ['at the same time', async (ask: (api: Asker) => Promise<never>) => Promise.all(apis.map(ask))],
])('a rerun that both are asked for %s is one run, under one id', async (_, askBoth) => {
  world.holdTurns()
  // Asked for and cancelled within one turn: nothing of it is dispatched, and it is over.
  const [parent] = idsOf([(await apis[0]?.post('/runs', { selection: 'a' })) as never])
  await apis[0]?.post(`/runs/${parent}/cancel`)
  expect(await runsNow()).toMatchObject([{ state: 'CANCELLED' }])
  world.holdTurns()
  const ids = idsOf(await askBoth((api) => api.post(`/runs/${parent}/rerun`, { mode: 'whole' }) as never))
  expect(new Set(ids).size).toBe(1)
  expect((await runsNow()).filter(({ run_key }) => run_key.startsWith('rerun:'))).toMatchObject([{ run_id: ids[0] }])
})
