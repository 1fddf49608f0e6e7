// Ports that are taken, named with the flag that changes them, before anything is started.

import { createServer } from 'node:net'
import { UsageError } from '../../exit-code.js'

export type Wanted = { readonly port: number; readonly whose: string; readonly flag: string }

export async function refuseBusyPorts(wanted: readonly Wanted[]): Promise<void> {
  const busy = await Promise.all(wanted.map(async (each) => ((await isFree(each.port)) ? [] : [each])))
  const faults = busy
    .flat()
    .map(({ port, whose, flag }) => `Port ${port}, for ${whose}, is taken by another program: give another one with ${flag}.`)
  if (faults.length > 0) throw new UsageError(faults.join('\n'))
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
