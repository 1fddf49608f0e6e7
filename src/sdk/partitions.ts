// How users say which partitions an asset has. What comes out is the JSON that partitions/definition.ts reads, which
// also judges it: there is one reading of it, and no second opinion here.

import { nearestWord } from '../core/spelling.js'
import { MEMBERS, parseDefinition } from '../partitions/definition.js'
import { isRefusal } from '../partitions/key-order.js'
import { DefinitionError, wrong } from './fault.js'
import type { Faults } from './member.js'

export type DailyOptions = {
  /** The first day, or the first moment: `2025-01-01`, `2025-01-01T06:00:00`. */
  readonly start_date: string
  /** No partition ends after it. */
  readonly end_date?: string
  /** UTC where it is left out. */
  readonly timezone?: string
  readonly hour_offset?: number
  readonly minute_offset?: number
  /** 0: the last partition is the last day that is over; 1: the day that runs. */
  readonly end_offset?: number
  /** The form of the keys: `%Y-%m-%d` where it is left out. */
  readonly fmt?: string
  /** Dates without a partition. */
  readonly exclusions?: readonly string[]
}

export type DailyPartitions = DailyOptions & { readonly type: 'daily' }
export type StaticPartitions<Key extends string = string> = { readonly type: 'static'; readonly keys: readonly Key[] }
export type Partitions = DailyPartitions | StaticPartitions

/** A partition for each day: `daily({ start_date: '2025-01-01', timezone: 'Europe/Berlin' })`. */
export function daily(options: DailyOptions): DailyPartitions {
  const definition = Object.freeze({ ...options, type: 'daily' as const })
  refuseFaults('daily(…)', definition)
  return definition
}

/** A partition for each key, in this order: `staticPartitions(['europe', 'asia'])`. */
export function staticPartitions<const Key extends string>(keys: readonly Key[]): StaticPartitions<Key> {
  if (!Array.isArray(keys)) throw new DefinitionError('staticPartitions(…)', [wrong('keys', keys, 'a list of keys')])
  const definition = Object.freeze({ type: 'static' as const, keys: Object.freeze([...keys]) })
  refuseFaults('staticPartitions(…)', definition)
  return definition
}

function refuseFaults(what: string, definition: Partitions): void {
  const faults = partitionsFaults(definition)
  if (faults.length > 0) throw new DefinitionError(what, faults)
}

export function partitionsFaults(definition: unknown): Faults {
  if (typeof definition !== 'object' || definition === null) {
    return [wrong('partitions', definition, 'what daily(…) or staticPartitions(…) returns')]
  }
  const parsed = parseDefinition(withoutUndefined(definition))
  if (!isRefusal(parsed)) return []
  const unknown =
    'type' in definition && definition.type === 'daily' ? Object.keys(definition).find((name) => !isDailyMember(name)) : undefined
  const meant = unknown === undefined ? undefined : nearestWord(unknown, MEMBERS.daily)
  return [meant === undefined || !parsed.problem.includes(`"${unknown}"`) ? parsed.problem : `${parsed.problem} Did you mean ${meant}?`]
}

const isDailyMember = (name: string): boolean => MEMBERS.daily.includes(name)
const withoutUndefined = (object: object): object => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
