import { describe, expect, test } from '@jest/globals'
import { WHY_CODES, type WhyRows, whyOf } from './why.js'

const at = (seconds: number) => Date.UTC(2025, 0, 15, 10, 0, seconds)
const NOW = at(30)
const RUN = { run_id: 'run_x', state: 'RUNNING', error: null, requested_at: at(0), finished_at: null, cancel_requested_at: null }
const TASK = {
  run_id: 'run_x',
  task_key: 'b',
  state: 'READY',
  attempt: 1,
  failures: 0,
  infra_losses: 0,
  releases: 0,
  max_attempts: 3,
  max_infra_losses: 5,
  deps_total: 2,
  deps_satisfied_count: 1,
  ready_at: at(5),
  dispatched_at: at(6),
  started_at: at(7),
  last_heartbeat_at: null,
  heartbeat_deadline_at: at(87),
  start_deadline_at: at(59),
  finished_at: at(20),
  retry_at: null,
  cancel_requested_at: null,
  cancel_deadline_at: null,
  outcome_reason: null,
  skip_reason: null,
  worker_id: 'w1',
  error: null,
}
const LOCATION = { location_name: 'main', worker_url: 'http://worker:1' }
const BOOM = { code: 'BOOM', message: 'It broke.\nOn the second line more.' }

type Given = {
  readonly run?: object
  readonly task?: object | null
  readonly upstream?: WhyRows['upstream']
  readonly outbox?: string
  readonly location?: null
  readonly pools?: WhyRows['pools']
  readonly waiting_before?: number
}

function why({ run = {}, task = {}, upstream = [], outbox, location, pools = [], waiting_before = 0 }: Given) {
  const rows = {
    run: { ...RUN, ...run },
    task: task === null ? undefined : { ...TASK, ...task },
    upstream,
    outbox: outbox === undefined ? undefined : { status: outbox },
    location_name: 'main',
    location: location === null ? undefined : LOCATION,
    pools,
    waiting_before,
  }
  return whyOf(rows as unknown as WhyRows, NOW)
}

const FREE = { pool_key: 'global', in_use: 3, max_running: 1_000 }
const UNCAPPED = { pool_key: 'pool:open', in_use: 9, max_running: null }
const FULL = { pool_key: 'pool:db', in_use: 2, max_running: 2 }
const SLOTS = { pool_key: 'location:main', in_use: 8, max_running: 8 }
const UP = { task_key: 'a', state: 'RUNNING' } as const
const many = ['a', 'c', 'd', 'e', 'f', 'g', 'h'].map((task_key) => ({ task_key, state: 'READY' as const }))
const T = (seconds: number) => `2025-01-15T10:00:${String(seconds).padStart(2, '0')}.000Z`

const TURNS = 'If that takes longer than a few seconds, `servo doctor` says whether the automation runs.'
const cases: readonly (readonly [string, Given, string, string])[] = [
  [
    'a run that is not planned',
    { run: { state: 'PENDING' }, task: null },
    'RUN_PENDING',
    `Run run_x is PENDING since ${T(0)}: the next turn plans its tasks. ${TURNS}`,
  ],
  [
    'a run whose plan failed',
    { run: { state: 'FAILED', error: BOOM }, task: null },
    'RUN_WITHOUT_TASKS',
    'Run run_x has no tasks. It is over, FAILED: It broke.',
  ],
  [
    'a plan of which pages are missing',
    { task: { state: 'PLANNED' } },
    'BEING_PLANNED',
    'b is being planned. The next turn makes it ready.',
  ],
  [
    'an upstream task',
    { task: { state: 'BLOCKED' }, upstream: [UP] },
    'UPSTREAM',
    'b waits for a, which is RUNNING. 1 of the 2 tasks that it needs succeeded.',
  ],
  [
    'two upstream tasks',
    { task: { state: 'BLOCKED', deps_satisfied_count: 0 }, upstream: [UP, { task_key: 'c', state: 'BLOCKED' }] },
    'UPSTREAM',
    'b waits for a, which is RUNNING; and c, which is BLOCKED. 0 of the 2 tasks that it needs succeeded.',
  ],
  [
    'many upstream tasks',
    { task: { state: 'BLOCKED', deps_total: 7, deps_satisfied_count: 0 }, upstream: many },
    'UPSTREAM',
    'b waits for a, which is READY; c, which is READY; d, which is READY; e, which is READY; f, which is READY; and 2 more. 0 of the 7 tasks that it needs succeeded.',
  ],
  [
    'its retry, after its code failed',
    { task: { state: 'RETRY_WAIT', retry_at: at(42), failures: 1, outcome_reason: 'ERROR', error: BOOM } },
    'RETRY_LATER',
    `b is tried again at ${T(42)}. Attempt 1 is over, because its code failed: It broke (1 of 3 attempts failed).`,
  ],
  [
    'its retry, after its worker refused it',
    { task: { state: 'RETRY_WAIT', retry_at: at(42), infra_losses: 2, outcome_reason: 'HANDOVER_REFUSED', error: BOOM } },
    'RETRY_LATER',
    `b is tried again at ${T(42)}. Attempt 1 is over, because its worker refused to take it: It broke (2 of at most 5 losses that are not its code's fault).`,
  ],
  [
    'its retry, after both',
    {
      task: { state: 'RETRY_WAIT', retry_at: at(42), failures: 1, infra_losses: 2, releases: 3, outcome_reason: 'RELEASED', error: null },
    },
    'RETRY_LATER',
    `b is tried again at ${T(42)}. Attempt 1 is over, because its worker ended, and gave it back (1 of 3 attempts failed; 2 of at most 5 losses that are not its code's fault; given back 3 times).`,
  ],
  [
    'a retry that is due',
    { task: { state: 'RETRY_WAIT', retry_at: at(30) }, pools: [FREE] },
    'NEXT_TURN',
    `b is ready since ${T(30)}, and there is room: the next turn dispatches it. ${TURNS}`,
  ],
  [
    'the next turn',
    { pools: [FREE, UNCAPPED] },
    'NEXT_TURN',
    `b is ready since ${T(5)}, and there is room: the next turn dispatches it. ${TURNS}`,
  ],
  [
    'a pool, first of all',
    { pools: [FREE, FULL] },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: pool:db has 2 of 2 in use. It is the first of those that wait.`,
  ],
  [
    'a pool and slots, behind another',
    { pools: [FREE, FULL, SLOTS], waiting_before: 1 },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: pool:db has 2 of 2 in use, and location:main has 8 of 8 in use. 1 task goes before it.`,
  ],
  [
    'slots, behind others',
    { pools: [SLOTS], waiting_before: 12 },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: location:main has 8 of 8 in use. 12 tasks go before it.`,
  ],
  [
    'a location that is gone',
    { location: null, pools: [FREE] },
    'LOCATION_GONE',
    'b is ready, and the code location main that serves it is gone. Deploy it again.',
  ],
  [
    'a worker that has not taken it',
    { task: { state: 'DISPATCHED' }, outbox: 'PENDING' },
    'NOT_HANDED_OVER',
    `Attempt 1 of b is dispatched since ${T(6)}, and the worker of main at http://worker:1 has not taken it yet: it may be busy or not there, and is asked again and again. See whether it runs. If it has not started by ${T(59)}, the attempt is given up.`,
  ],
  [
    'a worker that has not started it',
    { task: { state: 'DISPATCHED' }, outbox: 'ACKED', location: null },
    'NOT_STARTED',
    `Attempt 1 of b is dispatched since ${T(6)}, and the worker of main has taken it and has not started its code. If it has not started by ${T(59)}, the attempt is given up.`,
  ],
  [
    'a cancel',
    {
      run: { state: 'CANCELLING', cancel_requested_at: at(9) },
      task: { state: 'RUNNING', cancel_requested_at: at(9), cancel_deadline_at: at(39) },
    },
    'CANCELLING',
    `Run run_x is being cancelled since ${T(9)}, and b is RUNNING: its worker is told to stop, at the latest with the answer to its next heartbeat. At ${T(39)} it is given up as CANCELLED.`,
  ],
  [
    'a cancel, before it started',
    {
      run: { state: 'CANCELLING', cancel_requested_at: at(9) },
      task: { state: 'DISPATCHED', cancel_requested_at: at(9), cancel_deadline_at: at(39) },
    },
    'CANCELLING',
    `Run run_x is being cancelled since ${T(9)}, and b is DISPATCHED: the attempt is taken back, unless a worker has it already. At ${T(39)} it is given up as CANCELLED.`,
  ],
  [
    'nothing: it runs',
    { task: { state: 'RUNNING', heartbeat_deadline_at: at(58) } },
    'RUNNING',
    `b is running: attempt 1 since ${T(7)} on worker w1. Without a heartbeat by ${T(58)} the attempt is given up.`,
  ],
  [
    'nothing: it runs, and said so',
    { task: { state: 'RUNNING', last_heartbeat_at: at(8), heartbeat_deadline_at: at(58) } },
    'RUNNING',
    `b is running: attempt 1 since ${T(7)} on worker w1. Its last heartbeat was at ${T(8)}. Without another by ${T(58)} the attempt is given up.`,
  ],
  ['nothing: it succeeded', { task: { state: 'SUCCEEDED' } }, 'OVER', `b is over: it SUCCEEDED at ${T(20)} with attempt 1.`],
  [
    'nothing: it failed',
    { task: { state: 'FAILED', outcome_reason: 'ERROR', error: BOOM } },
    'OVER',
    `b is over: it FAILED at ${T(20)} with attempt 1, because its code failed: It broke. \`servo run rerun run_x\` runs again what did not succeed.`,
  ],
  [
    'nothing: its worker was lost',
    { task: { state: 'FAILED', outcome_reason: 'HEARTBEAT' } },
    'OVER',
    `b is over: it FAILED at ${T(20)} with attempt 1, because its worker sent no heartbeat in time. \`servo run rerun run_x\` runs again what did not succeed.`,
  ],
  [
    'nothing: an upstream task failed',
    { task: { state: 'SKIPPED', outcome_reason: 'UPSTREAM_FAILED' }, upstream: [{ task_key: 'a', state: 'FAILED' }] },
    'OVER',
    `b is over: it was SKIPPED at ${T(20)}, because it needs a, which is FAILED.`,
  ],
  [
    'nothing: its code skipped it',
    { task: { state: 'SKIPPED', outcome_reason: 'WORKER_SKIPPED', skip_reason: 'Nothing new.' } },
    'OVER',
    `b is over: it was SKIPPED at ${T(20)} by its own code: Nothing new.`,
  ],
  [
    'nothing: its run was cancelled',
    { run: { state: 'CANCELLED' }, task: { state: 'CANCELLED', outcome_reason: 'RUN_CANCELLED', cancel_requested_at: at(9) } },
    'OVER',
    `b is over: it was CANCELLED at ${T(20)}, because its run was cancelled.`,
  ],
  [
    'nothing: an upstream task was cancelled',
    { task: { state: 'CANCELLED', outcome_reason: 'UPSTREAM_CANCELLED' }, upstream: [{ task_key: 'a', state: 'CANCELLED' }] },
    'OVER',
    `b is over: it was CANCELLED at ${T(20)}, because it needs a, which is CANCELLED.`,
  ],
]

describe('a task waits for', () => {
  test.each(cases)('%s', (_, given, code, sentence) => {
    expect(why(given)).toMatchObject({ code, sentence })
  })

  test('every reason that there is, once at least', () => {
    expect(new Set(cases.map(([, , code]) => code))).toEqual(new Set(WHY_CODES))
  })

  test('what a program reads as fields', () => {
    expect(why({ pools: [FREE, FULL], waiting_before: 4 })).toMatchObject({
      since_at: at(5),
      due_at: null,
      full_pools: [FULL],
      waiting_before: 4,
    })
    expect(why({ task: { state: 'RETRY_WAIT', retry_at: at(42) } })).toMatchObject({ due_at: at(42), waiting_before: null })
    expect(why({ task: { state: 'BLOCKED' }, upstream: [UP] })).toMatchObject({ upstream: [UP], full_pools: [] })
    expect(why({ task: { state: 'DISPATCHED' }, outbox: 'ACKED' })).toMatchObject({ since_at: at(6), due_at: at(59) })
  })
})
