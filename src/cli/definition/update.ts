// `servo NOUN update`.

import type { Command } from 'commander'
import { type CommandOptions, printAccepted, requestOptions } from '../accepted.js'
import { type Around, sessionOf, withApi, withExample } from '../api-command.js'
import { parseCount } from '../arguments.js'
import { commandedBy, withCommanded } from '../commanded.js'
import { UsageError } from '../exit-code.js'
import { type Accepted, type NounCommands, nounArgument, nounPath, wordsOf } from './noun.js'

type Options = CommandOptions & { readonly rename?: string; readonly expect?: number }

export function addUpdateCommand(group: Command, around: Around, noun: NounCommands): void {
  const { about, examples } = noun.help.update
  const command = withCommanded(noun.withDefinition(withApi(group.command('update')).description(about)))
    .argument(`<${noun.word}>`, nounArgument(noun))
    .option('--rename <name>', 'its new name; id and history stay')
    .option('--expect <version>', 'the definition version that the change is made for; refused where it is another by now', parseCount)
    .option('--wait', 'until it holds')
    .action((text: string, options: Options) => update(text, options, around, noun))
  withExample(command, ...examples)
}

async function update(text: string, options: Options, around: Around, noun: NounCommands): Promise<void> {
  const session = sessionOf(options, around)
  const { rename, expect } = options
  const change = { ...(await noun.definitionIn(options as never)), ...(rename === undefined ? {} : { [noun.name_member]: rename }) }
  if (Object.keys(change).length === 0) {
    throw new UsageError('Say what is to change: an option of the definition, or --rename. --help has all of them.')
  }
  const body = {
    ...change,
    ...(expect === undefined ? {} : { expected_definition_version: expect }),
    ...commandedBy(options, around, change),
  }
  const answer = await session.client.send<Accepted>('PATCH', nounPath(noun, text), body, requestOptions(options))
  await printAccepted(answer, session, wordsOf(noun, answer, 'is changed'))
}
