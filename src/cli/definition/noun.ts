// What the commands of a noun need that is defined under a name. How it is created, updated, paused, resumed and deleted is the same
// for every noun, and in this folder.

import type { Command } from 'commander'
import type { Outcome } from '../answers.js'
import type { Session } from '../api-command.js'

type Members = Readonly<Record<string, unknown>>

export type NounCommands = {
  /** In sentences, such as "schedule". */
  readonly word: string
  /** Its path in the API. */
  readonly plural: string
  readonly id_member: string
  readonly name_member: string
  /** Adds the options of its definition to a command. */
  readonly withDefinition: (command: Command) => Command
  /** What those options come to, as the API takes it. */
  readonly definitionIn: (options: never) => Promise<Members>
  readonly help: Readonly<Record<'create' | 'update' | 'pause' | 'resume' | 'delete', Help>>
  /** Prints more after one was made. */
  readonly afterCreate?: (id: string, session: Session) => Promise<void>
}

type Help = { readonly about: string; readonly examples: readonly string[] }

export type Accepted = Members & {
  readonly accepted_event_id: string | null
  readonly warnings?: readonly string[]
  readonly outcome?: Outcome
}

export const nounArgument = ({ word }: Pick<NounCommands, 'word'>): string => `the name of a ${word}, or its id`

export const nounPath = ({ plural }: Pick<NounCommands, 'plural'>, id_or_name: string): string =>
  `/${plural}/${encodeURIComponent(id_or_name)}`

export const nameIn = ({ name_member }: NounCommands, accepted: Accepted): string => String(accepted[name_member])
export const idIn = ({ id_member }: NounCommands, accepted: Accepted): string => String(accepted[id_member])

/** `done`: what is so then, such as "is paused". */
export const wordsOf = (noun: NounCommands, accepted: Accepted, done: string) => {
  const name = nameIn(noun, accepted)
  return { subject: `What was asked of the ${noun.word} ${name}`, done: `${name} ${done}`, unchanged: `${name} is so already` }
}
