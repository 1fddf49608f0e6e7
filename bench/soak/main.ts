// `npm run soak -- --minutes M [--rate EVENTS_PER_SECOND] [--file FILE.ndjson] [--plot FILE.svg]`: the whole of Servo under a
// steady load. What happens is told on stderr; the last line on stdout is the summary, as the last line of the file is.
// `--plot` with `--from FILE.ndjson` draws what an earlier soak has written.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '../../src/core/errors.js'
import { commitOf } from '../../test/fixtures/commit.js'
import { soakPlot } from './plot.js'
import { readSoak } from './result.js'
import { runSoak } from './soak.js'
import type { SoakSummary } from './summary.js'

/** Of the wanted events: a load that was not held shows nothing. */
const RATE_SHARE_MIN = 0.95
/** Of a short soak, in which a moment's lag is a large part. */
const SHORT_RATE_SHARE_MIN = 0.8
const SHORT_MINUTES = 5
const RATE_DEFAULT = 300

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    rate: { type: 'string' },
    file: { type: 'string' },
    plot: { type: 'string' },
    from: { type: 'string' },
  },
})
const minutes = numberOf('--minutes', values.minutes ?? '30', 0.1, 24 * 60)
const events_per_s = numberOf('--rate', values.rate ?? String(RATE_DEFAULT), 1, 10_000)

const began = performance.now()
const say = (line: string): void =>
  void process.stderr.write(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${line}\n`)

// All that was started ends with this process, as it does where it ends by itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    say(`Stopped by ${signal}.`)
    process.exit(1)
  })
}
process.exitCode = await main()

async function main(): Promise<number> {
  const file = values.from ?? values.file ?? join(mkdtempSync(join(tmpdir(), 'servo-soak-')), 'soak.ndjson')
  try {
    if (values.from === undefined) await runSoak({ minutes, events_per_s, file, commit: commitOf(), say })
    const soak = readSoak(readFileSync(file, 'utf8'))
    if (values.plot !== undefined) writeFileSync(values.plot, soakPlot(soak))
    process.stdout.write(`${JSON.stringify(soak.summary)}\n`)
    const problems = problemsOf(soak.summary)
    for (const problem of problems) process.stderr.write(`wrong: ${problem}\n`)
    say(`the samples are in ${file}`)
    return problems.length === 0 ? 0 : 1
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? messageOf(error)) : messageOf(error)}\nThe samples are in ${file}.\n`)
    return 1
  }
}

/** What makes its figures worthless. Drift is for those who read them. */
function problemsOf({ minutes, events_per_s, events_per_s_wanted, request_failures, runs, runs_over }: SoakSummary): readonly string[] {
  const share_min = minutes < SHORT_MINUTES ? SHORT_RATE_SHARE_MIN : RATE_SHARE_MIN
  return [
    ...(events_per_s < events_per_s_wanted * share_min
      ? [`${events_per_s.toFixed(0)} events a second were folded, and not ${events_per_s_wanted}: the machine was too busy, or too slow.`]
      : []),
    ...(request_failures > 0 ? [`${request_failures} requests got no answer, and were made again.`] : []),
    ...(runs_over <= runs ? [`${runs} runs were asked for, and only ${runs_over - 1} succeeded.`] : []),
  ]
}

function numberOf(flag: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (text !== '' && value >= min && value <= max) return value
  process.stderr.write(`${flag} is ${JSON.stringify(text)}. Give it a number from ${min} to ${max}.\n`)
  process.exit(2)
}
