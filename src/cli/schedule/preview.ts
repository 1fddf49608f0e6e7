// `servo schedule preview`: the next fires of a cron, or of a list of them, in a zone, which asks nobody; or of a schedule.

import { type Command, InvalidArgumentError } from 'commander'
import { cronWarnings, firstTicks, openScheduleTicks } from '../../core/cron/schedule-ticks.js'
import { PREVIEWED_FIRES_MAX } from '../../core/limits.js'
import { zonedText } from '../../core/zoned-text.js'
import { type ApiOptions, type Around, sessionOf, withApi, withExample } from '../api-command.js'
import { collect, parseCount, parseInstant } from '../arguments.js'
import { UsageError } from '../exit-code.js'
import { note, printJson, printTable } from '../local/print.js'
import { agoText } from '../moments.js'
import type { ScheduleFires } from './answers.js'
import { SCHEDULE_WORDS, schedulePath } from './words.js'

type Asked = { readonly cron: readonly string[]; readonly timezone: string; readonly from_ms: number; readonly count: number }

type Options = ApiOptions & {
  readonly cron?: readonly string[]
  readonly timezone?: string
  readonly from?: number
  readonly count: number
}

const FIRES = 10

export function addPreviewCommand(group: Command, around: Around): void {
  const command = withApi(group.command('preview'))
    .description('the next fires of a schedule; or of a cron, or several as one schedule, which needs no server')
    .argument('[schedule]', `${SCHEDULE_WORDS}; without one, --cron says what`)
    .option('--cron <expression>', 'minute, hour, day, month and weekday, seconds before them or not; may be repeated', collect)
    .option('--timezone <zone>', 'a name of the IANA database, such as Europe/Berlin; UTC where none is given')
    .option('--from <instant>', 'from when on, itself included; else from now', parseInstant)
    .option('--count <count>', `how many, at most ${PREVIEWED_FIRES_MAX}`, parseFires, FIRES)
    .action((schedule: string | undefined, options: Options) => preview(schedule, options, around))
  withExample(
    command,
    "servo schedule preview --cron '30 2 * * *' --timezone America/New_York --from 2025-03-08T00:00:00-05:00 --count 3",
    "servo schedule preview --cron '0 6 * * 1-5' --cron '0 9 * * 6,7' --json",
    'servo schedule preview nightly',
  )
}

function parseFires(text: string): number {
  const count = parseCount(text)
  if (count <= PREVIEWED_FIRES_MAX) return count
  throw new InvalidArgumentError(`Give ${PREVIEWED_FIRES_MAX} at most, and ask again from the last one.`)
}

async function preview(schedule: string | undefined, options: Options, around: Around): Promise<void> {
  const { cron, timezone = 'UTC', from, count, json } = options
  const from_ms = from ?? Date.now()
  if (schedule !== undefined) {
    if (cron !== undefined || options.timezone !== undefined) {
      throw new UsageError(`${schedule} has a cron and a zone of its own. Name the schedule, or give --cron and --timezone.`)
    }
    const query = { from: new Date(from_ms).toISOString(), count, fresh: true }
    const told = await sessionOf(options, around).client.get<ScheduleFires>(`${schedulePath(schedule)}/preview`, query)
    const fires = told.fires.map(({ scheduled_for }) => Date.parse(scheduled_for))
    if (told.status !== 'ACTIVE') note(`Note: ${schedule} is ${told.status}: it fires at none of these as it is.`)
    return print({ ...told, fires, from_ms, json })
  }
  if (cron === undefined) throw new UsageError('Say which: a schedule by its name, or a cron with --cron.')
  print({ timezone, fires: firesOf({ cron, timezone, from_ms, count }), warnings: cronWarnings(cron), from_ms, json })
}

type Fires = {
  readonly timezone: string
  readonly fires: readonly number[]
  readonly warnings: readonly string[]
  readonly from_ms: number
  readonly json: boolean | undefined
}

function print({ timezone, fires, warnings, from_ms, json }: Fires): void {
  for (const warning of warnings) note(`Note: ${warning}`)
  if (json === true) return printJson(fires.map((at_ms) => zonedText(timezone, at_ms)))
  if (fires.length === 0) return note(`Nothing fires from ${new Date(from_ms).toISOString()} on, up to the year 9999.`)
  const now = Date.now()
  printTable(
    [`in ${timezone}`, 'UTC', ''],
    fires.map((at_ms) => [zonedText(timezone, at_ms), new Date(at_ms).toISOString().replace('.000Z', 'Z'), agoText(at_ms, now)]),
  )
}

/** As many as there are, from an instant on that is included. */
export function firesOf({ cron, timezone, from_ms, count }: Asked): readonly number[] {
  const ticks = openScheduleTicks({ cron, timezone })
  if ('problem' in ticks) throw new UsageError(ticks.problem)
  return firstTicks(ticks, from_ms, count)
}
