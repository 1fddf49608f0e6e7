// The whole of Servo as a team runs it: two APIs and three workers behind an address each, two automations, a Temporal server
// that keeps its state in a file, and a store that speaks HTTP, with a proxy before it that cuts, delays and drops answers.
// Three workers are one location behind one address, and not three locations: so an attempt is handed to two workers at
// times, and the answer to `started` has to decide which of them runs it.

import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ApiClient, createApiClient } from '../../src/cli/client.js'
import { startDevServer } from '../../src/cli/local/temporal-server.js'
import { locationSecret } from '../../src/core/location-secret.js'
import { secretsText } from '../../src/core/secrets.js'
import { type StoreProxy, startStoreProxy } from '../faults/store-proxy.js'
import { fakeGcsProgram, makeBucket } from '../fixtures/fake-gcs.js'
import { freeLowPorts } from '../fixtures/free-port.js'
import type { Random } from '../fixtures/random.js'
import { temporalProgram } from '../fixtures/temporal-program.js'
import { until } from '../fixtures/until.js'
import type { StorePlace } from '../system/side-effects.js'
import { startBalancer } from './balancer.js'
import { startGuard } from './guard.js'
import { EFFECTS_VARIABLE, location, SEED_VARIABLE } from './location.js'
import { createPart, type Launch, type Part, type PartKind } from './part.js'

const SERVO = fileURLToPath(new URL('../../bin/servo.js', import.meta.url))
const MODULE = fileURLToPath(new URL('./location.ts', import.meta.url))
const BUCKET = 'servo-chaos'

const INSTALLATION = { secret_key_id: 'w1', secret: 'another-secret-for-tests' }
const OF_LOCATION = locationSecret(INSTALLATION, { tenant_id: 'default', workspace_id: 'default', location_name: location.name })
const OF_WORKERS = { SERVO_WORKER_SECRETS: secretsText([OF_LOCATION]) }

export const COUNTS = { api: 2, automation: 2, worker: 3 } as const
/** Of each worker, and of their location: with all three there is room to spare, with one of them there is not enough. */
const WORKER_SLOTS = 12
export const LOCATION_SLOTS = 24

/** On a machine that is busy with something else. */
const READY_MS_MAX = 120_000

export type WorldOptions = {
  readonly folder: string
  readonly seed: number
  readonly store_kind: 'gcs' | 'local'
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
  /** Loses all that Temporal knows. It has to be down. */
  readonly wipeTemporal: () => void
  readonly close: () => Promise<void>
}

const numbered = (kind: keyof typeof COUNTS): readonly string[] => Array.from({ length: COUNTS[kind] }, (_, i) => `${kind}-${i + 1}`)

async function freePorts() {
  const free = [...(await freeLowPorts(2 + COUNTS.api + COUNTS.automation + COUNTS.worker))]
  const some = (count: number): readonly number[] => free.splice(0, count)
  const [temporal, store] = some(2) as [number, number]
  return { temporal, store, api: some(COUNTS.api), metrics: some(COUNTS.automation), worker: some(COUNTS.worker) }
}

export async function startWorld({ folder, seed, store_kind, random, say }: WorldOptions): Promise<World> {
  const logs = join(folder, 'logs')
  mkdirSync(logs, { recursive: true })
  const guard = startGuard(folder)
  const effects = join(folder, 'effects.ndjson')
  const ports = await freePorts()
  const proxy = store_kind === 'gcs' ? await startStoreProxy(ports.store, random) : undefined
  const apis = await startBalancer(ports.api)
  const workers = await startBalancer(ports.worker)
  const store = proxy === undefined ? `local:${join(folder, 'store')}` : `gs://${BUCKET}/chaos`
  const environment = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    SERVO_SECRETS: 'k1:a-secret-for-tests-only',
    SERVO_WORKER_SECRETS: secretsText([INSTALLATION]),
    SERVO_STORE: store,
    ...(proxy === undefined ? {} : { STORAGE_EMULATOR_HOST: proxy.url }),
    TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}`,
    SERVO_API_URL: apis.url,
    SERVO_RATE_LIMIT: '10000000',
    SERVO_LOG_LEVEL: 'warn',
    [EFFECTS_VARIABLE]: effects,
    [SEED_VARIABLE]: String(seed),
  }

  /** A process whose lines go into a log of its own. */
  const launching =
    (name: string, program: string, args: readonly string[], own: Readonly<Record<string, string>> = {}): Launch =>
    (onSpawn) =>
      new Promise((resolve, reject) => {
        const log = openSync(join(logs, `${name}.log`), 'a')
        const env = { ...environment, SERVO_CACHE: join(folder, 'cache', name), ...own }
        const child = spawn(program, args, { env, stdio: ['ignore', log, log], detached: true })
        closeSync(log)
        onSpawn(child.pid)
        child.once('error', reject)
        child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
      })
  const servo = (name: string, args: readonly string[], own?: Readonly<Record<string, string>>): Launch =>
    launching(name, process.execPath, [SERVO, ...args], own)

  const parts: Part[] = []
  const add = (kind: PartKind, name: string, launch: Launch): void => {
    parts.push(createPart({ kind, name, launch, records: guard.records, say }))
  }
  if (proxy !== undefined) {
    const args = ['-scheme', 'http', '-host', '127.0.0.1', '-port', String(ports.store), '-backend', 'memory', '-log-level', 'error']
    add('store', 'store', launching('store', await fakeGcsProgram(), args))
  }
  const db_file = join(folder, 'temporal.db')
  const program = await temporalProgram()
  let isTemporalReady = false
  add('temporal', 'temporal', async (onSpawn) => {
    const server = await startDevServer({ program, port: ports.temporal, db_file, log_file: join(logs, 'temporal.log'), onSpawn })
    isTemporalReady = true
    return server.ended
  })
  numbered('automation').forEach((name, i) =>
    add('automation', name, servo(name, ['automation'], { SERVO_METRICS_PORT: String(ports.metrics[i]) })),
  )
  numbered('api').forEach((name, i) => add('api', name, servo(name, ['api'], { SERVO_PORT: String(ports.api[i]) })))
  numbered('worker').forEach((name, i) =>
    add('worker', name, servo(name, ['worker', MODULE, '--port', String(ports.worker[i]), '--slots', String(WORKER_SLOTS)], OF_WORKERS)),
  )
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
    store: { store, ...(proxy === undefined ? {} : { gcs_endpoint: `http://127.0.0.1:${ports.store}` }) },
    proxy,
    client: createApiClient({ url: apis.url }),
    worker_url: workers.url,
    effects,
    metrics_urls: ports.metrics.map((port) => `http://127.0.0.1:${port}/metrics`),
    wipeTemporal() {
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${db_file}${suffix}`, { force: true })
    },
    close,
  }
}

const isOk = (url: string): Promise<boolean> => fetch(url).then(({ ok }) => ok)
