import type { Command } from 'commander'

export function addTableCommand(group: Command): void {
  group.helpCommand(false)
}
