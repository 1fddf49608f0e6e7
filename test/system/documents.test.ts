// The commands of the documents that need a running system, in their order, against one that was just started; and the
// tables of routes, commands and settings, against what there is.

import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { liveBlocks } from '../fixtures/live-blocks.js'
import { freePorts, type Ports, type Started, start, untilSaid } from '../fixtures/started.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT_MS = 240_000
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const documents = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]
const blocks = documents.flatMap((path) => liveBlocks(path, read(path)))

let started: Started
let ports: Ports
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'servo-documents-'))
  ports = await freePorts()
  started = start(folder, ports)
  await untilSaid(started, 'Ctrl-C stops everything')
}, TIMEOUT_MS)

afterAll(async () => {
  await started?.interrupt()
  rmSync(folder, { recursive: true, force: true })
}, TIMEOUT_MS)

function run(command: string): Promise<{ readonly code: number; readonly said: string }> {
  const script = command.replaceAll('npx servo', `'${process.execPath}' bin/servo.js`)
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    SERVO_API: `http://127.0.0.1:${ports.port}`,
    SERVO_WORKER_URL: `http://127.0.0.1:${ports.worker}`,
    SERVO_STORE: `local:${join(folder, 'store')}`,
  }
  return new Promise((resolve) => {
    execFile('bash', ['-euo', 'pipefail', '-c', script], { cwd: ROOT, env, encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, said: `${stdout}${stderr}` }),
    )
  })
}

describe('the commands of the documents', () => {
  test('are there', () => {
    expect([...new Set(blocks.map(({ path }) => path))].sort()).toEqual([
      'README.md',
      'docs/api.md',
      'docs/cli.md',
      'docs/getting-started.md',
      'docs/operating.md',
      'docs/schedules.md',
    ])
  })

  test.each(blocks.map(({ path, lines }) => ({ path, first: lines[0], lines })))(
    '$path: $first',
    async ({ lines }) => {
      for (const line of lines) {
        const { code, said } = await run(line)
        expect({ line, code, said: code === 0 ? '' : said }).toEqual({ line, code: 0, said: '' })
      }
    },
    TIMEOUT_MS,
  )

  test(
    'fail where one does not work',
    async () => {
      expect((await run('npx servo run show nothing')).code).toBe(1)
    },
    TIMEOUT_MS,
  )
})

test('the cancels of the documents have ended runs', async () => {
  const { runs } = (await (await fetch(`http://127.0.0.1:${ports.port}/api/v1/orchestration/runs?state=CANCELLED&fresh=true`)).json()) as {
    readonly runs: readonly object[]
  }
  expect(runs).toHaveLength(2)
})

test('what the commands asked for is counted by the API', async () => {
  const text = await (await fetch(`http://127.0.0.1:${ports.port}/metrics`)).text()
  const count = (series: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length),
    )
  expect(count('servo_append_duration_seconds_count{outcome="appended"}')).toBeGreaterThan(0)
  expect(count('servo_fresh_read_duration_seconds_count{outcome="fresh"}')).toBeGreaterThan(0)
  expect(count('servo_pokes_total{outcome="sent"}')).toBeGreaterThan(0)
  expect(count('servo_revision_sequence')).toBeGreaterThan(0)
})

const rows = (path: string, pattern: RegExp) => [...read(path).matchAll(pattern)].map(([, found]) => found as string)

test('the page of the API has every route, and no other', async () => {
  const { paths } = (await (await fetch(`http://127.0.0.1:${ports.port}/openapi.json`)).json()) as { paths: Record<string, object> }
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace('/api/v1/orchestration', '')}`),
  )
  expect(rows('docs/api.md', /^\| `((?:GET|POST|PUT|PATCH|DELETE) \S+)` \|/gm).sort()).toEqual(served.sort())
})

test('the page of the command line has every command', async () => {
  const { said } = await run('npx servo --help')
  const commands = [...said.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name as string)
  const documented = rows('docs/cli.md', /^\| `servo ([a-z]+)` \|/gm)
  expect(documented.sort()).toEqual(commands.sort())
})

test('the page of the configuration has every setting', () => {
  const sources = [
    'src/bin/config.ts',
    'src/bin/dispatch-config.ts',
    'src/bin/oidc-config.ts',
    'src/cli/local/deploy-worker.ts',
    'src/cli/api-command.ts',
    'src/cli/commanded.ts',
    'examples/quickstart/pipeline.ts',
  ]
  const named = new Set(
    sources.flatMap((path) => [...read(path).matchAll(/'((?:SERVO|TEMPORAL|STORAGE|OTEL)_[A-Z_]+)'/g)].map(([, name]) => name as string)),
  )
  expect(rows('docs/configuration.md', /^\| `([A-Z_]+)` \|/gm).sort()).toEqual([...named].sort())
})
