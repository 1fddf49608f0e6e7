// The options that every command on a store has, and what is built from them.

import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Deps, openDeps, storeFault } from '../../bin/deps.js'
import { isTenantId } from '../../core/ids.js'
import { UsageError } from '../exit-code.js'

export type StoreOptions = {
  readonly store: string
  readonly tenant: string
  readonly workspace: string
  readonly json?: boolean
  readonly gcsEndpoint?: string
  readonly cache?: string
}

export const withScope = (command: Command): Command =>
  command
    .addOption(new Option('--tenant <name>', 'tenant').env('SERVO_TENANT').default('default').argParser(parseTenant))
    .addOption(new Option('--workspace <name>', 'workspace').env('SERVO_WORKSPACE').default('default').argParser(parseTenant))

export function withStore(command: Command): Command {
  const placed = command.addOption(
    new Option('--store <place>', 'where the ledger is: local:PATH or gs://bucket/prefix').env('SERVO_STORE').default('local:.servo/store'),
  )
  return withScope(placed)
    .addOption(new Option('--gcs-endpoint <url>', 'another endpoint than Google Cloud Storage itself').env('STORAGE_EMULATOR_HOST'))
    .addOption(new Option('--cache <folder>', 'where copies of remote table files are kept').env('SERVO_CACHE'))
    .option('--json', 'print one JSON value for programs')
}

function parseTenant(text: string): string {
  if (isTenantId(text)) return text
  throw new InvalidArgumentError('Use 1 to 63 lower-case letters, digits and hyphens, beginning with a letter or digit.')
}

/** Opens the store, runs the command on it, and closes it whatever happens. */
export async function withDeps<T>(options: StoreOptions, access: 'read' | 'write', run: (deps: Deps) => Promise<T>): Promise<T> {
  const fault = storeFault(options.store)
  if (fault !== undefined) throw new UsageError(fault)
  const deps = await openDeps({
    store: options.store,
    tenant_id: options.tenant,
    workspace_id: options.workspace,
    access,
    ...(options.gcsEndpoint === undefined ? {} : { gcs_endpoint: options.gcsEndpoint }),
    ...(options.cache === undefined ? {} : { cache_folder: options.cache }),
  })
  try {
    return await run(deps)
  } finally {
    await deps.close()
  }
}

/** A mistyped place looks like an empty one: whoever finds nothing is told where. */
export const nothingYet = ({ store }: Deps): string => `There is nothing yet in ${store.label}.`
