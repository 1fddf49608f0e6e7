// `servo ledger rebuild`: folds the whole ledger again with this version's fold, and publishes the tables that it makes.

import type { Command } from 'commander'
import { openScratch } from '../../bin/deps.js'
import { type RebuildAnswer, rebuild } from '../../turn/rebuild.js'
import { describeDifference, describeDiffering } from './ledger-check.js'
import { type StoreOptions, withDeps, withStore } from './options.js'
import { counted, note, printJson, printLine } from './print.js'

type RebuildOptions = StoreOptions & { readonly dryRun?: boolean }

export function addRebuildCommand(group: Command): void {
  withStore(group.command('rebuild'))
    .description('make the tables anew from the first event on, after a version whose fold says other rows; turns may go on')
    .option('--dry-run', 'say which rows would change, and change nothing')
    .action((options: RebuildOptions) => runRebuild(options))
}

const runRebuild = (options: RebuildOptions): Promise<void> =>
  withDeps(options, options.dryRun === true ? 'read' : 'write', async (deps) => {
    const scratch = await openScratch(deps)
    try {
      const answer = await rebuild({ ...deps, live: deps, scratch }, { is_dry: options.dryRun === true, say: note })
      if (options.json === true) return printJson(answer)
      for (const difference of answer.differences) printLine(describeDifference(difference))
      printLine(describe(answer))
    } finally {
      await scratch.close()
    }
  })

function describe({ sequence, row_count, differing_rows, published_sequence }: RebuildAnswer): string {
  const compared = `${counted(row_count, 'row')} of revision ${sequence}`
  const found = describeDiffering(differing_rows) ?? 'none of them differs'
  if (published_sequence === undefined) return `Compared ${compared}: ${found}. Nothing was written.`
  return `Compared ${compared}: ${found}. The tables of revision ${published_sequence} are those that the ledger says.`
}
