// `npm run bench -- SUITE [--quick] [--only NAME]`: runs one suite of benchmarks.

import { EXECUTION_NAMES, runExecution } from './execution/suite.js'
import { LOOPS_NAMES, runLoops } from './loops/suite.js'
import { REPAIR_NAMES, runRepair } from './repair/suite.js'
import { createReport } from './report.js'
import { RUN_NAMES, runRun } from './run/suite.js'
import { runScale, SCALE_NAMES } from './scale/suite.js'
import { runSchedules, SCHEDULES_NAMES } from './schedules/suite.js'
import { runTruth, TRUTH_NAMES } from './truth/suite.js'

const SUITES = {
  truth: { run: runTruth, names: TRUTH_NAMES },
  run: { run: runRun, names: RUN_NAMES },
  execution: { run: runExecution, names: EXECUTION_NAMES },
  schedules: { run: runSchedules, names: SCHEDULES_NAMES },
  scale: { run: runScale, names: SCALE_NAMES },
  loops: { run: runLoops, names: LOOPS_NAMES },
  repair: { run: runRepair, names: REPAIR_NAMES },
} as const

async function main(args: readonly string[]): Promise<number> {
  const only = args.includes('--only') ? args[args.indexOf('--only') + 1] : undefined
  const [name] = args.filter((arg) => !arg.startsWith('--') && arg !== only)
  const suite = SUITES[name as keyof typeof SUITES]
  if (suite === undefined) {
    process.stderr.write(`Which suite? npm run bench -- ${Object.keys(SUITES).join(' | ')} [--quick] [--only NAME]\n`)
    return 2
  }
  if (only !== undefined && !suite.names.includes(only)) {
    process.stderr.write(`--only ${only} names no benchmark of ${name}: say ${suite.names.join(', ')}.\n`)
    return 2
  }
  const report = createReport()
  await suite.run(report, { is_quick: args.includes('--quick'), only })
  report.print()
  return 0
}

process.exitCode = await main(process.argv.slice(2))
