// `servo workspace retention`: how long the workspace keeps what, a change of it, and what a change would do.

import type { Command } from 'commander'
import { printAccepted, requestOptions } from './accepted.js'
import type { Retention, RetentionAccepted, RetentionEffect } from './answers.js'
import { type ApiOptions, type Around, type Session, sessionOf, withApi, withExample } from './api-command.js'
import { parseInteger } from './arguments.js'
import { type CommandedOptions, commandedBy, withCommanded } from './commanded.js'
import { UsageError } from './exit-code.js'
import { printJson, printLine, printTable } from './local/print.js'
import { momentText } from './moments.js'

/** The option of each setting, and what it says in the help. */
const SETTINGS = {
  idempotency_hours: ['hours', 'how long what was said is known when it is said again'],
  refusals_days: ['days', 'how long it is kept why an event was refused'],
  outbox_days: ['days', 'how long dispatches are kept that are closed'],
  cold_after_days: ['days', 'when what is over moves to files of its own day'],
  skipped_ticks_days: ['days', 'how long counts of skipped instants of schedules are kept'],
  no_data_days: ['days', 'how long evaluations of sensors are kept that found nothing'],
  as_of_minutes_hours: ['hours', 'how long the last revision of each minute can be opened'],
  as_of_hours_days: ['days', 'how long the last revision of each hour can be opened'],
} as const

type SettingName = keyof typeof SETTINGS
const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]

type RetentionOptions = ApiOptions &
  CommandedOptions & { readonly wait?: boolean; readonly dryRun?: boolean } & Readonly<Record<string, unknown>>

const optionOf = (setting: SettingName): string => `--${setting.replaceAll('_', '-')}`
const memberOf = (setting: SettingName): string => setting.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

export function addWorkspaceCommands(group: Command, around: Around): void {
  group.helpCommand(false)
  const command = withCommanded(
    withApi(group.command('retention')).description('how long the workspace keeps what; with settings, a change'),
  )
  for (const setting of SETTING_NAMES) {
    const [unit, help] = SETTINGS[setting]
    command.option(`${optionOf(setting)} <${unit}>`, help, parseInteger)
  }
  command
    .option('--dry-run', 'show what the change would do, and change nothing')
    .option('--wait', 'wait until it holds; exit code 0 only if it does')
    .action((options: RetentionOptions) => retention(options, around))
  withExample(
    command,
    'servo workspace retention',
    'servo workspace retention --idempotency-hours 336 --dry-run',
    "servo workspace retention --idempotency-hours 336 --reason 'Partners send again for two weeks.'",
  )
}

function retention(options: RetentionOptions, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const asked = Object.fromEntries(
    SETTING_NAMES.flatMap((setting) => {
      const value = options[memberOf(setting)]
      return value === undefined ? [] : [[setting, value as number]]
    }),
  )
  const isAsked = Object.keys(asked).length > 0
  if (options.dryRun === true) {
    if (!isAsked) throw new UsageError(`--dry-run shows what a change would do. Give one, such as ${optionOf('idempotency_hours')} 336.`)
    return dryRun(asked, session)
  }
  return isAsked ? change(asked, options, around) : show(session)
}

async function show(session: Session): Promise<void> {
  const { settings } = await session.client.get<Retention>('/retention', { fresh: true })
  if (session.json) return printJson(settings)
  const now = Date.now()
  printTable(
    ['setting', 'value', 'default', 'set', 'reason'],
    settings.map(({ setting, value, default_value, changed_at, changed_by, reason }) => [
      setting,
      String(value),
      String(default_value),
      changed_at === null ? '' : `${momentText(changed_at, now)}${changed_by === null ? '' : ` by ${changed_by}`}`,
      reason ?? '',
    ]),
  )
}

async function change(asked: object, options: RetentionOptions, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const body = { ...asked, ...commandedBy(options, around) }
  const accepted = await session.client.send<RetentionAccepted>('PATCH', '/retention', body, requestOptions(options))
  const done = Object.entries(accepted.settings)
    .map(([setting, value]) => `${setting} is ${value}`)
    .join(', ')
  await printAccepted(accepted, session, { subject: 'The change', done, applied: `${done}, from now on` })
}

async function dryRun(asked: Readonly<Record<string, number>>, session: Session): Promise<void> {
  const effect = await session.client.get<RetentionEffect>('/retention/dry-run', { ...asked, fresh: true })
  if (session.json) return printJson(effect)
  for (const { setting, from, to } of effect.changes) printLine(`${setting}: ${from} -> ${to}`)
  const { expiring, moving, as_of } = effect
  if (expiring.length > 0) {
    printTable(
      ['rows that expire', 'rows', 'files', 'bytes', 'from before', 'now from before'],
      expiring.map(({ table, rows, files, bytes, would_expire_before, expired_before }) => [
        table,
        String(rows),
        countText(files),
        countText(bytes),
        would_expire_before,
        expired_before,
      ]),
    )
  }
  if (moving.length > 0) {
    printTable(
      ['rows that move', 'rows', 'from before'],
      moving.map(({ table, rows, before }) => [table, String(rows), before]),
    )
  }
  if (as_of !== null) {
    printTable(
      ['as_of', 'revisions older than an hour', 'reaches back to'],
      [
        ['now', String(as_of.now.revisions), as_of.now.oldest_at ?? 'an hour ago'],
        ['then', String(as_of.then.revisions), as_of.then.oldest_at ?? 'an hour ago'],
      ],
    )
  }
  for (const warning of effect.warnings) printLine(warning)
  printLine(`Counted at revision ${effect.sequence}. Nothing was changed.`)
}

const countText = (count: number | null): string => (count === null ? 'shared' : String(count))
