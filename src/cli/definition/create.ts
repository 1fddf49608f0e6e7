// `servo NOUN create`.

import type { Command } from 'commander'
import { type CommandOptions, printAccepted, requestOptions } from '../accepted.js'
import { type Around, sessionOf, withApi, withExample } from '../api-command.js'
import { commandedBy, withCommanded } from '../commanded.js'
import { type Accepted, idIn, type NounCommands, wordsOf } from './noun.js'

type Options = CommandOptions & { readonly paused?: boolean }

export function addCreateCommand(group: Command, around: Around, noun: NounCommands): void {
  const { about, examples } = noun.help.create
  const command = withCommanded(noun.withDefinition(withApi(group.command('create')).description(about)))
    .argument('<name>', 'what it is called; it may be changed later')
    .option('--paused', 'begin paused')
    .option('--wait', 'until it is there')
    .action((name: string, options: Options) => create(name, options, around, noun))
  withExample(command, ...examples)
}

async function create(name: string, options: Options, around: Around, noun: NounCommands): Promise<void> {
  const session = sessionOf(options, around)
  const definition = await noun.definitionIn(options as never)
  const paused = options.paused === true ? { default_status: 'PAUSED' } : {}
  const body = { ...definition, ...paused, [noun.name_member]: name, ...commandedBy(options, around, definition) }
  const answer = await session.client.post<Accepted>(`/${noun.plural}`, body, requestOptions(options))
  const accepted = await printAccepted(answer, session, wordsOf(noun, answer, 'is made'))
  if (!session.json && accepted.outcome?.kind === 'applied') await noun.afterCreate?.(idIn(noun, accepted), session)
}
