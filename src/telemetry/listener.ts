// A port where a process that serves nothing else says that it lives and what it counts. The process works as well without
// it: a port that is taken is a sentence in the log.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

type ListenerDeps = {
  readonly host: string
  readonly port: number
  readonly text: () => Promise<string>
  readonly log: (message: string) => void
}

export type Listener = { readonly close: () => Promise<void> }

/** undefined: it could not listen, and said so. */
export async function serveMetrics({ host, port, text, log }: ListenerDeps): Promise<Listener | undefined> {
  const server = createServer((request, response) => {
    answer(request, response, text).catch((error: unknown) => response.writeHead(500).end(`${String(error)}\n`))
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

async function answer({ method, url = '/' }: IncomingMessage, response: ServerResponse, text: () => Promise<string>): Promise<void> {
  const path = url.split('?')[0]
  const say = (status: number, type: string, body: string) => response.writeHead(status, { 'content-type': type }).end(body)
  if (method !== 'GET') return void say(405, 'text/plain', 'Only GET is answered here.\n')
  if (path === '/healthz') return void say(200, 'application/json', '{"ok":true}\n')
  if (path === '/metrics') return void say(200, 'text/plain; version=0.0.4; charset=utf-8', await text())
  say(404, 'text/plain', 'Ask for /metrics or /healthz.\n')
}
