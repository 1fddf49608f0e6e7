// The ports of `servo dev`: every one has a flag, so that two checkouts can run side by side, and one that is taken is named
// with its flag before anything is started.

import { createServer } from 'node:net'
import type { Command } from 'commander'
import { UsageError } from '../../exit-code.js'

export type Ports = { readonly port: string; readonly workerPort: string; readonly temporalPort: string; readonly uiPort: string }

export const withPorts = (command: Command): Command =>
  command
    .option('--port <number>', 'where the API listens', '7800')
    .option('--worker-port <number>', 'where the worker listens', '7801')
    .option('--temporal-port <number>', 'where Temporal listens', '7233')
    .option('--ui-port <number>', "where Temporal's UI listens", '8233')

const PORT_MAX = 65_535

export function parsePort(text: string, flag: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= PORT_MAX) return port
  throw new UsageError(`${flag} is ${JSON.stringify(text)}. Give it a port from 1 to ${PORT_MAX}.`)
}

type Wanted = { readonly port: number; readonly whose: string; readonly flag: string }

export async function refuseBusyPorts(wanted: readonly Wanted[]): Promise<void> {
  refuseSharedPorts(wanted)
  const busy = await Promise.all(wanted.map(async (each) => ((await isFree(each.port)) ? [] : [each])))
  const faults = busy
    .flat()
    .map(({ port, whose, flag }) => `Port ${port}, for ${whose}, is taken by another program: give another one with ${flag}.`)
  if (faults.length > 0) throw new UsageError(faults.join('\n'))
}

/** Of two that want one port the second finds it taken, and no other program is to blame. */
function refuseSharedPorts(wanted: readonly Wanted[]): void {
  const faults = [...new Set(wanted.map(({ port }) => port))].flatMap((port) => {
    const sharing = wanted.filter((each) => each.port === port).map(({ whose, flag }) => `${whose} (${flag})`)
    return sharing.length === 1 ? [] : [`Port ${port} is given to ${sharing.join(' and ')}: give each of them a port of its own.`]
  })
  if (faults.length > 0) throw new UsageError(faults.join('\n'))
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
