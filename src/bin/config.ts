// What a process is told by flags and by its environment: read once, at its start, with everything that is wrong with it in
// one message. A flag goes before the environment, and the environment before the default.

import { isLoopback, listeningFault } from '../core/host.js'
import { isName, isTenantId } from '../core/ids.js'
import { isLocationSecret } from '../core/location-secret.js'
import { NAMESPACE_DEFAULT } from '../core/names.js'
import { parseSecrets, SECRET_VARIABLES } from '../core/secrets.js'
import type { Secrets } from '../core/token.js'
import type { IdentitySource } from '../oidc/identity.js'
import { storeFault } from '../storage/open.js'
import type { WorkspaceConfig } from './deps.js'
import { type DispatchConfig, readDispatch } from './dispatch-config.js'
import { type OidcConfig, readCallbackOidc, readDeliveryOidc, readIdentity } from './oidc-config.js'

export type Environment = Readonly<Record<string, string | undefined>>

export type TemporalConfig = { readonly address: string; readonly namespace: string; readonly api_key?: string }

/** What the API and the automation have in common. */
type ServerConfig = {
  readonly workspace: WorkspaceConfig
  readonly temporal: TemporalConfig
  /** The first one makes ids and tokens, all of them are accepted. */
  readonly secrets: Secrets
  /** Where workers reach the API. */
  readonly api_url: string
  readonly log_level: LogLevel
  /** Where spans are sent; left out: there are none. */
  readonly traces_url?: string
}

export type ApiConfig = ServerConfig & {
  readonly host: string
  readonly port: number
  /** All of them are accepted; none: no token is asked for. */
  readonly api_tokens: readonly string[]
  /** Names beside loopback that this API is called by. */
  readonly allowed_hosts: readonly string[]
  readonly rate_limit_per_minute: number
  /** Who may call back; undefined: the token of the attempt is enough. */
  readonly callback_oidc: OidcConfig | undefined
}

/** The automation serves no requests; what it counts is served on a port of its own. */
export type AutomationConfig = ServerConfig & {
  /** undefined: nothing is served. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined
  readonly dispatch: DispatchConfig
  /** The first one signs what workers are handed, by a secret for each location. undefined: nothing is signed. */
  readonly worker_secrets: Secrets | undefined
}

/** What a worker is told beside its keys: who may deliver to it, who it is itself, where it reports and what it is called. */
export type WorkerConfig = {
  readonly delivery_oidc: OidcConfig | undefined
  readonly identity: IdentitySource | undefined
  readonly api_urls: readonly string[]
  readonly allowed_hosts: readonly string[]
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
type LogLevel = (typeof LOG_LEVELS)[number]

export class ConfigError extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(
      faults.length === 1 ? `${faults[0]}` : `${faults.length} settings are wrong:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    )
    this.name = 'ConfigError'
    this.faults = faults
  }
}

export const PORT_DEFAULT = 7800
const API_URL_DEFAULT = `http://127.0.0.1:${PORT_DEFAULT}`
/** Beside the API's and the workers'. */
const METRICS_PORT_DEFAULT = 7802
export const TEMPORAL_ADDRESS_DEFAULT = '127.0.0.1:7233'

type Fault = { readonly fault: string }

/** Reads settings one by one and keeps what is wrong with them. */
function createSource(environment: Environment) {
  const faults: string[] = []
  return {
    faults,
    read<T>(name: string, fallback: string | undefined, parse: (text: string) => T): Exclude<T, Fault> | undefined {
      const given = environment[name]
      const text = given === undefined || given === '' ? fallback : given
      if (text === undefined) return undefined
      const parsed = parse(text)
      if (typeof parsed !== 'object' || parsed === null || !('fault' in parsed)) return parsed as Exclude<T, Fault>
      faults.push(
        SECRET_VARIABLES.includes(name)
          ? `${name} is not as it should be. ${parsed.fault}`
          : `${name} is ${JSON.stringify(text)}. ${parsed.fault}`,
      )
      return undefined
    },
  }
}

type Source = ReturnType<typeof createSource>

export function readApiConfig(environment: Environment): ApiConfig {
  const source = createSource(environment)
  const server = readServer(source)
  const host = source.read('SERVO_HOST', '127.0.0.1', anyText) ?? ''
  const port = source.read('SERVO_PORT', String(PORT_DEFAULT), wholeFrom(0, 65_535)) ?? 0
  const api_tokens = source.read('SERVO_API_TOKEN', undefined, readTokens) ?? []
  const allowed_hosts = source.read('SERVO_ALLOWED_HOSTS', '', hostNames) ?? []
  const rate_limit_per_minute = source.read('SERVO_RATE_LIMIT', '6000', wholeFrom(1, 10_000_000)) ?? 0
  const callback_oidc = readCallbackOidc(source.read, source.faults)
  const fault = listeningFault({ host, has_token: api_tokens.length > 0 })
  if (fault !== undefined) source.faults.push(fault)
  // Workers call it by this name. Loopback is allowed as it is, and pages of other programs of this machine are not.
  const own = source.faults.length > 0 || isLoopback(nameIn(server.api_url)) ? [] : [nameIn(server.api_url)]
  const names = [...new Set([...own, ...allowed_hosts])]
  return complete(source, { ...server, host, port, api_tokens, allowed_hosts: names, rate_limit_per_minute, callback_oidc })
}

export function readAutomationConfig(environment: Environment): AutomationConfig {
  const source = createSource(environment)
  const server = readServer(source)
  const host = source.read('SERVO_METRICS_HOST', '127.0.0.1', anyText) ?? ''
  const port = source.read('SERVO_METRICS_PORT', String(METRICS_PORT_DEFAULT), portOrNone) ?? 0
  const dispatch = readDispatch(source.read, source.faults)
  const worker_secrets = readWorkerSecrets(source)
  return complete(source, { ...server, metrics: port === 0 ? undefined : { host, port }, dispatch, worker_secrets })
}

export function readWorkerConfig(environment: Environment): WorkerConfig {
  const { read, faults, ...source } = createSource(environment)
  const delivery_oidc = readDeliveryOidc(read, faults)
  const identity = readIdentity(read)
  const api_urls = read('SERVO_API_URL', API_URL_DEFAULT, httpUrls) ?? []
  const allowed_hosts = read('SERVO_ALLOWED_HOSTS', '', hostNames) ?? []
  return complete({ ...source, read, faults }, { delivery_oidc, identity, api_urls, allowed_hosts })
}

/** Those of the installation: for the automation, and for whoever derives the secret of a location from them. */
export function readInstallationSecrets(environment: Environment): Secrets | undefined {
  const source = createSource(environment)
  return complete(source, readWorkerSecrets(source))
}

const readWorkerSecrets = ({ read }: Source): Secrets | undefined => read('SERVO_WORKER_SECRETS', undefined, installationSecrets)

/** Of the automation's settings, those of the way to the workers: for whoever looks whether it is there. */
export function readDispatchConfig(environment: Environment): DispatchConfig {
  const source = createSource(environment)
  return complete(source, readDispatch(source.read, source.faults))
}

function complete<T>({ faults }: Source, config: T): T {
  if (faults.length > 0) throw new ConfigError(faults)
  return config
}

function readServer(source: Source): ServerConfig {
  const gcs_endpoint = source.read('STORAGE_EMULATOR_HOST', undefined, anyText)
  const cache_folder = source.read('SERVO_CACHE', undefined, anyText)
  const api_key = source.read('TEMPORAL_API_KEY', undefined, anyText)
  const traces_url = readTracesUrl(source)
  const secrets = source.read('SERVO_SECRETS', undefined, readSecrets)
  if (secrets === undefined && source.faults.every((fault) => !fault.startsWith('SERVO_SECRETS'))) {
    source.faults.push(
      'SERVO_SECRETS is not set. Give it key_id:secret, such as k1:a-long-random-text; of several, separated by commas, the first is used and all are accepted. `servo dev` makes one for this machine.',
    )
  }
  return {
    workspace: {
      store: source.read('SERVO_STORE', 'local:.servo/store', storePlace) ?? '',
      tenant_id: source.read('SERVO_TENANT', 'default', tenantName) ?? '',
      workspace_id: source.read('SERVO_WORKSPACE', 'default', tenantName) ?? '',
      ...(gcs_endpoint === undefined ? {} : { gcs_endpoint }),
      ...(cache_folder === undefined ? {} : { cache_folder }),
    },
    temporal: {
      address: source.read('TEMPORAL_ADDRESS', TEMPORAL_ADDRESS_DEFAULT, hostAndPort) ?? '',
      namespace: source.read('TEMPORAL_NAMESPACE', NAMESPACE_DEFAULT, anyText) ?? '',
      ...(api_key === undefined ? {} : { api_key }),
    },
    secrets: secrets ?? NO_SECRETS,
    api_url: source.read('SERVO_API_URL', API_URL_DEFAULT, httpUrl) ?? '',
    log_level: source.read('SERVO_LOG_LEVEL', 'info', logLevel) ?? 'info',
    ...(traces_url === undefined ? {} : { traces_url }),
  }
}

/** For a worker, which has no other settings of this kind. */
export function readTracing(environment: Environment): { readonly traces_url: string | undefined } {
  const source = createSource(environment)
  return complete(source, { traces_url: readTracesUrl(source) })
}

/** The variables that all programs have for it; the SDK reads more of them by itself. */
function readTracesUrl(source: Source): string | undefined {
  const base = source.read('OTEL_EXPORTER_OTLP_ENDPOINT', undefined, httpUrl)
  const own = source.read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', undefined, httpUrl)
  const is_off = source.read('OTEL_SDK_DISABLED', 'false', (text) => text.toLowerCase() === 'true')
  if (is_off === true) return undefined
  if (base !== undefined || own !== undefined) {
    source.read('OTEL_EXPORTER_OTLP_PROTOCOL', undefined, overHttp)
    source.read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', undefined, overHttp)
  }
  return own ?? (base === undefined ? undefined : `${base}/v1/traces`)
}

const overHttp = (text: string) =>
  text.startsWith('http/')
    ? text
    : { fault: 'Spans are sent over HTTP: name the port of the collector that takes it (4318 as a rule), and http/json here.' }

/** Never used: a configuration without secrets is refused. */
const NO_SECRETS: Secrets = [{ secret_key_id: 'none', secret: '' }]

const anyText = (text: string): string => text
const tenantName = (text: string) => (isTenantId(text) ? text : { fault: 'Use 1 to 63 of a-z, 0-9 and -, the first no -.' })
const storePlace = (text: string) => {
  const fault = storeFault(text)
  return fault === undefined ? text : { fault }
}
const wholeFrom = (min: number, max: number) => (text: string) => {
  const number = Number(text)
  return /^\d{1,9}$/.test(text) && number >= min && number <= max ? number : { fault: `Give it a whole number from ${min} to ${max}.` }
}
const portOrNone = (text: string): number | Fault => {
  const port = text === 'none' ? 0 : wholeFrom(0, 65_535)(text)
  return typeof port === 'number' ? port : { fault: 'Give it a port from 1 to 65535, or none.' }
}
const PORT_MAX = 65_535
/** What is wrong with the address of a Temporal server, as a sentence; undefined: nothing. */
export function temporalAddressFault(text: string): string | undefined {
  const port = Number(/^[^\s:/]+:(\d{1,5})$/.exec(text)?.[1])
  return port >= 1 && port <= PORT_MAX ? undefined : 'Give it host and port, such as 127.0.0.1:7233.'
}
function hostAndPort(text: string): string | Fault {
  const fault = temporalAddressFault(text)
  return fault === undefined ? text : { fault }
}
const logLevel = (text: string) =>
  (LOG_LEVELS as readonly string[]).includes(text) ? (text as LogLevel) : { fault: `Give it one of ${LOG_LEVELS.join(', ')}.` }

function httpUrl(text: string): string | Fault {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isFit = url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:') && url.search === '' && url.hash === ''
  return isFit ? text.replace(/\/+$/, '') : { fault: 'Give it a URL, such as http://127.0.0.1:7800.' }
}

/** More than one while the API moves from one address to another. */
function httpUrls(text: string): readonly string[] | Fault {
  const urls = text.split(',').map((url) => httpUrl(url.trim()))
  return urls.find((url) => typeof url !== 'string') ?? (urls as readonly string[])
}

const nameIn = (url: string): string => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')

const HOST_NAME = /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/

function hostNames(text: string): readonly string[] | Fault {
  const names = text === '' ? [] : text.split(',').map((name) => name.trim().toLowerCase())
  return names.every((name) => HOST_NAME.test(name))
    ? names
    : { fault: 'Give it names without a port, such as servo.example.com, several of them separated by commas.' }
}

const SECRET_CHARACTERS_MIN = 16

/** `the-one-that-is-used,another-that-is-accepted`. */
function readTokens(text: string): readonly string[] | Fault {
  const tokens = text.split(',').map((token) => token.trim())
  return tokens.every((token) => token.length >= SECRET_CHARACTERS_MIN && !/\s/.test(token))
    ? tokens
    : { fault: `Give it ${SECRET_CHARACTERS_MIN} characters or more without spaces, or several such tokens separated by commas.` }
}

/** `k2:the-new-one,k1:the-old-one`. What is wrong is told without the secret. */
export function readSecrets(text: string): Secrets | Fault {
  const secrets = parseSecrets(text)
  const isFit =
    !('fault' in secrets) && secrets.every(({ secret_key_id, secret }) => isName(secret_key_id) && secret.length >= SECRET_CHARACTERS_MIN)
  if (!isFit) {
    return {
      fault: `Write key_id:secret, several of them separated by commas, each secret of ${SECRET_CHARACTERS_MIN} characters or more.`,
    }
  }
  return secrets as unknown as Secrets
}

function installationSecrets(text: string): Secrets | Fault {
  const secrets = readSecrets(text)
  if ('fault' in secrets || !secrets.some(isLocationSecret)) return secrets
  return { fault: 'It holds the secret of one location. Give the automation that of the installation, which the others are derived from.' }
}
