// What a run of chaos ends with: one line of JSON, and the same line in docs/reliability.md.

import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'

const count = z.int().min(0)
const counts = z.record(z.string(), count)

export const chaosReport = z.strictObject({
  suite: z.literal('chaos'),
  seed: z.int(),
  commit: z.string(),
  minutes: z.number(),
  store: z.enum(['gcs', 'local']),
  /** Asked for, and how they ended. */
  runs: count,
  run_states: counts,
  tasks: count,
  task_states: counts,
  /** Dispatched, started by a worker, and with code that came to its end. */
  attempts: count,
  attempts_run: count,
  effects: count,
  /** Effects of attempts that were given up before: refused, and done once more by another attempt. */
  effects_refused: count,
  /** Long troubles, by kind, and the runs of the other workspace in the same namespace of Temporal. */
  incidents: counts,
  neighbour_runs: count,
  kills: counts,
  stops: counts,
  wipes: count,
  interruptions_missed: count,
  ended_by_themselves: counts,
  proxy_requests: count,
  proxy_faults: counts,
  attempts_lost: counts,
  repairs: counts,
  refusals: counts,
  publishes_lost: count,
  run_key_conflicts: count,
  events: count,
  revisions: count,
  drain_s: z.number(),
  duration_s: z.number(),
  replay_equal: z.boolean(),
  verify_clean: z.boolean(),
  problems: z.array(z.string()),
  verdict: z.enum(['good', 'bad']),
})

export type ChaosReport = z.output<typeof chaosReport>

const BLOCK = /^(```json chaos\n)([^]*?)(\n```)$/m

const COMMAND = /npm run chaos -- --minutes \S+ --seed \S+ --report docs\/reliability\.md/

/** The report in a document; undefined: there is none. */
export function reportIn(text: string): ChaosReport | undefined {
  const line = BLOCK.exec(text)?.[2]
  return line === undefined ? undefined : chaosReport.parse(JSON.parse(line))
}

/** With the command that repeats it. */
export function withReport(text: string, report: ChaosReport): string {
  if (!BLOCK.test(text)) throw new Error('The document has no block that begins with ```json chaos.')
  const { minutes, seed } = report
  return text
    .replace(BLOCK, (_, open: string, _line: string, close: string) => `${open}${JSON.stringify(chaosReport.parse(report))}${close}`)
    .replace(COMMAND, `npm run chaos -- --minutes ${minutes} --seed ${seed} --report docs/reliability.md`)
}

export function writeReport(file: string, report: ChaosReport): void {
  writeFileSync(file, withReport(readFileSync(file, 'utf8'), report))
}
