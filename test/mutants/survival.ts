// Guards by which work survives its workers: attempts that start once and end, places that come back, cancels that end.

import { invariant, type Mutant } from './mutant.js'

const ENDS = 'i28-every-run-ends'
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
        find: '  leavePools(rows, task, moment)',
        replace: '  if (isOver(state)) leavePools(rows, task, moment)',
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
        replace: '    ...((await look()) < 0 ? { server_time: 0 } : {}),',
      },
    ],
    killed_by: {
      file: 'test/api/first-words.test.ts',
      title: 'the first word of an API whose clock is wrong by 3 hours is stamped by the store',
    },
  },
]
