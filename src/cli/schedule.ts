// `servo schedule`: make schedules, look at them, pause and trigger them. A file a command, in schedule/.

import type { Command } from 'commander'
import type { Around } from './api-command.js'
import { addCreateCommand } from './schedule/create.js'
import { addDeleteCommand } from './schedule/delete.js'
import { addDryRunCommand } from './schedule/dry-run.js'
import { addListCommand } from './schedule/list.js'
import { addPauseCommand, addResumeCommand } from './schedule/pause.js'
import { addPreviewCommand } from './schedule/preview.js'
import { addShowCommand } from './schedule/show.js'
import { addTicksCommand } from './schedule/ticks.js'
import { addTriggerCommand } from './schedule/trigger.js'
import { addUpdateCommand } from './schedule/update.js'

export function addScheduleCommands(group: Command, around: Around): void {
  group.helpCommand(false)
  addListCommand(group, around)
  addShowCommand(group, around)
  addCreateCommand(group, around)
  addUpdateCommand(group, around)
  addPauseCommand(group, around)
  addResumeCommand(group, around)
  addTriggerCommand(group, around)
  addTicksCommand(group, around)
  addPreviewCommand(group, around)
  addDryRunCommand(group, around)
  addDeleteCommand(group, around)
}
