// The settings of the processes that serve a workspace. Each is a flag and an environment variable; the configuration
// (bin/config.ts) judges them together.

import type { Command } from 'commander'
import { ConfigError, type Environment } from '../../bin/config.js'
import { UsageError } from '../exit-code.js'

type Setting = { readonly flag: string; readonly variable: string; readonly about: string }

const SERVER: readonly Setting[] = [
  { flag: '--store <place>', variable: 'SERVO_STORE', about: 'where the ledger is: local:PATH or gs://bucket/prefix (local:.servo/store)' },
  { flag: '--tenant <name>', variable: 'SERVO_TENANT', about: 'tenant (default)' },
  { flag: '--workspace <name>', variable: 'SERVO_WORKSPACE', about: 'workspace (default)' },
  { flag: '--temporal <address>', variable: 'TEMPORAL_ADDRESS', about: 'where Temporal is (127.0.0.1:7233)' },
  { flag: '--namespace <name>', variable: 'TEMPORAL_NAMESPACE', about: 'namespace in Temporal (servo)' },
  { flag: '--api-url <url>', variable: 'SERVO_API_URL', about: 'where workers reach the API (http://127.0.0.1:7800)' },
  { flag: '--cache <folder>', variable: 'SERVO_CACHE', about: 'where copies of remote table files are kept' },
  { flag: '--log-level <level>', variable: 'SERVO_LOG_LEVEL', about: 'debug, info, warn, error or silent (info)' },
]

export const API_SETTINGS: readonly Setting[] = [
  { flag: '--host <address>', variable: 'SERVO_HOST', about: 'where to listen (127.0.0.1)' },
  { flag: '--port <number>', variable: 'SERVO_PORT', about: 'port to listen on (7800)' },
]

export const AUTOMATION_SETTINGS: readonly Setting[] = [
  { flag: '--metrics-host <address>', variable: 'SERVO_METRICS_HOST', about: 'where to serve what it counts (127.0.0.1)' },
  { flag: '--metrics-port <number>', variable: 'SERVO_METRICS_PORT', about: 'port to serve it on (7802); none: it is not served' },
]

/** Settings that nobody should type where others can see them. */
const FROM_ENVIRONMENT = `
From the environment only:
  SERVO_SECRETS         key_id:secret[,key_id:secret]  ids and task tokens; the first is used, all are accepted
  SERVO_WORKER_SECRETS  key_id:secret[,…]              signatures of what workers are handed; likewise
  SERVO_API_TOKEN       token[,token]                  what callers of the API have to show, one of them
  TEMPORAL_API_KEY      text                           for Temporal Cloud
To rotate one, add the new entry at the end everywhere, and only then move it to the front: docs/security.md`

export function withServerSettings(command: Command, more: readonly Setting[] = []): Command {
  for (const { flag, variable, about } of [...SERVER, ...more]) command.option(flag, `${about} [${variable}]`)
  return command.addHelpText('after', FROM_ENVIRONMENT)
}

/** Reads the configuration from flags and environment; what is wrong with it is a fault of how the command was called. */
export function configured<T>(
  read: (environment: Environment) => T,
  environment: Environment,
  options: Readonly<Record<string, unknown>>,
): T {
  try {
    return read(environmentWith(environment, options))
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error
  }
}

/** A flag goes before the environment. */
function environmentWith(environment: Environment, options: Readonly<Record<string, unknown>>): Environment {
  const flags = [...SERVER, ...API_SETTINGS, ...AUTOMATION_SETTINGS].flatMap(({ flag, variable }) => {
    const value = options[memberOf(flag)]
    return typeof value === 'string' ? [[variable, value] as const] : []
  })
  return { ...environment, ...Object.fromEntries(flags) }
}

/** As commander names it: `--api-url <url>` is `apiUrl`. */
const memberOf = (flag: string): string =>
  (flag.split(' ')[0] ?? '').slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
