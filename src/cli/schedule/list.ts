// `servo schedule list`.

import type { Command } from 'commander'
import { SCHEDULE_STATUSES } from '../../api/contract/schedule.js'
import { type ApiOptions, type Around, listed, sessionOf, withApi, withExample } from '../api-command.js'
import { parseOneOf } from '../arguments.js'
import { note, printJson, printTable } from '../local/print.js'
import { noteOverdueTurn } from '../overdue-note.js'
import { paintedState } from '../screen.js'
import type { Schedule } from './answers.js'
import { fireText, lastTickText, statusText } from './words.js'

type Options = ApiOptions & {
  readonly status?: string
  readonly prefix?: string
  readonly location?: string
  readonly asset?: string
}

export function addListCommand(group: Command, around: Around): void {
  const command = withApi(group.command('list'))
    .description('schedules, by name: when each fires next, and what became of its last tick')
    .option('--status <status>', `${SCHEDULE_STATUSES.join(', ')}; else those that are not removed`, parseOneOf(SCHEDULE_STATUSES))
    .option('--prefix <text>', 'names that begin with it')
    .option('--location <name>', 'of this code location')
    .option('--asset <key>', 'those that select this asset')
    .action((options: Options) => list(options, around))
  withExample(command, 'servo schedule list --status PAUSED')
}

async function list({ status, prefix, location, asset, ...options }: Options, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const { rows } = await listed<'schedules', Schedule>(session, {
    path: '/schedules',
    member: 'schedules',
    query: { status, name_prefix: prefix, location_name: location, asset, fresh: true },
  })
  if (session.json) return printJson(rows)
  if (rows.length === 0) return note(NONE)
  const now = Date.now()
  printTable(
    ['schedule', 'status', 'cron', 'zone', 'next fire', 'last tick', 'defined in'],
    rows.map((each) => [
      each.schedule_name,
      paintedState(session.screen, statusText(each)),
      each.cron_expressions,
      each.timezone,
      fireText(each.next_fire, now),
      lastTickText(each, now),
      each.location_name ?? '',
    ]),
  )
  await noteOverdueTurn(session)
}

const NONE = 'No schedule fits. Make one with `servo schedule create`, or write it in code and deploy it: docs/schedules.md.'
