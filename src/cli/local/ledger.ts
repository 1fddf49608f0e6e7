// `servo ledger`: append, look, fold, check. Each command works on the store itself, without a server.

import type { Command } from 'commander'
import { addAppendCommands } from './ledger-append.js'
import { addCheckCommands } from './ledger-check.js'
import { addCompactCommand } from './ledger-compact.js'
import { addPackCommand } from './ledger-pack.js'
import { addRebuildCommand } from './ledger-rebuild.js'
import { addTailCommand } from './ledger-tail.js'

export function addLedgerCommands(group: Command): void {
  group.helpCommand(false)
  addAppendCommands(group)
  addTailCommand(group)
  addCompactCommand(group)
  addPackCommand(group)
  addCheckCommands(group)
  addRebuildCommand(group)
}
