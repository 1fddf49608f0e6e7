// Guards by which work survives its workers: attempts that start once and end, places that come back, cancels that end.

import { type Check, invariant, type Mutant, turn } from './mutant.js'

const ENDS = 'i28-every-run-ends'
const queue = (title: string): Check => ({ file: 'test/contract/dispatch-cloud-tasks.test.ts', title })
const watch = (title: string): Check => ({ file: 'src/activities/api-watch.test.ts', title })
const push = (title: string): Check => ({ file: 'src/activities/cancel-push.test.ts', title })
const CANCELLED = invariant(
  'i30-a-cancelled-run-dispatches-nothing',
  'I30 a cancelled run dispatches nothing more, and is over within its bound, whatever its code does',
)
const PUBLISHED_FIRST = invariant(
  'i29-predecessors-are-published-first',
  'I29 of a diamond each task is handed over once what it needs is published, whichever call a turn dies at',
)

export const SURVIVAL: readonly Mutant[] = [
  {
    name: 'an attempt that whoever asks is told to start',
    edits: [
      {
        file: 'src/commands/starts.ts',
        find: '  const log = logOf(deps, group)\n  return new Promise((resolve, reject) => {',
        replace:
          '  const log = logOf(deps, group)\n  if (claim.attempt > 0) return Promise.resolve(claim)\n  return new Promise((resolve, reject) => {',
      },
    ],
    killed_by: invariant(
      'inv-execution-plan',
      'INV-4 an attempt that is handed over again and again, to several workers, runs its code once',
    ),
  },
  {
    name: 'the end of an attempt that was given up',
    edits: [
      {
        file: 'src/projections/attempt.ts',
        find: '  if (attempt < task.attempt || attempt_id !== task.attempt_id) return',
        replace: '  if (attempt < task.attempt && !isActive(task.state) && !isOver(task.state)) return',
      },
    ],
    killed_by: invariant(
      'i26-a-task-succeeds-once',
      'I26 the success of an attempt that was given up changes nothing that anybody reads, whoever hears of it',
    ),
  },
  {
    name: 'places that are kept while a task waits for its retry',
    edits: [
      {
        file: 'src/projections/attempt.ts',
        find: '  leavePools(rows, task, slotMs(task, ending, ended_at), moment)',
        replace: '  if (isOver(state)) leavePools(rows, task, slotMs(task, ending, ended_at), moment)',
      },
    ],
    killed_by: invariant(
      'i27-no-slot-leaks',
      'I27 whichever way an attempt ends, its pools have their places back, and count what is out at every revision',
    ),
  },
  {
    name: 'silence that costs nothing',
    edits: [{ file: 'src/controllers/lost.ts', find: "  arm('HEARTBEAT', task.heartbeat_deadline_at)\n", replace: '' }],
    killed_by: invariant(ENDS, 'I28 a run ends with workers that start, and are silent'),
  },
  {
    name: 'starts that nobody waits for',
    edits: [{ file: 'src/controllers/lost.ts', find: "  arm('START_DEADLINE', task.start_deadline_at)\n", replace: '' }],
    killed_by: invariant(ENDS, 'I28 a run ends with workers that never start'),
  },
  {
    name: 'retries that are never due',
    edits: [
      {
        file: 'src/projections/dispatch-order.ts',
        find: 'retry_at !== null && retry_at <= now)',
        replace: 'retry_at !== null && retry_at < 0 * now)',
      },
    ],
    killed_by: invariant(ENDS, 'I28 a run ends with workers that fail, each time'),
  },
  {
    name: 'work that is handed over before it is published',
    edits: [
      {
        file: 'src/turn/turn.ts',
        find: '    const answer = await publish(deps, {',
        replace: '    deps.onPublish?.(workspace, changed)\n    const answer = await publish(deps, {',
      },
    ],
    killed_by: PUBLISHED_FIRST,
  },
  {
    name: 'a task that is ready with the first of what it needs',
    edits: [
      {
        file: 'src/projections/task.ts',
        find: 'deps_satisfied_count < task.deps_total',
        replace: 'deps_satisfied_count < Math.min(1, task.deps_total)',
      },
    ],
    killed_by: PUBLISHED_FIRST,
  },
  {
    name: 'code that starts although its run was cancelled',
    edits: [
      {
        file: 'src/commands/attempt.ts',
        find: 'const isCancelled = task.cancel_requested_at !== null',
        replace: 'const isCancelled = task.attempt < 0',
      },
    ],
    killed_by: invariant(
      'i30-a-cancelled-run-dispatches-nothing',
      'I30 an attempt that asks to start after the cancel is told to stop, although nobody has taken it back yet',
    ),
  },
  {
    name: 'code that may go on after its grace',
    edits: [{ file: 'src/controllers/lost.ts', find: 'grace_at <= held_due_at', replace: 'grace_at < 0 * held_due_at' }],
    killed_by: CANCELLED,
  },
  {
    name: 'a first word that is stamped by a clock that is wrong',
    edits: [
      {
        file: 'src/bin/appender.ts',
        find: '    server_time: await look(),',
        replace: '    server_time: (await look()) < 0 ? 0 : deps.clock.now(),',
      },
    ],
    killed_by: {
      file: 'test/api/first-words.test.ts',
      title: 'the first word of an API whose clock is wrong by 3 hours is stamped by the store',
    },
  },
  {
    name: 'a queue that has an attempt already taken for one that refuses it',
    edits: [{ file: 'src/activities/cloud-tasks/errors.ts', find: "ALREADY_EXISTS: 'DONE'", replace: "ALREADY_EXISTS: 'REFUSED'" }],
    killed_by: queue('INV-4 a create that was done and not answered is found done when it is said again'),
  },
  {
    name: 'a queue that is asked again at once after there was too much',
    edits: [{ file: 'src/activities/cloud-tasks/port.ts', find: "BACK_OFF: 'broken'", replace: "BACK_OFF: 'unknown'" }],
    killed_by: queue('waits longer each time after there was too much, and goes on at once when there is room'),
  },
  {
    name: 'a token that goes to a worker without TLS',
    edits: [
      {
        file: 'src/activities/cloud-tasks/task.ts',
        find: "url.protocol !== 'https:' && !isLoopback(url.hostname)",
        replace: "url.protocol === 'none' && !isLoopback(url.hostname)",
      },
    ],
    killed_by: queue('loses no attempt over a worker without TLS, to which no token goes'),
  },
  {
    name: 'a hand-over that leaves a listener on the signal of its process',
    edits: [
      {
        file: 'src/activities/aborts.ts',
        find: "    for (const signal of signals) signal.removeEventListener('abort', abort)\n",
        replace: '',
      },
    ],
    killed_by: { file: 'src/activities/workspace.test.ts', title: 'leaves no listener behind with a hand-over, however it ends' },
  },
  {
    name: 'a call of a schedule that waits on when its process is about to end',
    edits: [
      { file: 'src/activities/entities/look.ts', find: '      if (stopping.aborted) throw leaving()\n', replace: '' },
      { file: 'src/activities/entities/look.ts', find: 'leaveOn(stopping,', replace: 'leaveOn(new AbortController().signal,' },
    ],
    killed_by: turn('schedule-calls', 'calls that wait for a turn when their process is about to end leave at once, to another process'),
    may_hang: true,
  },
  {
    name: 'a merge that goes on when its process is about to end',
    edits: [{ file: 'src/storage/stoppable.ts', find: 'if (stopped.aborted) throw new StoppedError()', replace: 'void stopped' }],
    killed_by: turn(
      'maintenance',
      'maintenance that is under way when its process is about to end answers at once, and calls the store no more',
    ),
  },
  {
    name: 'maintenance that does not know which filters turns have met',
    edits: [{ file: 'src/storage/stoppable.ts', find: '(originals.get(store) as Store | undefined) ?? store', replace: 'store' }],
    killed_by: turn('damaged-filters', 'what is rebuilt is opened again without a restart'),
  },
  {
    name: 'silence that is waited for twice',
    edits: [
      { file: 'src/projections/deadline.ts', find: 'const heard_at = isSilent &&', replace: 'const heard_at = isSilent && lost_at < 0 &&' },
    ],
    killed_by: {
      file: 'src/projections/attempt.test.ts',
      title: 'by its silence is tried again at once, where it was silent for longer than the delay',
    },
  },
  {
    name: 'a loop that wakes within the second in which something is due',
    edits: [
      { file: 'src/activities/workspace.ts', find: 'ceilTo(processed_at + wake_in_ms, SECOND_MS)', replace: '(processed_at + wake_in_ms)' },
    ],
    killed_by: { file: 'src/activities/workspace.test.ts', title: 'waits: at the end of the second in which it is due' },
  },
  {
    name: 'an API that comes and goes taken for one that is well in between',
    edits: [
      {
        file: 'src/activities/api-watch.ts',
        find: 'if (clock.elapsed() - answering_since >= API_STEADY_MS)',
        replace: 'if (clock.elapsed() - answering_since >= 0 * API_STEADY_MS)',
      },
    ],
    killed_by: watch('one that fails every 61 seconds holds back for a quarter of an hour in all, whatever holds are given'),
  },
  {
    name: 'short outages of an API that comes and goes overlooked',
    edits: [
      { file: 'src/activities/api-watch.ts', find: 'const FAILURES_MIN_IN_TROUBLE = 1', replace: 'const FAILURES_MIN_IN_TROUBLE = 2' },
    ],
    killed_by: watch('one failure is none, but of an API that was away lately it is the next outage'),
  },
  {
    name: 'an API that was never reached taken for one that is away',
    edits: [{ file: 'src/activities/api-watch.ts', find: '    if (!wasReached) return\n', replace: '' }],
    killed_by: watch('an API that never answered from here is no evidence of anything'),
  },
  {
    name: 'a hold that goes on past the bound of outages',
    edits: [{ file: 'src/controllers/hold.ts', find: 'TURN_GAP_HOLD_MS_MAX, hold_ms, Math', replace: 'TURN_GAP_HOLD_MS_MAX, Math' }],
    killed_by: {
      file: 'src/controllers/hold.test.ts',
      title: 'no longer than what is left of the time for which that is a reason',
    },
  },
  {
    name: 'the first beats after an outage taken for those of others within it',
    edits: [{ file: 'src/turn/outage.ts', find: 'over_for_ms - HEARD_AGAIN_MS', replace: 'over_for_ms - 0 * HEARD_AGAIN_MS' }],
    killed_by: {
      file: 'src/turn/outage.test.ts',
      title: 'that is about to be noticed to be over is not taken for one in which others are heard',
    },
  },
  {
    name: 'workers told to stop attempts that nobody cancelled',
    edits: [{ file: 'src/activities/cancel-push.ts', find: "state === 'CANCELLING'", replace: "state !== 'SUCCEEDED'" }],
    killed_by: push('workers are told which running attempts of cancelled runs are to stop, each location of its own'),
  },
  {
    name: 'workers told to stop with every publish',
    edits: [
      { file: 'src/activities/cancel-push.ts', find: '!told.has(attempt_id))', replace: '(told.size < 0 || attempt_id.length > 0))' },
    ],
    killed_by: push('each of them once, with the publish that shows it first'),
  },
  {
    name: 'a repeated start that ends the code which it began',
    edits: [
      {
        file: 'src/commands/withdraw.ts',
        find: 'if (owner !== withdrawnExecutionId(task.attempt_id)) return owner',
        replace: 'if (task.execution_id !== null) return owner',
      },
    ],
    killed_by: {
      file: 'test/api/cancels.test.ts',
      title: 'is not ended by its request once more, which a network repeats before the start is published: its code runs',
    },
  },
]
