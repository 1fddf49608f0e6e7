// The connections to Temporal. A client is there whether the server is or not: it connects when it is used.

import { Client, Connection } from '@temporalio/client'
import { NativeConnection } from '@temporalio/worker'
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
