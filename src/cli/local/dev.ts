// `servo dev`: everything on this machine from one command, and the end of all of it, in order, with Ctrl-C.

import type { Command } from 'commander'
import type { Environment } from '../../bin/config.js'
import { WORKER_SLOTS_DEFAULT } from '../../core/limits.js'
import { parseCount } from '../arguments.js'
import { DONE } from '../exit-code.js'
import { withPorts } from './dev/ports.js'
import { type DevOptions, startDev } from './dev/start.js'
import { createStop } from './dev/stop.js'
import { loadModule } from './load-module.js'
import { note, printLines } from './print.js'

export function addDevCommand(command: Command, environment: Environment): void {
  withPorts(command)
    .argument('[module]', 'the module with your code location: it is served by a worker, and deployed at the start and when you change it')
    .option('--data <folder>', 'where the ledger, logs and secrets of this project are kept', '.servo')
    .option(
      '--slots <count>',
      'tasks that the worker runs at once',
      (text: string) => String(parseCount(text)),
      String(WORKER_SLOTS_DEFAULT),
    )
    .option('--no-deploy', 'deploy nothing: `servo deploy` does it when you say so')
    .description('run everything on this machine: Temporal, the loops, the API, and a worker for your module')
    .addHelpText('after', '\nExample:\n  servo dev ./pipeline.ts\n  servo run start group:shop --wait     (in another terminal)')
    .action(async (module: string | undefined, options: DevOptions) => {
      const location_name = module === undefined ? undefined : (await loadModule(module)).name
      const stop = createStop(environment, note)
      const dev = await startDev({ module, location_name, options, environment, say: note, stop })
      if (dev !== undefined) {
        printLines(dev.summary.split('\n'))
        await dev.stopped
      }
      // The module was loaded here too, and what it keeps open would keep this process.
      process.exit(DONE)
    })
}
