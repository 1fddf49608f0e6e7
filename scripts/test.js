// Everything, from a fresh clone: sets up what is missing, runs every step, and closes with one line of totals whatever
// happens on the way. Only Node's own modules are imported before set-up is done.

import { readdirSync } from 'node:fs'
import { ROOT } from './build-state.js'
import { setUp } from './set-up.js'
import { checkSteps } from './check.js'
import { close, runSteps, stopAll, suite, tool } from './steps.js'

/** What must be there, and whatever else has tests: no folder is left out because nobody listed it. */
const SUITES = ['properties', 'contract', 'invariants', 'crash', 'integration', 'tidy']

/** Simulated here; `npm run sim` runs any number of others. */
const SEEDS = 200

function suiteFolders() {
  const files = readdirSync(`${ROOT}test`, { recursive: true }).filter((path) => path.endsWith('.test.ts') && path.includes('/'))
  return [...new Set([...SUITES, ...files.map((path) => path.split('/')[0])])]
}

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
  await runSteps(checkSteps(), 2, total)
  // One after the other: each uses both cores, and a suite that kills processes or talks to a server must not wait
  // for its turn on a busy machine.
  await runSteps(
    suiteFolders().map((folder) => suite(folder, [`test/${folder}/`])),
    1,
    total,
  )
  // Each half of the seeds is a process, so that both cores have one.
  const seeds = (first) => ['scripts/run.js', 'test/simulation/main.ts', '--seed', String(first), '--count', String(SEEDS / 2)]
  await runSteps(
    [1, 1 + SEEDS / 2].map((first) => tool(`seeds from ${first}`, seeds(first), { last_line: true })),
    2,
    total,
  )
  await runSteps([tool('bench', ['scripts/run.js', 'bench/main.ts', 'truth', '--quick'])], 1, total)
} catch (error) {
  // A set-up that failed says what to install; anything else is a fault of these scripts.
  console.log(error.name === 'SetUpError' ? error.message : error.stack)
  total.failed += 1
}
process.exitCode = close(total)
