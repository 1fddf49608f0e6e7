// A worker that is set up wrongly, from the turn to its port and back: what it costs, what an operator reads, that nothing is
// lost over it until attempts should have started, and what a user reads then. The product's own hand-over, way and API, over real HTTP.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createDirectPort } from '../../src/activities/direct.js'
import { systemClock } from '../../src/bin/clock.js'
import { createAutomationMetrics } from '../../src/telemetry/automation-metrics.js'
import { TALLIED } from '../../src/turn/watch.js'
import { API_TOKEN, type ApiWorld, type Asker, createApiWorld, createAsker, MAIN } from '../fixtures/api-world.js'

const ADVICE = /Look whether the worker is what answers there/

let server: Server
let url: string
let world: ApiWorld
let people: Asker
let asked: number
let said: string[]
let passed_ms: number
let answerOf: (attempt_ids: readonly string[]) => { readonly status: number; readonly body: object }
const metrics = createAutomationMetrics(TALLIED)

const refuse = (status: number) => () => ({ status, body: { detail: `Request ${asked} is not for here.` } })
const take = (attempt_ids: readonly string[]) => ({
  status: 200,
  body: { answers: attempt_ids.map((attempt_id) => ({ attempt_id, answer: 'ACCEPTED' })) },
})

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = ''
    request.on('data', (part) => (text += String(part)))
    request.on('end', () => {
      asked += 1
      const { dispatches } = JSON.parse(text) as { readonly dispatches: readonly { readonly attempt_id: string }[] }
      const { status, body } = answerOf(dispatches.map(({ attempt_id }) => attempt_id))
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(async () => {
  ;[asked, said, passed_ms] = [0, [], 0]
  const clock = { now: systemClock.now, elapsed: () => systemClock.elapsed() + passed_ms }
  const port = createDirectPort({ clock, worker_secrets: undefined })
  world = createApiWorld({ port, log: (line) => void said.push(line), onAnswers: metrics.answers })
  people = createAsker(await world.start({ api_token: API_TOKEN }), { authorization: `Bearer ${API_TOKEN}` })
  expect(await people.post('/code-locations/main/deploy', { ...MAIN, worker_url: url })).toMatchObject({ status: 202 })
})
afterEach(() => world.close())
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const pass = (seconds: number): void => {
  world.passSeconds(seconds)
  passed_ms += seconds * 1_000
}
async function request(): Promise<void> {
  await people.post('/runs?wait=true', { selection: 'a' })
  await world.turn.run()
  await world.hand_over?.settled()
}
/** Sweeps as the automation does, every two seconds. */
async function sweepFor(seconds: number): Promise<number> {
  const before = asked
  for (let passed = 0; passed < seconds; passed += 2) {
    pass(2)
    await world.hand_over?.sweep()
  }
  return asked - before
}
const states = async () => (await world.look('tasks')).rows.map((row) => `${String(row['state'])} ${String(row['attempt'])}`)

test('is said when it begins, when it is wrong in another way and when it ends, and costs a request a minute', async () => {
  answerOf = refuse(404)
  await request()
  // With the first hand-over, before any sweep.
  expect(said).toEqual([
    expect.stringMatching(
      new RegExp(
        `^main takes no attempts, and is asked less and less often, once a minute at last: ${url} answered 404: .*${ADVICE.source}`,
      ),
    ),
  ])
  // 4, 6, 10, 18, 34 and 66 seconds after it began, and then every minute: eight, and one or two more on a slow machine.
  expect(await sweepFor(240)).toBeLessThanOrEqual(10)
  expect(said).toHaveLength(1)
  await request()
  expect(said).toHaveLength(1)

  answerOf = refuse(401)
  expect(await sweepFor(70)).toBeGreaterThan(0)
  expect(said.slice(1)).toEqual([
    expect.stringMatching(/^main takes no attempts, now for another reason: .* answered 401: .* SERVO_WORKER_SECRETS/),
  ])

  answerOf = take
  expect(await sweepFor(70)).toBeGreaterThan(0)
  expect(said.slice(2)).toEqual([expect.stringMatching(/^main takes attempts again, after 3\d\d s\.$/)])
  await world.turn.run()
  expect(await states()).toEqual(['DISPATCHED 1', 'DISPATCHED 1'])
  expect((await world.look('dispatch_outbox')).rows.map((row) => row['status'])).toEqual(['ACKED', 'ACKED'])
})

test('is tried at once with a deploy, which is said where it has mended nothing', async () => {
  answerOf = refuse(405)
  await request()
  await sweepFor(120)
  const deploy = (slots: number) => people.post('/code-locations/main/deploy', { ...MAIN, worker_url: url, slots })
  expect(await deploy(5)).toMatchObject({ status: 202 })
  await world.turn.run()
  expect(await sweepFor(2)).toBe(1)
  expect(said.slice(1)).toEqual([expect.stringMatching(/^main was deployed anew, and takes no attempts: .* answered 405/)])

  await sweepFor(60)
  answerOf = take
  expect(await deploy(6)).toMatchObject({ status: 202 })
  await world.turn.run()
  expect(await sweepFor(2)).toBe(1)
  expect(said.slice(2)).toEqual([expect.stringMatching(/^main takes attempts again, after 1\d\d s\.$/)])
})

test('is named, past the start deadline, as what may have been the matter, and where it is told', async () => {
  answerOf = refuse(404)
  const one_loss = { start_timeout_seconds: 20, retry: { max_attempts: 3, max_infra_losses: 1, backoff_seconds: 1 } }
  const assets = [{ asset_key: 'a', deps: [], ...one_loss }]
  expect(await people.post('/code-locations/main/deploy', { worker_url: url, assets })).toMatchObject({ status: 202 })
  await world.turn.run()
  const { run_id } = (await people.post('/runs?wait=true', { selection: 'a' })).body
  const turns = async () => {
    await world.turn.run()
    await world.hand_over?.settled()
  }
  await turns()
  const why = async () => (await people.get(`/runs/${String(run_id)}/tasks/a/why`)).body
  const wrong = 'the way to it may be set up wrongly: the log of the automation says if it is, and what to mend'
  expect(await why()).toMatchObject({ code: 'NOT_HANDED_OVER', sentence: expect.stringContaining(wrong) })

  const lost = 'because no worker started it in time, and nobody is known to have taken it. The worker was busy or not there, or '
  await sweepFor(24)
  await turns()
  expect(await states()).toEqual(['RETRY_WAIT 1'])
  expect(await why()).toMatchObject({ code: 'RETRY_LATER', sentence: expect.stringContaining(lost + wrong) })

  // The next try, and its deadline.
  for (let waits = 0; waits < 2; waits++) {
    await sweepFor(24)
    await turns()
  }
  expect(await states()).toEqual(['FAILED 2'])
  expect(await why()).toMatchObject({
    code: 'OVER',
    sentence: expect.stringMatching(new RegExp(`FAILED at .* with attempt 2, ${lost}${wrong}`)),
  })
  // The log that it speaks of.
  expect(said[0]).toMatch(new RegExp(`^main takes no attempts, .*: ${url} answered 404: .*${ADVICE.source}`))
})

test('is over, which is said, where its attempts end before one is taken; and is said again with the next one', async () => {
  answerOf = refuse(404)
  await request()
  await sweepFor(20)
  const [run] = (await world.look('runs')).rows
  await people.post(`/runs/${String(run?.['run_id'])}/cancel?wait=true`)
  await world.turn.run()
  await world.hand_over?.settled()
  await world.turn.run()
  expect((await world.look('runs')).rows.map((row) => row['state'])).toEqual(['CANCELLED'])
  // A try of its own may follow soon.
  await sweepFor(58)
  expect(said).toHaveLength(1)
  await sweepFor(6)
  expect(said.slice(1)).toEqual([
    expect.stringMatching(/^main has no attempts to hand over any more\. It took none for 8\d s, and is asked again with the next one\.$/),
  ])
  await sweepFor(60)
  await request()
  expect(said.slice(2)).toEqual([expect.stringMatching(/^main takes no attempts, and is asked less and less often/)])
})

test('adds nothing to the labels of what is counted', async () => {
  const series = async () => (await metrics.text()).split('\n').filter((line) => line.startsWith('servo_handover_answers_total{'))
  const names = (lines: readonly string[]) => lines.map((line) => line.slice(0, line.lastIndexOf(' ')))
  answerOf = refuse(403)
  const before = await series()
  await request()
  await sweepFor(10)
  const after = await series()
  expect(names(after)).toEqual(names(before))
  const count = (lines: readonly string[]) =>
    Number(
      lines
        .find((line) => line.includes('send="first",answer="BLOCKED"'))
        ?.split(' ')
        .at(-1),
    )
  expect(count(after)).toBe(count(before) + 1)
})
