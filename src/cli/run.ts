// `servo run`: start runs, look at them, cancel them, run them again.

import type { Command } from 'commander'
import type { Around } from './api-command.js'
import { addAttemptsCommand } from './run/attempts.js'
import { addCancelCommand } from './run/cancel.js'
import { addListCommand } from './run/list.js'
import { addLogsCommand } from './run/logs.js'
import { addRerunCommand } from './run/rerun.js'
import { addEventsCommand, addShowCommand, addTasksCommand } from './run/show.js'
import { addStartCommand } from './run/start.js'
import { addWatchCommand } from './run/watch.js'
import { addWhyCommand } from './run/why.js'

export function addRunCommands(group: Command, around: Around): void {
  group.helpCommand(false)
  addStartCommand(group, around)
  addListCommand(group, around)
  addShowCommand(group, around)
  addTasksCommand(group, around)
  addAttemptsCommand(group, around)
  addWhyCommand(group, around)
  addWatchCommand(group, around)
  addLogsCommand(group, around)
  addEventsCommand(group, around)
  addCancelCommand(group, around)
  addRerunCommand(group, around)
}
