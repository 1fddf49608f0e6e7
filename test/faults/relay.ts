// An HTTP server of the tests that stands before another one: it takes a request whole, and whoever uses it says where it
// goes and what becomes of the answer. Connections can be cut at every point of that.

import {
  type Agent,
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }
export type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer }

/** The connection ends without an answer, or in the middle of one. */
export type Ending = { readonly kind: 'answer' | 'half'; readonly answer: Answer } | { readonly kind: 'cut' }

/** `gone` is aborted when the caller has left. */
export type OnRequest = (received: Received, gone: AbortSignal) => Promise<Ending>

export type Relay = { readonly url: string; readonly port: number; readonly close: () => Promise<void> }

export const CUT: Ending = { kind: 'cut' }

export async function startRelay(onRequest: OnRequest): Promise<Relay> {
  const server = createServer((request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    readWhole(request)
      .then((received) => onRequest(received, gone.signal))
      .catch((): Ending => CUT)
      .then((ending) => end(response, ending))
      .catch(() => response.destroy())
  })
  // What the server behind it closes, and when, is its own affair; an idle connection costs nothing here.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function readWhole(request: IncomingMessage): Promise<Received> {
  const { method = 'GET', url: path = '/', headers } = request
  return { method, path, headers, body: await bodyOf(request) }
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Of the connection, and not of the message: each side has its own. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])
const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)))

function end(response: ServerResponse, ending: Ending): void {
  if (ending.kind === 'cut') return void response.destroy()
  const { status, headers, body } = ending.answer
  response.writeHead(status, { ...endToEnd(headers), 'content-length': body.length })
  if (ending.kind === 'answer') return void response.end(body)
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy())
}

export type SendOptions = { readonly signal?: AbortSignal; readonly agent?: Agent }

/** The same request to another server; rejects where there is no whole answer. */
export function send(port: number, { method, path, headers, body }: Received, { signal, agent }: SendOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: { ...endToEnd(headers), 'content-length': body.length },
        ...(signal === undefined ? {} : { signal }),
        ...(agent === undefined ? { agent: false } : { agent }),
      },
      (response) => {
        const { statusCode: status = 502, headers: answered } = response
        bodyOf(response).then((whole) => resolve({ status, headers: answered, body: whole }), reject)
      },
    )
    request.once('error', reject)
    request.end(body)
  })
}

/** An answer of the relay's own. */
export const ownAnswer = (status: number, text: string): Answer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: Buffer.from(text),
})
