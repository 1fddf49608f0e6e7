// Checks of what users write. Each answers every fault that it finds, as sentences that name the field.

import { ID_RULES, type IdKind, idFault } from '../core/ids.js'
import { TAG_KEY_CHARACTERS_MAX, TAG_VALUE_CHARACTERS_MAX, TAGS_MAX } from '../core/limits.js'
import { suggestion } from '../core/spelling.js'
import { wrong } from './fault.js'

export type Faults = readonly string[]
export type Check = (value: unknown, field: string) => Faults
export type Members = Readonly<Record<string, unknown>>

const NONE: Faults = []

export const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

const check =
  (holds: (value: unknown) => boolean, rule: string): Check =>
  (value, field) =>
    holds(value) ? NONE : [wrong(field, value, rule)]

export const text = check((value) => typeof value === 'string' && value.isWellFormed(), 'text')
export const functionOf = (signature: string): Check => check((value) => typeof value === 'function', `a function: ${signature}`)
export const numberFrom = (min: number, max: number, unit: string): Check =>
  check((value) => typeof value === 'number' && value >= min && value <= max, `a number${unit} from ${min} to ${max}`)
export const wholeFrom = (min: number, max: number): Check =>
  check((value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max, `a whole number from ${min} to ${max}`)

export const idOf =
  (kind: IdKind): Check =>
  (value, field) => {
    if (typeof value !== 'string') return [wrong(field, value, ID_RULES[kind].rule)]
    const fault = idFault(kind, value, field)
    if (fault !== undefined) return [fault]
    return value.isWellFormed() ? NONE : [`${field} has half a character (a lone surrogate). Write it anew.`]
  }

export const listOf =
  (element: Check, what: string): Check =>
  (value, field) =>
    Array.isArray(value) ? value.flatMap((each, i) => element(each, `${field}[${i}]`)) : [wrong(field, value, `a list of ${what}`)]

/** As `listOf`, for names of which a second one means nothing. */
export const namesOf =
  (element: Check, what: string): Check =>
  (value, field) => {
    const faults = listOf(element, what)(value, field)
    return faults.length > 0 || !Array.isArray(value) ? faults : twice(value as readonly string[], field)
  }

export function twice(names: readonly string[], field: string): Faults {
  const firsts = new Map<string, number>()
  return names.flatMap((name, i) => {
    const first = firsts.get(name)
    if (first === undefined) firsts.set(name, i)
    return first === undefined ? NONE : [`${field}[${i}] is "${name}", as ${field}[${first}] is. Name it once.`]
  })
}

export const tags: Check = (value, field) => {
  if (!isObject(value)) return [wrong(field, value, 'an object of texts, such as {"team": "core"}')]
  const names = Object.keys(value)
  const tooMany = names.length > TAGS_MAX ? [`${field} has ${names.length} tags. Leave at most ${TAGS_MAX}.`] : NONE
  return [...tooMany, ...names.flatMap((name) => tagFaults(name, value[name], field))]
}

function tagFaults(name: string, value: unknown, field: string): Faults {
  const isName = name.length >= 1 && name.length <= TAG_KEY_CHARACTERS_MAX && name.isWellFormed()
  const isValue = typeof value === 'string' && value.length <= TAG_VALUE_CHARACTERS_MAX && value.isWellFormed()
  return [
    ...(isName ? NONE : [wrong(`A name in ${field}`, name, `1 to ${TAG_KEY_CHARACTERS_MAX} characters`)]),
    ...(isValue ? NONE : [wrong(`${field}.${name}`, value, `text of at most ${TAG_VALUE_CHARACTERS_MAX} characters`)]),
  ]
}

/** What an object may have. `later` are members whose engine is not there yet, each with a sentence that says so: to
 *  take them and do nothing would be a lie. */
export type Shape = {
  readonly required: Readonly<Record<string, Check>>
  readonly optional: Readonly<Record<string, Check>>
  readonly later?: Readonly<Record<string, string>>
}

export function memberFaults(value: Members, { required, optional, later = {} }: Shape, prefix = ''): Faults {
  const known = [...Object.keys(required), ...Object.keys(optional)]
  const missing = Object.entries(required).flatMap(([name, check]) => check(value[name], prefix + name))
  const rest = Object.keys(value).filter((name) => !Object.hasOwn(required, name) && value[name] !== undefined)
  const others = rest.flatMap((name) => {
    const check = Object.hasOwn(optional, name) ? optional[name] : undefined
    if (check !== undefined) return check(value[name], prefix + name)
    if (Object.hasOwn(later, name)) return [`${prefix}${name} ${later[name]}`]
    const cure = suggestion(name, known) || ` Remove it, or use one of ${known.join(', ')}.`
    return [`${prefix}${name} is not known here.${cure}`]
  })
  return [...missing, ...others]
}

export const shaped =
  (shape: Shape, what: string): Check =>
  (value, field) =>
    isObject(value) ? memberFaults(value, shape, `${field}.`) : [wrong(field, value, what)]
