// Temporal for `servo dev`: the server that is named, or one of its own, whose state is a file of the project and which is
// started again when it ends. One that an earlier run was killed without ending is ended first.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL, fileURLToPath } from 'node:url'
import type { Environment } from '../../../bin/config.js'
import { messageOf } from '../../../core/errors.js'
import { type DevServer, startDevServer } from '../temporal-server.js'
import type { DataFolder } from './data-folder.js'
import { parsePort } from './options.js'
import { refuseBusyPorts } from './ports.js'

export type KeptTemporal = { readonly address: string; readonly ui_url: string | undefined; readonly stop: () => Promise<void> }

type TemporalRequest = {
  readonly environment: Environment
  readonly data: DataFolder
  readonly port: string
  readonly ui_port: string
  readonly say: (line: string) => void
}

type Found = { readonly kind: 'address'; readonly address: string } | { readonly kind: 'program'; readonly path: string }

/** A script of the checkout, which runs before anything is installed or built. */
const FINDER = fileURLToPath(new URL('../../../../scripts/temporal.js', import.meta.url))

const AGAIN_MS = 1_000

export async function keepTemporal({ environment, data, port, ui_port, say }: TemporalRequest): Promise<KeptTemporal> {
  const { findTemporal } = (await import(pathToFileURL(FINDER).href)) as {
    findTemporal: (options: { env: Environment; say: (line: string) => void }) => Promise<Found>
  }
  const found = await findTemporal({ env: environment, say })
  if (found.kind === 'address') return { address: found.address, ui_url: undefined, stop: async () => undefined }

  const pid_file = join(data.path, 'temporal.pid')
  await endLeftOver(pid_file, data.temporal_db, say)
  const ports = { port: parsePort(port, '--temporal-port'), ui_port: parsePort(ui_port, '--ui-port') }
  await refuseBusyPorts([
    { port: ports.port, whose: 'Temporal', flag: '--temporal-port' },
    { port: ports.ui_port, whose: "Temporal's UI", flag: '--ui-port' },
  ])
  const start = async (): Promise<DevServer> => {
    const server = await startDevServer({ program: found.path, ...ports, db_file: data.temporal_db, log_file: data.logFile('temporal') })
    writeFileSync(pid_file, String(server.pid))
    return server
  }
  let server = await start()
  let isStopping = false
  const watched = watch()

  async function watch(): Promise<void> {
    for (;;) {
      const how = await server.ended
      if (isStopping) return
      say(`Temporal ended (${how}) and is started again.`)
      await restart()
      if (isStopping) return
    }
  }

  async function restart(): Promise<void> {
    while (!isStopping) {
      try {
        server = await start()
        return
      } catch (error) {
        say(`Temporal could not be started again: ${messageOf(error)}`)
        await sleep(AGAIN_MS)
      }
    }
  }

  return {
    address: server.address,
    ui_url: server.ui_url,
    async stop() {
      isStopping = true
      await server.stop()
      await watched
      rmSync(pid_file, { force: true })
    },
  }
}

/** Only the process that works on this project's file is ended, and nobody else's that got the same number since. */
async function endLeftOver(pid_file: string, db_file: string, say: (line: string) => void): Promise<void> {
  if (!existsSync(pid_file)) return
  const pid = Number(readFileSync(pid_file, 'utf8'))
  if (Number.isInteger(pid) && pid > 0 && commandOf(pid).includes(db_file)) {
    say(`A Temporal server of an earlier run is still there, as process ${pid}, and is ended.`)
    process.kill(pid, 'SIGTERM')
    while (commandOf(pid).includes(db_file)) await sleep(50)
  }
  rmSync(pid_file, { force: true })
}

const commandOf = (pid: number): string => spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).stdout ?? ''
