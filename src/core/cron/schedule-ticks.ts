// The public face of cron: from texts, as people write them, to instants. Whoever needs the fires of a cron, of a list of
// them, or of a definition with a zone begins here:
//
//   const ticks = openScheduleTicks({ cron: '30 2 * * *', timezone: 'America/New_York' })
//   if ('problem' in ticks) → a sentence that names the expression or the zone, says why, and what to write
//   ticks.next(after_ms), ticks.previous(before_ms)   the nearest instant, without the one given; null where there is none
//   ticks.count(from_ms, to_ms)                       how many, `from_ms` included, `to_ms` not
//   ticks.nth(from_ms, number)                        the one with this number from 0, from `from_ms` on
//   ticks.walk(from_ms, to_ms, tell)                  all of them in order, until `tell` answers false
//
// Instants are epoch milliseconds, whole seconds, from 1900 to 9999. Interval borders are as everywhere: half open. For the
// decisions of a schedule, which cover (from, to], add a millisecond to both. The rule for changes of the clocks is on
// docs/schedules.md, its reasons are in ADR 0047. Texts are checked once, when something is defined (`readCrons`), and again
// here, so that a text that got in by another door is a fault and no crash.

import { CRON_LIST_MAX, CRON_LIST_TIMES_MAX } from '../limits.js'
import { remember } from '../recent.js'
import { zoneProblem } from '../zone-name.js'
import { fitsOf, timeCount } from './day-times.js'
import { type CronExpression, type CronFault, cronWarning, parseCron } from './expression.js'
import { monthShapes } from './months.js'
import { openTicks, type Ticks } from './ticks.js'

export type { CronFault } from './expression.js'
export type { Ticks } from './ticks.js'

type CronInZone = {
  /** A list is the union of its expressions: what several of them name is one instant. */
  readonly cron: string | readonly string[]
  readonly timezone: string
}

/** Opening takes about a millisecond, and a turn asks for the same schedules again and again. */
const REMEMBERED_TICKS_MAX = 2_000

// Memory of a pure function.
const opened = new Map<string, Ticks>()

export function openScheduleTicks({ cron, timezone }: CronInZone): Ticks | CronFault {
  const key = JSON.stringify([timezone, cron])
  const known = opened.get(key)
  const ticks = known ?? openAnew({ cron, timezone })
  if (!('problem' in ticks)) remember(opened, key, ticks, REMEMBERED_TICKS_MAX)
  return ticks
}

function openAnew({ cron, timezone }: CronInZone): Ticks | CronFault {
  const problem = zoneProblem(timezone)
  if (problem !== null) return { problem }
  const expressions = readCrons(cron)
  return 'problem' in expressions ? expressions : openTicks(expressions, timezone)
}

/** As many as there are, in order, from an instant on that is included. */
export function firstTicks(ticks: Ticks, from_ms: number, count_max: number): readonly number[] {
  const found: number[] = []
  for (let at_ms = ticks.nth(from_ms, 0); at_ms !== null && found.length < count_max; at_ms = ticks.next(at_ms)) found.push(at_ms)
  return found
}

/** Everything that is checked when a cron, or a list of them, is defined. */
export function readCrons(cron: string | readonly string[]): readonly CronExpression[] | CronFault {
  const texts = [cron].flat()
  if (texts.length === 0) return { problem: 'The list of cron expressions is empty. Give it at least one.' }
  if (texts.length > CRON_LIST_MAX) {
    return { problem: `The list has ${texts.length} cron expressions, and may have ${CRON_LIST_MAX}. Make two schedules of it.` }
  }
  const expressions: CronExpression[] = []
  for (const text of texts) {
    const expression = parseCron(text)
    if ('problem' in expression) return expression
    expressions.push(expression)
  }
  if (texts.length > 1 && timesOfKinds(expressions) > CRON_LIST_TIMES_MAX) {
    return { problem: 'The cron expressions differ in too many days with too many times each. Make a schedule of each of them.' }
  }
  return expressions
}

/** Sentences about expressions that mean something else than they seem to; the definition is taken all the same. */
export const cronWarnings = (cron: string | readonly string[]): readonly string[] =>
  [cron].flat().flatMap((text) => cronWarning(text) ?? [])

/** As large as the tables of days will be, at most. */
function timesOfKinds(expressions: readonly CronExpression[]): number {
  const kinds = new Set(monthShapes.flatMap((shape) => [...fitsOf(expressions, shape)]))
  let sum = 0
  for (const kind of kinds) {
    for (const [i, expression] of expressions.entries()) if (((kind >>> i) & 1) === 1) sum += timeCount(expression)
  }
  return sum
}
