// The ports of `servo dev`: free, or taken by what belongs there.

import { connect } from 'node:net'
import { type Finding, ok, warn } from './finding.js'

type Port = { readonly port: number; readonly whose: string; readonly flag: string; readonly isOurs: (port: number) => Promise<boolean> }

const HOST = '127.0.0.1'
const TIMEOUT_MS = 2_000

const PORTS: readonly Port[] = [
  { port: 7800, whose: "Servo's API", flag: '--port', isOurs: (port) => says(port, '/readyz', /"checks"/) },
  { port: 7801, whose: 'a worker of Servo', flag: '--worker-port', isOurs: (port) => says(port, '/healthz', /"location_name"/) },
  // It speaks gRPC alone; the check of Temporal says more.
  { port: 7233, whose: 'Temporal', flag: '--temporal-port', isOurs: async () => true },
  { port: 8233, whose: "Temporal's UI", flag: '--ui-port', isOurs: (port) => says(port, '/', /temporal/i) },
]

export const checkPorts = (): Promise<readonly Finding[]> => Promise.all(PORTS.map(checkPort))

async function checkPort({ port, whose, flag, isOurs }: Port): Promise<Finding> {
  const check = `port ${port}`
  if (!(await isTaken(port))) return ok(check, `free for ${whose}`)
  if (await isOurs(port)) return ok(check, `${whose} listens there`)
  return warn(check, `another program listens there, where ${whose} would`, `Stop that program, or start \`servo dev\` with ${flag}.`)
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port, timeout: TIMEOUT_MS })
    const answer = (taken: boolean) => {
      socket.destroy()
      resolve(taken)
    }
    socket.once('connect', () => answer(true))
    socket.once('error', () => answer(false))
    socket.once('timeout', () => answer(false))
  })
}

async function says(port: number, path: string, what: RegExp): Promise<boolean> {
  try {
    const response = await fetch(`http://${HOST}:${port}${path}`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    return what.test(await response.text())
  } catch {
    return false
  }
}
