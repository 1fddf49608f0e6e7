// `servo pool`: how full pools are, which cap holds, and commands that set one or take it away.

import type { Command } from 'commander'
import { type CommandOptions, printAccepted, requestOptions } from './accepted.js'
import type { Pool, PoolAccepted } from './answers.js'
import { type ApiOptions, type Around, listed, type Session, sessionOf, withApi, withExample } from './api-command.js'
import { parseCap } from './arguments.js'
import { ApiError } from './client.js'
import { byText, commandedBy, withCommanded } from './commanded.js'
import { note, printJson, printLine, printTable } from './local/print.js'
import { momentText } from './moments.js'

const POOL_WORDS = 'global, pool:NAME, location:NAME, tag:KEY=VALUE, or tag:KEY for each value of it'

export function addPoolCommands(group: Command, around: Around): void {
  group.helpCommand(false)
  const list = withApi(group.command('list'))
    .description('pools: how many tasks are in each, how many wait, which cap holds')
    .action((options: ApiOptions) => listPools(sessionOf(options, around)))
  withExample(list, 'servo pool list')
  const show = withApi(group.command('show'))
    .description('one pool')
    .argument('<pool>', POOL_WORDS)
    .action((pool_key: string, options: ApiOptions) => showPool(pool_key, sessionOf(options, around)))
  withExample(show, 'servo pool show location:main')
  const set = withCap(withApi(group.command('set')).description('let at most so many tasks of a pool run at once; 0 closes it'))
    .argument('<pool>', POOL_WORDS)
    .argument('<number>', 'how many', parseCap)
    .action((pool_key: string, max_running: number, options: CommandOptions) => setCap(pool_key, max_running, options, around))
  withExample(set, 'servo pool set pool:warehouse 4', "servo pool set 'tag:team=data science' 2 --wait")
  const remove = withCap(withApi(group.command('remove')).description('take the cap of a pool away; what held before it holds again'))
    .argument('<pool>', POOL_WORDS)
    .action((pool_key: string, options: CommandOptions) => removeCap(pool_key, options, around))
  withExample(remove, 'servo pool remove pool:warehouse')
}

const withCap = (command: Command): Command => withCommanded(command).option('--wait', 'wait until it holds; exit code 0 only if it does')

/** In a tag's value anything may be. */
const poolPath = (pool_key: string): string => `/pools/${encodeURIComponent(pool_key)}`

async function listPools(session: Session): Promise<void> {
  const { rows } = await listed<'pools', Pool>(session, { path: '/pools', member: 'pools', query: { fresh: true, waiting: true } })
  if (session.json) return printJson(rows)
  const now = Date.now()
  printTable(
    ['pool', 'running', 'waiting', 'cap', 'set'],
    rows.map((pool) => [pool.pool_key, countText(pool.in_use), countText(pool.waiting), capText(pool), setText(pool, now)]),
  )
}

async function showPool(pool_key: string, session: Session): Promise<void> {
  const pool = await session.client.get<Pool>(poolPath(pool_key), { fresh: true, waiting: true })
  if (session.json) return printJson(pool)
  const members: readonly (readonly [string, string])[] = [
    ['pool', pool.pool_key],
    ['running', countText(pool.in_use)],
    ['waiting', countText(pool.waiting)],
    ['cap', capText(pool)],
    ['set', setText(pool, Date.now())],
  ]
  for (const [name, value] of members) if (value !== '') printLine(`${name.padEnd(8)} ${value}`)
}

const countText = (count: number | null): string => (count === null ? '' : String(count))

const SOURCES: Readonly<Record<NonNullable<Pool['cap']>['source'], string>> = {
  OWN: '',
  DEFAULT: ', where nobody sets another',
  SLOTS: ', the slots of the location',
  TAG: ', as for each value of the tag',
}

function capText({ kind, cap }: Pool): string {
  if (cap === null) return 'none'
  if (kind === 'TAG') return `${cap.max_running} for each value`
  return `${cap.max_running}${SOURCES[cap.source]}${cap.max_running === 0 ? ': closed' : ''}`
}

function setText({ cap }: Pool, now: number): string {
  if (cap === null || cap.set_at === null) return ''
  return `${momentText(cap.set_at, now)}${byText(cap.set_by, cap.reason)}`
}

async function setCap(pool_key: string, max_running: number, options: CommandOptions, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  // A tag is named by runs, which may be all over by now.
  const mayBeMisspelt = !session.json && !pool_key.startsWith('tag:') && !(await isThere(pool_key, session))
  const body = { max_running, ...commandedBy(options, around) }
  const accepted = await session.client.send<PoolAccepted>('PUT', poolPath(pool_key), body, requestOptions(options))
  await printCap(accepted, session, `${pool_key} takes at most ${max_running} at once${max_running === 0 ? ': it is closed' : ''}`)
  if (mayBeMisspelt) {
    note(`Nothing is known of ${pool_key} but this cap: no asset names it yet. \`servo pool list\` shows those that there are.`)
  }
}

async function removeCap(pool_key: string, options: CommandOptions, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const accepted = await session.client.send<PoolAccepted>(
    'DELETE',
    poolPath(pool_key),
    commandedBy(options, around),
    requestOptions(options),
  )
  await printCap(accepted, session, `${pool_key} has no cap of its own`)
}

/** A cap may be set before anything counts in the pool; a name that nobody uses may be one that was misspelt. */
async function isThere(pool_key: string, { client }: Session): Promise<boolean> {
  try {
    await client.get<Pool>(poolPath(pool_key))
    return true
  } catch (error) {
    if (error instanceof ApiError && error.problem.status === 404) return false
    throw error
  }
}

const printCap = (accepted: PoolAccepted, session: Session, done: string) =>
  printAccepted(accepted, session, { subject: `The cap of ${accepted.pool_key}`, done, applied: `${done}, from now on` })
