// The OpenAPI 3.1 document of the worker protocol, made from the contract's schemas: what is asked of a worker, and as
// callbacks what the worker says back. docs/worker-openapi.json is what this returns.

import { z } from 'zod'
import {
  CANCEL_PATH,
  callback,
  callbackAnswer,
  callbacksRequest,
  callbacksResponse,
  cancelRequest,
  cancelResponse,
  completedRequest,
  completedResponse,
  DELIVERY_BY_QUEUE,
  DELIVERY_HEADER,
  DISPATCH_PATH,
  dispatch,
  dispatchAnswer,
  dispatchRequest,
  dispatchResponse,
  HEALTH_PATH,
  heartbeatRequest,
  heartbeatResponse,
  LOCATION_SIGNATURE_HEADER,
  logLine,
  logsRequest,
  logsResponse,
  SIGNATURE_HEADER,
  startedRequest,
  startedResponse,
  WORKER_PROTOCOL,
  workerHealth,
} from './worker.js'

type JsonObject = { readonly [name: string]: unknown }

const SCHEMAS = [
  dispatch,
  dispatchRequest,
  dispatchAnswer,
  dispatchResponse,
  cancelRequest,
  cancelResponse,
  startedRequest,
  startedResponse,
  heartbeatRequest,
  heartbeatResponse,
  completedRequest,
  completedResponse,
  logLine,
  logsRequest,
  logsResponse,
  callback,
  callbacksRequest,
  callbackAnswer,
  callbacksResponse,
  workerHealth,
]

export const workerOpenApi = (): JsonObject => ({
  openapi: '3.1.0',
  info: {
    title: 'Servo worker protocol',
    version: WORKER_PROTOCOL,
    description: 'What a worker is handed, and what it says back. docs/worker-protocol.md explains it step by step.',
  },
  paths: {
    [DISPATCH_PATH]: { post: dispatchOperation() },
    [CANCEL_PATH]: { post: cancelOperation() },
    [HEALTH_PATH]: { get: healthOperation() },
  },
  components: {
    schemas: { ...contractSchemas(), Problem: PROBLEM },
    securitySchemes: {
      taskToken: { type: 'http', scheme: 'bearer', description: 'The task_token of the dispatch.' },
      signature: {
        type: 'apiKey',
        in: 'header',
        name: LOCATION_SIGNATURE_HEADER,
        description:
          't={seconds},k={key id},v1={hex}: the HMAC-SHA256 of "{seconds}.{body}" with the secret of that key. Of what waited in a queue: t={seconds},e={seconds},k={key id},v2={hex}, of "v2.{t}.{e}.{body}". The secret is that of the location: `servo worker secret` prints it.',
      },
      installationSignature: {
        type: 'apiKey',
        in: 'header',
        name: SIGNATURE_HEADER,
        description:
          "The same with the secret of the whole installation: for workers that do not have their location's. The next release leaves it out.",
      },
    },
  },
})

function dispatchOperation(): JsonObject {
  return {
    operationId: 'dispatch',
    summary: 'Hands attempts to a worker, up to 50 in one request. May be sent again.',
    // A worker without keys takes what it is sent.
    security: [{ signature: [] }, { installationSignature: [] }, {}],
    parameters: [
      {
        in: 'header',
        name: DELIVERY_HEADER,
        required: false,
        schema: { type: 'string', enum: [DELIVERY_BY_QUEUE] },
        description: 'Who delivers reads the status alone, and delivers again what is not 2xx: docs/worker-protocol.md, section 8.',
      },
    ],
    requestBody: body('DispatchRequest'),
    responses: {
      200: answer('An answer for each dispatch, in their order.', 'DispatchResponse'),
      400: problem('The body is not what the protocol says; nothing of it was taken.'),
      401: problem('The signature is missing, wrong, too old, or of a key that is not known.'),
      403: problem('A page in a browser sent it, or it names another API than that of the worker.'),
      413: problem('The body is larger than 32 MiB.'),
      429: answer('To a queue: there is no room for one of them now.', 'DispatchResponse'),
      503: answer('To a queue: the API has not said whether one of them may start.', 'DispatchResponse'),
    },
    callbacks: {
      started: ofAttempt('started', 'Asks whether this execution may run the code.', 'StartedRequest', 'StartedResponse'),
      heartbeat: ofAttempt('heartbeat', 'Says that the code runs, and how far it is.', 'HeartbeatRequest', 'HeartbeatResponse'),
      logs: ofAttempt('logs', 'Hands over lines of the log.', 'LogsRequest', 'LogsResponse'),
      completed: ofAttempt('completed', 'Says how the attempt ended.', 'CompletedRequest', 'CompletedResponse'),
      callbacks: together(),
    },
  }
}

const ofAttempt = (name: string, summary: string, request: string, response: string): JsonObject => ({
  // Each dispatch of the request has a URL of its own; an expression can name one of them only.
  [`{$request.body#/dispatches/0/callback_url}/${name}`]: {
    post: {
      operationId: name,
      summary,
      security: [{ taskToken: [] }],
      requestBody: body(request),
      responses: {
        200: answer('It is recorded, or was before.', response),
        409: problem('The attempt belongs to another execution, or is over: stop, and say nothing more.'),
        '4XX': problem('It was not taken, and is not when it is sent again; 408, 425 and 429 are worth another try.'),
        '5XX': problem('It may have been taken or not: send the same again.'),
      },
    },
  },
})

const together = (): JsonObject => ({
  '{$request.body#/dispatches/0/callbacks_url}': {
    post: {
      operationId: 'callbacks',
      summary: 'Callbacks of several attempts, each with the token of its own. Nobody has to send them together.',
      security: [],
      requestBody: body('CallbacksRequest'),
      responses: {
        200: answer('An answer for each callback, in their order.', 'CallbacksResponse'),
        '4XX': problem('None of them was taken: send them one by one.'),
        '5XX': problem('Any of them may have been taken or not: send the same again.'),
      },
    },
  },
})

const reference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
const content = (type: string, name: string): JsonObject => ({ content: { [type]: { schema: reference(name) } } })
const body = (name: string): JsonObject => ({ required: true, ...content('application/json', name) })
const answer = (description: string, name: string): JsonObject => ({ description, ...content('application/json', name) })
const problem = (description: string): JsonObject => ({ description, ...content('application/problem+json', 'Problem') })

const cancelOperation = (): JsonObject => ({
  operationId: 'cancel',
  summary: 'Says which attempts are to stop, up to 1,000 in one request. A worker need not have it.',
  security: [{ signature: [] }, { installationSignature: [] }, {}],
  requestBody: body('CancelRequest'),
  responses: {
    200: answer('Those that this worker has are told to stop.', 'CancelResponse'),
    400: problem('The body is not what the protocol says; nothing of it was taken.'),
    401: problem('The signature is missing, wrong, too old, or of a key that is not known.'),
    403: problem('A page in a browser sent it.'),
    404: problem('The worker does not have it: it learns of a cancel with the answer to its next heartbeat.'),
    413: problem('The body is larger than 32 MiB.'),
  },
})

const healthOperation = (): JsonObject => ({
  operationId: 'getHealth',
  summary: 'Says what it serves, and how it is. A worker need not have it.',
  security: [{}],
  responses: { 200: answer('It takes attempts, or ends what it has.', 'WorkerHealth') },
})

const PROBLEM: JsonObject = {
  description: 'A problem of RFC 9457.',
  type: 'object',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened, and what to do.' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: { path: { type: 'string' }, message: { type: 'string' } },
        required: ['path', 'message'],
      },
    },
  },
  required: ['type', 'title', 'status', 'detail'],
}

/** What the schema checks in code: no keyword follows from it by itself. */
const NEEDED_BY_OUTCOME: JsonObject = {
  allOf: [
    ['SUCCEEDED', 'materialization_id'],
    ['FAILED', 'error'],
  ].map(([outcome, member]) => ({ if: { properties: { outcome: { const: outcome } } }, then: { required: [member] } })),
}

/** Those of the registry by their ids, and beside them what several of them share. Members that nobody knows are no
 *  fault, which is the `input` form: a later version of either side may say more. */
function contractSchemas(): JsonObject {
  const registry = z.registry<{ id: string }>()
  for (const schema of SCHEMAS) registry.add(schema, { id: z.globalRegistry.get(schema)?.id as string })
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => `#/components/schemas/${id}` })
  const { __shared: shared, ...own } = schemas as unknown as Readonly<Record<string, JsonObject>>
  const all = { ...own, ...(shared?.['$defs'] as object | undefined) }
  const text = JSON.stringify(all).replaceAll('#/components/schemas/__shared#/$defs/', '#/components/schemas/')
  const plain = Object.entries(JSON.parse(text) as Readonly<Record<string, JsonObject>>)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([id, { $schema: _, $id: __, id: ___, ...schema }]) => [
      id,
      id === 'CompletedRequest' ? { ...schema, ...NEEDED_BY_OUTCOME } : schema,
    ])
  return Object.fromEntries(plain) as JsonObject
}
