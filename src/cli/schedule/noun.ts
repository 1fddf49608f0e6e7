// Schedules, as a noun that is defined (cli/definition).

import type { NounCommands } from '../definition/noun.js'
import { printLine } from '../local/print.js'
import type { Schedule } from './answers.js'
import { definitionIn, withDefinition } from './definition.js'
import { fireText, schedulePath } from './words.js'

export const SCHEDULE_COMMANDS: NounCommands = {
  word: 'schedule',
  plural: 'schedules',
  id_member: 'schedule_id',
  name_member: 'schedule_name',
  withDefinition,
  definitionIn,
  help: {
    create: {
      about: 'make a schedule; it fires nothing that lies before',
      examples: [
        "servo schedule create nightly --cron '30 2 * * *' --timezone Europe/Berlin --select +shop.report --wait",
        "servo schedule create days --cron '@daily' --select shop.orders --partition-mapping last-complete",
      ],
    },
    update: {
      about: 'change a schedule; what is not named stays',
      examples: ["servo schedule update nightly --cron '0 3 * * *' --wait"],
    },
    pause: {
      about: 'pause a schedule: its instants are counted as skipped; what runs goes on, and it can be triggered',
      examples: ["servo schedule pause nightly --reason 'The source is down.'"],
    },
    resume: {
      about: 'resume a schedule; what the pause held back runs only if it has catch_up_on_resume',
      examples: ['servo schedule resume nightly --wait'],
    },
    delete: {
      about: 'remove a schedule; its ticks and runs stay, and its name is free',
      examples: ['servo schedule delete nightly'],
    },
  },
  async afterCreate(schedule_id, session) {
    const { next_fire } = await session.client.get<Schedule>(schedulePath(schedule_id), { fresh: true })
    if (next_fire !== null) printLine(`It fires next at ${fireText(next_fire, Date.now())}.`)
  },
}
