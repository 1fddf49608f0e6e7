// What commands print on a terminal of an API whose every text wants to control it. Pipes and --raw get the bytes.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { saidWhile } from '../fixtures/said-while.js'

// Colours are told from those of others here, and the command reads its environment when it is loaded: CI has none of them.
delete process.env['NO_COLOR']
const { main } = await import('../../src/cli/main.js')

const RUN_ID = `run_${'a'.repeat(26)}`
const AT = '2025-01-15T10:00:00.000Z'
/** Clears the screen, sets the title, begins a line of its own, turns the direction, and is another colour. */
const EVIL = 'x\u001b[2J\u001b]0;owned\u0007\r\n10:00:00 INFO  all is well\u202e\u009b31m\u001b[31mred\u200b'
const ESCAPED = 'x\\x1b[2J\\x1b]0;owned\\x07\\r\\n10:00:00 INFO  all is well\\u202e\\x9b31m\\x1b[31mred\\u200b'
/** Our own colours, and the lines that we end. */
const OURS = /\u001b\[(?:0|3[1-4]|90)m|\n/g
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b]/

let server: Server
let url = ''
let isProblem = false

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://127.0.0.1')
    const problem = {
      title: EVIL,
      detail: EVIL,
      errors: [
        { path: EVIL, message: 'One.' },
        { path: 'b', message: EVIL },
      ],
    }
    response.writeHead(isProblem ? 409 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isProblem ? problem : answerOf(pathname)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
afterEach(() => {
  isProblem = false
})

const error = { code: EVIL, message: EVIL, stack: `Error: ${EVIL}\n\tat ${EVIL}` }
const TASK = {
  task_key: 'a',
  task_index: 0,
  asset_key: EVIL,
  attempt: 1,
  max_attempts: 1,
  infra_losses: 0,
  releases: 0,
  partitions: null,
  worker_id: EVIL,
  error,
  skip_reason: EVIL,
  outcome_reason: EVIL,
  progress: { done: 1, message: EVIL },
  started_at: AT,
  finished_at: AT,
  retry_at: AT,
  dispatched_at: AT,
}
const RUN = {
  run_id: RUN_ID,
  run_key: EVIL,
  state: 'FAILED',
  assets: { keys: [EVIL] },
  asset_count: 1,
  partitions: { keys: [EVIL] },
  tags: { [EVIL]: EVIL },
  priority: 0,
  requested_by: EVIL,
  parent_run_id: EVIL,
  error,
  requested_at: AT,
  planned_at: AT,
  started_at: AT,
  finished_at: AT,
  cancel_requested_at: null,
  tasks_total: 1,
  tasks_open: 0,
  tasks_succeeded: 0,
  tasks_failed: 1,
  tasks_skipped: 0,
  tasks_cancelled: 0,
  trigger_type: 'MANUAL',
}
const FIRE = { scheduled_for: AT, local: '2025-01-15T10:00:00Z' }
const SCHEDULE = {
  schedule_id: EVIL,
  schedule_name: EVIL,
  description: EVIL,
  status: 'PAUSED',
  status_changed_by: EVIL,
  status_reason: EVIL,
  cron_expressions: [EVIL, EVIL],
  timezone: EVIL,
  asset_selection: [EVIL],
  partition_mapping: null,
  catchup_window_minutes: 1,
  max_catchup_ticks: 1,
  overlap_policy: 'ALLOW',
  tags: { a: EVIL },
  priority: 0,
  definition_version: 1,
  location_name: EVIL,
  next_fire: FIRE,
  last_tick_status: 'FAILED',
  last_scheduled_for: AT,
  last_delay_ms: 1,
  paused_at: AT,
  removed_at: null,
  updated_at: AT,
  catch_up_on_resume: false,
}
const TICK = {
  status: 'FAILED',
  kind: 'CRON',
  local: FIRE.local,
  delay_ms: 1,
  partitions: null,
  runs: [],
  run_count: 0,
  conflict_count: 0,
  error,
}
const ASSET = {
  asset_key: EVIL,
  group_name: EVIL,
  location_name: EVIL,
  location_version: 1,
  code_version: EVIL,
  partitions: EVIL,
  upstream: [EVIL],
  downstream: [EVIL],
  description: EVIL,
  definition: { owners: [EVIL], pools: [EVIL] },
  tags: { [EVIL]: EVIL },
  last_materialization: null,
  partition_counts: { materialized: 0, failed: 0, total: 0 },
  current_since_at: AT,
}
const POOL = { pool_key: EVIL, kind: 'POOL', in_use: 0, waiting: 0, cap: { max_running: 1, source: 'OWN', set_at: AT, set_by: EVIL } }

function answerOf(path: string): object {
  const last = path.split('/').at(-1) ?? ''
  const lists: Readonly<Record<string, object>> = {
    runs: { runs: [RUN], next_cursor: null },
    tasks: {
      tasks: [
        { ...TASK, state: 'FAILED' },
        { ...TASK, task_key: 'b', state: 'RUNNING' },
      ],
      next_cursor: null,
    },
    attempts: { attempts: [{ ...TASK, state: 'LOST', reason: EVIL }], next_cursor: null },
    events: { events: [{ event_type: EVIL, at: AT, task_key: EVIL, attempt: 1, detail: { [EVIL]: EVIL, error } }], next_cursor: null },
    logs: {
      attempt: 1,
      attempt_id: 'x',
      lines: [{ at: AT, level: 'INFO', message: EVIL, fields: { [EVIL]: EVIL, more: [EVIL] } }],
      next_after: 'n',
      is_last: true,
      end: { outcome: 'FAILED', reason: null, error, finished_at: AT },
    },
    why: { sentence: EVIL },
    schedules: { schedules: [SCHEDULE], next_cursor: null },
    ticks: { ticks: [TICK], next_cursor: null },
    preview: { fires: [FIRE] },
    assets: { assets: [ASSET], next_cursor: null },
    'asset-graph': { nodes: [{ asset_key: EVIL, group_name: EVIL }], edges: [] },
    pools: { pools: [POOL], next_cursor: null },
    'run-key-conflicts': {
      conflicts: [{ run_key: EVIL, run_id: EVIL, assets: { keys: [EVIL] }, partitions: null, seen_count: 1, detected_at: AT }],
      next_cursor: null,
    },
    readyz: { checks: [{ name: 'automation', ok: false, detail: EVIL }] },
    retention: { settings: [{ setting: EVIL, value: 1, default_value: 1, changed_at: AT, changed_by: EVIL, reason: EVIL }] },
  }
  if (lists[last] !== undefined) return lists[last]
  if (path.includes('/tasks/')) return { ...TASK, state: 'FAILED' }
  if (path.includes('/runs/')) return RUN
  if (path.includes('/schedules/')) return SCHEDULE
  return path.includes('/assets/') ? ASSET : POOL
}

/** The command in this process, on a terminal or a pipe. */
async function servo(isTTY: boolean, ...args: readonly string[]) {
  const before = { stdout: process.stdout.isTTY, stderr: process.stderr.isTTY }
  for (const name of ['stdout', 'stderr'] as const) Object.assign(process[name], { isTTY })
  try {
    return await saidWhile(() => main([...args, '--api', url]))
  } finally {
    for (const name of ['stdout', 'stderr'] as const) Object.assign(process[name], { isTTY: before[name] })
    // A run that failed is said with the exit code of the process, which is that of the tests.
    process.exitCode = undefined
  }
}

const COMMANDS = [
  ['run', 'list'],
  ['run', 'show', RUN_ID],
  ['run', 'tasks', RUN_ID],
  ['run', 'attempts', RUN_ID],
  ['run', 'events', RUN_ID],
  ['run', 'logs', RUN_ID],
  ['run', 'logs', RUN_ID, 'a'],
  ['run', 'why', RUN_ID, 'a'],
  ['asset', 'list'],
  ['asset', 'show', 'a'],
  ['asset', 'graph'],
  ['schedule', 'list'],
  ['schedule', 'show', 'a'],
  ['schedule', 'ticks', 'a'],
  ['pool', 'list'],
  ['pool', 'show', 'pool:a'],
  ['conflicts', 'list'],
  ['workspace', 'retention'],
] as const

describe('on a terminal', () => {
  test.each(COMMANDS)('servo %s %s prints no control character of anybody else', async (...args) => {
    const { code, stdout, stderr } = await servo(true, ...args)
    expect({ code, stderr: CONTROLS.test(stderr.replaceAll('\n', '')) }).toEqual({ code: 0, stderr: false })
    expect(stdout.replaceAll(OURS, '')).not.toMatch(CONTROLS)
    expect(stdout).toContain('x\\x1b[2J')
    expect(stdout).not.toMatch(/^10:00:00 INFO/m)
  })

  test.each(COMMANDS)('servo %s %s --json prints none either, and the same value', async (...args) => {
    const [shown, piped] = [await servo(true, ...args, '--json'), await servo(false, ...args, '--json')]
    expect(shown.stdout.replaceAll('\n', '')).not.toMatch(CONTROLS)
    const values = ({ stdout }: { readonly stdout: string }) =>
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
    expect(values(shown)).toEqual(values(piped))
  })

  test('a run is watched without one, its lines drawn over each other', async () => {
    const { stdout } = await servo(true, 'run', 'watch', RUN_ID)
    expect(stdout.replaceAll(OURS, '').replaceAll(/\r|\u001b\[(0J|\d+A)/g, '')).not.toMatch(CONTROLS)
    expect(stdout).toContain('\u001b[31mFAILED')
  })

  test('a log line stays one line, its colours ours', async () => {
    const { stdout } = await servo(true, 'run', 'logs', RUN_ID, 'a')
    const [line, end, ...stack] = stdout.trimEnd().split('\n')
    expect(line).toMatch(/^\d\d:\d\d:\d\d \u001b\[34mINFO \u001b\[0m /)
    expect(line).toContain(ESCAPED)
    expect(end).toContain(`Attempt 1 FAILED: ${ESCAPED}: ${ESCAPED}`)
    for (const each of stack) expect(each.startsWith('  ')).toBe(true)
  })

  test('what the API says went wrong is one message', async () => {
    isProblem = true
    const { code, stderr } = await servo(true, 'run', 'list')
    expect(code).toBe(1)
    expect(stderr.replaceAll('\n', '')).not.toMatch(CONTROLS)
    const [first, ...others] = stderr.trimEnd().split('\n')
    expect(first).toMatch(/^servo: x\\x1b\[2J/)
    for (const line of others) expect(line.startsWith('  ')).toBe(true)
  })

  test('an argument that was pasted is shown, too', async () => {
    const { stderr } = await servo(true, 'run', 'list', '--state', EVIL)
    expect(stderr.replaceAll('\n', '')).not.toMatch(CONTROLS)
  })
})

describe('the bytes', () => {
  test('go to a pipe', async () => {
    expect((await servo(false, 'run', 'logs', RUN_ID, 'a')).stdout).toContain(EVIL)
    expect((await servo(false, 'run', 'why', RUN_ID, 'a')).stdout).toBe(`${EVIL}\n`)
  })

  test('go to a terminal with --raw, wherever it stands, and not with the next command', async () => {
    expect((await servo(true, 'run', 'logs', RUN_ID, 'a', '--raw')).stdout).toContain(EVIL)
    expect((await servo(true, '--raw', 'run', 'why', RUN_ID, 'a')).stdout).toBe(`${EVIL}\n`)
    expect((await servo(true, 'run', 'why', RUN_ID, 'a')).stdout).toBe(`${ESCAPED}\n`)
  })
})
