// Guards of the time: the bounds of a store's clock, T0, the columns of rows, and instants that people type.

import { invariant, type Mutant } from './mutant.js'

const CLOCK = 'src/storage/store-clock.ts'
const GCS = 'src/storage/gcs.ts'
const TASK = 'src/projections/task.ts'
const ATTEMPT = 'src/projections/attempt.ts'
const RUN = 'src/projections/run.ts'
const I13 = 'i13-visible-at-the-claimed-time'
const SECONDS = 'I13 no turn claims more than the store has told it, where that tells whole seconds'

const clock = (title: string) => ({ file: 'test/properties/store-clock.test.ts', title })
const client = (title: string) => ({ file: 'test/contract/gcs-client.test.ts', title })
const times = (title: string) => ({ file: 'src/projections/times.test.ts', title })

const WITHIN = clock('never stands later than it does, and its two bounds hold it between them')
const IN_ORDER = times('are those of the cause where what follows is said to be earlier')
const DEFINITIONS = times('of a definition that ends, and comes back, are in order')

export const TIMES: readonly Mutant[] = [
  {
    name: 'lower bound of a store clock from when the request was sent',
    edits: [{ file: CLOCK, find: 'lower: from - SLOWEST * received_at', replace: 'lower: from - SLOWEST * sent_at' }],
    killed_by: WITHIN,
  },
  {
    name: 'lower bound of a store clock that does not allow for drift',
    edits: [{ file: CLOCK, find: 'const SLOWEST = 1 - STORE_CLOCK_DRIFT_MAX', replace: 'const SLOWEST = 1' }],
    killed_by: WITHIN,
  },
  {
    name: 'time of a store that goes back',
    edits: [{ file: CLOCK, find: 'Math.max(given, at_ms)', replace: 'at_ms' }],
    killed_by: clock('never goes back from one answer to the next, and keeps to whole milliseconds'),
  },
  {
    name: 'windows of a store clock that contradict each other kept',
    edits: [{ file: CLOCK, find: '> STORE_WINDOWS_APART_MS) slots', replace: '> STORE_WINDOWS_APART_MS * 1e9) slots' }],
    killed_by: clock('is right again with the first answer after a process was suspended or a clock was set'),
  },
  {
    name: 'time of a store held to for hours after it was said too early',
    edits: [{ file: CLOCK, find: '|| isWrong ? at_ms', replace: '? at_ms' }],
    killed_by: clock('is right again with the first answer after a process was suspended or a clock was set'),
  },
  {
    name: 'window of a store clock used for ever',
    edits: [{ file: CLOCK, find: '<= STORE_CLOCK_AGE_MS_MAX)', replace: '<= STORE_CLOCK_AGE_MS_MAX * 1e9)' }],
    killed_by: clock('holds to no answer for long: an hour later only the last minutes count'),
  },
  {
    name: 'T0 in the middle of what the store clock may be',
    edits: [{ file: CLOCK, find: 'const at_ms = Math.floor(bound)', replace: 'const at_ms = Math.floor(bound) + 500' }],
    killed_by: invariant(I13, `${SECONDS}: seed 1`),
  },
  {
    name: 'creation time of a replaced object taken for the time of its write',
    edits: [{ file: GCS, find: 'if_generation === CREATE ? resource.timeCreated : undefined', replace: 'resource.timeCreated' }],
    killed_by: client('an object that was replaced says nothing of the time: when it was created is for the server to mean'),
  },
  {
    name: 'listing that claims the time of its answer',
    edits: [{ file: GCS, find: 'const server_time = asked.sentAt()', replace: 'const server_time = time.now()' }],
    killed_by: client('the time of a listing is that of its request: what it lacks may be younger'),
  },
  {
    name: 'T0 cut to the second',
    edits: [{ file: 'src/turn/pass.ts', find: 'now: Math.floor(server_time),', replace: 'now: floorTo(server_time, 1_000),' }],
    killed_by: { file: 'src/turn/pass.test.ts', title: 'has the time that the store told, to the millisecond, and none that is later' },
  },
  {
    name: 'stamps that do not go by what the store says its time is',
    edits: [{ file: 'src/ledger/append.ts', find: 'store.now?.() ?? Math.floor', replace: 'Math.floor' }],
    killed_by: {
      file: 'test/turn/append.test.ts',
      title:
        'an event is stamped with what the store says its time is now, and with what has passed since its last answer where it says nothing',
    },
  },
  {
    name: 'schedules that look back by parts of a second',
    edits: [
      {
        file: 'src/controllers/schedule-decision.ts',
        find: 'state.floor_at, floorTo(context.now, SECOND_MS), definition',
        replace: 'state.floor_at, context.now, definition',
      },
    ],
    killed_by: {
      file: 'src/controllers/schedule-catch-up.test.ts',
      title: 'looks back as far in any part of a second: what is as old as its window runs',
    },
  },
  {
    name: 'plan before its request',
    edits: [
      {
        file: 'src/projections/plan.ts',
        find: 'const planned_at = notBefore(moment, run.requested_at)',
        replace: 'const planned_at = moment.at',
      },
    ],
    killed_by: times('of a plan are not before its request, whose second the turn had not heard of'),
  },
  {
    name: 'dispatch before its task was ready',
    edits: [{ file: ATTEMPT, find: 'const dispatched_at = endOf(task, moment)', replace: 'const dispatched_at = moment.at' }],
    killed_by: IN_ORDER,
  },
  {
    name: 'retry dispatched before the attempt before it ended',
    edits: [{ file: ATTEMPT, find: '{ ...changes, attempt_ended_at: ended_at }', replace: 'changes' }],
    killed_by: times('of a retry are not before the end of the attempt that it follows'),
  },
  {
    name: 'start before its dispatch was handed over',
    edits: [
      { file: 'src/projections/outbox.ts', find: 'notBefore(moment, outbox.requested_at, outbox.enqueued_at)', replace: 'moment.at' },
    ],
    killed_by: IN_ORDER,
  },
  {
    name: 'deadline of a beat that counts from a column',
    edits: [
      {
        file: ATTEMPT,
        find: 'started_at,\n    start_deadline_at: null,\n    heartbeat_deadline_at: heartbeatDeadline(task, moment.at)',
        replace: 'started_at,\n    start_deadline_at: null,\n    heartbeat_deadline_at: heartbeatDeadline(task, started_at)',
      },
    ],
    killed_by: IN_ORDER,
  },
  {
    name: 'delay after a silence that counts from a column',
    edits: [
      {
        file: 'src/projections/deadline.ts',
        find: 'heartbeat_deadline_at - silenceAllowed(task) : lost_at',
        replace: '(task.last_heartbeat_at ?? task.started_at ?? lost_at) : lost_at',
      },
    ],
    killed_by: times('of a beat do not go back, and its deadline counts from what was said'),
  },
  {
    name: 'task that ends before it began',
    edits: [
      {
        file: TASK,
        find: 'notBefore(moment, ready_at, dispatched_at, started_at, last_heartbeat_at, attempt_ended_at)',
        replace: 'moment.at',
      },
    ],
    killed_by: IN_ORDER,
  },
  {
    name: 'edge resolved before its upstream task ended',
    edits: [{ file: TASK, find: 'const resolved_at = notBefore(moment, upstream.finished_at)', replace: 'const resolved_at = moment.at' }],
    killed_by: IN_ORDER,
  },
  {
    name: 'run that ends before one of its tasks',
    edits: [
      {
        file: RUN,
        find: 'ended_at = Math.max(ended_at, finished_at ?? 0)',
        replace: 'ended_at = Math.max(ended_at, 0 * (finished_at ?? 0))',
      },
    ],
    killed_by: times('of a run are not before the end of any of its tasks'),
  },
  {
    name: 'run that starts before it was planned',
    edits: [{ file: RUN, find: 'const started_at = notBefore(moment, run.planned_at, task_at)', replace: 'const started_at = moment.at' }],
    killed_by: IN_ORDER,
  },
  {
    name: 'definition that ends before it was current',
    edits: [
      {
        file: 'src/projections/asset.ts',
        find: 'const ended_at = notBefore(moment, current.current_since_at)',
        replace: 'const ended_at = moment.at',
      },
    ],
    killed_by: DEFINITIONS,
  },
  {
    name: 'name released before it was taken',
    edits: [
      { file: 'src/projections/definitions.ts', find: 'released_at: notBefore(moment, row.taken_at)', replace: 'released_at: moment.at' },
    ],
    killed_by: times('of a schedule and its name are in order'),
  },
  {
    name: 'instant without a zone read in that of the machine',
    edits: [
      {
        file: 'src/core/instant-text.ts',
        find: 'if (minute !== undefined && zone !== undefined && isInstant(clock + zone)) return',
        replace:
          'if (minute !== undefined && zone === undefined) return { at_ms: Date.parse(clock) }\n  if (minute !== undefined && zone !== undefined && isInstant(clock + zone)) return',
      },
    ],
    killed_by: { file: 'src/core/instant-text.test.ts', title: '2026-11-20 01:40 names no zone, and is shown the two ways to write it' },
  },
]
