// `servo run list`.

import type { Command } from 'commander'
import { RUN_STATES } from '../../api/contract/run.js'
import type { Run } from '../answers.js'
import { type ApiOptions, type Around, listed, sessionOf, withApi, withExample } from '../api-command.js'
import { parseCount } from '../arguments.js'
import { note, printJson, printTable } from '../local/print.js'
import { agoText, tookText } from '../moments.js'
import { paintedState, type Screen } from '../screen.js'
import { type FilterOptions, filterOf, withFilter } from './filter.js'

type Options = ApiOptions & FilterOptions & { readonly limit: number; readonly all?: boolean }

const RUNS_FOR_PEOPLE = 20

export function addListCommand(group: Command, around: Around): void {
  const command = withFilter(withApi(group.command('list')), RUN_STATES)
    .description('runs, newest first')
    .option('--limit <count>', 'how many', parseCount, RUNS_FOR_PEOPLE)
    .option('--all', 'as many as there are')
    .action((options: Options) => list(options, around))
  withExample(command, 'servo run list --state FAILED --asset daily_summary', 'servo run list --schedule nightly')
}

async function list(options: Options, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const { limit, all } = options
  const filter = filterOf(options)
  const { rows, more } = await listed<'runs', Run>(session, {
    path: '/runs',
    member: 'runs',
    query: { ...filter, fresh: true },
    limit: all === true ? Number.POSITIVE_INFINITY : limit,
  })
  if (session.json) return printJson(rows)
  if (rows.length === 0) return note(filter !== undefined ? 'No run fits.' : 'There is no run yet. Start one with `servo run start`.')
  printRuns(rows, session.screen)
  if (more) note(`These are the newest ${rows.length}. Say --limit or --all to see more.`)
}

function printRuns(runs: readonly Run[], screen: Screen): void {
  const now = Date.now()
  printTable(
    ['run', 'state', 'tasks', 'assets', 'partitions', 'requested', 'took', 'by'],
    runs.map((run) => [
      run.run_id,
      paintedState(screen, run.state),
      run.tasks_total === 0 ? '' : `${run.tasks_total - run.tasks_open}/${run.tasks_total}`,
      assetsText(run),
      partitionsText(run.partitions),
      agoText(Date.parse(run.requested_at), now),
      tookText(run.started_at, run.finished_at, now),
      run.requested_by ?? run.schedule_name ?? run.trigger_type.toLowerCase(),
    ]),
  )
}

const KEYS_SHOWN = 2

export function assetsText({ assets, asset_count }: Pick<Run, 'assets' | 'asset_count'>): string {
  if (!('keys' in assets)) return `${asset_count} assets`
  return shortList(assets.keys)
}

function shortList(keys: readonly string[]): string {
  const more = keys.length - KEYS_SHOWN
  return more <= 0 ? keys.join(', ') : `${keys.slice(0, KEYS_SHOWN).join(', ')} + ${more}`
}

export function partitionsText(selector: Run['partitions']): string {
  if (selector === null) return ''
  if ('keys' in selector) return shortList(selector.keys)
  if ('range' in selector) return `${selector.range.start}..${selector.range.end}`
  if ('list' in selector) return `${selector.list.count} partitions`
  return 'all' in selector ? 'all' : Object.keys(selector.dims).join(', ')
}
