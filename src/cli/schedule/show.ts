// `servo schedule show`: one schedule, when it fires, and how its last ticks went.

import type { Command } from 'commander'
import { type ApiOptions, type Around, type Session, sessionOf, withApi, withExample } from '../api-command.js'
import { printJson, printLine } from '../local/print.js'
import { momentText } from '../moments.js'
import { noteOverdueTurn } from '../overdue-note.js'
import { paintedState } from '../screen.js'
import type { Schedule, ScheduleFires, ScheduleTick } from './answers.js'
import { fireText, lastTickText, SCHEDULE_WORDS, schedulePath, statusText } from './words.js'

export function addShowCommand(group: Command, around: Around): void {
  const command = withApi(group.command('show'))
    .description('one schedule')
    .argument('<schedule>', SCHEDULE_WORDS)
    .action((text: string, options: ApiOptions) => show(text, sessionOf(options, around)))
  withExample(command, 'servo schedule show nightly')
}

async function show(text: string, session: Session): Promise<void> {
  const schedule = await session.client.get<Schedule>(schedulePath(text), { fresh: true })
  if (session.json) return printJson(schedule)
  const now = Date.now()
  for (const line of linesOf(schedule, session, now)) printLine(line)
  const path = schedulePath(schedule.schedule_id)
  if (schedule.next_fire !== null) {
    const { fires } = await session.client.get<ScheduleFires>(`${path}/preview`, { count: FIRES_SHOWN })
    for (const [index, fire] of fires.entries()) printLine(memberLine(index === 0 ? 'fires' : '', fireText(fire, now)))
    await noteOverdueTurn(session)
  }
  if (schedule.last_tick_status !== 'FAILED') return
  const failed = await session.client.get<{ ticks: ScheduleTick[] }>(`${path}/ticks`, { status: 'FAILED', limit: 1 })
  printLine(memberLine('error', failed.ticks[0]?.error?.message ?? ''))
}

const FIRES_SHOWN = 5

const memberLine = (name: string, value: string): string => `  ${name.padEnd(10)} ${value}`

function linesOf(schedule: Schedule, { screen }: Pick<Session, 'screen'>, now: number): readonly string[] {
  const { catchup_window_minutes, max_catchup_ticks, overlap_policy, location_name } = schedule
  const resume = schedule.catch_up_on_resume ? '; also of pauses' : ''
  const members: readonly (readonly [string, string])[] = [
    ['id', schedule.schedule_id],
    ['about', schedule.description ?? ''],
    ['status', paintedState(screen, statusText(schedule))],
    ['paused', momentText(schedule.paused_at, now)],
    ['removed', momentText(schedule.removed_at, now)],
    ['cron', schedule.cron_expressions.join(' | ')],
    ['zone', schedule.timezone],
    ['assets', schedule.asset_selection.join(' ')],
    ['partitions', schedule.partition_mapping === null ? '' : JSON.stringify(schedule.partition_mapping)],
    ['catch-up', `the newest ${max_catchup_ticks} of the last ${catchup_window_minutes} minutes${resume}`],
    ['overlap', overlap_policy === 'SKIP' ? 'no tick while a run of it is active' : ''],
    [
      'tags',
      Object.entries(schedule.tags)
        .map(([name, value]) => `${name}=${value}`)
        .join(', '),
    ],
    ['priority', schedule.priority === 0 ? '' : String(schedule.priority)],
    ['defined', `version ${schedule.definition_version}${location_name === null ? '' : `, in the code location ${location_name}`}`],
    ['changed', momentText(schedule.updated_at, now)],
    ['last tick', lastTickText(schedule, now)],
  ]
  const lines = members.flatMap(([name, value]) => (value === '' ? [] : [memberLine(name, value)]))
  return [`Schedule ${schedule.schedule_name}`, ...lines]
}
