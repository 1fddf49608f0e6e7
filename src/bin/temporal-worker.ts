// What a process that runs loops needs of Temporal. The API leaves it out: it loads the SDK's native core.

import { DefaultLogger, makeTelemetryFilterString, NativeConnection, Runtime } from '@temporalio/worker'
import { messageOf } from '../core/errors.js'
import type { TemporalConfig } from './config.js'
import { connectionOptions } from './temporal.js'

/** For workers, which need the server to be there. */
export const connectWorker = (config: TemporalConfig): Promise<NativeConnection> => NativeConnection.connect(connectionOptions(config))

/** What the SDK says goes where the process's own lines go; it counts its states aloud, which nobody needs. */
export function installRuntime(log: (message: string) => void): void {
  const logger = new DefaultLogger('WARN', ({ message, meta }) => {
    if (!NOISE.some((noise) => message.startsWith(noise))) log(`Temporal: ${message}${errorIn(meta)}`)
  })
  // Once a process; a second one in the same process, as tests have, shares the first.
  if (Runtime._instance === undefined) {
    Runtime.install({
      logger,
      // Signals are the command's to handle: two who end the same workers get in each other's way.
      shutdownSignals: [],
      telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
    })
  }
}

/** Each worker has one kind of task by design. */
const NOISE = ['No activities registered', 'No workflows registered']

const errorIn = (meta: unknown): string => {
  const error = (meta as { readonly error?: unknown } | undefined)?.error
  return error === undefined ? '' : `: ${messageOf(error)}`
}
