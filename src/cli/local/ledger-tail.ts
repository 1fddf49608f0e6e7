// `servo ledger tail`.

import type { Command } from 'commander'
import { followTail, readTail, type TailEntry } from '../../readers/tail.js'
import { parseCount } from '../arguments.js'
import { nothingYet, type StoreOptions, withDeps, withStore } from './options.js'
import { note, printJson, printLine } from './print.js'
import { createTroubles } from './troubles.js'
import { untilSignal } from './until-signal.js'

type TailOptions = StoreOptions & { readonly follow?: boolean; readonly limit: number }

const FOLLOWING = 'Following'

export function addTailCommand(group: Command): void {
  withStore(group.command('tail'))
    .description('print the newest events, oldest first')
    .option('--follow', 'go on with what is appended from now on; with --json one object a line, until interrupted')
    .option('--limit <count>', 'how many events', parseCount, 20)
    .action((options: TailOptions) => tail(options))
}

async function tail(options: TailOptions): Promise<void> {
  await withDeps(options, 'read', async (deps) => {
    const show = options.json === true ? printJson : (entry: TailEntry) => printLine(describe(entry))
    if (options.follow === true) {
      const until = untilSignal()
      const troubles = createTroubles(deps.clock, note)
      const onTrouble = (error: unknown) => troubles.wait(error, FOLLOWING)
      const following = { ...deps, clock: until.clock(deps.clock), onTrouble, onSuccess: () => troubles.over(FOLLOWING) }
      for await (const entry of followTail(following, options.limit, until.isStopped)) show(entry)
      return
    }
    const entries = await readTail(deps, options.limit)
    if (options.json === true) return printJson(entries)
    if (entries.length === 0) note(nothingYet(deps))
    entries.forEach(show)
  })
}

function describe({ creation_time, event, quarantine }: TailEntry): string {
  if (quarantine !== undefined) return `${creation_time} ${quarantine} ${String(event).slice(0, 120)}`
  const { event_type, idempotency_key, source } = event as Readonly<Record<string, string>>
  return `${creation_time} ${event_type} ${idempotency_key} (${source})`
}
