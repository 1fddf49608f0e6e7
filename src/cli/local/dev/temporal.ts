// Temporal for `servo dev`: the server that is named, or one of its own, whose state is a file of the project and which is
// started again when it ends.

import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Environment, TemporalConfig } from '../../../bin/config.js'
import { messageOf } from '../../../core/errors.js'
import { NAMESPACE_DEFAULT } from '../../../core/names.js'
import { UsageError } from '../../exit-code.js'
import { checkTemporal } from '../doctor/temporal.js'
import { type DevServer, startDevServer } from '../temporal-server.js'
import type { DataFolder } from './data-folder.js'
import type { Records } from './records.js'

export type KeptTemporal = { readonly address: string; readonly ui_url: string | undefined; readonly stop: () => Promise<void> }

export type FoundTemporal = { readonly kind: 'address'; readonly address: string } | { readonly kind: 'program'; readonly path: string }

/** A script of the checkout, which runs before anything is installed or built. */
const FINDER = fileURLToPath(new URL('../../../../scripts/temporal.js', import.meta.url))

/** May download or build it, once for a machine. */
export async function findTemporal(environment: Environment, say: (line: string) => void): Promise<FoundTemporal> {
  const finder = (await import(pathToFileURL(FINDER).href)) as {
    findTemporal: (options: { env: Environment; say: (line: string) => void }) => Promise<FoundTemporal>
  }
  return finder.findTemporal({ env: environment, say })
}

/** A named server has to answer and to have what the loops need: `servo dev` does not start it, and nothing runs without it. */
export async function refuseMissingTemporal(found: FoundTemporal, environment: Environment): Promise<void> {
  if (found.kind === 'program') return
  const { address } = found
  const findings = await checkTemporal(temporalConfigIn(address, environment))
  const fault = findings.find(({ level }) => level === 'fail')
  if (fault === undefined) return
  const isAway = fault.check === 'temporal'
  const mend = isAway ? 'Start that server' : fault.mend?.replace(/\.$/, '')
  throw new UsageError(
    `TEMPORAL_ADDRESS names the Temporal server ${address}, and ${fault.found}.\n${mend}. Or let \`servo dev\` start a server of its own: \`unset TEMPORAL_ADDRESS\`.`,
  )
}

export function temporalConfigIn(address: string, environment: Environment): TemporalConfig {
  const api_key = environment['TEMPORAL_API_KEY'] || undefined
  return { address, namespace: environment['TEMPORAL_NAMESPACE'] || NAMESPACE_DEFAULT, ...(api_key === undefined ? {} : { api_key }) }
}

/** Namespace and key of a cluster mean nothing to the server of this machine, and would keep everybody from its own. */
export const temporalSettings = (found: FoundTemporal, environment: Environment): Environment =>
  found.kind === 'address' ? environment : Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('TEMPORAL_')))

type TemporalRequest = {
  readonly found: FoundTemporal
  readonly data: DataFolder
  readonly records: Records
  readonly ports: { readonly port: number; readonly ui_port: number }
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

const NAME = 'temporal'
const AGAIN_MS = 1_000

export async function keepTemporal({ found, data, records, ports, signal, say }: TemporalRequest): Promise<KeptTemporal> {
  if (found.kind === 'address') return { address: found.address, ui_url: undefined, stop: async () => undefined }
  const start = (until: AbortSignal): Promise<DevServer> =>
    startDevServer({
      program: found.path,
      ...ports,
      db_file: data.temporal_db,
      log_file: data.logFile(NAME),
      onSpawn: (pid) => records.add(NAME, pid),
      signal: until,
    })
  let server = await start(signal)
  const stopping = new AbortController()
  const watched = watch()

  async function watch(): Promise<void> {
    for (;;) {
      const how = await server.ended
      if (stopping.signal.aborted) return
      say(`Temporal ended (${how}) and is started again.`)
      await restart()
      if (stopping.signal.aborted) return
    }
  }

  async function restart(): Promise<void> {
    let said = ''
    while (!stopping.signal.aborted) {
      try {
        server = await start(stopping.signal)
        return
      } catch (error) {
        const words = `Temporal could not be started again, which is tried until it can: ${messageOf(error)}`
        if (words !== said && !stopping.signal.aborted) say(words)
        said = words
        await sleep(AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
      }
    }
  }

  return {
    address: server.address,
    ui_url: server.ui_url,
    async stop() {
      stopping.abort()
      await server.stop()
      await watched
      // One that became ready in the moment in which this was asked.
      await server.stop()
      records.remove(NAME)
    },
  }
}
