// A client of Temporal. It is there whether the server is or not: it connects when it is used.

import { InterceptingCall, type InterceptingListener, type Interceptor, Metadata, status } from '@grpc/grpc-js'
import { Client, Connection, type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client'
import type { TemporalConfig } from './config.js'

export type TemporalClient = { readonly client: Client; readonly connection: Connection; readonly close: () => Promise<void> }

export const connectionOptions = ({ address, api_key }: TemporalConfig) => ({
  address,
  ...(api_key === undefined ? {} : { apiKey: api_key, tls: true as const }),
})

/** A call with its retries ends after this where its caller sets no deadline: a server that hangs holds up nobody for longer. */
const CALL_TIMEOUT_MS = 10_000

const withDeadline: Interceptor = (options, nextCall) =>
  new InterceptingCall(nextCall({ ...options, deadline: options.deadline ?? Date.now() + CALL_TIMEOUT_MS }))

/** The client's own retries come from a timer, and a closed channel throws there, which ends the process. Here the call fails
 *  instead, in a way that is not tried again. */
const failingWhenClosed: Interceptor = (options, nextCall) => {
  try {
    return new InterceptingCall(nextCall(options))
  } catch {
    return new InterceptingCall(closedCall())
  }
}

type Call = ConstructorParameters<typeof InterceptingCall>[0]

const closedCall = (): Call => ({
  start(_metadata, listener?: Partial<InterceptingListener>) {
    const answer = { code: status.CANCELLED, details: 'The client of Temporal was closed.', metadata: new Metadata() }
    setImmediate(() => listener?.onReceiveStatus?.(answer))
  },
  cancelWithStatus: () => undefined,
  getPeer: () => 'closed',
  sendMessageWithContext: () => undefined,
  sendMessage: () => undefined,
  startRead: () => undefined,
  halfClose: () => undefined,
  getAuthContext: () => null,
})

/** The retries are those that the client makes where no interceptor is named. */
export const clientOptions = (config: TemporalConfig): ConnectionOptions => ({
  ...connectionOptions(config),
  interceptors: [withDeadline, makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), failingWhenClosed],
})

/** Answers at once; calls fail while the server is not there, and work again when it is. */
export function openClient(config: TemporalConfig): TemporalClient {
  const connection = Connection.lazy(clientOptions(config))
  return { client: new Client({ connection, namespace: config.namespace }), connection, close: () => connection.close() }
}
