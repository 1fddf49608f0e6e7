// `servo run cancel` with a filter on an API that answers with no more than some runs at a time.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { main } from '../../src/cli/main.js'
import { saidWhile } from '../fixtures/said-while.js'

type Answer = { readonly run_ids: readonly string[]; readonly more: boolean }

let server: Server
let url: string
/** What the API says, one after the other; the last one again and again. */
let answers: Answer[]
let asked = 0

beforeAll(async () => {
  server = createServer((request, response) => {
    const answer = answers[Math.min(asked, answers.length - 1)] as Answer
    asked += 1
    request.resume()
    response.writeHead(202, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...answer, matched_count: answer.run_ids.length, outcome: { kind: 'pending' } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
beforeEach(() => {
  asked = 0
})

/** The command in this process, so that nothing has to be built or started for it. */
const cancel = (...args: readonly string[]) => saidWhile(() => main(['run', 'cancel', '--asset', 'a', '--yes', ...args, '--api', url]))

const MORE = 'More open runs fit, and were not asked to end'

test('asks until there are no more', async () => {
  answers = [
    { run_ids: ['r1', 'r2'], more: true },
    { run_ids: ['r2', 'r3'], more: false },
  ]
  expect(await cancel('--json')).toEqual({ code: 0, stdout: '{"run_ids":["r1","r2","r3"],"matched_count":3}\n', stderr: '' })
  expect(asked).toBe(2)
})

test('says that there are more, and fails, where the same ones come again because nobody carries their cancels out', async () => {
  answers = [{ run_ids: ['r1', 'r2'], more: true }]
  const finished = await cancel()
  expect(finished).toMatchObject({ code: 1, stdout: 'r1\nr2\n' })
  expect(finished.stderr).toContain('Asked 2 runs to end.')
  expect(finished.stderr).toContain(`servo: ${MORE}`)
  expect(asked).toBe(2)
})

test('tells a program so, and waits for none of them', async () => {
  answers = [{ run_ids: ['r1'], more: true }]
  const finished = await cancel('--wait', '--json')
  expect(finished).toMatchObject({ code: 1, stdout: '{"run_ids":["r1"],"matched_count":1,"more":true}\n' })
  expect(finished.stderr).toContain(MORE)
})
