import { afterAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { API_TOKEN, createApiWorld, createAsker, dispatched, MAIN } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'
import { createExecutionStory } from '../simulation/execution/story.js'
import { checkStarts } from './execution-checks.js'

const SEED = Number(process.env['SERVO_TEST_SEED'] ?? 20_250_115)

const world = createApiWorld()
// Also where the test fails: a server that listens keeps the process alive.
afterAll(() => world.close())

test('I21 of all executions that ask at once, in any processes and however often, one may run its code', async () => {
  // Two processes that know nothing of each other.
  const apis = await Promise.all([world.start({ api_token: API_TOKEN }), world.start({ api_token: API_TOKEN })])
  const people = createAsker(apis[0], { authorization: `Bearer ${API_TOKEN}` })
  const workers = apis.map((api) => createAsker(api))
  await people.post('/code-locations/main/deploy', MAIN)
  let started = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ api: fc.nat(1), execution: fc.nat(3) }), { minLength: 2, maxLength: 12 }), async (asked) => {
      started += 1
      const { body } = await people.post('/runs?wait=true', { selection: 'a', run_key: `run-${started}` })
      await world.turn.run()
      const out = (await dispatched(world)).find(({ claims }) => claims.run_id === body['run_id'])
      if (out === undefined) throw new Error('Nothing was dispatched.')
      const answers = await Promise.all(
        asked.map(async ({ api, execution }) => {
          const said = { ...out.said, execution_id: ulidOf(`execution ${execution}`), worker_id: `w${api}` }
          const { status } = await (workers[api] as (typeof workers)[number]).post(`${out.path}/started`, said, out.headers)
          return { execution, status }
        }),
      )
      expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
      const allowed = new Set(answers.filter(({ status }) => status === 200).map(({ execution }) => execution))
      expect(allowed.size).toBe(1)
      // The one that may is told so every time; the others never.
      for (const { execution, status } of answers) expect(status).toBe(allowed.has(execution) ? 200 : 409)
      await people.post(`/runs/${String(body['run_id'])}/cancel?wait=true`)
    }),
    { seed: SEED, numRuns: 15 },
  )
})

test('I21 its check notices code that started twice, and words that were believed of somebody who has no right to them', async () => {
  const story = createExecutionStory()
  const { tell, automation, api, begin, site, dispatchOf } = story
  await tell(async () => {
    await begin(automation(), ['a'])
    await story.start(await api(), dispatchOf('a'))
  })
  const { witness } = site
  expect(checkStarts(witness)).toEqual([])
  expect(checkStarts({ ...witness, starts: [...witness.starts, ...witness.starts] })).toHaveLength(1)
  expect(checkStarts({ ...witness, believed: [{ attempt_id: 'x', lie: 'a lie', status: 200 }] })).toHaveLength(1)
})
