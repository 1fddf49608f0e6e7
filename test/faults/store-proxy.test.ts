// The proxy in front of a store: what the store has done, and what the caller hears of it, for each of its faults.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createRandom } from '../fixtures/random.js'
import { until } from '../fixtures/until.js'
import { PROXY_FAULTS, type ProxyFault, type StoreProxy, startStoreProxy } from './store-proxy.js'

const BODY = 'x'.repeat(1_000)

let server: Server
let port = 0
/** Bodies of the writes that the store has done. */
const done: string[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      if (request.method === 'POST') done.push(body)
      response.writeHead(200, { 'x-goog-generation': '7' })
      response.end(BODY)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** What a caller hears that waits for a second, and whether the store has done it by then. */
const EXPECTED: Readonly<Record<ProxyFault, readonly [heard: string, isDone: boolean]>> = {
  cut_before: ['nothing', false],
  cut_after: ['nothing', true],
  late: ['nothing', false],
  throttled: ['429 18', false],
  unavailable: ['503 8', false],
  delay: ['200 1000', true],
  half_answer: ['nothing', true],
  no_answer: ['nothing', true],
}
const FAULTS = Object.keys(EXPECTED) as ProxyFault[]

async function ask({ url }: StoreProxy, wait_ms: number, init: RequestInit): Promise<string> {
  const answer = fetch(`${url}/o/a`, { ...init, signal: AbortSignal.timeout(wait_ms) })
  return answer.then(async (each) => `${each.status} ${(await each.text()).length}`).catch(() => 'nothing')
}

test.each(FAULTS)('a write that meets %s', async (fault) => {
  const proxy = await startStoreProxy(port, createRandom(fault), { faults: [fault], late_ms: [400, 500] })
  proxy.setRate(1)
  const heard = await ask(proxy, fault === 'no_answer' ? 300 : 5_000, { method: 'POST', body: fault })
  expect([heard, done.includes(fault)]).toEqual(EXPECTED[fault])
  if (fault === 'late') await until('the store has done it in the end', () => done.includes(fault))
  expect(proxy.counts()).toMatchObject({ requests: 1, faults: { [fault]: 1 } })
  await proxy.close()
})

test('a read never meets what only a write can, and without a fault it is what the store says', async () => {
  const onlyWrites = FAULTS.filter((fault) => !PROXY_FAULTS[fault].is_for_reads)
  const proxy = await startStoreProxy(port, createRandom(1), { faults: onlyWrites })
  proxy.setRate(1)
  const answer = await fetch(`${proxy.url}/o/a`)
  expect([answer.status, answer.headers.get('x-goog-generation'), await answer.text()]).toEqual([200, '7', BODY])
  expect(Object.values(proxy.counts().faults).every((count) => count === 0)).toBe(true)
  await proxy.close()
})
