// `servo run start`.

import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import type { RunAccepted } from '../answers.js'
import { type ApiOptions, type Around, type Session, sessionOf, withApi, withExample } from '../api-command.js'
import { collect, collectTag, parseInteger } from '../arguments.js'
import { type CommandedOptions, commandedBy, withCommanded } from '../commanded.js'
import { counted, note, printJson, printLine } from '../local/print.js'
import { assertTaken } from '../outcome.js'
import { runAskedOf, type StartOptions } from './asked.js'
import { watchAccepted } from './watch.js'

type Options = ApiOptions & CommandedOptions & StartOptions & { readonly wait?: boolean }

export function addStartCommand(group: Command, around: Around): void {
  const command = withCommanded(withApi(group.command('start')))
    .description('ask for a run of the assets that you select')
    .argument('<selector...>', 'asset keys; +key with what it needs, key+ with what needs it; group:NAME, tag:NAME=VALUE, *')
    .option('--partition <key>', 'a partition; several times for several', collect)
    .option('--partitions <first..last>', 'a range of partitions, both ends in it')
    .option('--all-partitions', 'every partition that exists')
    .option('--tag <name=value>', 'a tag of the run; several times for several', collectTag)
    .option('--run-key <key>', 'the same key with the same request is the same run, for ever')
    .option('--priority <number>', '-100 to 100; the higher, the sooner', parseInteger)
    .option('--wait', 'show its progress until it is over; exit code 0 only if it succeeded')
    .action((selectors: readonly string[], options: Options) => start(selectors, options, around))
  withExample(
    command,
    'servo run start +daily_summary --wait',
    'servo run start events --partitions 2025-01-01..2025-01-31 --tag why=backfill',
  )
}

async function start(selectors: readonly string[], options: Options, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const body = { ...runAskedOf(selectors, options), ...commandedBy(options, around) }
  const accepted = await session.client.post<RunAccepted>('/runs', body, {
    query: options.wait === true ? { wait: true } : {},
    idempotency_key: randomUUID(),
  })
  return told(session, accepted, options)
}

/** What a request for a run answers, or what becomes of the run. */
export async function told(session: Session, accepted: RunAccepted, { wait }: { readonly wait?: boolean }): Promise<void> {
  assertTaken(accepted.outcome, `Run ${accepted.run_id}`)
  if (wait !== true) {
    if (session.json) return printJson(accepted)
    printLine(`Asked for run ${accepted.run_id} of ${counted(accepted.asset_count, 'asset')}.`)
    return note(`Watch it: servo run watch ${accepted.run_id}${accepted.ui === undefined ? '' : `, or ${accepted.ui}`}`)
  }
  if (!session.json) note(`Accepted: run ${accepted.run_id} of ${counted(accepted.asset_count, 'asset')}.`)
  await watchAccepted(session, accepted.run_id, accepted)
}
