// A code location: the assets that are deployed and served together, and the schedules that ask for them.

import { cyclesIn } from '../core/cycle.js'
import { LOCATION_DEFINITIONS_MAX } from '../core/limits.js'
import { compareText } from '../core/order.js'
import { type Asset, isAsset } from './dependency.js'
import { DefinitionError, shown, wrong } from './fault.js'
import { type Check, type Faults, idOf, isObject, memberFaults, type Shape } from './member.js'
import { isSchedule, type Schedule } from './schedule.js'

/** By name, as for assets. */
const CODE_LOCATION: unique symbol = Symbol.for('servo.code_location')

export type CodeLocation = {
  readonly [CODE_LOCATION]: true
  readonly name: string
  /** In the order of their keys. */
  readonly assets: readonly Asset[]
  /** In the order of their names. */
  readonly schedules: readonly Schedule[]
}

export type CodeLocationOptions = {
  readonly name: string
  readonly assets: readonly Asset[]
  readonly schedules?: readonly Schedule[]
  /** None yet: the engine that would run them belongs to a later version. */
  readonly sensors?: readonly never[]
}

const assets: Check = (value, field) => {
  if (!Array.isArray(value)) return [wrong(field, value, 'a list of what asset(…) returns')]
  return Array.from(value, (each, i) => (isAsset(each) ? [] : [wrong(`${field}[${i}]`, each, 'what asset(…) returns')])).flat()
}

type Named = { readonly name: string }

/** What a location has beside its assets, list by list. Each has a name of its own. */
type NamedList = { readonly word: string; readonly isOne: (value: unknown) => value is Named }
const LISTS: Readonly<Record<'schedules', NamedList>> = { schedules: { word: 'schedule', isOne: isSchedule } }

const listCheck =
  ({ word, isOne }: NamedList): Check =>
  (value, field) => {
    const what = `what ${word}(…) returns`
    if (!Array.isArray(value)) return [wrong(field, value, `a list of ${what}`)]
    return Array.from(value, (each, i) => (isOne(each) ? [] : [wrong(`${field}[${i}]`, each, what)])).flat()
  }

const noneYet =
  (what: string, instead: string): Check =>
  (value, field) => {
    if (!Array.isArray(value)) return [wrong(field, value, 'an empty list, or leave it out')]
    return value.length === 0 ? [] : [`${field} has ${value.length}, and this version of Servo has no ${what}. Leave it empty; ${instead}.`]
  }

const SHAPE: Shape = {
  required: { name: idOf('name'), assets },
  optional: {
    ...Object.fromEntries(Object.entries(LISTS).map(([plural, list]) => [plural, listCheck(list)])),
    sensors: noneYet('sensors', 'what notices new data can request runs'),
  },
}

/** `defineCodeLocation({ name: 'analytics', assets: [rawEvents, dailySummary] })`, exported from the module. */
export function defineCodeLocation(options: CodeLocationOptions): CodeLocation {
  if (!isObject(options)) throw new DefinitionError('defineCodeLocation(…)', [`Its options are ${shown(options)}. Give it an object.`])
  const given: readonly unknown[] = Array.isArray(options.assets) ? options.assets : []
  const named = Object.entries(LISTS).map(([plural, { word, isOne }]) => {
    const list: unknown = options[plural as keyof typeof LISTS]
    return { plural, word, members: Array.isArray(list) ? list.filter(isOne) : [] }
  })
  const faults = [
    ...memberFaults(options, SHAPE),
    ...assetsFaults(given.filter(isAsset)),
    ...countFaults(given.length, named),
    ...named.flatMap(nameFaults),
  ]
  if (faults.length > 0) {
    throw new DefinitionError(typeof options.name === 'string' ? `code location ${shown(options.name)}` : 'defineCodeLocation(…)', faults)
  }
  const sorted = [...options.assets].sort((a, b) => compareText(a.key, b.key))
  return Object.freeze({
    [CODE_LOCATION]: true as const,
    name: options.name,
    assets: Object.freeze(sorted),
    schedules: Object.freeze([...(options.schedules ?? [])].sort((a, b) => compareText(a.name, b.name))),
  })
}

export const isCodeLocation = (value: unknown): value is CodeLocation =>
  typeof value === 'object' && value !== null && CODE_LOCATION in value

/** What is right for each asset alone, and wrong for all of them together. */
function assetsFaults(all: readonly Asset[]): Faults {
  const count = new Map<string, number>()
  for (const { key } of all) count.set(key, (count.get(key) ?? 0) + 1)
  const dependencies = new Map(all.map(({ key, definition }) => [key, definition.deps.map(({ asset_key }) => asset_key)]))
  return [
    ...(all.length > LOCATION_DEFINITIONS_MAX
      ? [`assets has ${all.length}, and ${LOCATION_DEFINITIONS_MAX} is the most of a location. Split it into several locations.`]
      : []),
    ...[...count]
      .filter(([, times]) => times > 1)
      .map(
        ([key, times]) =>
          `assets has "${key}" ${times === 2 ? 'twice' : `${times} times`}. Give each asset a key of its own, and list it once.`,
      ),
    ...cyclesIn(dependencies).map((path) => `deps make a cycle: ${path.join(' needs ')}. Remove one of these dependencies.`),
  ]
}

type GivenList = { readonly plural: string; readonly word: string; readonly members: readonly Named[] }

/** Too many assets alone are told of the assets. */
function countFaults(asset_count: number, lists: readonly GivenList[]): Faults {
  const sum = lists.reduce((total, { members }) => total + members.length, asset_count)
  if (sum <= LOCATION_DEFINITIONS_MAX || asset_count > LOCATION_DEFINITIONS_MAX) return []
  const words = ['assets', ...lists.filter(({ members }) => members.length > 0).map(({ plural }) => plural)].join(' and ')
  return [`${words} are ${sum} together, and ${LOCATION_DEFINITIONS_MAX} is the most of a location. Split it into several locations.`]
}

function nameFaults({ plural, word, members }: GivenList): Faults {
  const firsts = new Set<string>()
  const repeated = new Set<string>()
  for (const { name } of members) (firsts.has(name) ? repeated : firsts).add(name)
  return [...repeated].map((name) => `${plural} has "${name}" more than once. Give each ${word} a name of its own.`)
}
