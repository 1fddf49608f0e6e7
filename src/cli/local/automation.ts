// `servo automation`: the loops of a workspace, until it is interrupted.

import type { Command } from 'commander'
import { startAutomation } from '../../bin/automation.js'
import { type Environment, readAutomationConfig } from '../../bin/config.js'
import { collectSooner } from './heap.js'
import { note } from './print.js'
import { AUTOMATION_SETTINGS, configured, withServerSettings } from './server-options.js'
import { onSignal } from './until-signal.js'

export function addAutomationCommand(command: Command, environment: Environment): void {
  withServerSettings(command, AUTOMATION_SETTINGS)
    .description('run the loops that decide what runs: one process a workspace is enough, two take over from each other')
    .addHelpText('after', '\nExample:\n  SERVO_SECRETS=k1:a-long-random-text servo automation --store local:.servo/store')
    .action(async (options: Readonly<Record<string, unknown>>) => {
      collectSooner()
      const config = configured(readAutomationConfig, environment, options)
      const automation = await startAutomation(config, { log: note })
      const { tenant_id, workspace_id, store } = config.workspace
      note(`automation: workspace ${workspace_id} of ${tenant_id} in ${store}, loops in Temporal at ${config.temporal.address}`)
      const forget = onSignal(() => void automation.stop())
      await automation.ended
      forget()
      note('automation: ended')
    })
}
