// `servo NOUN delete`.

import type { Command } from 'commander'
import { type CommandOptions, printAccepted, requestOptions } from '../accepted.js'
import { type Around, sessionOf, withApi, withExample } from '../api-command.js'
import { commandedBy, withCommanded } from '../commanded.js'
import { type Accepted, idIn, type NounCommands, nameIn, nounArgument, nounPath, wordsOf } from './noun.js'

export function addDeleteCommand(group: Command, around: Around, noun: NounCommands): void {
  const { about, examples } = noun.help.delete
  const command = withCommanded(withApi(group.command('delete')))
    .description(about)
    .argument(`<${noun.word}>`, nounArgument(noun))
    .option('--wait', 'until it is so')
    .action(async (text: string, options: CommandOptions) => {
      const session = sessionOf(options, around)
      const body = commandedBy(options, around)
      const answer = await session.client.send<Accepted>('DELETE', nounPath(noun, text), body, requestOptions(options))
      const words = wordsOf(noun, answer, 'is removed')
      await printAccepted(answer, session, { ...words, done: `${nameIn(noun, answer)} (${idIn(noun, answer)}) is removed` })
    })
  withExample(command, ...examples)
}
