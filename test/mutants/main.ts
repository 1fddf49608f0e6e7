// `npm run mutants [-- NAME]`: takes one guard away at a time, and expects the check that the mutant names to fail. First
// every check has to pass on the code as it is. The last line says `killed N of N`; one that survives is a failure.

import { type Copy, createCopy, edit, editFault, runChecks, titleOf, type Verdict } from './check.js'
import type { Check, Mutant } from './mutant.js'
import { MUTANTS } from './mutants.js'

/** A copy each: two mutants must not meet in one. */
const AT_ONCE = 2

const [wanted] = process.argv.slice(2)
const mutants = MUTANTS.filter(({ name }) => wanted === undefined || name.includes(wanted))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.exitCode = await main()

async function main(): Promise<number> {
  if (mutants.length === 0) {
    console.log(`No mutant is named ${wanted}. There are: ${MUTANTS.map(({ name }) => name).join(' · ')}.`)
    return 2
  }
  const faults = mutants.flatMap(({ name, edits }) => edits.flatMap((one) => editFault(one) ?? []).map((fault) => `${name}: ${fault}`))
  if (faults.length > 0) {
    console.log(`Mutants that do not apply any more:\n${faults.join('\n')}`)
    return 1
  }
  const copies = Array.from({ length: AT_ONCE }, createCopy)
  try {
    if (!(await passesUnchanged(copies))) return 1
    const killed_count = await killAll(copies)
    console.log(`killed ${killed_count} of ${mutants.length}`)
    return killed_count === mutants.length ? 0 : 1
  } finally {
    for (const { remove } of copies) remove()
  }
}

/** The checks are divided by files, so that each copy warms up. */
async function passesUnchanged(copies: readonly Copy[]): Promise<boolean> {
  const byFile = new Map<string, Check[]>()
  for (const { killed_by } of mutants) byFile.set(killed_by.file, [...(byFile.get(killed_by.file) ?? []), killed_by])
  const files = [...byFile.values()]
  const verdicts = await Promise.all(
    copies.map(async (copy, index) => {
      const own = files.filter((_, at) => at % copies.length === index).flat()
      return own.length === 0 ? undefined : runChecks(copy, own)
    }),
  )
  const bad = verdicts.filter((verdict) => verdict !== undefined && verdict.kind !== 'passed')
  for (const verdict of bad) console.log(`The code as it is does not pass its checks (${verdict?.kind}): ${verdict?.detail}`)
  return bad.length === 0
}

async function killAll(copies: readonly Copy[]): Promise<number> {
  const waiting = [...mutants]
  let killed_count = 0
  const work = async (copy: Copy) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const restore = edit(copy, mutant.edits)
      const verdict = await runChecks(copy, [mutant.killed_by])
      restore()
      const isKilled = verdict.kind === 'failed' || (verdict.kind === 'timed_out' && mutant.may_hang === true)
      if (isKilled) killed_count += 1
      report(mutant, verdict, isKilled)
    }
  }
  await Promise.all(copies.map(work))
  return killed_count
}

function report({ name, killed_by }: Mutant, { kind, detail, duration_ms }: Verdict, isKilled: boolean): void {
  const time = `${(duration_ms / 1_000).toFixed(1)} s`
  if (isKilled) console.log(`killed    ${name} · ${killed_by.file} · ${titleOf(killed_by)} · ${time}`)
  else console.log(`SURVIVED  ${name} (${kind}) · ${killed_by.file} · ${titleOf(killed_by)} · ${time}${detail === '' ? '' : `\n${detail}`}`)
}
