// `servo schedule`: make schedules, look at them, pause and trigger them. A file a command, in schedule/ and definition/.

import type { Command } from 'commander'
import type { Around } from './api-command.js'
import { addCreateCommand } from './definition/create.js'
import { addDeleteCommand } from './definition/delete.js'
import { addStatusCommand } from './definition/status.js'
import { addUpdateCommand } from './definition/update.js'
import { addDryRunCommand } from './schedule/dry-run.js'
import { addListCommand } from './schedule/list.js'
import { SCHEDULE_COMMANDS } from './schedule/noun.js'
import { addPreviewCommand } from './schedule/preview.js'
import { addShowCommand } from './schedule/show.js'
import { addTicksCommand } from './schedule/ticks.js'
import { addTriggerCommand } from './schedule/trigger.js'

export function addScheduleCommands(group: Command, around: Around): void {
  group.helpCommand(false)
  addListCommand(group, around)
  addShowCommand(group, around)
  addCreateCommand(group, around, SCHEDULE_COMMANDS)
  addUpdateCommand(group, around, SCHEDULE_COMMANDS)
  addStatusCommand(group, around, SCHEDULE_COMMANDS, 'pause')
  addStatusCommand(group, around, SCHEDULE_COMMANDS, 'resume')
  addTriggerCommand(group, around)
  addTicksCommand(group, around)
  addPreviewCommand(group, around)
  addDryRunCommand(group, around)
  addDeleteCommand(group, around, SCHEDULE_COMMANDS)
}
