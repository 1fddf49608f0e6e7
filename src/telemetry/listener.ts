// The port of a process that serves nothing else: its health and its metrics. The process works as well without it: a port
// that is taken is a sentence in the log.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { HealthReport } from './health.js'

type ListenerDeps = {
  readonly host: string
  readonly port: number
  readonly text: () => Promise<string>
  readonly health: () => HealthReport
  readonly log: (message: string) => void
}

export type Listener = { readonly close: () => Promise<void> }

/** undefined: it could not listen, and said so. */
export async function serveMetrics({ host, port, text, health, log }: ListenerDeps): Promise<Listener | undefined> {
  const server = createServer((request, response) => {
    answer(request, response, { text, health }).catch((error: unknown) => response.writeHead(500).end(`${String(error)}\n`))
  })
  const problem = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once('error', resolve)
    server.listen(port, host, () => resolve(undefined))
  })
  if (problem !== undefined) {
    const why = problem.code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be listened on (${problem.message})`
    log(`Metrics are not served: ${host}:${port} ${why}. Everything else goes on; give another one with SERVO_METRICS_PORT, or none.`)
    return undefined
  }
  server.on('error', (error) => log(`The port of the metrics had a fault, and goes on: ${error.message}`))
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Answers = Pick<ListenerDeps, 'text' | 'health'>

async function answer({ method, url = '/' }: IncomingMessage, response: ServerResponse, { text, health }: Answers): Promise<void> {
  const path = url.split('?')[0]
  const say = (status: number, type: string, body: string) => response.writeHead(status, { 'content-type': type }).end(body)
  if (method !== 'GET') return void say(405, 'text/plain', 'Only GET is answered here.\n')
  if (path === '/metrics') return void say(200, 'text/plain; version=0.0.4; charset=utf-8', await text())
  const report = health()
  const body = `${JSON.stringify(report)}\n`
  // A process that waits for what it needs is alive: to kill it would bring nothing of that back.
  if (path === '/healthz') return void say(200, 'application/json', body)
  if (path === '/readyz') return void say(report.ok ? 200 : 503, 'application/json', body)
  say(404, 'text/plain', 'Ask for /healthz, /readyz or /metrics.\n')
}
