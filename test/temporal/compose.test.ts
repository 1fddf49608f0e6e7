// temporal/docker-compose.yml, read as Docker Compose reads it, and its settings as Temporal's server reads them. The
// bootstrap job is run against a dev server; the images themselves are started by nobody here.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { Connection } from '@temporalio/client'
import { ALL_SEARCH_ATTRIBUTES } from '../../src/core/names.js'
import { startOnFreePort, temporalProgram } from '../fixtures/temporal-program.js'

/** compose-check is built where set-up was left out. */
const BUILD_TIMEOUT_MS = 15 * 60_000
jest.setTimeout(120_000) // no wait: the bound of a test that starts a server

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FILE = join(ROOT, 'temporal/docker-compose.yml')
const DYNAMIC_CONFIG = join(ROOT, 'temporal/dynamicconfig/servo.yaml')
const folder = mkdtempSync(join(tmpdir(), 'servo-compose-'))
let checker: string

type Service = {
  readonly image: string
  readonly restart: string
  readonly command: readonly string[] | null
  readonly environment: Readonly<Record<string, string>>
  readonly ports?: readonly { readonly host_ip?: string; readonly published: string; readonly target: number }[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly volumes?: readonly { readonly type: string; readonly source: string; readonly target: string; readonly read_only?: boolean }[]
}
type Project = { readonly services: Readonly<Record<string, Service>>; readonly volumes: Readonly<Record<string, unknown>> }
type Server = {
  readonly config: {
    readonly persistence: {
      readonly numHistoryShards: number
      readonly datastores: Readonly<Record<string, { readonly sql: Readonly<Record<string, unknown>> }>>
    }
    readonly services: Readonly<Record<string, { readonly rpc: { readonly bindOnIP: string; readonly grpcPort: number } }>>
    readonly dynamicConfigClient: { readonly filepath: string }
  }
  readonly dynamic_keys: readonly string[]
  readonly dynamic_warnings: readonly string[]
  readonly unread: readonly string[]
}

async function check<T>(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<T> {
  const { stdout } = await promisify(execFile)(checker, [...args], { env: { PATH: process.env.PATH, HOME: folder, ...env } })
  return JSON.parse(stdout) as T
}

const faultOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing',
    (error: { stderr?: string }) => error.stderr ?? String(error),
  )

function planted(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const changed = (name: string, find: string, replace: string): string => {
  const text = readFileSync(FILE, 'utf8')
  expect(text.split(find).length).toBeGreaterThan(1)
  return planted(name, text.replace(find, replace))
}

let project: Project
const service = (name: string): Service => project.services[name] as Service

beforeAll(async () => {
  checker = (await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/compose-check.js')])).stdout.trim()
  project = await check<Project>(['project', FILE])
}, BUILD_TIMEOUT_MS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What this file demands of a project, as sentences about what is wrong. */
function faultsOf({ services, volumes }: Project): string[] {
  return Object.entries(services).flatMap(([name, { image, restart, ports = [], healthcheck, volumes: mounted = [] }]) => [
    ...(ports.every(({ host_ip }) => host_ip === '127.0.0.1') ? [] : [`${name} publishes a port beyond loopback.`]),
    ...(/^temporalio\/[\w-]+:\d+\.\d+\.\d+$|^postgres:\d+$/.test(image) ? [] : [`${name} has no pinned image: ${image}.`]),
    ...(['unless-stopped', 'no'].includes(restart) ? [] : [`${name} does not say when it is restarted.`]),
    ...(restart === 'no' || healthcheck !== undefined ? [] : [`${name} goes on, and nothing looks whether it is well.`]),
    ...mounted.flatMap(({ type, source, read_only }) =>
      (type === 'volume' && source in volumes) || (type === 'bind' && read_only === true) ? [] : [`${name} writes to ${source}.`],
    ),
  ])
}

describe('the file', () => {
  test('publishes on loopback alone, pins its images, restarts, looks after what goes on, and keeps data in named volumes', async () => {
    expect(faultsOf(project)).toEqual([])
    expect(service('postgresql').volumes).toEqual([expect.objectContaining({ type: 'volume', target: '/var/lib/postgresql/data' })])
    const published = Object.values(project.services).flatMap(({ ports = [] }) => ports.map(({ published }) => published))
    expect(published).toEqual(['7233', '8080'])
  })

  test.each([
    ['127.0.0.1:${SERVO_TEMPORAL_PORT:-7233}:7233', '7233:7233', 'temporal publishes a port beyond loopback.'],
    ['temporalio/ui:2.52.0', 'temporalio/ui:latest', 'ui has no pinned image: temporalio/ui:latest.'],
    ['image: postgres:16', 'image: postgres', 'postgresql has no pinned image: postgres.'],
    ['healthcheck:\n      test: [CMD, nc,', 'x-off:\n      test: [CMD, nc,', 'temporal goes on, and nothing looks whether it is well.'],
    ['    restart: unless-stopped\n', '', 'postgresql does not say when it is restarted.'],
    ['- database:/var', '- ./data:/var', `postgresql writes to ${folder}/data.`],
  ])('is caught with %j changed', async (find, replace, fault) => {
    expect(faultsOf(await check<Project>(['project', changed('planted.yml', find, replace)]))).toEqual([fault])
  })

  test('starts the services in order', () => {
    const order = Object.fromEntries(
      Object.entries(project.services).map(([name, { depends_on = {} }]) => [
        name,
        Object.fromEntries(Object.entries(depends_on).map(([on, { condition }]) => [on, condition])),
      ]),
    )
    const healthy = 'service_healthy'
    const completed = 'service_completed_successfully'
    expect(order).toEqual({
      postgresql: {},
      schema: { postgresql: healthy },
      temporal: { postgresql: healthy, schema: completed },
      bootstrap: { temporal: healthy },
      ui: { temporal: healthy, bootstrap: completed },
    })
    // What another one waits for has to end, or has to say that it is well.
    for (const [name, on] of Object.entries(order).flatMap(([, all]) => Object.entries(all))) {
      expect([name, service(name).restart === 'no']).toEqual([name, on === completed])
    }
  })

  test('takes passwords and ports from the environment, one password for all three', async () => {
    const env = { SERVO_TEMPORAL_DB_PASSWORD: 'secret', SERVO_TEMPORAL_PORT: '17233', SERVO_TEMPORAL_UI_PORT: '18080' }
    const { services } = await check<Project>(['project', FILE], env)
    expect([
      services.postgresql?.environment.POSTGRES_PASSWORD,
      services.schema?.environment.SQL_PASSWORD,
      services.temporal?.environment.POSTGRES_PWD,
    ]).toEqual(['secret', 'secret', 'secret'])
    expect([services.temporal?.ports?.[0]?.published, services.ui?.ports?.[0]?.published]).toEqual(['17233', '18080'])
  })

  test('has one version of the server everywhere, that of the dev server', () => {
    const versions = ['schema', 'temporal', 'bootstrap'].map((name) => service(name).image.split(':')[1])
    expect(new Set(versions)).toEqual(new Set(['1.31.2']))
    for (const module of ['dev-server', 'compose-check']) {
      expect(readFileSync(join(ROOT, 'temporal', module, 'go.mod'), 'utf8')).toMatch(/^\tgo\.temporal\.io\/server v1\.31\.2\b/m)
    }
  })
})

describe("the specification's schema", () => {
  test.each([
    ['a key that it does not have', 'restart: unless-stopped', 'restarts: unless-stopped', /services\.postgresql\.restarts/],
    ['a condition that it does not have', 'condition: service_healthy', 'condition: healthy', /value must be one of/],
    ['a service that is not there', 'postgresql:\n        condition', 'postgres:\n        condition', /depends on undefined service/],
    ['a volume that is not there', 'volumes:\n  database:\n', '', /undefined volume database/],
  ])('refuses %s', async (_, find, replace, fault) => {
    expect(await faultOf(check(['project', changed('wrong.yml', find, replace)]))).toMatch(fault)
  })
})

describe("Temporal's server", () => {
  const read = (env: Readonly<Record<string, string>>, keys: readonly string[], dynamic = DYNAMIC_CONFIG) =>
    check<Server>(['server', dynamic, ...keys], env)

  test('reads every variable that it is given, and comes to what is meant', async () => {
    const { environment } = service('temporal')
    const { config, unread } = await read(environment, Object.keys(environment))
    expect(unread).toEqual([])
    expect(config.persistence.numHistoryShards).toBe(128)
    const sql = { pluginName: 'postgres12', connectAddr: 'postgresql:5432', user: 'temporal' }
    expect(config.persistence.datastores).toMatchObject({
      default: { sql: { ...sql, databaseName: 'temporal' } },
      visibility: { sql: { ...sql, databaseName: 'temporal_visibility' } },
    })
    expect(config.services.frontend?.rpc).toMatchObject({ bindOnIP: '0.0.0.0', grpcPort: 7233 })
  })

  test('is caught with a variable that it does not read', async () => {
    const { unread } = await read({ ...service('temporal').environment, POSTGRES_PASSWORD: 'x' }, ['DB', 'POSTGRES_PASSWORD'])
    expect(unread).toEqual(['POSTGRES_PASSWORD'])
  })

  test('finds its dynamic configuration where it is mounted, and knows every key', async () => {
    const { environment, volumes } = service('temporal')
    const { config, dynamic_keys, dynamic_warnings } = await read(environment, [])
    expect(volumes).toEqual([expect.objectContaining({ source: join(DYNAMIC_CONFIG, '..'), target: '/etc/temporal/config/dynamicconfig' })])
    // The image works in /etc/temporal.
    expect(join('/etc/temporal', config.dynamicConfigClient.filepath)).toBe('/etc/temporal/config/dynamicconfig/servo.yaml')
    expect(dynamic_warnings).toEqual([])
    expect(dynamic_keys.length).toBeGreaterThan(0)
  })

  test.each([
    ['frontend.nothing:\n  - value: 1\n', 'unregistered key'],
    ['frontend.rps:\n  - value: many\n', 'validation failed'],
  ])('is caught with the dynamic configuration %j', async (text, warning) => {
    const { dynamic_warnings } = await read(service('temporal').environment, [], planted('dynamic.yaml', text))
    expect(dynamic_warnings).toEqual([expect.stringContaining(warning)])
  })

  test('is caught with a dynamic configuration that is no YAML of this kind', async () => {
    const fault = faultOf(read(service('temporal').environment, [], planted('broken.yaml', 'frontend.rps: 7\n')))
    expect(await fault).toContain('decode error')
  })
})

describe('the bootstrap job', () => {
  /** Runs its command as its image would, with the `temporal` that tests use. */
  const bootstrap = async (address: string, command: readonly string[] = service('bootstrap').command ?? []) => {
    const [shell, ...args] = command
    const env = { PATH: `${folder}:/usr/bin:/bin`, HOME: folder, ...service('bootstrap').environment, TEMPORAL_ADDRESS: address }
    return promisify(execFile)(shell as string, args, { env })
  }

  test('makes the namespace with the search attributes of src/core/names.ts, and may run again', async () => {
    const program = await temporalProgram()
    symlinkSync(program, join(folder, 'temporal'))
    const server = await startOnFreePort({ program, log_file: join(folder, 'temporal.log'), namespace: 'another' })
    const connection = await Connection.connect({ address: server.address })
    try {
      const namespace = 'servo'
      await expect(connection.workflowService.describeNamespace({ namespace })).rejects.toThrow(/not found/i)
      await bootstrap(server.address)
      const { config } = await connection.workflowService.describeNamespace({ namespace })
      expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(7 * 86_400)
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
      expect(customAttributes).toEqual(
        Object.fromEntries(Object.entries(ALL_SEARCH_ATTRIBUTES).map(([name, type]) => [name, { Keyword: 2, Datetime: 6 }[type]])),
      )
      await bootstrap(server.address)
    } finally {
      await connection.close()
      await server.stop()
    }
  })
})
