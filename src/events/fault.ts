// What is wrong with an event, as a sentence: which member, what it is, what to give instead.

import type { z } from 'zod'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** The rule of an issue whose schema states none; it ends the sentence "Give it …". */
export function ruleOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPE_RULES[issue.expected] ?? `a value of type ${issue.expected}`
    case 'invalid_value':
      return issue.values.length === 1
        ? JSON.stringify(issue.values[0])
        : `one of ${issue.values.map((value: unknown) => String(value)).join(', ')}`
    case 'too_big':
      return `at most ${issue.maximum}${unitOf(issue.origin)}`
    case 'too_small':
      return `at least ${issue.minimum}${unitOf(issue.origin)}`
    case 'invalid_key':
      return 'other names for its members'
    case 'invalid_format':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_union':
    case 'invalid_element':
    case 'custom':
    case undefined:
      return 'what DATA section 3 says'
  }
  return 'what DATA section 3 says'
}

const TYPE_RULES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
}

const unitOf = (origin: string): string => (origin === 'string' ? ' characters' : origin === 'array' ? ' elements' : '')

export type PathFault = { readonly path: string; readonly message: string }

/** All that is wrong, each with the path of what it is about: for people who can mend several things at once. */
export const pathFaultsOf = (error: z.core.$ZodError, raw: unknown): readonly PathFault[] =>
  error.issues.map((issue) => ({ path: pathOf(issue.path), message: sentence(issue, [], raw) }))

/** Of several faults the first: it is mended before the next one means anything. */
export function faultOf(error: z.core.$ZodError, raw: unknown): string {
  const [first] = error.issues
  return first === undefined ? 'It is not what DATA section 3 says.' : sentence(first, [], raw)
}

function sentence(issue: Issue, prefix: Path, raw: unknown): string {
  const path = [...prefix, ...issue.path]
  if (issue.code === 'invalid_union') {
    const meant = branchMeant(issue, path, raw)
    if (meant !== undefined) return sentence(meant, path, raw)
  }
  if (issue.code === 'invalid_key') {
    const [first] = issue.issues
    if (first !== undefined)
      return `${pathText(path.slice(0, -1))} has a member named ${shown(path.at(-1))}. Name its members with ${first.message}.`
  }
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.slice(0, SHOWN_NAMES_MAX).join(', ')
    return `${pathText(path)} has ${issue.keys.length === 1 ? 'a member' : 'members'} that nobody knows here: ${names}. Correct the spelling, or leave it out.`
  }
  const value = valueAt(raw, path)
  const what = value === undefined ? 'is missing' : `is ${shown(value)}`
  return `${pathText(path)} ${what}. Give it ${issue.message}.`
}

/** The alternative that the writer had in mind: the one whose own members are there, and only their values wrong. */
function branchMeant(issue: z.core.$ZodIssueInvalidUnion, path: Path, raw: unknown): Issue | undefined {
  for (const [first] of issue.errors) {
    if (first !== undefined && first.path.length > 0 && valueAt(raw, [...path, ...first.path.slice(0, 1)]) !== undefined) return first
  }
  return undefined
}

function valueAt(raw: unknown, path: Path): unknown {
  let value = raw
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Readonly<Record<PropertyKey, unknown>>)[step]
  }
  return value
}

function pathOf(path: Path): string {
  let text = ''
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? String(step) : `.${String(step)}`
  return text
}

const pathText = (path: Path): string => pathOf(path) || 'It'

const SHOWN_CHARACTERS_MAX = 80
const SHOWN_NAMES_MAX = 5

function shown(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'no members'}`
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, SHOWN_CHARACTERS_MAX)) : String(value)
  return typeof value === 'string' && value.length > SHOWN_CHARACTERS_MAX
    ? `${text} and ${value.length - SHOWN_CHARACTERS_MAX} more characters`
    : text
}
