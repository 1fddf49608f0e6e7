// `servo conflicts`: requests that asked for a run key that another request holds.

import type { Command } from 'commander'
import type { RunKeyConflict } from './answers.js'
import { type ApiOptions, type Around, listed, type Session, sessionOf, withApi, withExample } from './api-command.js'
import { note, printJson, printTable } from './local/print.js'
import { momentText } from './moments.js'
import { partitionsText } from './run/list.js'

export function addConflictCommands(group: Command, around: Around): void {
  group.helpCommand(false)
  const list = withApi(group.command('list'))
    .description('requests for a run whose key another request holds: no run came of them')
    .action((options: ApiOptions) => listConflicts(sessionOf(options, around)))
  withExample(list, 'servo conflicts list --json')
}

async function listConflicts(session: Session): Promise<void> {
  const { rows } = await listed<'conflicts', RunKeyConflict>(session, { path: '/run-key-conflicts', member: 'conflicts' })
  if (session.json) return printJson(rows)
  if (rows.length === 0) return note('There is no conflict: every run key was asked for in one way.')
  const now = Date.now()
  printTable(
    ['run key', 'belongs to', 'asked again for', 'partitions', 'times', 'first seen'],
    rows.map(({ run_key, run_id, assets, partitions, seen_count, detected_at }) => [
      run_key,
      run_id,
      'keys' in assets ? assets.keys.join(', ') : `${assets.list.count} assets`,
      partitionsText(partitions),
      String(seen_count),
      momentText(detected_at, now),
    ]),
  )
}
