// The port of a process that serves nothing else: what it answers, and that nothing depends on it.

import { afterEach, expect, test } from '@jest/globals'
import type { HealthReport } from '../../src/telemetry/health.js'
import { type Listener, serveMetrics } from '../../src/telemetry/listener.js'
import { freePort } from '../fixtures/free-port.js'

const open: (Listener | undefined)[] = []
afterEach(async () => {
  for (const listener of open.splice(0)) await listener?.close()
})

const WELL: HealthReport = { ok: true, state: 'working', problems: [] }
const WAITING: HealthReport = {
  ok: false,
  state: 'waiting',
  problems: [{ needs: 'namespace', problem: 'There is no namespace servo.', since: '2026-11-20T10:00:00.000Z' }],
}

const logged: string[] = []
const serve = async (port: number, text = async () => 'servo_runs_total 1\n', health = () => WELL) => {
  const listener = await serveMetrics({ host: '127.0.0.1', port, text, health, log: (line) => logged.push(line) })
  open.push(listener)
  return listener
}

test('says that it lives, and what it counts, and nothing else', async () => {
  const port = await freePort()
  await serve(port)
  const ask = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { method })
  expect(await (await ask('/healthz')).json()).toEqual(WELL)
  expect((await ask('/readyz')).status).toBe(200)
  const metrics = await ask('/metrics?x=1')
  expect([metrics.status, metrics.headers.get('content-type'), await metrics.text()]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
    'servo_runs_total 1\n',
  ])
  expect([(await ask('/other')).status, (await ask('/metrics', 'POST')).status]).toEqual([404, 405])
})

test('a process that waits is alive and not ready, and says what it waits for', async () => {
  const port = await freePort()
  let report = WAITING
  await serve(port, undefined, () => report)
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    return [answer.status, await answer.json()]
  }
  expect(await ask('/healthz')).toEqual([200, WAITING])
  expect(await ask('/readyz')).toEqual([503, WAITING])
  report = WELL
  expect(await ask('/readyz')).toEqual([200, WELL])
})

test('a port that is taken is a sentence in the log', async () => {
  const port = await freePort()
  await serve(port)
  expect(await serve(port)).toBeUndefined()
  expect(logged).toEqual([
    `Metrics are not served: 127.0.0.1:${port} is taken by another program. Everything else goes on; give another one with SERVO_METRICS_PORT, or none.`,
  ])
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
})

test('a fault of what counts is an answer, and not an end', async () => {
  const port = await freePort()
  await serve(port, () => Promise.reject(new Error('No figures.')))
  expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(500)
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
})
