// Starts Temporal, the loops, the API and a worker on this machine, and ends all of it, in order, when it is told to. What an
// earlier one was is where it was.

import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../../../bin/config.js'
import { WORKER_SLOTS_DEFAULT } from '../../../core/limits.js'
import { type DataFolder, openDataFolder } from './data-folder.js'
import { exportLine } from './exports.js'
import { startGuard } from './guard.js'
import { loopsPage } from './loops-page.js'
import { refuseOtherStore } from './other-store.js'
import { type Ports, parsePort, refuseBusyPorts } from './ports.js'
import { untilAnswers } from './ready.js'
import { endLeftOver, openRecords } from './records.js'
import { forgetTemporal, noteTemporal } from './running-temporal.js'
import { scopeIn } from './scope.js'
import { type ServedModule, serveModule } from './served-module.js'
import type { Stop } from './stop.js'
import { type DevSummary, summaryText } from './summary.js'
import { type Kept, keepRunning } from './supervisor.js'
import { type FoundTemporal, findTemporal, type KeptTemporal, keepTemporal, refuseMissingTemporal, temporalSettings } from './temporal.js'

export type DevOptions = Ports & {
  readonly data: string
  readonly slots: string
  /** Of its module, at the start and on each change. */
  readonly deploy: boolean
}

/** What `servo dev` has where nobody says otherwise. No module here reads it: `npm start` does, in scripts/start.js. */
export const DEV_DEFAULTS: DevOptions = {
  port: '7800',
  workerPort: '7801',
  temporalPort: '7233',
  uiPort: '8233',
  data: '.servo',
  slots: String(WORKER_SLOTS_DEFAULT),
  deploy: true,
}

type Dev = {
  readonly api_url: string
  readonly worker_url: string
  /** Of Temporal's UI, with the loops of this workspace; undefined: another server is used. */
  readonly loops_url: string | undefined
  readonly summary: string
  /** What commands in another terminal have to be told; undefined: nothing. */
  readonly export_line: string | undefined
  /** Whether the definitions of the module are deployed; false as well where nobody asked for that. */
  readonly is_deployed: boolean
  /** For a command beside it: it ends with this process, however that ends. */
  readonly adopt: (child: ChildProcess) => void
  /** Resolves when a signal has come and all of it has ended, in order. */
  readonly stopped: Promise<void>
}

type DevRequest = {
  readonly module: string | undefined
  /** Of that module, as it was when this was asked for. */
  readonly location_name: string | undefined
  readonly options: DevOptions
  readonly environment: Environment
  readonly say: (line: string) => void
  readonly stop: Stop
}

type Prepared = DevRequest & { readonly data: DataFolder; readonly found: FoundTemporal; readonly ports: PortNumbers }
type PortNumbers = { readonly api: number; readonly worker: number; readonly temporal: number; readonly ui: number }

const SERVO = fileURLToPath(new URL('../../../../bin/servo.js', import.meta.url))

/** undefined: it was told to stop before it was up, and all of it has ended. */
export async function startDev(request: DevRequest): Promise<Dev | undefined> {
  const { options, environment, say, stop } = request
  const ports = portsOf(options)
  const data = await openDataFolder(options.data)
  try {
    const found = await findTemporal(environment, say)
    await refuseMissingTemporal(found, environment)
    await refuseOtherStore(found, environment, data.store)
    await endLeftOver(data.path, { say })
    await refuseBusyPorts(portsWanted(request, found, ports))
    // From here on there is something to end.
    stop.listen()
    return await startAll({ ...request, data, found, ports })
  } catch (error) {
    data.release()
    throw error
  }
}

const portsOf = ({ port, workerPort, temporalPort, uiPort }: Ports): PortNumbers => ({
  api: parsePort(port, '--port'),
  worker: parsePort(workerPort, '--worker-port'),
  temporal: parsePort(temporalPort, '--temporal-port'),
  ui: parsePort(uiPort, '--ui-port'),
})

function portsWanted({ module }: DevRequest, found: FoundTemporal, ports: PortNumbers): Parameters<typeof refuseBusyPorts>[0] {
  const worker = { port: ports.worker, whose: 'the worker', flag: '--worker-port' }
  const temporal = { port: ports.temporal, whose: 'Temporal', flag: '--temporal-port' }
  const ui = { port: ports.ui, whose: "Temporal's UI", flag: '--ui-port' }
  return [
    { port: ports.api, whose: 'the API', flag: '--port' },
    ...(module === undefined ? [] : [worker]),
    ...(found.kind === 'address' ? [] : [temporal, ui]),
  ]
}

async function startAll(request: Prepared): Promise<Dev | undefined> {
  const { data, say, stop } = request
  const records = openRecords(data.path)
  const guard = startGuard(data, records)
  const kept: Kept[] = []
  const open: { temporal?: KeptTemporal; module?: ServedModule } = {}
  const end = async (): Promise<void> => {
    // Who is asked for work ends before who asks for it; Temporal ends when nobody speaks to it any more.
    await open.module?.stop()
    for (const each of kept.toReversed()) await each.stop()
    await open.temporal?.stop()
    forgetTemporal(data.path)
    await guard.release()
    data.release()
  }
  const endInOrder = async (): Promise<void> => {
    say('Stopping: the worker first, then the API and the loops, Temporal last. Ctrl-C again kills all of it at once.')
    await end()
  }
  try {
    const { found, ports } = request
    const { signal } = stop
    const temporal = await keepTemporal({ found, data, records, ports: { port: ports.temporal, ui_port: ports.ui }, signal, say })
    open.temporal = temporal
    noteTemporal(data.path, temporal.address)
    const { api_url, worker_url } = urlsOf(ports)
    const settings = serverSettings(request, temporal)
    const keep = (name: string, environment: Environment): void => {
      const program = { name, command: process.execPath, args: [SERVO, name], environment, log_file: data.logFile(name) }
      kept.push(keepRunning(program, { say, records }))
    }
    keep('automation', settings)
    // It signs nothing.
    keep('api', { ...settings, SERVO_WORKER_SECRETS: undefined })
    const { module, location_name, options } = request
    const isUp = untilAnswers({ url: `${api_url}/readyz`, what: 'The API', log_file: data.logFile('api'), signal })
    if (module !== undefined) {
      const served = { module, location_name, options, environment: temporalSettings(found, request.environment) }
      const urls = { api_url, worker_url, port: ports.worker }
      open.module = serveModule({ ...served, ...urls, servo: SERVO, data, records, say, signal, isUp })
    }
    await isUp
    const is_serving = (await open.module?.serving) ?? false
    const is_deployed = (await open.module?.deployed) ?? false
    signal.throwIfAborted()
    return devOf(request, temporal, {
      api_url,
      worker_url,
      is_serving,
      is_deployed,
      failing: kept.filter(({ endings }) => endings() > 0).map(({ name }) => name),
      adopt(child) {
        records.add('command', child.pid)
        child.once('exit', () => records.remove('command'))
      },
      stopped: aborted(signal).then(endInOrder),
    })
  } catch (error) {
    if (stop.signal.aborted) {
      await endInOrder()
      return undefined
    }
    await end()
    throw error
  }
}

const urlsOf = ({ api, worker }: PortNumbers) => ({ api_url: `http://127.0.0.1:${api}`, worker_url: `http://127.0.0.1:${worker}` })

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })))

function serverSettings({ environment, data, found, ports }: Prepared, { address }: KeptTemporal): Environment {
  return {
    ...temporalSettings(found, environment),
    ...data.secrets,
    SERVO_STORE: data.store,
    TEMPORAL_ADDRESS: address,
    SERVO_API_URL: urlsOf(ports).api_url,
    SERVO_PORT: String(ports.api),
  }
}

type StartedParts = Omit<Dev, 'loops_url' | 'summary' | 'export_line'> & Pick<DevSummary, 'failing'> & { readonly is_serving: boolean }

function devOf(
  { module, data, environment }: Prepared,
  { address, ui_url }: KeptTemporal,
  { failing, is_serving, ...rest }: StartedParts,
): Dev {
  const { api_url } = rest
  const worker = module === undefined ? undefined : { url: rest.worker_url, is_serving }
  const scope = scopeIn(environment)
  const export_line = exportLine({ api_url, worker_url: worker?.url, data_folder: data.path, scope })
  const loops_url = ui_url === undefined ? undefined : loopsPage(ui_url, scope)
  const summary = summaryText({ api_url, temporal_address: address, loops_url, worker, data_folder: data.path, export_line, failing })
  return { ...rest, loops_url, export_line, summary }
}
