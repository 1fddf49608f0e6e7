// `servo partition`: what a definition of partitions comes to. A file a command, in partition/.

import type { Command } from 'commander'
import { addKeysCommand } from './partition/keys.js'

export function addPartitionCommands(group: Command): void {
  group.helpCommand(false)
  addKeysCommand(group)
}
