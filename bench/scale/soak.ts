// How far turns drift under a steady load: from a soak that was run before, or from a short one.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitOf } from '../../test/fixtures/commit.js'
import type { Report } from '../report.js'
import { readSoak } from '../soak/result.js'
import { runSoak } from '../soak/soak.js'
import type { SuiteOptions } from '../truth/options.js'
import { withFolder } from '../workspace.js'

const SHORT = { minutes: 2, events_per_s: 300 } as const
const QUICK = { minutes: 0.5, events_per_s: 100 } as const

export async function benchSoak(report: Report, { is_quick }: SuiteOptions, file?: string): Promise<void> {
  if (file !== undefined) return say(report, readFileSync(file, 'utf8'))
  await withFolder(async (folder) => {
    const own = join(folder, 'soak.ndjson')
    await runSoak({ ...(is_quick ? QUICK : SHORT), file: own, commit: commitOf(), say: (line) => void process.stderr.write(`${line}\n`) })
    say(report, readFileSync(own, 'utf8'))
  })
}

function say(report: Report, text: string): void {
  const { minutes, events_per_s, soak_turn_drift, window_s, warm_up_s, commit } = readSoak(text).summary
  report.add({
    name: 'soak_turn_drift',
    value: soak_turn_drift,
    unit: 'ratio',
    target: '≤ 1.1, of half an hour',
    setup:
      `${minutes} min at ${events_per_s.toFixed(0)} events a second, of ${commit}: turns of the last ${window_s} s over those of the first ` +
      `after ${warm_up_s} s, medians of samples`,
  })
}
