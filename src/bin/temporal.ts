// A client of Temporal. It is there whether the server is or not: it connects when it is used.

import { Client, Connection } from '@temporalio/client'
import type { TemporalConfig } from './config.js'

export type TemporalClient = { readonly client: Client; readonly close: () => Promise<void> }

export const connectionOptions = ({ address, api_key }: TemporalConfig) => ({
  address,
  ...(api_key === undefined ? {} : { apiKey: api_key, tls: true as const }),
})

/** Answers at once; calls fail while the server is not there, and work again when it is. */
export function openClient(config: TemporalConfig): TemporalClient {
  const connection = Connection.lazy(connectionOptions(config))
  return { client: new Client({ connection, namespace: config.namespace }), close: () => connection.close() }
}
