// A gRPC proxy in front of a Temporal server: it passes every call on, or answers it with a gRPC status of the test's choice,
// as Temporal Cloud does for calls that it does not allow.

import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { status } from '@grpc/grpc-js'

export type GrpcFault = { readonly code: status; readonly message: string }

export type GrpcProxy = {
  readonly address: string
  /** Names of the methods that were called, in order. */
  readonly calls: readonly string[]
  readonly close: () => Promise<void>
}

/** `faultOf` is given the name of the method, such as `RegisterNamespace`; undefined: the call is passed on. */
export async function startGrpcProxy(
  upstream: string | undefined,
  faultOf: (method: string, service: string) => GrpcFault | undefined,
): Promise<GrpcProxy> {
  const calls: string[] = []
  const sessions = new Set<ServerHttp2Session>()
  let target: ClientHttp2Session | undefined
  const toUpstream = (): ClientHttp2Session => {
    if (target === undefined || target.destroyed) {
      target = connect(`http://${upstream}`)
      target.on('error', () => undefined)
    }
    return target
  }
  const server = createServer()
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.on('error', () => undefined)
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    const [, service = '', method = ''] = String(headers[':path']).split('/')
    calls.push(method)
    const fault = faultOf(method, service)
    if (fault !== undefined) refuse(stream, fault)
    else if (upstream === undefined) refuse(stream, { code: status.UNAVAILABLE, message: 'there is no server behind this proxy' })
    else passOn(stream, headers, toUpstream())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const session of sessions) session.destroy()
      target?.destroy()
      await closed
    },
  }
}

/** A whole answer in one frame of headers, which is how gRPC answers a call that failed at once. */
function refuse(stream: ServerHttp2Stream, { code, message }: GrpcFault): void {
  const answer = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(code), 'grpc-message': encodeURI(message) }
  stream.respond(answer, { endStream: true })
  stream.resume()
}

function passOn(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, target: ClientHttp2Session): void {
  const { ':authority': _, ...rest } = headers
  const call = target.request(rest)
  call.on('error', () => stream.close(constants.NGHTTP2_REFUSED_STREAM))
  stream.on('close', () => call.close(constants.NGHTTP2_CANCEL))
  let trailers: IncomingHttpHeaders = {}
  call.on('trailers', (found) => {
    trailers = found
  })
  call.on('response', ({ ...answer }) => {
    if (stream.destroyed) return
    const isWhole = answer['grpc-status'] !== undefined
    stream.respond(answer, isWhole ? { endStream: true } : { waitForTrailers: true })
    if (isWhole) return void call.resume()
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    call.pipe(stream)
  })
  stream.pipe(call)
}
