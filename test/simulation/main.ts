// `npm run sim -- [--seed N] [--count M]`: so many seeds from this one on, each run twice; the same seed must leave the
// same trace. The last line says how many were run and how many failed.

import { simulate } from './simulate.js'

const SEEDS_BY_DEFAULT = 200

function numberAfter(args: readonly string[], flag: string, otherwise: number): number {
  const at = args.indexOf(flag)
  if (at < 0) return otherwise
  const value = Number(args[at + 1])
  if (Number.isSafeInteger(value) && value >= 0) return value
  process.stderr.write(`${flag} wants a whole number, not ${args[at + 1] ?? 'nothing'}.\n`)
  process.exit(2)
}

async function main(args: readonly string[]): Promise<number> {
  const first = numberAfter(args, '--seed', 1)
  const count = numberAfter(args, '--count', args.includes('--seed') ? 1 : SEEDS_BY_DEFAULT)
  const started = performance.now()
  let failures = 0
  let calls = 0
  for (let seed = first; seed < first + count; seed++) {
    const problems = await run(seed)
    calls += problems.call_count
    if (problems.found.length === 0) continue
    failures += 1
    process.stdout.write(`seed ${seed} failed under ${problems.faults.join(', ') || 'no fault'}:\n`)
    for (const problem of problems.found.slice(0, 5)) process.stdout.write(`  ${problem}\n`)
    process.stdout.write(`  replay it: npm run sim -- --seed ${seed}\n`)
  }
  const seconds = (performance.now() - started) / 1_000
  process.stdout.write(`${calls} store calls in ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(1)} seeds a second, each run twice\n`)
  process.stdout.write(`seeds run ${count}, failures ${failures}\n`)
  return failures === 0 ? 0 : 1
}

async function run(seed: number) {
  const once = await simulate(seed)
  const again = await simulate(seed)
  const found = [...once.problems]
  if (once.trace_hash !== again.trace_hash) found.push(`The same seed left two traces: ${once.trace_hash} and ${again.trace_hash}.`)
  return { found, call_count: once.call_count + again.call_count, faults: once.faults }
}

process.exitCode = await main(process.argv.slice(2))
