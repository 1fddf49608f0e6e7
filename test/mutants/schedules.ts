// Guards of schedules: which instants run, which are counted, and that none is both.

import { type Check, invariant, type Mutant, turn } from './mutant.js'

const INTERVAL = 'src/controllers/schedule-interval.ts'
const DECISION = 'src/controllers/schedule-decision.ts'
const DUE = 'src/controllers/schedule-due.ts'
const TRIGGER = 'src/commands/schedule/trigger.ts'
const ASKED = 'src/commands/schedule/definition.ts'
const catchUp = (title: string): Check => ({ file: 'src/controllers/schedule-catch-up.test.ts', title })
const ticks = (title: string): Check => ({ file: 'test/api/schedule-ticks.test.ts', title })
const defined = (title: string): Check => ({ file: 'test/api/schedules.test.ts', title })
const updated = (title: string): Check => ({ file: 'src/workflows/command-fault.test.ts', title })

const entityLoop = (title: string): Check => ({ file: 'test/temporal/entity-loop.test.ts', title })

export const SCHEDULES: readonly Mutant[] = [
  {
    name: 'the oldest of what was missed run',
    edits: [{ file: INTERVAL, find: 'at(ticks, from, total - running + index)', replace: 'at(ticks, from, index)' }],
    killed_by: catchUp('#10335 runs the newest three of ten midnights that were missed, and counts the other seven'),
  },
  {
    name: 'catch-up without its window',
    edits: [
      {
        file: INTERVAL,
        find: 'const running = Math.min(inWindow, max_catchup_ticks)',
        replace: 'const running = Math.min(inWindow + total, total, max_catchup_ticks)',
      },
    ],
    killed_by: catchUp('#10335 runs none that is older than the window, whatever was decided before'),
  },
  {
    name: 'what is older than the newest forgotten',
    edits: [
      {
        file: DECISION,
        find: "skipped.add('CATCH_UP', older)",
        replace: "skipped.add('CATCH_UP', newest.length === 0 ? older : undefined)",
      },
    ],
    killed_by: invariant(
      'i32-each-instant-ticks-once',
      'I32 each instant ticks once through edits, pauses, wrong clocks and outages; npm run sim -- --kind schedules --seed 30',
    ),
  },
  {
    name: 'a pause caught up with on resume',
    edits: [
      {
        file: 'src/projections/schedule.ts',
        find: 'else if (definition.catch_up_on_resume)',
        replace: 'else if (definition !== undefined)',
      },
    ],
    killed_by: catchUp('#5604 does not replay what was missed while it was off, when it is on again'),
  },
  {
    name: 'an edit that replays the past',
    edits: [
      {
        file: 'src/projections/schedule.ts',
        find: 'const floor_at = isMoved ? Math.max(state.floor_at, moment.at) : state.floor_at',
        replace: 'const floor_at = state.floor_at',
      },
    ],
    killed_by: catchUp('#13597 does not fire the past when its cron is edited to one that had fired'),
  },
  {
    name: 'what an edit cut off counted by nobody',
    edits: [{ file: DUE, find: 'if (first !== null && first <= instantMs(span.to)) return', replace: 'if (first === 0) return' }],
    killed_by: catchUp('#13597 counts what an edit cut off by the cron of then, and decides it before anything else'),
  },
  {
    name: 'runs that overlap against the policy',
    edits: [
      {
        file: DECISION,
        find: "definition.overlap_policy === 'SKIP' ? context.activeRunOf(definition.schedule_id) : undefined",
        replace: 'undefined as string | undefined',
      },
    ],
    killed_by: catchUp('#12758 skips a tick while a run of the schedule is active, and says which'),
  },
  {
    name: 'missed ticks that run beside each other against the policy',
    edits: [{ file: DECISION, find: 'ticks.some(({ runs }) => runs.length > 0)', replace: 'ticks.length < 0' }],
    killed_by: catchUp('#12758 lets the newest alone run of what was missed, because the others would run beside it'),
  },
  {
    name: 'a cron that cannot be read told again and again',
    edits: [
      {
        file: DUE,
        find: 'last_scheduled_for !== null && last_scheduled_for > cron_changed_at',
        replace: 'last_scheduled_for === cron_changed_at',
      },
    ],
    killed_by: {
      file: 'src/controllers/schedules.test.ts',
      title: 'fails one tick for a cron that cannot be read, and says no more of it',
    },
  },
  {
    name: 'turns that wake for paused schedules',
    edits: [{ file: DUE, find: "|| state.status === 'PAUSED') return", replace: ') return' }],
    killed_by: turn('schedules', 'do not wake it while they are paused, and write nothing when nothing is due'),
  },
  {
    name: 'a tick folded on a state that has changed',
    edits: [
      {
        file: 'src/projections/schedule-tick.ts',
        find: 'if (expected_state_version !== state_version || state_event_id !== last_event_id)',
        replace: 'if (expected_state_version > state_version)',
      },
    ],
    killed_by: invariant('i10-stale-triggers-start-no-run', 'I10 a tick that was decided before a pause starts no run'),
  },
  {
    name: 'requests that are folded without their trigger',
    edits: [{ file: 'src/projections/run-request.ts', find: '({ ...request, caused_by: 0 })', replace: '({ ...request })' }],
    killed_by: invariant('i10-stale-triggers-start-no-run', 'I10 a tick that was decided before a pause starts no run'),
  },
  {
    name: 'conflicts that the row of their trigger does not count',
    edits: [
      { file: 'src/projections/run.ts', find: "  recordRequest(rows, payload.trigger, { kind: 'conflicting' }, moment)\n", replace: '' },
    ],
    killed_by: {
      file: 'src/projections/schedule-tick.test.ts',
      title: 'are one where two controllers saw two definitions of it: a conflict row holds both, and the tick counts it',
    },
  },
  {
    name: 'a tick folded on a state that another event has made',
    edits: [
      {
        file: 'src/projections/schedule-tick.ts',
        find: ' || state_event_id !== last_event_id',
        replace: '',
      },
    ],
    killed_by: {
      file: 'src/projections/schedule-tick.test.ts',
      title: 'after one that was refused is refused too, though another event made the version that it names',
    },
  },
  {
    name: 'a window that is under way taken for complete',
    edits: [
      {
        file: 'src/partitions/last-complete.ts',
        find: 'order.rankAt(at_ms) - 1 + end_offset',
        replace: 'order.rankAt(at_ms) + end_offset',
      },
    ],
    killed_by: { file: 'src/partitions/last-complete.test.ts', title: 'of time is the window that ended last, moved by 0' },
  },
  {
    name: 'events appended before the lists that they name',
    edits: [{ file: 'src/turn/decide.ts', find: '  await writeLists(deps, decisions)\n', replace: '' }],
    killed_by: turn('schedules', 'whose runs need long lists have them written before the events that name them'),
  },
  {
    name: 'the partition of a trigger written as it was typed',
    edits: [
      {
        file: TRIGGER,
        find: '{ keys: canonicalKeys([partition], selected) }',
        replace: 'selected.length < 0 ? { keys: canonicalKeys([], selected) } : { keys: [partition] }',
      },
    ],
    killed_by: ticks('writes the one key of several dimensions that 2025-01-15|us means, as a request for a run does'),
  },
  {
    name: 'a trigger without a bound on its batch',
    edits: [
      {
        file: TRIGGER,
        find: 'if (!room.take({ partitions: asks.partitions, runs }))',
        replace: 'if (!room.take({ partitions: asks.partitions, runs: [] }))',
      },
    ],
    killed_by: ticks('that is too large for one batch is refused as a tick of the clock is, and one partition of it is not'),
  },
  {
    name: 'the room of a batch measured without its bytes',
    edits: [{ file: 'src/projections/tick-room.ts', find: ' || of_runs > batch_bytes_left) return', replace: ' || of_runs < 0) return' }],
    killed_by: ticks('that is too large for one batch is refused as a tick of the clock is, and one partition of it is not'),
  },
  {
    name: 'a skipped tick that does not say which run stood in its way',
    edits: [{ file: DECISION, find: 'skipped: skipped.all(active_run_id)', replace: 'skipped: skipped.all(undefined)' }],
    killed_by: catchUp('#12758 skips a tick while a run of the schedule is active, and says which'),
  },
  {
    name: 'of several active runs the one that came last to mind',
    edits: [
      {
        file: DECISION,
        find: 'left.requested_at - right.requested_at || compareText(left.run_id, right.run_id)',
        replace: '0 * compareText(left.run_id, right.run_id)',
      },
    ],
    killed_by: catchUp('#12758 names the run that began first of several, in whatever order they came to mind'),
  },
  {
    name: 'a partition mapping that is not tried when the schedule is defined',
    edits: [
      { file: ASKED, find: ': mappingFaults(graph, definition, now)', replace: ': mappingFaults(graph, definition, now).slice(0, 0)' },
    ],
    killed_by: defined('with hours and days that cannot be meant is refused, and says what to do'),
  },
  {
    name: 'a partition mapping tried at another hour than the schedule fires at',
    edits: [{ file: ASKED, find: '(ticks.next(now) ?? now)', replace: 'Math.min(now, ticks.next(now) ?? now)' }],
    killed_by: defined('that maps to partitions which are still to come is taken'),
  },
  {
    name: 'a member of an update that nobody knows dropped',
    edits: [
      {
        file: 'src/workflows/command-fault.ts',
        find: 'if (!Object.hasOwn(examples, name)) {',
        replace: 'if (!Object.hasOwn(request, name)) {',
      },
    ],
    killed_by: updated('is refused where something of it would be lost: {"partitions":"2025-01-15"}'),
  },
  {
    name: 'a member of an update that is no text dropped',
    edits: [
      {
        file: 'src/workflows/command-fault.ts',
        find: "if (typeof value !== 'string' || ",
        replace: "if (typeof value === 'undefined' || ",
      },
    ],
    killed_by: updated('is refused where something of it would be lost: {"partition":20250115}'),
  },
  {
    name: 'a command by a signal named otherwise when a Reset applies it again',
    edits: [{ file: 'src/workflows/command-numbers.ts', find: 'return `${from}:${count}`', replace: 'return wf.uuid4()' }],
    killed_by: entityLoop(
      'commands by signals without a request_id have the same ids when a Reset applies them again, and a new one has another',
    ),
  },
  {
    name: 'a new command after a Reset given the number of one that the Reset left out',
    edits: [{ file: 'src/workflows/command-numbers.ts', find: 'from = run_id', replace: 'void run_id' }],
    killed_by: entityLoop(
      'commands by signals without a request_id have an id that was not used before, also where a Reset left the earlier signals out',
    ),
  },
  {
    name: 'the next fire in lists changed with each look of a loop whose schedule fires often',
    edits: [{ file: 'src/workflows/entity-loop.ts', find: 'report?.settings?.next_fire_slack_ms ?? 0', replace: '0' }],
    killed_by: { file: 'test/replay/replay.test.ts', title: 'all of them are replayed by the workflows as they are now' },
  },
  {
    name: 'a loop looked at after each fire, however often its schedule fires',
    edits: [{ file: 'src/activities/entities/wake.ts', find: 'firesOften(due) ? Math.max(', replace: 'count < 0 ? Math.max(' }],
    killed_by: {
      file: 'src/activities/entities/wake.test.ts',
      title: 'a loop whose entity fires more often than every five minutes looks every ten',
    },
  },
]
