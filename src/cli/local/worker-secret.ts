// `servo worker secret`: the secret of one location's workers, derived from that of the installation. It asks no server.

import type { Command } from 'commander'
import { type Environment, readInstallationSecrets } from '../../bin/config.js'
import { isName } from '../../core/ids.js'
import { type LocationRef, locationSecret } from '../../core/location-secret.js'
import { secretsText } from '../../core/secrets.js'
import { SECRETS_VARIABLE } from '../../sdk/worker/secrets.js'
import { withExample } from '../api-command.js'
import { UsageError } from '../exit-code.js'
import { readDevSecrets } from './dev/data-folder.js'
import { withScope } from './options.js'
import { printJson, printLine } from './print.js'
import { configured } from './server-options.js'

type Options = { readonly tenant: string; readonly workspace: string; readonly data?: string; readonly json?: boolean }

export function addWorkerSecretCommand(group: Command, environment: Environment): void {
  const command = withScope(group.command('secret'))
    .argument('<location>', 'the code location that the worker serves')
    .description(`print the ${SECRETS_VARIABLE} of the workers of a location, derived from that of the installation in the environment`)
    .option('--data <folder>', 'take the secret of the `servo dev` that keeps its data there')
    .option('--json', 'print one JSON value for programs')
    // `servo worker` has --json too, and takes it wherever it stands.
    .action((location_name: string, _: object, own: Command) => print(location_name, own.optsWithGlobals<Options>(), environment))
  withExample(command, 'servo worker secret shop', `${SECRETS_VARIABLE}=$(servo worker secret shop --data .servo) servo worker ./shop.ts`)
}

function print(location_name: string, { tenant, workspace, data, json }: Options, environment: Environment): void {
  if (!isName(location_name)) throw new UsageError(`${JSON.stringify(location_name)} is not the name of a code location.`)
  const installation = data === undefined ? environment[SECRETS_VARIABLE] : readDevSecrets(data).SERVO_WORKER_SECRETS
  const text = locationSecretsText(installation, { tenant_id: tenant, workspace_id: workspace, location_name })
  if (text === undefined) {
    throw new UsageError(
      `${SECRETS_VARIABLE} is not set. Set it to the secret that the automation has, or name the folder of a \`servo dev\` with --data.`,
    )
  }
  if (json === true) printJson({ location_name, worker_secrets: text })
  else printLine(text)
}

/** Of each key of the installation in their order: a worker accepts all of them. undefined: the installation has none. */
export function locationSecretsText(installation: string | undefined, location: LocationRef): string | undefined {
  const secrets = configured(readInstallationSecrets, { [SECRETS_VARIABLE]: installation }, {})
  return secrets === undefined ? undefined : secretsText(secrets.map((secret) => locationSecret(secret, location)))
}
