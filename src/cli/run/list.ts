// `servo run list`.

import type { Command } from 'commander'
import { RUN_STATES, TRIGGER_TYPES } from '../../api/contract/run.js'
import type { Run } from '../answers.js'
import { type ApiOptions, type Around, listed, sessionOf, withApi, withExample } from '../api-command.js'
import { collectTag, parseCount, parseOneOf } from '../arguments.js'
import { note, printJson, printTable } from '../local/print.js'
import { agoText, tookText } from '../moments.js'
import { paintedState, type Screen } from '../screen.js'

type Options = ApiOptions & {
  readonly state?: string
  readonly asset?: string
  readonly tag?: readonly string[]
  readonly schedule?: string
  readonly trigger?: string
  readonly requestedBy?: string
  readonly limit: number
  readonly all?: boolean
}

const RUNS_FOR_PEOPLE = 20

export function addListCommand(group: Command, around: Around): void {
  const command = withApi(group.command('list'))
    .description('runs, newest first')
    .option('--state <state>', RUN_STATES.join(', '), parseOneOf(RUN_STATES))
    .option('--asset <key>', 'runs of this asset')
    .option('--tag <name=value>', 'runs with this tag; several have all to be there', collectTag)
    .option('--schedule <name>', 'runs of this schedule, by its name or id')
    .option('--trigger <type>', TRIGGER_TYPES.join(', '), parseOneOf(TRIGGER_TYPES))
    .option('--requested-by <name>', 'runs that this person or program asked for')
    .option('--limit <count>', 'how many', parseCount, RUNS_FOR_PEOPLE)
    .option('--all', 'as many as there are')
    .action((options: Options) => list(options, around))
  withExample(command, 'servo run list --state FAILED --asset daily_summary', 'servo run list --schedule nightly')
}

async function list(options: Options, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const { state, asset, tag, schedule, trigger: trigger_type, requestedBy: requested_by, limit, all } = options
  const { rows, more } = await listed<'runs', Run>(session, {
    path: '/runs',
    member: 'runs',
    query: { state, asset, tag, schedule, trigger_type, requested_by, fresh: true },
    limit: all === true ? Number.POSITIVE_INFINITY : limit,
  })
  if (session.json) return printJson(rows)
  if (rows.length === 0) return note(isFiltered(options) ? 'No run fits.' : 'There is no run yet. Start one with `servo run start`.')
  printRuns(rows, session.screen)
  if (more) note(`These are the newest ${rows.length}. Say --limit or --all to see more.`)
}

const isFiltered = ({ state, asset, tag, schedule, trigger, requestedBy }: Options): boolean =>
  [state, asset, tag, schedule, trigger, requestedBy].some((value) => value !== undefined)

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
