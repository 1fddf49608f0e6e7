// `servo schedule create`.

import type { Command } from 'commander'
import type { Schedule, ScheduleAccepted } from '../answers.js'
import { type Around, sessionOf, withApi, withExample } from '../api-command.js'
import { commandedBy, withCommanded } from '../commanded.js'
import { printLine } from '../local/print.js'
import { type DefinitionOptions, definitionAsked, withDefinition } from './asked.js'
import { type CommandOptions, sent, told, toldWarnings } from './told.js'
import { fireText, schedulePath } from './words.js'

type Options = CommandOptions & DefinitionOptions & { readonly paused?: boolean }

export function addCreateCommand(group: Command, around: Around): void {
  const command = withCommanded(
    withDefinition(withApi(group.command('create')).description('make a schedule; it fires nothing that lies before')),
  )
    .argument('<name>', 'what it is called; it may be changed later')
    .option('--paused', 'begin paused')
    .option('--wait', 'until it is there')
    .action((name: string, options: Options) => create(name, options, around))
  withExample(
    command,
    "servo schedule create nightly --cron '30 2 * * *' --timezone Europe/Berlin --select +shop.report --wait",
    "servo schedule create days --cron '@daily' --select shop.orders --partition-mapping last-complete",
  )
}

async function create(schedule_name: string, options: Options, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const definition = await definitionAsked(options)
  const paused = options.paused === true ? { default_status: 'PAUSED' } : {}
  const body = { ...definition, ...paused, schedule_name, ...commandedBy(options, around, definition) }
  const answer = await session.client.post<ScheduleAccepted>('/schedules', body, sent(options))
  toldWarnings(answer)
  const accepted = await told(answer, session, `${schedule_name} is made`)
  if (session.json || accepted.outcome?.kind !== 'applied') return
  const { next_fire } = await session.client.get<Schedule>(schedulePath(accepted.schedule_id), { fresh: true })
  if (next_fire !== null) printLine(`It fires next at ${fireText(next_fire, Date.now())}.`)
}
