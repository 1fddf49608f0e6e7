// The module of `servo dev`: its worker, the watch on its code, and the deploys that follow from both.

import { resolve } from 'node:path'
import type { Environment } from '../../../bin/config.js'
import { prefetchOf } from '../../../core/limits.js'
import { sessionOf } from '../../api-command.js'
import { commandedBy, loginNameOf } from '../../commanded.js'
import { screenOf } from '../../screen.js'
import { locationSecretsText } from '../worker-secret.js'
import type { DataFolder } from './data-folder.js'
import { createDeploys } from './deploys.js'
import type { Records } from './records.js'
import { scopeIn } from './scope.js'
import { watchCode } from './watch.js'
import { keepWorker } from './worker.js'

export type ServedModule = {
  /** Resolves when the first load has succeeded or failed; false: no worker serves. */
  readonly serving: Promise<boolean>
  /** Resolves after the first load and its deploy; false: nothing was deployed. */
  readonly deployed: Promise<boolean>
  readonly stop: () => Promise<void>
}

type ModuleRequest = {
  readonly module: string
  /** Of that module, as far as it is known. */
  readonly location_name: string | undefined
  readonly options: { readonly slots: string; readonly deploy: boolean }
  readonly environment: Environment
  readonly api_url: string
  readonly worker_url: string
  readonly port: number
  /** The program that `servo worker` is a command of. */
  readonly servo: string
  readonly data: DataFolder
  readonly records: Records
  readonly say: (line: string) => void
  readonly signal: AbortSignal
  /** Resolves when the API can be asked. */
  readonly isUp: Promise<unknown>
}

/** A user's code must not be able to sign for other locations, or to make tokens of its own. */
const WITHOUT_SECRETS = { SERVO_SECRETS: undefined, SERVO_API_TOKEN: undefined, TEMPORAL_API_KEY: undefined }

export function serveModule(request: ModuleRequest): ServedModule {
  const { module, options, environment, api_url, worker_url, data, records, say, signal } = request
  const path = resolve(module)
  const args = [request.servo, 'worker', path, '--port', String(request.port), '--slots', options.slots, '--standby']
  const program = { name: 'worker', command: process.execPath, args, log_file: data.logFile('worker') }
  const slots = Number(options.slots)
  const deploys = createDeploys({
    client: sessionOf({ api: api_url }, { environment, screen: screenOf(process.stdout, environment) }).client,
    module,
    // As the worker says of itself, so that `servo deploy` has nothing to change.
    worker: { worker_url, slots, prefetch: prefetchOf(slots) },
    ...commandedBy({}, { environment, loginName: loginNameOf }),
    say,
    signal,
  })
  let deployed: Promise<boolean> = Promise.resolve(false)
  const worker = keepWorker(program, {
    module,
    location_name: request.location_name ?? '',
    environmentOf: (location_name) => ({
      ...environment,
      ...WITHOUT_SECRETS,
      SERVO_API_URL: api_url,
      SERVO_WORKER_SECRETS: locationSecretsText(data.secrets.SERVO_WORKER_SECRETS, { ...scopeIn(environment), location_name }),
    }),
    say,
    records,
    refusalOf: async (source) => (options.deploy ? deploys.refusalOf(source) : undefined),
    onServing(source, cause) {
      if (cause === 'change') say(`The worker serves ${module} as it is now.${options.deploy ? '' : ` ${byHand(module)}`}`)
      if (options.deploy) deployed = request.isUp.then(() => deploys.deploy(source, cause)).catch(() => false)
    },
  })
  const watching = watchCode({ module: path, data_folder: data.path, onChange: worker.renew, say })
  return {
    serving: worker.settled,
    deployed: worker.settled.then(() => deployed),
    async stop() {
      watching.stop()
      await worker.stop()
    },
  }
}

const byHand = (module: string): string => `\`servo deploy ${module}\` makes its definitions known.`
