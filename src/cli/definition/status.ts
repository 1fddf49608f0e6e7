// `servo NOUN pause` and `servo NOUN resume`.

import type { Command } from 'commander'
import { type CommandOptions, printAccepted, requestOptions } from '../accepted.js'
import { type Around, sessionOf, withApi, withExample } from '../api-command.js'
import { parseCount } from '../arguments.js'
import { commandedBy, withCommanded } from '../commanded.js'
import { type Accepted, type NounCommands, nounArgument, nounPath, wordsOf } from './noun.js'

type Options = CommandOptions & { readonly expect?: number }

const DONE = { pause: 'is paused', resume: 'is active' } as const

export function addStatusCommand(group: Command, around: Around, noun: NounCommands, verb: 'pause' | 'resume'): void {
  const { about, examples } = noun.help[verb]
  const command = withCommanded(withApi(group.command(verb)), 'why, for people who see it')
    .description(about)
    .argument(`<${noun.word}>`, nounArgument(noun))
    .option('--expect <version>', 'the state version that it was looked at with; refused where it is another by now', parseCount)
    .option('--wait', 'until it is so')
    .action(async (text: string, options: Options) => {
      const session = sessionOf(options, around)
      const { expect } = options
      const body = { ...commandedBy(options, around), ...(expect === undefined ? {} : { expected_state_version: expect }) }
      const answer = await session.client.post<Accepted>(`${nounPath(noun, text)}/${verb}`, body, requestOptions(options))
      await printAccepted(answer, session, wordsOf(noun, answer, DONE[verb]))
    })
  withExample(command, ...examples)
}
