// One year of a zone, with expressions drawn for it: the engine's answers beside those of the rule.

import { openScheduleTicks, type Ticks } from '../../src/core/cron/schedule-ticks.js'
import { createRandom, type Random } from '../fixtures/random.js'
import { type GeneratedCron, generateCron } from './cron-generate.js'
import { type CronMeaning, instantsByRule, stretchBorders } from './cron-rule.js'
import { type Stretch, stretchesOf } from './zone-clock.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LIST_MAX = 3
/** How many single look-ups there are for each expression. */
const LOOKS = 12
/** An expression with seconds is looked at around changes of the clocks, and around as many other days. */
const SECONDS_DAYS = 1

export type Asked = { readonly zone: string; readonly year: number; readonly seed: number; readonly expressions: number }

export type Compared = {
  readonly expressions: number
  readonly instants: number
  readonly changes: number
  readonly failures: readonly string[]
}

export function compareYear({ zone, year, seed, expressions }: Asked): Compared {
  const [from_ms, to_ms] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)]
  const stretches = stretchesOf(zone, ...stretchBorders(from_ms, to_ms))
  const changes = changesIn(stretches, from_ms, to_ms)
  const hours = changes.flatMap(({ shown_ms }) => shown_ms.map((local_ms) => new Date(local_ms).getUTCHours()))
  const failures: string[] = []
  let instants = 0
  for (let number = 0; number < expressions; number++) {
    // A source of its own for each expression: the first of them are the same, however many there are.
    const random = createRandom(`oracle/${seed}/${zone}/${year}/${number}`)
    const has_seconds = random.isTrue(0.15)
    const crons = Array.from({ length: random.isTrue(0.3) ? 2 + random.below(LIST_MAX - 1) : 1 }, () =>
      generateCron(random, hours, has_seconds),
    )
    const again = `npm run oracle -- --zones ${zone} --from-year ${year} --years 1 --seed ${seed} --expressions ${number + 1}`
    const windows = has_seconds ? secondWindows(random, changes, from_ms) : [[from_ms, to_ms] as const]
    for (const [window_from_ms, window_to_ms] of windows) {
      const told = { zone, crons, stretches, from_ms: window_from_ms, to_ms: window_to_ms, random }
      const { problem, count } = compare(told)
      instants += count
      if (problem === null) continue
      failures.push(`${zone} ${JSON.stringify(crons.map(({ text }) => text))}: ${problem}\n  To run it again: ${again}`)
      break
    }
  }
  return { expressions, instants, changes: changes.length, failures }
}

type Change = { readonly at_ms: number; readonly shown_ms: readonly [number, number] }

/** Where the clocks change, with what they show on both sides of it. */
const changesIn = (stretches: readonly Stretch[], from_ms: number, to_ms: number): readonly Change[] =>
  stretches.flatMap(({ from_ms: at_ms, offset_ms }, i) => {
    const before = stretches[i - 1]
    if (before === undefined || at_ms < from_ms || at_ms >= to_ms) return []
    return [{ at_ms, shown_ms: [at_ms + before.offset_ms, at_ms + offset_ms] as const }]
  })

function secondWindows(random: Random, changes: readonly Change[], year_from_ms: number): readonly (readonly [number, number])[] {
  const others = [0, ...changes].map(() => year_from_ms + random.below(360) * DAY_MS)
  return [...changes.map(({ at_ms }) => at_ms), ...others].map((at_ms) => {
    const from_ms = Math.max(year_from_ms, Math.floor(at_ms / HOUR_MS) * HOUR_MS - (SECONDS_DAYS * DAY_MS) / 2)
    return [from_ms, from_ms + SECONDS_DAYS * DAY_MS] as const
  })
}

type Told = {
  readonly zone: string
  readonly crons: readonly GeneratedCron[]
  readonly stretches: readonly Stretch[]
  readonly from_ms: number
  readonly to_ms: number
  readonly random: Random
}

function compare({ zone, crons, stretches, from_ms, to_ms, random }: Told): { readonly problem: string | null; readonly count: number } {
  const cron = crons.length === 1 ? (crons[0] as GeneratedCron).text : crons.map(({ text }) => text)
  const ticks = openScheduleTicks({ cron, timezone: zone })
  const never = crons.find(({ meaning }) => isNever(meaning))
  if ('problem' in ticks) {
    const is_right = never !== undefined && ticks.problem.includes(JSON.stringify(never.text)) && ticks.problem.includes('can never match')
    return { problem: is_right ? null : `refused: ${ticks.problem}`, count: 0 }
  }
  if (never !== undefined) return { problem: `taken, and ${JSON.stringify(never.text)} can never match`, count: 0 }
  const meanings = crons.map(({ meaning }) => meaning)
  const expected = instantsByRule(meanings, stretches, from_ms, to_ms)
  const problem = walkProblem(ticks, expected, from_ms, to_ms) ?? lookProblem(ticks, expected, from_ms, to_ms, random)
  return { problem, count: expected.length }
}

/** A month's days are all in some leap year; with a day of the week there is one in every month. */
function isNever({ months, day_of_month, day_of_week }: CronMeaning): boolean {
  if (day_of_month === null || day_of_week !== null) return false
  for (let at_ms = Date.UTC(2024, 0, 1); at_ms < Date.UTC(2025, 0, 1); at_ms += DAY_MS) {
    const date = new Date(at_ms)
    const length = new Date(Date.UTC(2024, date.getUTCMonth() + 1, 0)).getUTCDate()
    if (months.has(date.getUTCMonth() + 1) && day_of_month(date.getUTCDate(), length)) return false
  }
  return true
}

const text = (at_ms: number | null | undefined): string => (typeof at_ms === 'number' ? new Date(at_ms).toISOString() : 'none')
const differs = (what: string, expected: number | null | undefined, got: number | null | undefined): string =>
  `${what}: expected ${text(expected)}, got ${text(got)}`

function walkProblem(ticks: Ticks, expected: readonly number[], from_ms: number, to_ms: number): string | null {
  const got: number[] = []
  ticks.walk(from_ms, to_ms, (at_ms) => got.push(at_ms) > 0)
  const at = expected.findIndex((at_ms, i) => got[i] !== at_ms)
  if (at !== -1) return differs(`walk from ${text(from_ms)}, instant number ${at}`, expected[at], got[at])
  if (got.length > expected.length)
    return differs(`walk from ${text(from_ms)}, instant number ${expected.length}`, null, got[expected.length])
  const count = ticks.count(from_ms, to_ms)
  return count === expected.length ? null : `count from ${text(from_ms)} to ${text(to_ms)}: expected ${expected.length}, got ${count}`
}

/** Single questions, at instants, a moment beside them, and anywhere. */
function lookProblem(ticks: Ticks, expected: readonly number[], from_ms: number, to_ms: number, random: Random): string | null {
  const first = (at_ms: number): number => lowerBound(expected, at_ms)
  for (let look = 0; look < LOOKS; look++) {
    const anywhere_ms = from_ms + random.below(to_ms - from_ms)
    const beside_ms = expected.length === 0 ? anywhere_ms : random.pick(expected) + random.below(3) - 1
    const at_ms = Math.min(to_ms, Math.max(from_ms, look % 2 === 0 ? anywhere_ms : beside_ms))
    const next = expected[first(at_ms + 1)]
    const got_next = ticks.next(at_ms)
    if (next === undefined ? got_next !== null && got_next < to_ms : got_next !== next)
      return differs(`next after ${text(at_ms)}`, next, got_next)
    const previous = expected[first(at_ms) - 1]
    const got_previous = ticks.previous(at_ms)
    const isBefore = got_previous === null || got_previous < from_ms
    if (previous === undefined ? !isBefore : got_previous !== previous)
      return differs(`previous before ${text(at_ms)}`, previous, got_previous)
    const count = ticks.count(from_ms, at_ms)
    if (count !== first(at_ms)) return `count from ${text(from_ms)} to ${text(at_ms)}: expected ${first(at_ms)}, got ${count}`
    const number = random.below(expected.length + 1)
    const nth = ticks.nth(from_ms, number)
    if (number < expected.length && nth !== expected[number])
      return differs(`number ${number} from ${text(from_ms)}`, expected[number], nth)
  }
  return null
}

function lowerBound(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return low
}
