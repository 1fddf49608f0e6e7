// `servo ledger tail`.

import type { Command } from 'commander'
import { followTail, readTail, type TailEntry } from '../../readers/tail.js'
import { parseCount, type StoreOptions, withDeps, withStore } from './options.js'
import { printJson, printLine } from './print.js'

type TailOptions = StoreOptions & { readonly follow?: boolean; readonly limit: number }

export function addTailCommand(group: Command): void {
  withStore(group.command('tail'))
    .description('print the newest events, oldest first')
    .option('--follow', 'go on with what is appended from now on; with --json one object a line, until interrupted')
    .option('--limit <count>', 'how many events', parseCount, 20)
    .action((options: TailOptions) => tail(options))
}

async function tail(options: TailOptions): Promise<void> {
  await withDeps(options, async (deps) => {
    const entries = await readTail(deps, options.limit)
    if (options.json !== true) for (const entry of entries) printLine(describe(entry))
    else if (options.follow === true) for (const entry of entries) printJson(entry)
    else printJson(entries)
    if (options.follow !== true) return
    for await (const entry of followTail(deps)) {
      if (options.json === true) printJson(entry)
      else printLine(describe(entry))
    }
  })
}

function describe({ creation_time, event, quarantine }: TailEntry): string {
  if (quarantine !== undefined) return `${creation_time} ${quarantine} ${String(event).slice(0, 120)}`
  const { event_type, idempotency_key, source } = event as Readonly<Record<string, string>>
  return `${creation_time} ${event_type} ${idempotency_key} (${source})`
}
