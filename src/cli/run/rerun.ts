// `servo run rerun`: what did not succeed of a run, or all of it, as a new run.

import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import type { RerunAsked, RunAccepted } from '../answers.js'
import { type ApiOptions, type Around, sessionOf, withApi, withExample } from '../api-command.js'
import { collectTag, parseInteger, tagsOf } from '../arguments.js'
import { type CommandedOptions, commandedBy, withCommanded } from '../commanded.js'
import { findRunId, RUN_WORDS, runPath } from './find.js'
import { told } from './start.js'

type Options = ApiOptions &
  CommandedOptions & {
    readonly whole?: boolean
    readonly tag?: readonly string[]
    readonly runKey?: string
    readonly priority?: number
    readonly wait?: boolean
  }

export function addRerunCommand(group: Command, around: Around): void {
  const command = withCommanded(withApi(group.command('rerun')))
    .description('run again what did not succeed of a run that is over')
    .argument('<run>', RUN_WORDS)
    .option('--whole', 'all that the run selected, what succeeded too')
    .option('--tag <name=value>', 'a tag besides those of the run; several times for several', collectTag)
    .option('--run-key <key>', 'for another rerun of the same run; without it, the same rerun is the same run')
    .option('--priority <number>', '-100 to 100; that of the run where it is left out', parseInteger)
    .option('--wait', 'show its progress until it is over; exit code 0 only if it succeeded')
    .action((run: string, options: Options) => rerun(run, options, around))
  withExample(command, 'servo run rerun last --wait', 'servo run rerun last --whole --run-key second-try')
}

async function rerun(text: string, options: Options, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const run_id = await findRunId(session, text)
  const body = { ...askedOf(options), ...commandedBy(options, around) }
  const accepted = await session.client.post<RunAccepted>(`${runPath(run_id)}/rerun`, body, {
    query: options.wait === true ? { wait: true } : {},
    idempotency_key: randomUUID(),
  })
  return told(session, accepted, options)
}

function askedOf({ whole, tag, runKey, priority }: Options): RerunAsked {
  return {
    mode: whole === true ? 'whole' : 'from_failure',
    ...(tag === undefined ? {} : { tags: { ...tagsOf(tag) } }),
    ...(runKey === undefined ? {} : { run_key: runKey }),
    ...(priority === undefined ? {} : { priority }),
  }
}
