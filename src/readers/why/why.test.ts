import { describe, expect, test } from '@jest/globals'
import { at, FREE, FULL, room, T, TURNS, type WhyCase, why } from '../../../test/fixtures/why-story.js'
import { WHY_CODES } from './why.js'

const BOOM = { code: 'BOOM', message: 'It broke.\nOn the second line more.' }
const UNCAPPED = room('pool:open', 9, null, null)
const UP = { task_key: 'a', state: 'RUNNING' } as const
const many = ['a', 'c', 'd', 'e', 'f', 'g', 'h'].map((task_key) => ({ task_key, state: 'READY' as const }))

const WAY =
  'the way to it may be set up wrongly: the log of the automation says if it is, and what to mend, and `servo doctor` asks the queue where there is one'
const HELD = 'Deadlines are held back until then, because workers could not be heard for a while.'
const cases: readonly WhyCase[] = [
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
    'its retry, after its worker ended in order',
    { task: { state: 'RETRY_WAIT', retry_at: at(42), releases: 3, outcome_reason: 'RELEASED' } },
    'RETRY_LATER',
    `b is tried again at ${T(42)}. Attempt 1 is over, because its worker ended, and gave it back (given back 3 times).`,
  ],
  [
    'its retry, after its workers gave it back too often',
    { task: { state: 'RETRY_WAIT', retry_at: at(42), releases: 20, infra_losses: 1, outcome_reason: 'RELEASED' } },
    'RETRY_LATER',
    `b is tried again at ${T(42)}. Attempt 1 is over, because its worker ended, and gave it back (1 of at most 5 losses that are not its code's fault; given back 20 times).`,
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
    `b is ready since ${T(5)}, and there is no room for it: pool:db is full: 2 of 2 run. It is the first of those that wait.`,
  ],
  [
    'its retry, after no slot came free for it: what an attempt before it failed with says nothing of that',
    { task: { state: 'RETRY_WAIT', retry_at: at(42), outcome_reason: 'WITHDRAWN', error: { code: 'BOOM', message: 'It broke.' } } },
    'RETRY_LATER',
    `b is tried again at ${T(42)}. Attempt 1 is over, because it was dispatched ahead and no slot came free for it soon, so it was taken back before it began.`,
  ],
  [
    'a location that is gone',
    { location: null, pools: [FREE] },
    'LOCATION_GONE',
    'b is ready, and the code location main that serves it is gone. Deploy it again.',
  ],
  [
    'a worker or a queue, of which none is known to have taken it',
    { task: { state: 'DISPATCHED' }, outbox: 'PENDING' },
    'NOT_HANDED_OVER',
    `Attempt 1 of b is dispatched since ${T(6)}, and nobody is known to have taken it yet: the worker of main at http://worker:1 may be busy or not there, and the attempt is sent again and again. See whether the worker runs; if it does, ${WAY}. If it has not started by ${T(59)}, the attempt is given up.`,
  ],
  [
    'a worker to which a queue delivers it',
    { task: { state: 'DISPATCHED' }, outbox: 'ACKED', port: 'CLOUD_TASKS' },
    'NOT_STARTED',
    `Attempt 1 of b is dispatched since ${T(6)}, and the queue has taken it and it has not started: the worker of main at http://worker:1 may be busy or not there, and the queue delivers it until it is taken. See whether the worker runs. If it has not started by ${T(59)}, the attempt is given up.`,
  ],
  [
    'a slot, at the worker that has it already',
    { task: { state: 'DISPATCHED' }, outbox: 'PENDING', prefetched: true },
    'PREFETCHED',
    `Attempt 1 of b was dispatched ahead at ${T(6)}, while all slots of main were taken: the worker of main at http://worker:1 starts it as soon as one is free. If none is by ${T(16)}, the attempt is taken back and b waits for its turn again, which counts as no try.`,
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
  [
    'nothing: it runs, and may for a while',
    { task: { state: 'RUNNING', heartbeat_deadline_at: at(58), timeout_at: at(59) } },
    'RUNNING',
    `b is running: attempt 1 since ${T(7)} on worker w1. Without a heartbeat by ${T(58)} the attempt is given up. At ${T(59)} it has run for as long as it may.`,
  ],
  [
    'nothing: it runs, while deadlines are held back',
    { task: { state: 'RUNNING', heartbeat_deadline_at: at(29) }, hold_until: at(50) },
    'RUNNING',
    `b is running: attempt 1 since ${T(7)} on worker w1. Without a heartbeat by ${T(50)} the attempt is given up. ${HELD}`,
  ],
  [
    'a worker, while deadlines are held back',
    { task: { state: 'DISPATCHED', start_deadline_at: at(31) }, outbox: 'ACKED', hold_until: at(50) },
    'NOT_STARTED',
    `Attempt 1 of b is dispatched since ${T(6)}, and the worker of main at http://worker:1 has taken it and has not started its code. If it has not started by ${T(50)}, the attempt is given up. ${HELD}`,
  ],
  [
    'a worker, by a deadline that comes after the hold',
    { task: { state: 'DISPATCHED' }, outbox: 'ACKED', location: null, hold_until: at(50) },
    'NOT_STARTED',
    `Attempt 1 of b is dispatched since ${T(6)}, and the worker of main has taken it and has not started its code. If it has not started by ${T(59)}, the attempt is given up.`,
  ],
  [
    'a cancel, while other deadlines are held back',
    {
      run: { state: 'CANCELLING' },
      task: { state: 'RUNNING', cancel_requested_at: at(9), cancel_deadline_at: at(29) },
      hold_until: at(50),
    },
    'CANCELLING',
    `Run run_x is being cancelled since ${T(9)}, and b is RUNNING: its worker is told to stop, at the latest with the answer to its next heartbeat. At ${T(29)} it is given up as CANCELLED.`,
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
    'nothing: nobody took it in time',
    { task: { state: 'FAILED', outcome_reason: 'START_DEADLINE' }, outbox: 'CLOSED', port: '' },
    'OVER',
    `b is over: it FAILED at ${T(20)} with attempt 1, because no worker started it in time, and nobody is known to have taken it. The worker was busy or not there, or ${WAY}. \`servo run rerun run_x\` runs again what did not succeed.`,
  ],
  [
    'nothing: the queue had it, and no worker took it in time',
    { task: { state: 'FAILED', outcome_reason: 'START_DEADLINE' }, outbox: 'CLOSED', port: 'CLOUD_TASKS' },
    'OVER',
    `b is over: it FAILED at ${T(20)} with attempt 1, because no worker started it in time, although the queue had taken it. The worker was busy or not there, or ${WAY}. \`servo run rerun run_x\` runs again what did not succeed.`,
  ],
  [
    'its next try, after a worker that took it did not start it',
    { task: { state: 'RETRY_WAIT', retry_at: at(42), infra_losses: 1, outcome_reason: 'START_DEADLINE' }, outbox: 'CLOSED' },
    'RETRY_LATER',
    `b is tried again at ${T(42)}. Attempt 1 is over, because no worker started it in time, although one had taken it (1 of at most 5 losses that are not its code's fault).`,
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
    expect(why({ task: { state: 'DISPATCHED' }, outbox: 'ACKED', hold_until: at(70) })).toMatchObject({ due_at: at(70) })
    expect(why({ task: { state: 'DISPATCHED' }, outbox: 'ACKED', hold_until: at(30) })).toMatchObject({ due_at: at(59) })
    expect(why({ task: { state: 'RUNNING', timeout_at: at(40) } })).toMatchObject({ due_at: at(40) })
  })
})
