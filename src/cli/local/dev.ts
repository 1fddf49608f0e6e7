// `servo dev`: everything on this machine — Temporal, the loops, the API and a worker — from one command, and the end of
// all of it, in order, with Ctrl-C. What it started before is where it was.

import type { Command } from 'commander'
import { fileURLToPath } from 'node:url'
import { resolve } from 'node:path'
import type { Environment } from '../../bin/config.js'
import { loadCodeLocation } from '../../sdk/load.js'
import { type DataFolder, openDataFolder } from './dev/data-folder.js'
import { refuseBusyPorts } from './dev/ports.js'
import { watchCode } from './dev/watch.js'
import { type Kept, keepRunning } from './dev/supervisor.js'
import { type KeptTemporal, keepTemporal } from './dev/temporal.js'
import { untilAnswers } from './dev/ready.js'
import { parsePort, withPorts, type Ports } from './dev/options.js'
import { note, printLine } from './print.js'
import { onSignal } from './until-signal.js'

type DevOptions = Ports & { readonly data: string; readonly slots: string }

export function addDevCommand(command: Command, environment: Environment): void {
  withPorts(command)
    .argument('[module]', 'the module with your code location: it is served by a worker; deploy it with `servo deploy`')
    .option('--data <folder>', 'where the ledger, logs and secrets of this project are kept', '.servo')
    .option('--slots <count>', 'tasks that the worker runs at once', '8')
    .description('run everything on this machine: Temporal, the loops, the API, and a worker for your module')
    .addHelpText('after', '\nExample:\n  servo dev ./pipeline.ts\n  servo deploy ./pipeline.ts     (in another terminal)')
    .action(async (module: string | undefined, options: DevOptions) => {
      if (module !== undefined) await loadCodeLocation(module)
      const dev = await startDev({ module, options, environment, say: note })
      printLine(dev.summary)
      await untilStopped()
      note('Stopping: the worker first, then the API and the loops, Temporal last.')
      await dev.stop()
    })
}

const untilStopped = (): Promise<void> => new Promise((stop) => onSignal(() => stop()))

/** What `servo dev` has where nobody says otherwise. */
export const DEV_DEFAULTS: DevOptions = {
  port: '7800',
  workerPort: '7801',
  temporalPort: '7233',
  uiPort: '8233',
  data: '.servo',
  slots: '8',
}

export type Dev = {
  readonly api_url: string
  readonly worker_url: string
  readonly ui_url: string | undefined
  readonly summary: string
  readonly stop: () => Promise<void>
}

type DevRequest = {
  readonly module: string | undefined
  readonly options: DevOptions
  readonly environment: Environment
  readonly say: (line: string) => void
}

const SERVO = fileURLToPath(new URL('../../../bin/servo.js', import.meta.url))

const WITHOUT_SECRETS = { SERVO_SECRETS: undefined, SERVO_API_TOKEN: undefined, TEMPORAL_API_KEY: undefined }

export async function startDev({ module, options, environment, say }: DevRequest): Promise<Dev> {
  const ports = { api: parsePort(options.port, '--port'), worker: parsePort(options.workerPort, '--worker-port') }
  await refuseBusyPorts([
    { port: ports.api, whose: 'the API', flag: '--port' },
    ...(module === undefined ? [] : [{ port: ports.worker, whose: 'the worker', flag: '--worker-port' }]),
  ])
  const data = openDataFolder(options.data)
  const kept: Kept[] = []
  let temporal: KeptTemporal | undefined
  let watching: { readonly stop: () => void } | undefined
  const stop = async () => {
    watching?.stop()
    // Who is asked for work ends before who asks for it; Temporal ends when nobody speaks to it any more.
    for (const each of kept.toReversed()) await each.stop()
    await temporal?.stop()
    data.release()
  }
  try {
    temporal = await keepTemporal({ environment, data, port: options.temporalPort, ui_port: options.uiPort, say })
    const api_url = `http://127.0.0.1:${ports.api}`
    const settings = {
      ...environment,
      ...data.secrets,
      SERVO_STORE: data.store,
      TEMPORAL_ADDRESS: temporal.address,
      SERVO_API_URL: api_url,
      SERVO_PORT: String(ports.api),
    }
    // A worker runs a user's code, which must not be able to make tokens and ids of its own.
    const environmentOf = (name: string) =>
      name === 'worker' ? { ...environment, ...WITHOUT_SECRETS, SERVO_WORKER_SECRETS: settings.SERVO_WORKER_SECRETS } : settings
    const keep = (name: string, ...args: string[]) => {
      const program = {
        name,
        command: process.execPath,
        args: [SERVO, ...args],
        environment: environmentOf(name),
        log_file: data.logFile(name),
      }
      const running = keepRunning(program, say)
      kept.push(running)
      return running
    }
    keep('automation', 'automation')
    keep('api', 'api')
    if (module !== undefined) {
      const worker = keep('worker', 'worker', resolve(module), '--port', String(ports.worker), '--slots', options.slots)
      watching = watchCode(resolve(module), () => {
        say(`${module} has changed: the worker starts anew with it. \`servo deploy ${module}\` makes its definitions known.`)
        worker.renew()
      })
    }
    await Promise.all([
      untilAnswers(`${api_url}/readyz`, 'The API', data.logFile('api')),
      ...(module === undefined ? [] : [untilAnswers(`http://127.0.0.1:${ports.worker}/healthz`, 'The worker', data.logFile('worker'))]),
    ])
    const worker_url = `http://127.0.0.1:${ports.worker}`
    const summary = summaryOf(data, temporal, api_url, module === undefined ? undefined : worker_url)
    return { api_url, worker_url, ui_url: temporal.ui_url, summary, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function summaryOf(data: DataFolder, temporal: KeptTemporal, api_url: string, worker_url: string | undefined): string {
  return [
    'Servo is up.',
    `  API       ${api_url}   (${api_url}/openapi.json)`,
    ...(temporal.ui_url === undefined ? [] : [`  Temporal  ${temporal.ui_url}`]),
    ...(worker_url === undefined ? [] : [`  worker    ${worker_url}`]),
    `  data      ${data.path}`,
  ].join('\n')
}
