// Guards of what is watched: figures that nobody counts look like a good day.

import type { Check, Mutant } from './mutant.js'

const PUBLISH: Check = {
  file: 'test/metrics/published.test.ts',
  title: 'a publish is counted in each of its series, with labels and number',
}
const tally = (title: string): Check => ({ file: 'src/projections/tallies/tally.test.ts', title })

export const TELEMETRY: readonly Mutant[] = [
  {
    name: 'attempts that were given up counted nowhere',
    edits: [
      {
        file: 'src/projections/tallies/task.ts',
        find: 'book.count(LOST, outcome_reason)',
        replace: 'book.count(LOST, outcome_reason, 0)',
      },
    ],
    killed_by: tally('counts an attempt that its worker gave back, though it counts as no try'),
  },
  {
    name: 'ticks of schedules told to nobody',
    edits: [
      {
        file: 'src/controllers/nouns/schedule.ts',
        find: '  tally: SCHEDULE_TALLY,\n',
        replace: '',
      },
    ],
    killed_by: {
      file: 'test/metrics/published.test.ts',
      title: 'the series of runs, tasks, schedules and refusals are served as they are called in dashboards and rules',
    },
  },
  {
    name: 'durations of a tally added to no metric',
    edits: [
      {
        file: 'src/telemetry/tally-metrics.ts',
        find: 'of durations_ms)\n',
        replace: 'of new Map<string, ReadonlyMap<string, readonly number[]>>())\n',
      },
    ],
    killed_by: PUBLISH,
  },
  {
    name: 'wake-ups that passed and found nothing left on record',
    edits: [{ file: 'src/turn/turn.ts', find: ' || isWakePassed(pass))', replace: ')' }],
    killed_by: {
      file: 'test/api/automation-away.test.ts',
      title: 'a wake-up that passed and found nothing to do is replaced, so that a healthy workspace is not called overdue',
    },
  },
  {
    name: 'what waits for a turn while nothing is due by the clock left out of the gauge',
    edits: [{ file: 'src/readers/gauges.ts', find: 'turnOverdue(view, oldest_at, now)', replace: 'turnOverdue(view, null, now)' }],
    killed_by: {
      file: 'test/api/automation-away.test.ts',
      title: 'makes the API degraded and the gauge rise, when no turn takes it up',
    },
  },
  {
    name: 'a system that catches up called overdue',
    edits: [
      {
        file: 'src/readers/turn-overdue.ts',
        find: 'Math.max(oldest_unfolded_at, publishedAt(view))',
        replace: 'Math.min(oldest_unfolded_at, publishedAt(view))',
      },
    ],
    killed_by: {
      file: 'test/api/automation-away.test.ts',
      title: 'is not overdue while revisions are published, however much a turn has to catch up with',
    },
  },
  {
    name: 'probes that list the ledger each time',
    edits: [
      {
        file: 'src/readers/oldest-unfolded.ts',
        find: 'if (known.oldest_at !== null || isRecent) return known.oldest_at',
        replace: 'if (isRecent && known.oldest_at !== null) return known.oldest_at',
      },
    ],
    killed_by: {
      file: 'test/api/automation-away.test.ts',
      title:
        'is looked for by probes with a listing every 15 s at most, with none after a scrape or where something waits, and poked for once',
    },
  },
  {
    name: 'a missing server logged again whenever its text changes',
    edits: [
      {
        file: 'src/bin/troubles.ts',
        find: '(left.code !== undefined || left.problem === right.problem)',
        replace: 'left.problem === right.problem',
      },
    ],
    killed_by: {
      file: 'src/bin/supervisor.test.ts',
      title: 'is logged once, however the text of the server changes, and again when something else is missing',
    },
  },
  {
    name: 'old gauges served while the store does not answer',
    edits: [
      {
        file: 'src/telemetry/api-metrics.ts',
        find: 'const gauges = found ?? UNKNOWN',
        replace: 'const gauges = found ?? { ...UNKNOWN, lag_ms: 0 }',
      },
    ],
    killed_by: {
      file: 'test/metrics/published.test.ts',
      title: 'while the store does not answer, its gauge says so, and no other one shows an old value',
    },
  },
]
