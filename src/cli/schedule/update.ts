// `servo schedule update`.

import type { Command } from 'commander'
import type { ScheduleAccepted } from '../answers.js'
import { type Around, sessionOf, withApi, withExample } from '../api-command.js'
import { parseCount } from '../arguments.js'
import { commandedBy, withCommanded } from '../commanded.js'
import { UsageError } from '../exit-code.js'
import { type DefinitionOptions, definitionAsked, withDefinition } from './asked.js'
import { type CommandOptions, sent, told, toldWarnings } from './told.js'
import { SCHEDULE_WORDS, schedulePath } from './words.js'

type Options = CommandOptions & DefinitionOptions & { readonly rename?: string; readonly expect?: number }

export function addUpdateCommand(group: Command, around: Around): void {
  const command = withCommanded(withDefinition(withApi(group.command('update')).description('change a schedule; what is not named stays')))
    .argument('<schedule>', SCHEDULE_WORDS)
    .option('--rename <name>', 'its new name; id, ticks and runs stay')
    .option('--expect <version>', 'the definition version that the change is made for; refused where it is another by now', parseCount)
    .option('--wait', 'until it holds')
    .action((text: string, options: Options) => update(text, options, around))
  withExample(command, "servo schedule update nightly --cron '0 3 * * *' --wait")
}

async function update(text: string, options: Options, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const { rename, expect } = options
  const change = { ...(await definitionAsked(options)), ...(rename === undefined ? {} : { schedule_name: rename }) }
  if (Object.keys(change).length === 0) throw new UsageError('Say what is to change, such as --cron or --rename. --help has all of it.')
  const body = {
    ...change,
    ...(expect === undefined ? {} : { expected_definition_version: expect }),
    ...commandedBy(options, around, change),
  }
  const accepted = await session.client.send<ScheduleAccepted>('PATCH', schedulePath(text), body, sent(options))
  toldWarnings(accepted)
  await told(accepted, session, `${accepted.schedule_name} is changed`)
}
