import type { Command } from 'commander'

export function addLedgerCommands(group: Command): void {
  group.helpCommand(false)
}
