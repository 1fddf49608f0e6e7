// `servo schedule`: when a cron fires. A file a command, in schedule/.

import type { Command } from 'commander'
import { addPreviewCommand } from './schedule/preview.js'

export function addScheduleCommands(group: Command): void {
  group.helpCommand(false)
  addPreviewCommand(group)
}
