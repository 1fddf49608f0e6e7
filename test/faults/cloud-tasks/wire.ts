// The gRPC side of the fake: the service as the client's own published descriptions have it, so that what is sent is what
// goes to Google, byte for byte.

import { readFileSync } from 'node:fs'
import { Server, ServerCredentials, type ServerUnaryCall, type ServiceDefinition, type sendUnaryData, status } from '@grpc/grpc-js'
import protobuf from 'protobufjs'

export type Timestamp = { readonly seconds: number; readonly nanos?: number }
export type Headers = Readonly<Record<string, string>>

export type WireTask = {
  readonly name: string
  readonly httpRequest?: {
    readonly url: string
    readonly httpMethod: string
    readonly headers: Headers
    readonly body: Buffer
    readonly oidcToken?: { readonly serviceAccountEmail: string; readonly audience: string }
  }
  readonly scheduleTime?: Timestamp
  readonly dispatchDeadline?: Timestamp
}

export type WireQueue = {
  readonly name: string
  readonly state: string
  readonly rateLimits: { readonly maxDispatchesPerSecond: number; readonly maxConcurrentDispatches: number }
  readonly retryConfig: {
    readonly maxAttempts: number
    readonly maxRetryDuration: Timestamp
    readonly minBackoff: Timestamp
    readonly maxBackoff: Timestamp
    readonly maxDoublings: number
  }
}

export class StatusError extends Error {
  readonly code: number
  constructor(code: number, details: string) {
    super(details)
    this.name = 'StatusError'
    this.code = code
  }
}

type Call<Request> = (request: Request) => Promise<object>
export type Handlers = {
  readonly CreateTask: Call<{ readonly parent: string; readonly task?: WireTask }>
  readonly GetQueue: Call<{ readonly name: string }>
  readonly UpdateQueue: Call<{ readonly queue: WireQueue; readonly updateMask?: { readonly paths: readonly string[] } }>
  readonly DeleteTask: Call<{ readonly name: string }>
}

const PROTOS = new URL('../../../node_modules/@google-cloud/tasks/build/protos/protos.json', import.meta.url)
const SERVICE = 'google.cloud.tasks.v2.CloudTasks'
/** As people read them: names of enumerations, numbers of seconds, and an absent message is absent. */
const READABLE = { enums: String, longs: Number, bytes: Buffer } as const

function serviceDefinition(): ServiceDefinition {
  const service = protobuf.Root.fromJSON(JSON.parse(readFileSync(PROTOS, 'utf8')) as protobuf.INamespace).lookupService(SERVICE)
  service.resolveAll()
  const methods = service.methodsArray.map((method) => {
    const asked = method.resolvedRequestType as protobuf.Type
    const told = method.resolvedResponseType as protobuf.Type
    const definition = {
      path: `/${SERVICE}/${method.name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (value: object) => Buffer.from(asked.encode(asked.fromObject(value)).finish()),
      requestDeserialize: (bytes: Buffer) => asked.toObject(asked.decode(bytes), READABLE),
      responseSerialize: (value: object) => Buffer.from(told.encode(told.fromObject(value)).finish()),
      responseDeserialize: (bytes: Buffer) => told.toObject(told.decode(bytes), READABLE),
    }
    return [method.name, definition] as const
  })
  return Object.fromEntries(methods)
}

export type Wire = { readonly port: number; readonly stop: () => void }

export async function serve(handlers: Handlers): Promise<Wire> {
  const server = new Server()
  const unary =
    <Request>(call: Call<Request>) =>
    (asked: ServerUnaryCall<Request, object>, answer: sendUnaryData<object>) => {
      call(asked.request).then(
        (told) => answer(null, told),
        (error: unknown) =>
          answer(
            error instanceof StatusError
              ? { code: error.code, details: error.message }
              : { code: status.INTERNAL, details: `The fake failed: ${String(error)}` },
          ),
      )
    }
  const { CreateTask, GetQueue, UpdateQueue, DeleteTask } = handlers
  server.addService(serviceDefinition(), {
    CreateTask: unary(CreateTask),
    GetQueue: unary(GetQueue),
    UpdateQueue: unary(UpdateQueue),
    DeleteTask: unary(DeleteTask),
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => (error === null ? resolve(bound) : reject(error)))
  })
  return { port, stop: () => server.forceShutdown() }
}
