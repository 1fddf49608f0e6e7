// `servo schedule dry-run`: what a schedule would decide at an instant. Nothing is kept of it.

import type { Command } from 'commander'
import { type ApiOptions, type Around, type Session, sessionOf, withApi, withExample } from '../api-command.js'
import { parseInstant } from '../arguments.js'
import { counted, note, printJson, printLine, printTable } from '../local/print.js'
import { localText } from '../moments.js'
import { partitionsText } from '../run/list.js'
import { paintedState } from '../screen.js'
import type { ScheduleDryRun } from './answers.js'
import { fireText, localWords, reasonsText, SCHEDULE_WORDS, schedulePath } from './words.js'

type Options = ApiOptions & { readonly at?: number }

export function addDryRunCommand(group: Command, around: Around): void {
  const command = withApi(group.command('dry-run'))
    .description('what a schedule would decide at an instant, if nothing else happened until then; writes nothing')
    .argument('<schedule>', SCHEDULE_WORDS)
    .option('--at <instant>', 'the instant that is asked about; else now', parseInstant)
    .action((text: string, options: Options) => dryRun(text, options.at, sessionOf(options, around)))
  withExample(command, 'servo schedule dry-run nightly --at 2025-03-09T08:00:00Z')
}

async function dryRun(text: string, at_ms: number | undefined, session: Session): Promise<void> {
  const query = { fresh: true, at: at_ms === undefined ? undefined : new Date(at_ms).toISOString() }
  const answer = await session.client.get<ScheduleDryRun>(`${schedulePath(text)}/dry-run`, query)
  if (session.json) return printJson(answer)
  const { schedule_name, status, ticks, skipped, held_count, next_fire, at } = answer
  if (ticks.length > 0) {
    printTable(
      ['scheduled for', 'would be', 'assets', 'partitions', 'runs'],
      ticks.map((tick) => [
        localWords(tick.local),
        paintedState(session.screen, tick.status),
        tick.asset_keys.join(', '),
        partitionsText(tick.partitions as Parameters<typeof partitionsText>[0]),
        tick.error?.message ?? tick.run_keys,
      ]),
    )
  } else printLine(`Nothing of ${schedule_name} would run at ${localText(Date.parse(at))}.`)
  for (const each of skipped) {
    const by = each.active_run_id === null ? '' : `; ${each.active_run_id} is active`
    printLine(`${counted(each.skipped_count, 'instant')} would be skipped: ${reasonsText(each.skip_reasons)}${by}`)
  }
  if (status === 'PAUSED') note(`It is paused: ${counted(held_count, 'instant')} until then are held back until it is resumed.`)
  if (next_fire !== null) note(`The next one after that: ${fireText(next_fire, Date.now())}.`)
}
