// `npm run chaos -- --minutes M --seed N [--runs R] [--store gcs|local] [--report FILE] [--keep]`: real processes that are killed and
// stopped while work goes on. What happens is told on stderr, and the last line on stdout is one of JSON.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '../../src/core/errors.js'
import { writeReport } from './report.js'
import { lastLines, runChaos } from './run.js'

const RUNS_PER_MINUTE = 50
const LINES_SHOWN = 8
const PROBLEMS_SHOWN = 20

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    runs: { type: 'string' },
    store: { type: 'string' },
    report: { type: 'string' },
    keep: { type: 'boolean' },
  },
})
const minutes = numberOf('--minutes', values.minutes ?? '1', 0.1, 24 * 60)
const seed = numberOf('--seed', values.seed ?? String(Date.now() % 1_000_000), 0, Number.MAX_SAFE_INTEGER)
const runs = numberOf('--runs', values.runs ?? String(Math.ceil(minutes * RUNS_PER_MINUTE)), 1, 100_000)
const store_kind = values.store ?? 'gcs'
if (store_kind !== 'gcs' && store_kind !== 'local') refuse('--store is gcs or local.')

const began = performance.now()
const say = (line: string): void =>
  void process.stderr.write(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${line}\n`)
const folder = mkdtempSync(join(tmpdir(), 'servo-chaos-'))
// All that was started ends with this process: its guard sees to that.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    say(`Stopped by ${signal}; the logs are in ${folder}.`)
    process.exit(1)
  })
}
// What a failure left waiting is not waited for.
process.exit(await main())

async function main(): Promise<number> {
  say(`chaos by seed ${seed} for ${minutes} min on ${store_kind}, with ${runs} runs`)
  try {
    const report = await runChaos({
      seed,
      minutes,
      runs,
      store_kind: store_kind as 'gcs' | 'local',
      folder,
      is_kept: values.keep === true,
      say,
    })
    if (values.report !== undefined && report.verdict === 'good') writeReport(values.report, report)
    if (report.verdict === 'bad') explain(report.problems)
    else if (values.keep === true) say(`kept: ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
    process.stdout.write(`${JSON.stringify(report)}\n`)
    return report.verdict === 'good' ? 0 : 1
  } catch (error) {
    explain([error instanceof Error ? (error.stack ?? messageOf(error)) : messageOf(error)])
    process.stdout.write(`${JSON.stringify({ suite: 'chaos', seed, minutes, verdict: 'bad', problems: [messageOf(error)] })}\n`)
    return 1
  }
}

function explain(problems: readonly string[]): void {
  const logs = readdirSync(join(folder, 'logs')).map((file) => file.replace(/\.log$/, ''))
  for (const name of logs) process.stderr.write(`--- ${name} said last\n${lastLines(folder, name, LINES_SHOWN)}\n`)
  for (const problem of problems.slice(0, PROBLEMS_SHOWN)) process.stderr.write(`wrong: ${problem}\n`)
  if (problems.length > PROBLEMS_SHOWN) process.stderr.write(`and ${problems.length - PROBLEMS_SHOWN} more\n`)
  process.stderr.write(`The logs, the effects and the ledger are in ${folder}.\n`)
  process.stderr.write(`To run it again: npm run chaos -- --minutes ${minutes} --seed ${seed} --runs ${runs} --store ${store_kind}\n`)
}

function numberOf(flag: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (text !== '' && value >= min && value <= max && (flag === '--minutes' || Number.isInteger(value))) return value
  return refuse(`${flag} is ${JSON.stringify(text)}. Give it a ${flag === '--minutes' ? 'number' : 'whole number'} from ${min} to ${max}.`)
}

function refuse(why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(2)
}
