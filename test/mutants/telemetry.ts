// Guards of what is watched: figures that nobody counts look like a good day.

import type { Check, Mutant } from './mutant.js'

const PUBLISH: Check = {
  file: 'test/metrics/published.test.ts',
  title: 'a publish is counted in each of its series, with labels and number',
}

export const TELEMETRY: readonly Mutant[] = [
  {
    name: 'attempts that were given up counted nowhere',
    edits: [
      {
        file: 'src/telemetry/automation-metrics.ts',
        find: "addAll(lost, 'reason', tally.attempts_lost)",
        replace: "addAll(lost, 'reason', new Map())",
      },
    ],
    killed_by: PUBLISH,
  },
  {
    name: 'ticks of schedules told to nobody',
    edits: [
      {
        file: 'src/telemetry/automation-metrics.ts',
        find: 'triggers.ticked(report.tally.schedule_ticks, report.tally.tick_delays_ms)',
        replace: 'triggers.ticked(new Map(), report.tally.tick_delays_ms)',
      },
    ],
    killed_by: PUBLISH,
  },
]
