// `servo api`: the REST API of a workspace, until it is interrupted.

import type { Command } from 'commander'
import { startApi } from '../../bin/api.js'
import { type Environment, readApiConfig } from '../../bin/config.js'
import { jsonLog } from '../terminal.js'
import { collectSooner } from './heap.js'
import { note } from './print.js'
import { API_SETTINGS, configured, withServerSettings } from './server-options.js'
import { onSignal } from './until-signal.js'

export function addApiCommand(command: Command, environment: Environment, version: string): void {
  withServerSettings(command, API_SETTINGS)
    .description('serve the REST API: it takes commands and callbacks, and answers from the tables')
    .addHelpText('after', '\nExample:\n  SERVO_SECRETS=k1:a-long-random-text servo api --store local:.servo/store --port 7800')
    .action(async (options: Readonly<Record<string, unknown>>) => {
      collectSooner()
      const api = await startApi(configured(readApiConfig, environment, options), {
        log: note,
        request_log: jsonLog(process.stdout),
        version,
      })
      note(`api: ${api.url}`)
      await new Promise<void>((stop) => onSignal(stop))
      await api.stop()
      note('api: ended')
    })
}
