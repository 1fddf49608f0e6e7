// `servo automation`: the loops of a workspace, until it is interrupted.

import type { Command } from 'commander'
import { startAutomation } from '../../bin/automation.js'
import { ConfigError, type Environment, readAutomationConfig } from '../../bin/config.js'
import { SECOND_MS } from '../../core/time.js'
import { UsageError } from '../exit-code.js'
import { collectSooner } from './heap.js'
import { note } from './print.js'
import { AUTOMATION_SETTINGS, configured, withServerSettings } from './server-options.js'
import { onSignal } from './until-signal.js'

/** For what an ended automation could not let go of: a thread of the SDK that hangs, or a request that the store never answers,
 *  would keep the process. With TURN_ENDS_MS_MAX and SETTLE_MS_MAX it ends within ten seconds of its signal. */
const EXIT_AFTER_MS = SECOND_MS

export function addAutomationCommand(command: Command, environment: Environment): void {
  withServerSettings(command, AUTOMATION_SETTINGS)
    .description('run the loops that decide what runs: one process a workspace is enough, two take over from each other')
    .addHelpText('after', '\nExample:\n  SERVO_SECRETS=k1:a-long-random-text servo automation --store local:.servo/store')
    .action(async (options: Readonly<Record<string, unknown>>) => {
      collectSooner()
      const config = configured(readAutomationConfig, environment, options)
      const automation = await startAutomation(config, { log: note })
      const forget = onSignal(() => void automation.stop().catch(() => undefined))
      try {
        await automation.ended
        note('automation: ended')
      } catch (error) {
        // A server has refused a setting for as long as it may: as wrong as one that could not be read.
        throw error instanceof ConfigError ? new UsageError(error.message) : error
      } finally {
        forget()
        // Without a hold on the process: one that has let go of everything ends before this.
        setTimeout(() => process.exit(), EXIT_AFTER_MS).unref()
      }
    })
}
