// Why a task is not running, where its worker is what is in the way: the API asks the worker itself.

import { createServer, type Server } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { askWorker } from '../../src/bin/worker-health.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition } from '../fixtures/api-world.js'
import { freePort } from '../fixtures/free-port.js'

let world: ApiWorld
let ask: Asker
let port: number
let run_id: string
let worker: Server | undefined
let asked = 0

beforeAll(async () => {
  world = createApiWorld()
  port = await freePort()
  ask = createAsker(await world.start({ askWorker }))
  const location = {
    worker_url: `http://127.0.0.1:${port}`,
    slots: 1,
    assets: [definition('a'), definition('b'), definition('c', { deps: [{ asset_key: 'a' }] })],
  }
  await ask.post('/code-locations/main/deploy', location)
  run_id = String((await ask.post('/runs?wait=true', { selection: ['a', 'b', 'c'] })).body['run_id'])
  await world.turn.run()
})
afterAll(() => world.close())
afterEach(async () => {
  await new Promise((closed) => (worker === undefined ? closed(undefined) : worker.close(closed)))
  worker = undefined
  asked = 0
})

/** A worker that answers this to whoever asks how it is. */
async function serve(status: number, body: string): Promise<void> {
  const server = createServer((_, response) => {
    asked += 1
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body)
  })
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))
  worker = server
}

const why = async (task_key: string) => (await ask.get(`/runs/${run_id}/tasks/${task_key}/why?fresh=true`)).body

test('a worker that never came up is told, with the address where nobody answers', async () => {
  const problem = `No worker answers the API at http://127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}. Start the worker of main; where it has ended, its log or the terminal of \`servo dev\` says why.`
  for (const [task_key, code] of [
    ['a', 'NOT_HANDED_OVER'],
    ['b', 'NO_ROOM'],
  ]) {
    expect(await why(String(task_key))).toMatchObject({ code, worker_problem: problem, sentence: expect.stringMatching(/ says why\.$/) })
  }
})

test('a worker that cannot load the code of now is told, with its own words', async () => {
  await serve(
    200,
    JSON.stringify({ status: 'ok', location_name: 'main', slots: 1, running: 0, code_problem: 'a.ts:3: Unexpected end of input.' }),
  )
  expect(await why('a')).toMatchObject({
    worker_problem: expect.stringMatching(/^The worker of main runs older code, .*: a\.ts:3: Unexpected end of input\.$/),
  })
  expect(asked).toBe(1)
  // What waits for another task has nothing to ask of it.
  expect(await why('c')).toMatchObject({ code: 'UPSTREAM', worker_problem: null })
  expect(asked).toBe(1)
})

test.each([
  ['is well', 200, '{"status":"ok","location_name":"main","slots":1,"running":0}'],
  ['need not say how it is', 404, '{}'],
  ['wants a login', 302, ''],
  ['is no worker', 200, '<html>'],
])('nothing is told of a worker that %s', async (_, status, body) => {
  await serve(status, body)
  expect(await why('a')).toMatchObject({ code: 'NOT_HANDED_OVER', worker_problem: null })
  expect(asked).toBe(1)
})

test('a worker of another location is named', async () => {
  await serve(200, '{"location_name":"shop","slots":4}')
  expect(await why('a')).toMatchObject({
    worker_problem: expect.stringMatching(`^The worker at http://127.0.0.1:${port} serves shop, and not main.`),
  })
})
