// The connections to Temporal. A client is there whether the server is or not: it connects when it is used.

import { Client, Connection } from '@temporalio/client'
import { DefaultLogger, makeTelemetryFilterString, NativeConnection, Runtime } from '@temporalio/worker'
import { messageOf, unavailable } from '../core/errors.js'
import type { TemporalConfig } from './config.js'

export type TemporalClient = { readonly client: Client; readonly close: () => Promise<void> }

const optionsOf = ({ address, api_key }: TemporalConfig) => ({
  address,
  ...(api_key === undefined ? {} : { apiKey: api_key, tls: true as const }),
})

/** Answers at once; calls fail while the server is not there, and work again when it is. */
export function openClient(config: TemporalConfig): TemporalClient {
  const connection = Connection.lazy(optionsOf(config))
  return { client: new Client({ connection, namespace: config.namespace }), close: () => connection.close() }
}

/** For workers, which need the server to be there. */
export async function connectWorker(config: TemporalConfig): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(optionsOf(config))
  } catch (error) {
    throw unavailable(`Temporal at ${config.address} does not answer: ${messageOf(error)}`, error)
  }
}

/** What the SDK says goes where the process's own lines go; it counts its states aloud, which nobody needs. */
export function installRuntime(log: (message: string) => void): void {
  const logger = new DefaultLogger('WARN', ({ message, meta }) => {
    if (!NOISE.some((noise) => message.startsWith(noise))) log(`Temporal: ${message}${errorIn(meta)}`)
  })
  // Once a process; a second one in the same process, as tests have, shares the first.
  if (Runtime._instance === undefined) {
    Runtime.install({ logger, telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR' }) } } })
  }
}

/** Each worker has one kind of task by design. */
const NOISE = ['No activities registered', 'No workflows registered']

const errorIn = (meta: unknown): string => {
  const error = (meta as { readonly error?: unknown } | undefined)?.error
  return error === undefined ? '' : `: ${messageOf(error)}`
}
