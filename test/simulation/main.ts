// `npm run sim -- --seed N [--count M]`: seeds from N on, each run twice. The last line says how many, and how many failed.

import { parseArgs } from 'node:util'
import type { SimulationResult } from './result.js'
import { simulate } from './simulate.js'

/** What `npm test` runs. */
const SEEDS = 300
const PROBLEMS_SHOWN = 5

const { values } = parseArgs({ options: { seed: { type: 'string' }, count: { type: 'string' }, trace: { type: 'boolean' } } })
const first = wholeNumber('--seed', values.seed ?? '1')
const count = wholeNumber('--count', values.count ?? (values.seed === undefined ? String(SEEDS) : '1'))

const began = performance.now()
const totals = { calls: 0, events: 0, revisions: 0, kills: 0, failures: 0 }
for (let seed = first; seed < first + count; seed++) {
  const once = await simulate(seed)
  const problems = [...once.problems, ...differences(once, await simulate(seed, 'trace'))]
  totals.calls += once.call_count
  totals.events += once.event_count
  totals.revisions += once.revision_count
  totals.kills += once.kill_count
  if (values.trace === true) for (const line of once.trace) console.log(line)
  if (problems.length === 0) continue
  totals.failures += 1
  console.log(`Seed ${seed} failed. To run it again: npm run sim -- --seed ${seed}`)
  for (const problem of problems.slice(0, PROBLEMS_SHOWN)) console.log(`  ${problem}`)
  if (problems.length > PROBLEMS_SHOWN) console.log(`  and ${problems.length - PROBLEMS_SHOWN} more`)
}
const seconds = (performance.now() - began) / 1_000
console.log(
  `note: ${count} seeds twice in ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(1)} a second; each time ${totals.calls} store calls, ` +
    `${totals.events} acknowledged events, ${totals.revisions} revisions, ${totals.kills} kills`,
)
console.log(`seeds run ${count}, failures ${totals.failures}`)
process.exitCode = totals.failures === 0 ? 0 : 1

/** The same seed has to give the same run: else a failure could not be run again. */
function differences(once: SimulationResult, twice: SimulationResult): string[] {
  if (once.trace_hash === twice.trace_hash) return []
  const at = once.trace.findIndex((line, index) => line !== twice.trace[index])
  return [
    `The second run was another one, from line ${at + 1} of its trace on: ${once.trace[at] ?? 'nothing'}, then ${twice.trace[at] ?? 'nothing'}.`,
  ]
}

function wholeNumber(flag: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  console.error(`${flag} is ${JSON.stringify(text)}. Give it a whole number.`)
  process.exit(2)
}
