// `servo schedule preview`: the next fires of a cron, or of a list of them, in a zone. It asks nobody.

import { type Command, InvalidArgumentError } from 'commander'
import { cronWarnings, firstTicks, openScheduleTicks } from '../../core/cron/schedule-ticks.js'
import { zonedText } from '../../core/zoned-text.js'
import { withExample } from '../api-command.js'
import { collect, parseCount, parseInstant } from '../arguments.js'
import { UsageError } from '../exit-code.js'
import { note, printJson, printTable } from '../local/print.js'
import { agoText } from '../moments.js'

type Asked = { readonly cron: readonly string[]; readonly timezone: string; readonly from_ms: number; readonly count: number }

type Options = {
  readonly cron: readonly string[]
  readonly timezone: string
  readonly from?: number
  readonly count: number
  readonly json?: boolean
}

const FIRES = 10
/** More is a list that nobody reads; a program asks again from the last one. */
const FIRES_MAX = 1_000

export function addPreviewCommand(group: Command): void {
  const command = group
    .command('preview')
    .description('the next fires of a cron, or of several as one schedule; needs no server')
    .requiredOption('--cron <expression>', 'minute, hour, day, month and weekday, seconds before them or not; may be repeated', collect)
    .option('--timezone <zone>', 'a name of the IANA database, such as Europe/Berlin', 'UTC')
    .option('--from <instant>', 'from when on, itself included; else from now', parseInstant)
    .option('--count <count>', `how many, at most ${FIRES_MAX}`, parseFires, FIRES)
    .option('--json', 'print one JSON array of instants')
    .action((options: Options) => preview(options, Date.now()))
  withExample(
    command,
    "servo schedule preview --cron '30 2 * * *' --timezone America/New_York --from 2025-03-08T00:00:00-05:00 --count 3",
    "servo schedule preview --cron '0 6 * * 1-5' --cron '0 9 * * 6,7' --json",
  )
}

function parseFires(text: string): number {
  const count = parseCount(text)
  if (count <= FIRES_MAX) return count
  throw new InvalidArgumentError(`Give ${FIRES_MAX} at most, and ask again from the last one.`)
}

function preview({ cron, timezone, from, count, json }: Options, now: number): void {
  const from_ms = from ?? now
  const fires = firesOf({ cron, timezone, from_ms, count })
  for (const warning of cronWarnings(cron)) note(`Note: ${warning}`)
  if (json === true) return printJson(fires.map((at_ms) => zonedText(timezone, at_ms)))
  if (fires.length === 0) return note(`Nothing fires from ${new Date(from_ms).toISOString()} on, up to the year 9999.`)
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
