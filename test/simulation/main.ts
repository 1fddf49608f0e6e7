// `npm run sim -- --seed N [--count M] [--kind truth|execution|schedules]`: seeds from N on, of all kinds unless one is named, each run
// twice. The last line says how many, and how many failed.

import { parseArgs } from 'node:util'
import { simulate as simulateExecution } from './execution/simulate.js'
import type { Simulate, SimulationResult } from './result.js'
import { simulate as simulateSchedules } from './schedules/simulate.js'
import { simulate as simulateTruth } from './simulate.js'

/** What `npm test` runs of the first kind. */
const SEEDS = 200
const PROBLEMS_SHOWN = 5
/** So many seeds of a kind have to come to all that is rare. */
const SAMPLE = 40

const KINDS: Readonly<Record<string, Simulate>> = { truth: simulateTruth, execution: simulateExecution, schedules: simulateSchedules }

const { values } = parseArgs({
  options: { seed: { type: 'string' }, count: { type: 'string' }, kind: { type: 'string' }, trace: { type: 'boolean' } },
})
const first = wholeNumber('--seed', values.seed ?? '1')
const count = wholeNumber('--count', values.count ?? (values.seed === undefined ? String(SEEDS) : '1'))
const kinds = kindsOf(values.kind)

const began = performance.now()
const totals = { calls: 0, events: 0, revisions: 0, kills: 0, failures: 0 }
const reached = new Map<string, number>()
for (let seed = first; seed < first + count; seed++) {
  for (const kind of kinds) await runSeed(kind, seed)
}
for (const [what, times] of reached) {
  console.log(`note: ${times} ${what}`)
  if (times > 0 || count < SAMPLE) continue
  totals.failures += 1
  console.log(`No seed of ${first} to ${first + count - 1} came to ${what}. They are not checked; make them more likely.`)
}
const seconds = (performance.now() - began) / 1_000
const seeds = count * kinds.length
console.log(
  `note: ${seeds} seeds of ${kinds.join(' and ')} twice in ${seconds.toFixed(1)} s, ${(seeds / seconds).toFixed(1)} a second; each time ` +
    `${totals.calls} store calls, ${totals.events} acknowledged events, ${totals.revisions} revisions, ${totals.kills} kills`,
)
console.log(`seeds run ${seeds}, failures ${totals.failures}`)
process.exitCode = totals.failures === 0 ? 0 : 1

async function runSeed(kind: string, seed: number): Promise<void> {
  const simulate = KINDS[kind] as Simulate
  const once = await simulate(seed)
  const problems = [...once.problems, ...differences(once, await simulate(seed, 'trace'))]
  totals.calls += once.call_count
  totals.events += once.event_count
  totals.revisions += once.revision_count
  totals.kills += once.kill_count
  for (const [what, times] of Object.entries(once.reached ?? {})) reached.set(what, (reached.get(what) ?? 0) + times)
  if (values.trace === true) for (const line of once.trace) console.log(line)
  if (problems.length === 0) return
  totals.failures += 1
  console.log(`Seed ${seed} of ${kind} failed. To run it again: npm run sim -- --seed ${seed} --kind ${kind}`)
  for (const problem of problems.slice(0, PROBLEMS_SHOWN)) console.log(`  ${problem}`)
  if (problems.length > PROBLEMS_SHOWN) console.log(`  and ${problems.length - PROBLEMS_SHOWN} more`)
}

/** The same seed has to give the same run: else a failure could not be run again. */
function differences(once: SimulationResult, twice: SimulationResult): string[] {
  if (once.trace_hash === twice.trace_hash) return []
  const at = once.trace.findIndex((line, index) => line !== twice.trace[index])
  return [
    `The second run was another one, from line ${at + 1} of its trace on: ${once.trace[at] ?? 'nothing'}, then ${twice.trace[at] ?? 'nothing'}.`,
  ]
}

function kindsOf(kind: string | undefined): readonly string[] {
  const all = Object.keys(KINDS)
  if (kind === undefined) return all
  if (all.includes(kind)) return [kind]
  console.error(`--kind is ${JSON.stringify(kind)}. Give it ${all.join(' or ')}, or leave it out for all.`)
  process.exit(2)
}

function wholeNumber(flag: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  console.error(`${flag} is ${JSON.stringify(text)}. Give it a whole number.`)
  process.exit(2)
}
