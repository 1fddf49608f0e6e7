// How users say which partitions an asset has. What comes out is the JSON that partitions/definition.ts reads, which
// also judges it: there is one reading of it, and no second opinion here.

import { parseDeployable } from '../partitions/definition.js'
import { isRefusal } from '../partitions/key-order.js'
import { DefinitionError, wrong } from './fault.js'
import type { Faults } from './member.js'

type Common = {
  /** UTC where it is left out. */
  readonly timezone?: string
  /** 0: the last partition is the last one that is over; 1: the one that runs. */
  readonly end_offset?: number
  /** The form of the keys: `%Y-%m-%d`, with `-%H:%M` where days have several. */
  readonly fmt?: string
  /** Keys, times, or cron expressions whose instants start no partition. */
  readonly exclusions?: readonly string[]
}

export type HourlyOptions = Common & {
  /** The first moment: `2025-01-01`, `2025-01-01T06:00:00`. */
  readonly start_date: string
  /** No partition ends after it. */
  readonly end_date?: string
  readonly minute_offset?: number
}
export type DailyOptions = HourlyOptions & { readonly hour_offset?: number }
/** `day_offset`: 0 for weeks from Sunday, which is what is meant where it is left out, 1 from Monday. */
export type WeeklyOptions = DailyOptions & { readonly day_offset?: number }
/** `day_offset`: the day of the month, 1 where it is left out; months without that day have no partition. */
export type MonthlyOptions = DailyOptions & { readonly day_offset?: number }
export type CronOptions = Common & {
  /** Each of its instants starts a partition, which lasts until the next one. */
  readonly cron_schedule: string
  readonly start: string
  readonly end?: string
}

export type HourlyPartitions = HourlyOptions & { readonly type: 'hourly' }
export type DailyPartitions = DailyOptions & { readonly type: 'daily' }
export type WeeklyPartitions = WeeklyOptions & { readonly type: 'weekly' }
export type MonthlyPartitions = MonthlyOptions & { readonly type: 'monthly' }
export type CronPartitions = CronOptions & { readonly type: 'cron' }
export type StaticPartitions<Key extends string = string> = { readonly type: 'static'; readonly keys: readonly Key[] }
type Dimension = HourlyPartitions | DailyPartitions | WeeklyPartitions | MonthlyPartitions | CronPartitions | StaticPartitions
export type MultiPartitions = { readonly type: 'multi'; readonly dimensions: Readonly<Record<string, Dimension>> }
export type Partitions = Dimension | MultiPartitions

/** A partition for each hour: `hourly({ start_date: '2025-01-01', timezone: 'Europe/Berlin' })`. */
export const hourly = (options: HourlyOptions): HourlyPartitions => defined('hourly(…)', { ...options, type: 'hourly' })
/** A partition for each day: `daily({ start_date: '2025-01-01', timezone: 'Europe/Berlin' })`. */
export const daily = (options: DailyOptions): DailyPartitions => defined('daily(…)', { ...options, type: 'daily' })
/** A partition for each week: `weekly({ start_date: '2025-01-06', day_offset: 1 })`. */
export const weekly = (options: WeeklyOptions): WeeklyPartitions => defined('weekly(…)', { ...options, type: 'weekly' })
/** A partition for each month: `monthly({ start_date: '2025-01-01' })`. */
export const monthly = (options: MonthlyOptions): MonthlyPartitions => defined('monthly(…)', { ...options, type: 'monthly' })
/** A partition from each instant of a cron to the next: `cronPartitions({ cron_schedule: '0 6,18 * * *', start: '2025-01-01' })`. */
export const cronPartitions = (options: CronOptions): CronPartitions => defined('cronPartitions(…)', { ...options, type: 'cron' })

/** A partition for each key, in this order: `staticPartitions(['europe', 'asia'])`. */
export function staticPartitions<const Key extends string>(keys: readonly Key[]): StaticPartitions<Key> {
  if (!Array.isArray(keys)) throw new DefinitionError('staticPartitions(…)', [wrong('keys', keys, 'a list of keys')])
  return defined('staticPartitions(…)', { type: 'static' as const, keys: Object.freeze([...keys]) })
}

/** A partition for each pair, or more: `multiPartitions({ date: daily(…), region: staticPartitions(['us']) })`. */
export const multiPartitions = (dimensions: Readonly<Record<string, Dimension>>): MultiPartitions =>
  defined('multiPartitions(…)', { type: 'multi', dimensions: Object.freeze({ ...dimensions }) })

function defined<P extends Partitions>(what: string, definition: P): P {
  const faults = partitionsFaults(Object.freeze(definition))
  if (faults.length > 0) throw new DefinitionError(what, faults)
  return definition
}

export function partitionsFaults(definition: unknown): Faults {
  if (typeof definition !== 'object' || definition === null) {
    return [wrong('partitions', definition, 'what daily(…), staticPartitions(…) and their like return')]
  }
  const parsed = parseDeployable(withoutUndefined(definition))
  return isRefusal(parsed) ? [parsed.problem] : []
}

const withoutUndefined = (object: object): object => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
