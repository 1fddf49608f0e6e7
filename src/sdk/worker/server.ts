// The HTTP side of a worker: four paths, and a problem for everything else.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { z } from 'zod'
import {
  CANCEL_PATH,
  type CancelRequest,
  cancelRequest,
  DELIVERY_BY_QUEUE,
  DELIVERY_HEADER,
  DISPATCH_PATH,
  type DispatchRequest,
  dispatchRequest,
  HEALTH_PATH,
} from '../../api/contract/worker.js'
import { messageOf } from '../../core/errors.js'
import { parseJson } from '../../core/json.js'
import type { OidcVerifier } from '../../oidc/verifier.js'
import { type Admission, callbackFault, foreignFault, unsignedFault } from './admission.js'
import type { Delivered } from './delivery.js'
import { METRICS_PATH, METRICS_TYPE } from './metrics.js'
import {
  badRequest,
  failedHere,
  foreign,
  noJson,
  noKeys,
  notFound,
  notProved,
  notSigned,
  PROBLEM_TYPE,
  type Problem,
  type RequestName,
  tooLarge,
} from './problem.js'

type ServerOptions = Admission & {
  /** Asked of each request that dispatches, before its body is read, and of each that cancels where no signature is asked
   *  for: the automation signs what it cancels, and has no such token. undefined: nobody has to prove who it is. */
  readonly proof?: OidcVerifier | undefined
  readonly now: () => number
  readonly log: (message: string) => void
  readonly onDispatch: (request: DispatchRequest) => object
  readonly onCancel: (request: CancelRequest) => object
  readonly onDelivery: (request: DispatchRequest) => Promise<Delivered>
  readonly health: () => object
  /** The text that Prometheus reads. */
  readonly metrics: () => string
}

/** Four times the largest request that Servo makes (DISPATCH_REQUEST_BYTES_MAX), and the most that one on Cloud Run may have. */
export const BODY_BYTES_MAX = 32 * 1_024 * 1_024
/** Longer than callers keep an idle connection, so that none is closed under a request. */
const KEEP_ALIVE_MS = 75_000

export const createWorkerServer = (options: ServerOptions): Server =>
  createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    answer(options, request)
      .catch((error: unknown): Reply => {
        options.log(`A request could not be handled: ${error instanceof Error ? error.stack : messageOf(error)}`)
        return problem(failedHere())
      })
      .then((reply) => send(request, response, reply))
      .catch((error: unknown) => options.log(`An answer could not be sent: ${messageOf(error)}`))
  })

type Reply = { readonly status: number; readonly type: string; readonly body: object | string; readonly retry_after_seconds?: number }

const json = (body: object): Reply => ({ status: 200, type: 'application/json', body })
/** Soon, because most code is short; the queue makes it longer each time. */
const BUSY_SECONDS = 2
const delivered = ({ end, answers }: Delivered): Reply => {
  const body = { answers }
  if (end === 'done') return json(body)
  return { ...json(body), status: end === 'busy' ? 429 : 503, retry_after_seconds: BUSY_SECONDS }
}
const problem = (body: Problem): Reply => ({ status: body.status, type: PROBLEM_TYPE, body })

type Posted = {
  readonly name: RequestName
  readonly what: 'dispatch' | 'cancel'
  readonly schema: z.ZodType
  readonly take: (request: never) => Reply | Promise<Reply>
}

function postedTo(options: ServerOptions, path: string, isQueue: boolean): Posted | undefined {
  const { onDispatch, onDelivery, onCancel } = options
  if (path === DISPATCH_PATH) {
    const take = async (request: DispatchRequest) => {
      const fault = callbackFault(options, request)
      if (fault !== undefined) return problem(foreign(fault))
      return isQueue ? delivered(await onDelivery(request)) : json(onDispatch(request))
    }
    return { name: 'DispatchRequest', what: 'dispatch', schema: dispatchRequest, take }
  }
  if (path !== CANCEL_PATH) return undefined
  return { name: 'CancelRequest', what: 'cancel', schema: cancelRequest, take: (request: CancelRequest) => json(onCancel(request)) }
}

async function answer(options: ServerOptions, request: IncomingMessage): Promise<Reply> {
  const { secrets, now, health, metrics } = options
  const { method = 'GET', url = '/', headers } = request
  const path = url.split('?', 1)[0] as string
  // Neither needs a signature: probes and Prometheus have no secret of the location, and nothing is changed.
  if (method === 'GET' && path === HEALTH_PATH) return json(health())
  if (method === 'GET' && path === METRICS_PATH) return { status: 200, type: METRICS_TYPE, body: metrics() }
  const posted = method === 'POST' ? postedTo(options, path, headers[DELIVERY_HEADER] === DELIVERY_BY_QUEUE) : undefined
  if (posted === undefined) return problem(notFound(method, path))
  const fault = foreignFault(options, headers)
  if (fault !== undefined) return problem(foreign(fault))
  const isProofDue = path === DISPATCH_PATH || secrets.length === 0
  const unproved = isProofDue ? await proofFault(options, posted.what, headers.authorization) : undefined
  if (unproved !== undefined) return problem(unproved)
  const body = await readBody(request)
  if (body === undefined) return problem(tooLarge(BODY_BYTES_MAX))
  const unsigned = unsignedFault(options, headers, body, now())
  if (unsigned !== undefined) return problem(notSigned(unsigned))
  const value = parseJson(body)
  if (value === undefined) return problem(noJson(posted.name))
  const read = posted.schema.safeParse(value)
  return read.success ? posted.take(read.data as never) : problem(badRequest(posted.name, read.error))
}

const BEARER = /^bearer +([^\s]+) *$/i

async function proofFault(
  { proof, log }: ServerOptions,
  what: Posted['what'],
  authorization: string | undefined,
): Promise<Problem | undefined> {
  if (proof === undefined) return undefined
  const verdict = await proof(BEARER.exec(authorization ?? '')?.[1])
  if (verdict.kind === 'valid') return undefined
  // A queue shows nobody what it was answered.
  log(`A ${what} was not taken. ${verdict.problem}`)
  return verdict.kind === 'refused' ? notProved(verdict.problem) : noKeys(verdict.problem)
}

/** undefined: there is more of it than anybody should send. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) return undefined
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > BODY_BYTES_MAX) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, body, retry_after_seconds }: Reply): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  // Of a request that was not read to its end, the rest would be taken for the next one.
  const isWhole = request.complete
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    ...(retry_after_seconds === undefined ? {} : { 'retry-after': String(retry_after_seconds) }),
    ...(isWhole ? {} : { connection: 'close' }),
  })
  response.end(text, () => {
    if (!isWhole) request.destroy()
  })
}
