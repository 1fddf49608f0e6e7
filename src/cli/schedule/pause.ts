// `servo schedule pause` and `servo schedule resume`: the two are one command, said twice.

import type { Command } from 'commander'
import type { ScheduleAccepted } from '../answers.js'
import { type Around, sessionOf, withApi, withExample } from '../api-command.js'
import { parseCount } from '../arguments.js'
import { commandedBy, withCommanded } from '../commanded.js'
import { type CommandOptions, sent, told } from './told.js'
import { SCHEDULE_WORDS, schedulePath } from './words.js'

type Options = CommandOptions & { readonly expect?: number }

export const addPauseCommand = (group: Command, around: Around): void =>
  addStatusCommand(group, around, {
    verb: 'pause',
    done: 'is paused',
    about: 'pause a schedule: its instants are counted as skipped; what runs goes on, and it can be triggered',
    example: "servo schedule pause nightly --reason 'The source is down.'",
  })

export const addResumeCommand = (group: Command, around: Around): void =>
  addStatusCommand(group, around, {
    verb: 'resume',
    done: 'is active',
    about: 'resume a schedule; what the pause held back runs only if it has catch_up_on_resume',
    example: 'servo schedule resume nightly --wait',
  })

type Verb = { readonly verb: 'pause' | 'resume'; readonly done: string; readonly about: string; readonly example: string }

function addStatusCommand(group: Command, around: Around, { verb, done, about, example }: Verb): void {
  const command = withCommanded(withApi(group.command(verb)), 'why, for whoever sees it')
    .description(about)
    .argument('<schedule>', SCHEDULE_WORDS)
    .option('--expect <version>', 'the state version that it was looked at with; refused where it is another by now', parseCount)
    .option('--wait', 'until it is so')
    .action(async (text: string, options: Options) => {
      const session = sessionOf(options, around)
      const { expect } = options
      const body = { ...commandedBy(options, around), ...(expect === undefined ? {} : { expected_state_version: expect }) }
      const accepted = await session.client.post<ScheduleAccepted>(`${schedulePath(text)}/${verb}`, body, sent(options))
      await told(accepted, session, `${accepted.schedule_name} ${done}`)
    })
  withExample(command, example)
}
