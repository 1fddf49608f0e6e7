// What `servo api` has loaded when it has answered for the first time, and what quick commands load: packages that the answer
// does not need take longer to load than all the rest.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { freePort } from '../fixtures/free-port.js'
import { runServo, type ServoProcess, startServo } from '../fixtures/servo-process.js'
import { STEADY_EVENTS_PER_RUN } from '../fixtures/steady-runs.js'
import { deployLines, STORY_SCOPE, storyLines } from '../fixtures/story-file.js'
import { until } from '../fixtures/until.js'

const TIMEOUT_MS = 120_000
const RUNS = 12
const LOADED = new URL('../fixtures/loaded-modules.cjs', import.meta.url).pathname

/** Temporal's client, what goes through large files, Google's clients, what compiles users' modules, what sends
 *  spans, what verifies tokens, and what writes the OpenAPI document. */
const HEAVY =
  /^(@temporalio\/|@grpc\/|protobufjs$|@duckdb\/|@google-cloud\/|google-|@swc\/|@opentelemetry\/(?!api$)|jose$|dist\/parts\/openapi$)/

/** What is bundled has no name of its own here, so what it comes to is bounded: it is 4.9 million now, and 1.7 of a command. */
const API_BYTES_MAX = 5_500_000
const COMMAND_BYTES_MAX = 2_000_000

let folder = ''
let place: readonly string[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'servo-first-'))
  place = ['--store', `local:${join(folder, 'store')}`, ...STORY_SCOPE]
  const story = `${deployLines()}${storyLines({ events: RUNS * STEADY_EVENTS_PER_RUN, name: 'first' })}`
  expect(await runServo(['ledger', 'append', ...place, '--file', '-'], {}, story)).toMatchObject({ code: 0 })
  expect(await runServo(['ledger', 'compact', ...place])).toMatchObject({ code: 0 })
}, TIMEOUT_MS)
let api: ServoProcess | undefined
afterAll(async () => {
  api?.stop('SIGKILL')
  await api?.finished
  rmSync(folder, { recursive: true, force: true })
})

const environment = () => ({ NODE_OPTIONS: `--require ${LOADED}`, SERVO_TEST_LOADED: folder, SERVO_SECRETS: 'k1:a-secret-for-tests-only' })
type Loaded = { readonly packages: readonly string[]; readonly bytes: number }
const loaded = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Loaded
const told = (file: string) => loaded(file).packages

test(
  'the first page of runs is right, and heavy packages are loaded behind it',
  async () => {
    const port = await freePort()
    const temporal = `127.0.0.1:${await freePort()}`
    api = startServo(['api', ...place, '--port', String(port), '--temporal', temporal], environment())
    await api.printed(1)
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/orchestration/runs?limit=10`)
    const { runs, next_cursor } = (await answer.json()) as {
      runs: readonly { run_id: string; requested_at: string }[]
      next_cursor: unknown
    }
    const instants = runs.map(({ requested_at }) => requested_at)
    expect([answer.status, new Set(runs.map(({ run_id }) => run_id)).size]).toEqual([200, 10])
    expect(instants).toEqual([...instants].sort().reverse())
    expect(next_cursor).toEqual(expect.any(String))
    await until('it says what it had loaded', () => existsSync(join(folder, 'answered-api.json')))
    expect(told('answered-api.json')).toEqual(expect.arrayContaining(['dist/parts/api', 'parquet-wasm']))
    expect(told('answered-api.json').filter((name) => HEAVY.test(name))).toEqual([])
    expect(loaded('answered-api.json').bytes).toBeLessThan(API_BYTES_MAX)

    const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([200, { ready: true, degraded: true }])
    const document = await fetch(`http://127.0.0.1:${port}/openapi.json`)
    expect([document.status, await document.json()]).toMatchObject([200, { openapi: '3.1.0' }])
    api.stop('SIGTERM')
    await api.finished
    expect(told('loaded-api.json')).toEqual(expect.arrayContaining(['@temporalio/client', 'dist/parts/openapi']))
  },
  TIMEOUT_MS,
)

test.each([
  ['--version', []],
  ['schedule', ['preview', '--cron', '0 6 * * *']],
])(
  'servo %s loads none of them',
  async (command, args) => {
    expect(await runServo([command, ...args], environment())).toMatchObject({ code: 0 })
    expect(told(`loaded-${command}.json`)).toContain('dist/cli/main')
    expect(told(`loaded-${command}.json`).filter((name) => HEAVY.test(name))).toEqual([])
    expect(loaded(`loaded-${command}.json`).bytes).toBeLessThan(COMMAND_BYTES_MAX)
  },
  TIMEOUT_MS,
)
