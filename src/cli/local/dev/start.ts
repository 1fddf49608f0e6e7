// Starts Temporal, the loops, the API and a worker on this machine, and ends all of it, in order, when it is told to. What an
// earlier one was is where it was.

import type { ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../../../bin/config.js'
import { messageOf } from '../../../core/errors.js'
import type { Scope } from '../../../core/ids.js'
import { WORKER_SLOTS_DEFAULT } from '../../../core/limits.js'
import { locationSecretsText } from '../worker-secret.js'
import { type DataFolder, openDataFolder } from './data-folder.js'
import { exportLine } from './exports.js'
import { startGuard } from './guard.js'
import { type Ports, parsePort, refuseBusyPorts } from './ports.js'
import { untilAnswers } from './ready.js'
import { endLeftOver, openRecords } from './records.js'
import { forgetTemporal, noteTemporal } from './running-temporal.js'
import type { Stop } from './stop.js'
import { type Kept, keepRunning } from './supervisor.js'
import { type FoundTemporal, findTemporal, type KeptTemporal, keepTemporal, refuseMissingTemporal, temporalSettings } from './temporal.js'
import { watchCode } from './watch.js'

export type DevOptions = Ports & { readonly data: string; readonly slots: string }

/** What `servo dev` has where nobody says otherwise. No module here reads it: `npm start` does, in scripts/start.js. */
export const DEV_DEFAULTS: DevOptions = {
  port: '7800',
  workerPort: '7801',
  temporalPort: '7233',
  uiPort: '8233',
  data: '.servo',
  slots: String(WORKER_SLOTS_DEFAULT),
}

type Dev = {
  readonly api_url: string
  readonly worker_url: string
  readonly ui_url: string | undefined
  readonly summary: string
  /** What commands in another terminal have to be told; undefined: nothing. */
  readonly export_line: string | undefined
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
  const open: { temporal?: KeptTemporal; watching?: { readonly stop: () => void } } = {}
  const end = async (): Promise<void> => {
    open.watching?.stop()
    // Who is asked for work ends before who asks for it; Temporal ends when nobody speaks to it any more.
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
    const keep = (name: string, args: readonly string[], settings: Settings): Kept => {
      const program = { name, command: process.execPath, args: [SERVO, name, ...args], environment: settings, log_file: data.logFile(name) }
      const running = keepRunning(program, { say, records })
      kept.push(running)
      return running
    }
    const { api_url, worker_url } = urlsOf(ports)
    const settings = serverSettings(request, temporal)
    keep('automation', [], settings)
    // It signs nothing.
    keep('api', [], { ...settings, SERVO_WORKER_SECRETS: undefined })
    const api = { url: `${api_url}/readyz`, what: 'The API', log_file: data.logFile('api'), signal }
    const worker = keepWorker(request, keep)
    if (worker !== undefined) open.watching = worker
    await Promise.all([untilAnswers(api), worker?.untilReady()])
    return devOf(request, temporal, {
      api_url,
      worker_url,
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

const scopeIn = ({ SERVO_TENANT, SERVO_WORKSPACE }: Environment): Scope => ({
  tenant_id: SERVO_TENANT || 'default',
  workspace_id: SERVO_WORKSPACE || 'default',
})

const WITHOUT_SECRETS = { SERVO_SECRETS: undefined, SERVO_API_TOKEN: undefined, TEMPORAL_API_KEY: undefined }

type Settings = Environment | (() => Environment)
type Keep = (name: string, args: readonly string[], settings: Settings) => Kept
type KeptWorker = { readonly untilReady: () => Promise<void>; readonly stop: () => void }

/** The worker of the module, and the watch that renews it; nothing where there is no module. */
function keepWorker(request: Prepared, keep: Keep): KeptWorker | undefined {
  const { module, environment, data, found, options, ports, say, stop } = request
  if (module === undefined) return undefined
  let location_name = request.location_name ?? ''
  // It runs a user's code, which must not be able to sign for other locations, or to make tokens of its own.
  const settings = (): Environment => ({
    ...temporalSettings(found, environment),
    ...WITHOUT_SECRETS,
    SERVO_API_URL: urlsOf(ports).api_url,
    SERVO_WORKER_SECRETS: locationSecretsText(data.secrets.SERVO_WORKER_SECRETS, { ...scopeIn(environment), location_name }),
  })
  const worker = keep('worker', [resolve(module), '--port', String(ports.worker), '--slots', options.slots], settings)
  const { signal } = stop
  const untilReady = async (): Promise<void> => {
    const url = `${urlsOf(ports).worker_url}/healthz`
    const health = await untilAnswers({ url, what: 'The worker', log_file: data.logFile('worker'), signal })
    const served = (JSON.parse(health) as { readonly location_name: string }).location_name
    if (served === location_name) return
    // The location has another name since it was edited, and so another secret.
    location_name = served
    if (await worker.renew()) await untilReady()
  }
  let changes = 0
  const renew = async (): Promise<void> => {
    changes += 1
    const change = changes
    say(`${module} or what is beside it has changed: the worker starts anew as soon as what runs in it has ended.`)
    try {
      if (!(await worker.renew())) return
      await untilReady()
      if (change === changes) say(`The worker serves ${module} as it is now. \`servo deploy ${module}\` makes its definitions known.`)
    } catch (error) {
      if (change === changes && !signal.aborted) say(messageOf(error))
    }
  }
  const watching = watchCode({ module: resolve(module), data_folder: data.path, onChange: () => void renew(), say })
  return { untilReady, stop: watching.stop }
}

function devOf({ module, data }: Prepared, { address, ui_url }: KeptTemporal, rest: Omit<Dev, 'ui_url' | 'summary' | 'export_line'>): Dev {
  const { api_url } = rest
  const worker_url = module === undefined ? undefined : rest.worker_url
  const export_line = exportLine({ api_url, worker_url, data_folder: data.path })
  const summary = [
    'Servo is up.',
    `  API       ${api_url}   (${api_url}/openapi.json)`,
    `  Temporal  ${ui_url ?? `${address}, as TEMPORAL_ADDRESS says`}`,
    ...(worker_url === undefined ? [] : [`  worker    ${worker_url}`]),
    `  data      ${data.path}`,
    ...(export_line === undefined ? [] : [`  commands in other terminals reach it after: ${export_line}`]),
  ].join('\n')
  return { ...rest, ui_url, export_line, summary }
}
