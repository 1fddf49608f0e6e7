// One address for several workers, as a load balancer has it: a request goes to the first of them that takes it. It is here
// and not in the product because whoever runs several workers has one already.

import { createServer, type IncomingMessage, request as forward, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type Balancer = {
  readonly url: string
  /** From now on requests go to these, in this order. */
  readonly setTargets: (urls: readonly string[]) => void
  readonly close: () => Promise<void>
}

export async function startBalancer(): Promise<Balancer> {
  let targets: readonly string[] = []
  const server = createServer((request, response) => {
    answer(targets, request, response).catch((error: unknown) => response.writeHead(502).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setTargets: (urls) => void (targets = urls),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function answer(targets: readonly string[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(request)
  let fault: unknown = 'No worker is there.'
  for (const target of targets) {
    try {
      const answered = await send(new URL(request.url ?? '/', target), request, body)
      response.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.pipe(response)
      return
    } catch (error) {
      // It is gone, and the next one takes it.
      fault = error
    }
  }
  response.writeHead(502).end(String(fault))
}

/** On a connection of its own: one that is kept might be that of a worker that has ended. */
const send = (url: URL, { method, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const options = { method: method ?? 'POST', headers: { ...headers, connection: 'close' }, agent: false as const }
    forward(url, options, resolve).once('error', reject).end(body)
  })
