// The whole of Servo as a team runs it: two APIs and three workers behind an address each, two automations, a Temporal server
// that keeps its state in a file, and a store that speaks HTTP, with a proxy before it that cuts, delays and drops answers.
// Three workers are one location behind one address, and not three locations: so an attempt is handed to two workers at
// times, and the answer to `started` has to decide which of them runs it.

import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ApiClient } from '../../src/cli/client.js'
import { startDevServer } from '../../src/cli/local/temporal-server.js'
import { type StoreProxy, startStoreProxy } from '../faults/store-proxy.js'
import { fakeGcsProgram, makeBucket } from '../fixtures/fake-gcs.js'
import { freeLowPorts } from '../fixtures/free-port.js'
import type { Random } from '../fixtures/random.js'
import { temporalProgram } from '../fixtures/temporal-program.js'
import { until } from '../fixtures/until.js'
import type { StorePlace } from '../system/side-effects.js'
import { startBalancer } from './balancer.js'
import { BEFORE_ROTATION, type Credentials, createRotatedClient, serverEnvironment, workerEnvironment } from './credentials.js'
import { startGuard } from './guard.js'
import { EFFECTS_VARIABLE, SEED_VARIABLE } from './location.js'
import { createPart, type Launch, type Part, type PartKind } from './part.js'

const SERVO = fileURLToPath(new URL('../../bin/servo.js', import.meta.url))
const MODULE = fileURLToPath(new URL('./location.ts', import.meta.url))
const BUCKET = 'servo-chaos'

export const COUNTS = { api: 2, automation: 2, worker: 3 } as const
/** Of each worker, and of their location: with all three there is room to spare, with one of them there is not enough. */
const WORKER_SLOTS = 12
export const LOCATION_SLOTS = 24
/** Kept beyond them, where the store takes a publish a second. */
export const LOCATION_PREFETCH = 96

/** On a machine that is busy with something else. */
const READY_MS_MAX = 120_000
const METRICS_MS_MAX = 5_000

export type WorldOptions = {
  readonly folder: string
  readonly seed: number
  readonly store_kind: 'gcs' | 'local'
  readonly has_neighbour: boolean
  readonly random: Random
  readonly say: (line: string) => void
}

export type World = {
  readonly parts: readonly Part[]
  /** What tests and commands that take part in no chaos read. */
  readonly store: StorePlace
  /** undefined: the store is a folder, and nobody stands between. */
  readonly proxy: StoreProxy | undefined
  readonly client: ApiClient
  readonly worker_url: string
  readonly effects: string
  readonly metrics_urls: readonly string[]
  /** Each API by itself, as Prometheus scrapes them. */
  readonly api_urls: readonly string[]
  readonly temporal_address: string
  /** Another workspace, with an API, an automation and a worker of its own in the same namespace of Temporal; undefined: a short run. */
  readonly neighbour: Neighbour | undefined
  /** Whether the Temporal server makes Servo's namespace when it starts. */
  readonly setTemporalNamespace: (is_made: boolean) => void
  /** What processes are started with from now on, and clients use. */
  readonly setCredentials: (credentials: Credentials) => void
  /** Of an API by itself, with the token. */
  readonly metricsAt: (url: string) => Promise<string>
  /** Loses all that Temporal knows. It has to be down. */
  readonly wipeTemporal: () => void
  readonly close: () => Promise<void>
}

export type Neighbour = { readonly client: ApiClient; readonly worker_url: string; readonly effects: string; readonly store: StorePlace }
const NEIGHBOUR = 'neighbour'
/** Tenant and workspace where nobody names them. */
const DEFAULT = 'default'

const numbered = (kind: keyof typeof COUNTS): readonly string[] => Array.from({ length: COUNTS[kind] }, (_, i) => `${kind}-${i + 1}`)

async function freePorts() {
  const free = [...(await freeLowPorts(2 + COUNTS.api + COUNTS.automation + COUNTS.worker + 3))]
  const some = (count: number): readonly number[] => free.splice(0, count)
  const [temporal, store] = some(2) as [number, number]
  const [api, metrics, worker] = some(3) as [number, number, number]
  const neighbour = { api, metrics, worker }
  return { temporal, store, api: some(COUNTS.api), metrics: some(COUNTS.automation), worker: some(COUNTS.worker), neighbour }
}

export async function startWorld({ folder, seed, store_kind, has_neighbour, random, say }: WorldOptions): Promise<World> {
  const logs = join(folder, 'logs')
  mkdirSync(logs, { recursive: true })
  const guard = startGuard(folder)
  const effects = join(folder, 'effects.ndjson')
  const ports = await freePorts()
  const proxy = store_kind === 'gcs' ? await startStoreProxy(ports.store, random) : undefined
  const apis = await startBalancer(ports.api)
  const workers = await startBalancer(ports.worker)
  const store = proxy === undefined ? `local:${join(folder, 'store')}` : `gs://${BUCKET}/chaos`
  const place: StorePlace = { store, ...(proxy === undefined ? {} : { gcs_endpoint: `http://127.0.0.1:${ports.store}` }) }
  const temporal_address = `127.0.0.1:${ports.temporal}`
  let credentials = BEFORE_ROTATION
  const environment = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    SERVO_STORE: store,
    ...(proxy === undefined ? {} : { STORAGE_EMULATOR_HOST: proxy.url }),
    TEMPORAL_ADDRESS: temporal_address,
    SERVO_API_URL: apis.url,
    SERVO_RATE_LIMIT: '10000000',
    SERVO_LOG_LEVEL: 'warn',
    [EFFECTS_VARIABLE]: effects,
    [SEED_VARIABLE]: String(seed),
  }

  /** A process whose lines go into a log of its own. */
  const launching =
    (name: string, program: string, args: readonly string[], ownOf: () => Readonly<Record<string, string>> = () => ({})): Launch =>
    (onSpawn) =>
      new Promise((resolve, reject) => {
        const log = openSync(join(logs, `${name}.log`), 'a')
        const env = { ...environment, SERVO_CACHE: join(folder, 'cache', name), ...ownOf() }
        const child = spawn(program, args, { env, stdio: ['ignore', log, log], detached: true })
        closeSync(log)
        onSpawn(child.pid)
        child.once('error', reject)
        child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
      })
  const server = (name: string, args: readonly string[], own: Readonly<Record<string, string>>): Launch =>
    launching(name, process.execPath, [SERVO, ...args], () => ({ ...serverEnvironment(credentials), ...own }))
  const worker = (name: string, port: number, workspace_id: string, own: Readonly<Record<string, string>> = {}): Launch => {
    const args = [SERVO, 'worker', MODULE, '--port', String(port), '--slots', String(WORKER_SLOTS)]
    return launching(name, process.execPath, args, () => ({
      ...workerEnvironment(credentials, { tenant_id: DEFAULT, workspace_id }),
      ...own,
    }))
  }

  const parts: Part[] = []
  const add = (kind: PartKind, name: string, launch: Launch, port?: number): void => {
    const isAnswering = async () => port === undefined || isOk(`http://127.0.0.1:${port}/healthz`)
    parts.push(createPart({ kind, name, isAnswering, launch, records: guard.records, say }))
  }
  if (proxy !== undefined) {
    const args = ['-scheme', 'http', '-host', '127.0.0.1', '-port', String(ports.store), '-backend', 'memory', '-log-level', 'error']
    add('store', 'store', launching('store', await fakeGcsProgram(), args))
  }
  const db_file = join(folder, 'temporal.db')
  const program = await temporalProgram()
  let isTemporalReady = false
  let isNamespaceMade = true
  add('temporal', 'temporal', async (onSpawn) => {
    // The dev server always has the namespace `default`, and none besides it unless it is told to.
    const namespace = isNamespaceMade ? {} : { namespace: 'default' }
    const server = await startDevServer({
      program,
      port: ports.temporal,
      db_file,
      log_file: join(logs, 'temporal.log'),
      onSpawn,
      ...namespace,
    })
    isTemporalReady = true
    return server.ended
  })
  const addServer = (kind: 'api' | 'automation', name: string, port: number, own: Readonly<Record<string, string>> = {}): void =>
    add(kind, name, server(name, [kind], { ...own, [kind === 'api' ? 'SERVO_PORT' : 'SERVO_METRICS_PORT']: String(port) }), port)
  numbered('automation').forEach((name, i) => addServer('automation', name, ports.metrics[i] as number))
  numbered('api').forEach((name, i) => addServer('api', name, ports.api[i] as number))
  numbered('worker').forEach((name, i) => {
    const port = ports.worker[i] as number
    add('worker', name, worker(name, port, DEFAULT), port)
  })
  const neighbour = has_neighbour ? addNeighbour() : undefined
  /** One of each kind, which are killed and stopped like the others. */
  function addNeighbour(): Neighbour {
    const own_effects = join(folder, 'neighbour-effects.ndjson')
    const url = `http://127.0.0.1:${ports.neighbour.api}`
    const own = { SERVO_WORKSPACE: NEIGHBOUR, SERVO_API_URL: url, [EFFECTS_VARIABLE]: own_effects }
    addServer('automation', 'automation-neighbour', ports.neighbour.metrics, own)
    addServer('api', 'api-neighbour', ports.neighbour.api, own)
    add('worker', 'worker-neighbour', worker('worker-neighbour', ports.neighbour.worker, NEIGHBOUR, own), ports.neighbour.worker)
    return {
      client: createRotatedClient(url, () => credentials),
      worker_url: `http://127.0.0.1:${ports.neighbour.worker}`,
      effects: own_effects,
      store: { ...place, workspace_id: NEIGHBOUR },
    }
  }
  const of = (kind: PartKind) => parts.filter((part) => part.kind === kind)

  async function close(): Promise<void> {
    await Promise.all(parts.map((part) => part.kill()))
    await Promise.all([proxy?.close(), apis.close(), workers.close()])
    await guard.release()
  }
  try {
    for (const part of [...of('store'), ...of('temporal')]) part.start()
    if (proxy !== undefined) await makeBucket(`http://127.0.0.1:${ports.store}`, BUCKET)
    await until('Temporal is ready', () => isTemporalReady, READY_MS_MAX)
    for (const kind of ['automation', 'api', 'worker'] as const) for (const part of of(kind)) part.start()
    // The first revision is there, so whoever stands behind the address has something to read.
    await until('an API is ready', () => isOk(`${apis.url}/readyz`), READY_MS_MAX)
    await until('a worker is ready', () => isOk(`${workers.url}/healthz`), READY_MS_MAX)
  } catch (error) {
    await close()
    throw error
  }
  return {
    parts,
    store: place,
    proxy,
    client: createRotatedClient(apis.url, () => credentials),
    worker_url: workers.url,
    effects,
    metrics_urls: ports.metrics.map((port) => `http://127.0.0.1:${port}/metrics`),
    api_urls: ports.api.map((port) => `http://127.0.0.1:${port}`),
    temporal_address,
    neighbour,
    setTemporalNamespace(is_made) {
      isNamespaceMade = is_made
    },
    setCredentials(next) {
      credentials = next
    },
    async metricsAt(url) {
      const headers = { authorization: `Bearer ${credentials.api_tokens[0]}` }
      const answer = await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(METRICS_MS_MAX) })
      return answer.text()
    },
    wipeTemporal() {
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${db_file}${suffix}`, { force: true })
    },
    close,
  }
}

const isOk = (url: string): Promise<boolean> => fetch(url).then(({ ok }) => ok)
