// `servo schedule delete`.

import type { Command } from 'commander'
import type { ScheduleAccepted } from '../answers.js'
import { type Around, sessionOf, withApi, withExample } from '../api-command.js'
import { commandedBy, withCommanded } from '../commanded.js'
import { type CommandOptions, sent, told } from './told.js'
import { SCHEDULE_WORDS, schedulePath } from './words.js'

export function addDeleteCommand(group: Command, around: Around): void {
  const command = withCommanded(withApi(group.command('delete')))
    .description('remove a schedule; its ticks and runs stay, and its name is free')
    .argument('<schedule>', SCHEDULE_WORDS)
    .option('--wait', 'until it is so')
    .action(async (text: string, options: CommandOptions) => {
      const session = sessionOf(options, around)
      const body = commandedBy(options, around)
      const accepted = await session.client.send<ScheduleAccepted>('DELETE', schedulePath(text), body, sent(options))
      await told(accepted, session, `${accepted.schedule_name} (${accepted.schedule_id}) is removed`)
    })
  withExample(command, 'servo schedule delete nightly')
}
