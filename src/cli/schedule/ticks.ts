// `servo schedule ticks`: what became of the instants of a schedule, and waiting for one that runs.

import type { Command } from 'commander'
import { TICK_STATUSES } from '../../api/contract/schedule.js'
import { TICK_KINDS } from '../../api/contract/schedule-tick.js'
import { type ApiOptions, type Around, listed, type Session, sessionOf, withApi, withExample } from '../api-command.js'
import { parseCount, parseDuration, parseInstant, parseOneOf } from '../arguments.js'
import { FailedError, UsageError } from '../exit-code.js'
import { note, printJson, printTable } from '../local/print.js'
import { delayText, durationText } from '../moments.js'
import { partitionsText } from '../run/list.js'
import { paintedState } from '../screen.js'
import { createPatience, type Interruptible, untilInterrupted } from '../watching.js'
import type { Schedule, ScheduleTick } from './answers.js'
import { fireText, localWords, SCHEDULE_WORDS, schedulePath, statusText, tickSaying } from './words.js'

type Options = ApiOptions & {
  readonly status?: string
  readonly kind?: string
  readonly from?: number
  readonly to?: number
  readonly limit: number
  readonly wait?: number
}

const TICKS_FOR_PEOPLE = 20

export function addTicksCommand(group: Command, around: Around): void {
  const command = withApi(group.command('ticks'))
    .description('what became of the instants of a schedule, newest first')
    .argument('<schedule>', SCHEDULE_WORDS)
    .option('--status <status>', TICK_STATUSES.join(', '), parseOneOf(TICK_STATUSES))
    .option('--kind <kind>', 'CRON, or MANUAL for those that somebody asked for', parseOneOf(TICK_KINDS))
    .option('--from <instant>', 'scheduled at or after it', parseInstant)
    .option('--to <instant>', 'scheduled before it', parseInstant)
    .option('--limit <count>', 'how many', parseCount, TICKS_FOR_PEOPLE)
    .option('--wait <time>', 'until a TRIGGERED one is there, such as 90s; exit code 1 where none comes', parseDuration)
    .action((text: string, options: Options) => ticks(text, options, around))
  withExample(command, 'servo schedule ticks nightly --status FAILED', 'servo schedule ticks quickstart --wait 90s')
}

async function ticks(text: string, options: Options, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const { status, kind, from, to, limit, wait } = options
  if (from !== undefined && to !== undefined && from > to) {
    throw new UsageError(
      `--from ${instantOf(from)} is after --to ${instantOf(to)}: no tick is between them. Give the earlier one as --from.`,
    )
  }
  if (wait !== undefined) await untilTriggered(text, wait, session)
  const { rows, more } = await listed<'ticks', ScheduleTick>(session, {
    path: `${schedulePath(text)}/ticks`,
    member: 'ticks',
    query: { status, kind, from: instantOf(from), to: instantOf(to), fresh: true },
    limit,
  })
  if (session.json) return printJson(rows)
  if (rows.length === 0) return note(`No tick fits. \`servo schedule show ${text}\` says when it fires.`)
  printTicks(rows, session)
  if (more) note(`These are the newest ${rows.length}. Say --limit to see more.`)
}

const instantOf = (at_ms: number | undefined): string | undefined => (at_ms === undefined ? undefined : new Date(at_ms).toISOString())

const printTicks = (rows: readonly ScheduleTick[], { screen }: Session): void =>
  printTable(
    ['scheduled for', 'status', 'kind', 'delay', 'partitions', 'what came of it'],
    rows.map((tick) => [
      localWords(tick.local),
      paintedState(screen, tick.status),
      tick.kind,
      tick.delay_ms === null ? '' : delayText(tick.delay_ms),
      partitionsText(tick.partitions as Parameters<typeof partitionsText>[0]),
      tickSaying(tick),
    ]),
  )

const LOOK_AGAIN_MS = 500

/** One of the clock or of a person, whichever is there first. */
const untilTriggered = (text: string, wait_ms: number, session: Session): Promise<void> =>
  untilInterrupted((until) => lookUntilTriggered(text, wait_ms, session, until))

async function lookUntilTriggered(text: string, wait_ms: number, session: Session, until: Interruptible): Promise<void> {
  const patience = createPatience()
  const ends_at = performance.now() + wait_ms
  const query = { status: 'TRIGGERED', limit: 1, fresh: true }
  while (!until.signal.aborted) {
    const page = await patience.tried(() => session.client.get<{ ticks: ScheduleTick[] }>(`${schedulePath(text)}/ticks`, query))
    if (page !== undefined && page.ticks.length > 0) return
    const left_ms = ends_at - performance.now()
    if (left_ms <= 0) throw new FailedError(await missedText(text, wait_ms, session))
    await until.sleep(Math.min(LOOK_AGAIN_MS, left_ms))
  }
  throw new FailedError('Stopped waiting; the schedule goes on all the same.')
}

async function missedText(text: string, wait_ms: number, session: Session): Promise<string> {
  const schedule = await session.client.get<Schedule>(schedulePath(text), { fresh: true })
  const next = schedule.next_fire === null ? 'It fires no more as it is.' : `It fires next at ${fireText(schedule.next_fire, Date.now())}.`
  return `No tick of ${schedule.schedule_name} was TRIGGERED within ${durationText(wait_ms)}: it is ${statusText(schedule)}. ${next} Is \`servo automation\` or \`servo dev\` running? \`servo doctor\` looks.`
}
