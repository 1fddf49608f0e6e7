// Everything, from a fresh clone: sets up what is missing, runs every step, and closes with one line of totals whatever
// happens on the way. Only Node's own modules are imported before set-up is done.

import { readdirSync } from 'node:fs'
import { ROOT } from './build-state.js'
import { checkSteps } from './check.js'
import { setUp } from './set-up.js'
import { close, runSteps, stopAll, suite, tool } from './steps.js'

/** What must be there, and whatever else has tests: no folder is left out because nobody listed it. */
const SUITES = ['system', 'temporal', 'properties', 'contract', 'invariants', 'crash', 'integration', 'tidy']

/** Simulated here; `npm run sim` runs any number of others. A seed of execution takes as long as five of the truth layer, and
 *  one of schedules as three. */
const SEEDS = 200
const EXECUTION_SEEDS = 40
const SCHEDULE_SEEDS = 20

/** Of the crash points of a stage one in so many is run here, those that cost most the least; `npm run crash` runs all of them.
 *  A process each: the parts of a stage are alike. */
const CRASH_STAGES = {
  parquet: { one_in: 16, parts: 2 },
  memory: { one_in: 12, parts: 1 },
  folder: { one_in: 16, parts: 1 },
  pairs: { one_in: 2, parts: 1 },
  copies: { one_in: 8, parts: 1 },
}

function suiteFolders() {
  const files = readdirSync(`${ROOT}test`, { recursive: true }).filter((path) => path.endsWith('.test.ts') && path.includes('/'))
  return [...new Set([...SUITES, ...files.map((path) => path.split('/')[0])])]
}

const crashSteps = () =>
  Object.entries(CRASH_STAGES).flatMap(([stage, { one_in, parts }]) =>
    range(parts).map((part) => {
      const args = ['scripts/run.js', 'test/crash/main.ts', stage, '--sample', String(one_in), '--shard', `${part + 1}/${parts}`]
      return tool(`crash ${stage}${parts === 1 ? '' : ` ${part + 1}`}`, args, { last_line: true })
    }),
  )

const seedsStep = (name, kind, first, count) => {
  const args = ['scripts/run.js', 'test/simulation/main.ts', '--kind', kind, '--seed', String(first), '--count', String(count)]
  return tool(name, args, { last_line: true })
}

/** Each half of the truth layer's seeds is a process. */
const simulationSteps = () => [
  ...range(2).map((half) => {
    const first = 1 + (half * SEEDS) / 2
    return seedsStep(`seeds from ${first}`, 'truth', first, SEEDS / 2)
  }),
  seedsStep('seeds of execution', 'execution', 1, EXECUTION_SEEDS),
  seedsStep('seeds of schedules', 'schedules', 1, SCHEDULE_SEEDS),
]

/** Real processes that die while they work; the seed is on its last line, and another one each time. */
const chaosSteps = () => [tool('process chaos', ['scripts/run.js', 'test/chaos/main.ts', '--minutes', '1'], { last_line: true })]

/** Half a minute of a third of the load: it shows that a soak works, and its figures are worth nothing. */
const soakSteps = () => {
  const file = 'node_modules/.cache/servo-soak.ndjson'
  return [tool('soak', ['scripts/run.js', 'bench/soak/main.ts', '--minutes', '0.5', '--rate', '100', '--file', file])]
}

const suiteSteps = () => suiteFolders().map((folder) => suite(folder, [`test/${folder}/`]))

const benchSteps = () => [
  tool('bench', ['scripts/run.js', 'bench/main.ts', 'truth', '--quick']),
  tool('bench, idle turn', ['scripts/run.js', 'bench/main.ts', 'execution', '--quick', '--only', 'turn_idle']),
]

/** Real processes and servers, which are waited for more than they compute: one lane has these, so that the other one's step
 *  finds a processor. What takes long comes first in both, so that they end together; a name that is in no list comes in
 *  the middle of those that compute. */
const WAITING = ['system', 'process chaos', 'integration', 'soak', 'temporal', 'worker', 'cli', 'queue', 'tracing']
const FIRST = ['crash parquet 1', 'crash parquet 2', 'properties', 'contract', 'crash folder', 'crash memory']
const LAST = ['invariants', 'tidy', 'lint, types', 'crash pairs', 'unit', 'tidy, graph', 'format']
const isWaiting = ({ name }) => WAITING.includes(name)
const ORDER = [...WAITING, ...FIRST]
const placeOf = ({ name }) => (ORDER.includes(name) ? ORDER.indexOf(name) - ORDER.length : LAST.indexOf(name) + 1)

const range = (count) => Array.from({ length: count }, (_, index) => index)

const total = { passed: 0, failed: 0, skipped: [] }

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    stopAll()
    console.log(`Stopped by ${signal}.`)
    total.failed += 1
    process.exit(close(total))
  })
}

try {
  await setUp()
  // Each step is one process that is busy, and two are run side by side: none meets more than one other, which is what
  // the suites that kill processes and talk to servers were written for. A third beside them is no gain: all took longer.
  const steps = [...checkSteps(), ...suiteSteps(), ...chaosSteps(), ...soakSteps(), ...crashSteps(), ...simulationSteps(), ...benchSteps()]
  await runSteps(
    steps.sort((left, right) => placeOf(left) - placeOf(right)),
    [isWaiting, (step) => !isWaiting(step)],
    total,
  )
} catch (error) {
  // A set-up that failed says what to install; anything else is a fault of these scripts.
  console.log(error.name === 'SetUpError' ? error.message : error.stack)
  total.failed += 1
}
process.exitCode = close(total)
