// `servo worker`: serves the code location of a module over HTTP until it is told to stop.

import { hostname } from 'node:os'
import { type Command, Option } from 'commander'
import { systemClock, systemRandom } from '../../bin/clock.js'
import { readTracing, readWorkerConfig, type WorkerConfig } from '../../bin/config.js'
import { openIdentity, openVerifier } from '../../bin/oidc-config.js'
import { openSharedTracing } from '../../bin/tracing.js'
import { messageOf } from '../../core/errors.js'
import { isLoopback } from '../../core/host.js'
import { WORKER_SLOTS_DEFAULT } from '../../core/limits.js'
import { isLocationSecret } from '../../core/location-secret.js'
import type { Secret } from '../../core/run-id.js'
import type { CodeLocation } from '../../sdk/code-location.js'
import { readSecrets, SECRETS_VARIABLE } from '../../sdk/worker/secrets.js'
import { startWorker, type Worker, type WorkerOptions } from '../../sdk/worker/worker.js'
import { parseCount, parsePort } from '../arguments.js'
import { DONE, UsageError } from '../exit-code.js'
import { sourceOf } from './deploy-source.js'
import { reportForeignExit } from './foreign-exit.js'
import { loadModule } from './load-module.js'
import { counted, note, printJson, printLine } from './print.js'
import { configured } from './server-options.js'
import { openStandby, type Standby } from './standby.js'
import { untilSignal } from './until-signal.js'
import { addWorkerSecretCommand } from './worker-secret.js'

type Environment = Readonly<Record<string, string | undefined>>
type WorkerCommandOptions = {
  readonly port: number
  readonly host: string
  readonly slots: number
  readonly grace: number
  readonly apiUrl?: string
  readonly json?: boolean
  readonly standby?: boolean
}

const PORT = 7801
const GRACE_SECONDS = 30

export function addWorkerCommand(group: Command, environment: Environment, version: string): void {
  addWorkerSecretCommand(group, environment)
  group
    .argument('<module>', 'the module that exports the code location, such as ./module.ts')
    .option('--port <port>', 'where it listens; 0 takes any that is free', parsePort, PORT)
    .option('--host <address>', `another address than loopback needs ${SECRETS_VARIABLE}`, '127.0.0.1')
    .option('--slots <count>', 'how many attempts run at the same time', parseCount, WORKER_SLOTS_DEFAULT)
    .option('--grace <seconds>', 'how long attempts may go on after it is told to stop', parseCount, GRACE_SECONDS)
    .option('--api-url <url>', 'the API that it reports to, and no other; several are separated by commas [SERVO_API_URL]')
    .option('--json', 'print one JSON value for programs')
    .addOption(new Option('--standby', 'load the module, and listen when the process that started this one says so').hideHelp())
    .addHelpText(
      'after',
      `\n${SECRETS_VARIABLE}=key_id:secret[,key_id:secret] makes it take signed dispatches only; \`servo worker secret LOCATION\` prints it.\nSERVO_DELIVERY_OIDC_AUDIENCE=audience makes it ask for the OIDC token of a queue, too: docs/cloud-tasks.md.`,
    )
    .action((module: string, options: WorkerCommandOptions) =>
      serve(module, options, {
        version,
        secrets: secretsOf(environment, options.host),
        ...configured(readTracing, environment, {}),
        ...configured(readWorkerConfig, environment, { apiUrl: options.apiUrl }),
      }),
    )
}

/** Whoever reaches the port of a worker without keys runs its code. */
function secretsOf(environment: Environment, host: string): readonly Secret[] {
  const secrets = readSecrets(environment[SECRETS_VARIABLE])
  if ('problem' in secrets) throw new UsageError(secrets.problem)
  if (secrets.length === 0 && !isLoopback(host)) {
    throw new UsageError(
      `--host ${host} lets other machines run this worker's code. Set ${SECRETS_VARIABLE} to what \`servo worker secret\` prints for its location, so that it takes signed dispatches only; or leave --host out.`,
    )
  }
  return secrets
}

const ofInstallation = (location_name: string): string =>
  `${SECRETS_VARIABLE} is a secret of the whole installation: whoever has it can run the code of every worker. Give this worker that of its location, which \`servo worker secret ${location_name}\` prints. The next release takes no other.`

type Settings = WorkerConfig & { readonly version: string; readonly secrets: readonly Secret[]; readonly traces_url: string | undefined }

async function serve(module: string, options: WorkerCommandOptions, settings: Settings): Promise<void> {
  const { port, host, slots, grace, json } = options
  const { secrets, traces_url, delivery_oidc, identity, api_urls, allowed_hosts } = settings
  // Before the module is loaded: who starts a process may stop it at any time.
  const stop = untilSignal()
  const standby = options.standby === true ? openStandby() : undefined
  const location = await loadFor(standby, module)
  // What a user's code forgets to await must not end the attempts beside it.
  process.on('unhandledRejection', (error) => note(`A promise of the code was rejected, and nobody waited for it: ${messageOf(error)}`))
  if (secrets.length > 0 && !secrets.some(isLocationSecret)) note(ofInstallation(location.name))
  const isTold = standby === undefined || (await Promise.race([standby.untilTold(sourceOf(location)), stop.stopped]))
  if (isTold !== true) process.exit(DONE)
  const attributes = { 'servo.location': location.name }
  const tracing = await openSharedTracing({ traces_url, service_name: 'servo-worker', attributes, log: note })
  const worker = await listen({
    location,
    tracing,
    host,
    port,
    slots,
    secrets,
    api_urls,
    allowed_hosts,
    proof: delivery_oidc === undefined ? undefined : await openVerifier(delivery_oidc, systemClock),
    identity: identity === undefined ? undefined : await openIdentity(identity, systemClock),
    ...(standby === undefined ? {} : { codeProblem: standby.codeProblem }),
    worker_id: `${hostname()}:${process.pid}`,
    version: settings.version,
    clock: systemClock,
    random: systemRandom(),
    log: note,
    grace_ms: grace * 1_000,
  })
  const asset_count = location.assets.length
  if (json === true) printJson({ url: worker.url, location_name: location.name, asset_count, slots, signed: secrets.length > 0 })
  else printLine(`Serving ${location.name} with ${counted(asset_count, 'asset')} on ${worker.url}, ${counted(slots, 'slot')}.`)
  standby?.listening()
  const forgetExit = reportForeignExit((code) => note(`servo: ${exitedSentence(module, code)}`))
  await stop.stopped
  note(`Stopping: attempts have ${grace} s to finish. A second signal ends them at once.`)
  await worker.drain()
  await tracing?.close()
  forgetExit()
  // Code that does not heed its signal, or a connection of the module, would keep the process.
  process.exit(DONE)
}

async function loadFor(standby: Standby | undefined, module: string): Promise<CodeLocation> {
  if (standby === undefined) return loadModule(module)
  const say = (line: string) => {
    note(line)
    standby.failed(line)
  }
  try {
    return await loadModule(module, say)
  } catch (error) {
    standby.failed(messageOf(error))
    throw error
  }
}

const exitedSentence = (module: string, code: number): string =>
  `The code of ${module} ended its worker with process.exit(${code}). What ran there sends no heartbeat any more, and is tried again when that is noticed. Throw an error instead.`

async function listen(options: WorkerOptions): Promise<Worker> {
  try {
    return await startWorker(options)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const { host, port } = options
    if (code === 'EADDRINUSE') throw new UsageError(`Port ${port} of ${host} is taken. Give another --port, or 0 for any that is free.`)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new UsageError(`${host} is no address of this machine. Give another --host.`)
    if (code === 'EACCES') throw new UsageError(`Port ${port} may not be used by this user. Give a --port above 1023.`)
    throw error
  }
}
