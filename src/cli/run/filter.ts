// Which runs a command means where it names none: the options of a list of runs and of a cancel of many.

import type { Command } from 'commander'
import { TRIGGER_TYPES } from '../../api/contract/run.js'
import { collectTag, parseOneOf } from '../arguments.js'

export type FilterOptions = {
  readonly state?: string
  readonly asset?: string
  readonly tag?: readonly string[]
  readonly schedule?: string
  readonly trigger?: string
  readonly requestedBy?: string
}

/** As the API names its members. */
export type RunFilter = {
  readonly state?: string
  readonly asset?: string
  readonly tag?: readonly string[]
  readonly schedule?: string
  readonly trigger_type?: string
  readonly requested_by?: string
}

export const withFilter = (command: Command, states: readonly string[]): Command =>
  command
    .option('--state <state>', states.join(', '), parseOneOf(states))
    .option('--asset <key>', 'runs of this asset')
    .option('--tag <name=value>', 'runs with this tag; several have all to be there', collectTag)
    .option('--schedule <name>', 'runs of this schedule, by its name or id')
    .option('--trigger <type>', TRIGGER_TYPES.join(', '), parseOneOf(TRIGGER_TYPES))
    .option('--requested-by <name>', 'runs that this person or program asked for')

/** undefined: no option was given. */
export function filterOf({ state, asset, tag, schedule, trigger, requestedBy }: FilterOptions): RunFilter | undefined {
  const members = { state, asset, tag, schedule, trigger_type: trigger, requested_by: requestedBy }
  const given = Object.entries(members).filter(([, value]) => value !== undefined)
  return given.length === 0 ? undefined : (Object.fromEntries(given) as RunFilter)
}
