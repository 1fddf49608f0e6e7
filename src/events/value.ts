// Values that several events and rows share (DATA section 1), each a schema and its type. An `error` says what the
// value has to be: it ends the sentence "Give it …" (fault.ts). Members that nobody knows are kept and ignored.

import { z } from 'zod'
import { type Json, utf8Bytes } from '../core/canonical.js'
import { ID_RULES, type IdKind } from '../core/ids.js'
import { INSTANT, INSTANT_RULE, isInstant } from '../core/instant-text.js'
import {
  COUNT_MAX,
  DURATION_SECONDS_MAX,
  ERROR_MESSAGE_BYTES_MAX,
  INLINE_KEYS_MAX,
  PRIORITY_MAX,
  PRIORITY_MIN,
  TAG_KEY_CHARACTERS_MAX,
  TAG_VALUE_CHARACTERS_MAX,
  TAGS_MAX,
} from '../core/limits.js'

/** What a schema accepts, as nobody may change it. */
export type Parsed<Schema extends z.ZodType> = ReadonlyDeep<z.output<Schema>>
type ReadonlyDeep<T> = [Json] extends [T]
  ? T
  : T extends readonly (infer Element)[]
    ? readonly ReadonlyDeep<Element>[]
    : T extends object
      ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
      : T

export const id = (kind: IdKind) => {
  const { test, pattern, rule } = ID_RULES[kind]
  const string = z.string({ error: rule })
  return pattern === undefined ? string.refine(test, { error: rule }) : string.regex(pattern, { error: rule })
}

/** Free text that no key is made of; it may be empty. */
export const text = z.string()
export const textOf = (characters_max: number) => {
  const error = `at most ${characters_max} characters`
  return z.string().max(characters_max, { error })
}
export const integer = (minimum: number, maximum: number) => {
  const error = `a whole number from ${minimum} to ${maximum}`
  return z.int({ error }).min(minimum, { error }).max(maximum, { error })
}
export const count = integer(0, COUNT_MAX)
export const positiveCount = integer(1, COUNT_MAX)
/** INT64 in tables; JavaScript counts exactly up to here. */
export const longCount = integer(0, Number.MAX_SAFE_INTEGER)
export const seconds = (minimum: number) => {
  const error = `a number of seconds from ${minimum} to ${DURATION_SECONDS_MAX}`
  return z.number({ error }).min(minimum, { error }).max(DURATION_SECONDS_MAX, { error })
}

/** Anything that JSON can say; events are checked for the rest as a whole (event.ts). */
export const json = z.unknown() as unknown as z.ZodType<Json>

export const instant = z.string({ error: INSTANT_RULE }).regex(INSTANT, { error: INSTANT_RULE }).refine(isInstant, { error: INSTANT_RULE })

export const priority = integer(PRIORITY_MIN, PRIORITY_MAX)

const TAGS_RULE = `at most ${TAGS_MAX} tags of ${TAG_KEY_CHARACTERS_MAX} and ${TAG_VALUE_CHARACTERS_MAX} characters`
const fitsTags = (tags: Readonly<Record<string, string>>): boolean => Object.keys(tags).length <= TAGS_MAX
export const tags = z
  .record(z.string().min(1, { error: TAGS_RULE }).max(TAG_KEY_CHARACTERS_MAX, { error: TAGS_RULE }), textOf(TAG_VALUE_CHARACTERS_MAX))
  .refine(fitsTags, { error: TAGS_RULE })

/** A list that is an object of its own; `offset` and `count` make it a slice. */
export const listReference = z.object({ sha256: id('sha256'), count: positiveCount, offset: count.exactOptional() })
export type ListReference = Parsed<typeof listReference>

const INLINE_ASSETS_RULE = `1 to ${INLINE_KEYS_MAX} asset keys; more of them are a list`
const ASSETS_RULE = `{"keys": [1 to ${INLINE_KEYS_MAX} asset keys]}, or {"list": {"sha256", "count"}} for more`
export const assets = z.union(
  [
    z.object({
      keys: z.array(id('asset_key')).min(1, { error: INLINE_ASSETS_RULE }).max(INLINE_KEYS_MAX, { error: INLINE_ASSETS_RULE }),
    }),
    z.object({ list: listReference }),
  ],
  { error: ASSETS_RULE },
)
export type Assets = Parsed<typeof assets>

/** One order makes one text of one selection, and so one fingerprint. */
const isSortedOnce = (keys: readonly string[]): boolean => keys.every((key, i) => i === 0 || (keys[i - 1] as string) < key)
const keysOf = (kind: 'partition_key' | 'dimension_key') => {
  const error = `1 to ${INLINE_KEYS_MAX} keys, each once, sorted by code unit; more of them are a list`
  return z.array(id(kind)).min(1, { error }).max(INLINE_KEYS_MAX, { error }).refine(isSortedOnce, { error })
}
const rangeOf = (kind: 'partition_key' | 'dimension_key') =>
  z
    .object({ start: id(kind), end: id(kind) })
    .refine(({ start, end }) => start !== end, { error: 'two different ends; a range of one key is {"keys": [key]}' })

const DIMENSION_RULE = '{"keys": […]}, {"range": {"start", "end"}}, {"all": true} or {"match": […]}'
export const dimensionSelector = z.union(
  [
    z.object({ keys: keysOf('dimension_key') }),
    z.object({ range: rangeOf('dimension_key') }),
    z.object({ all: z.literal(true) }),
    z.object({ match: z.array(z.string().min(1)).min(1).max(INLINE_KEYS_MAX) }),
  ],
  { error: DIMENSION_RULE },
)

const SELECTOR_RULE =
  'null, {"keys": […]}, {"range": {"start", "end"}}, {"list": {"sha256", "count"}}, {"all": true} or {"dims": {dimension: …}}'
export const selector = z.union(
  [
    z.null(),
    z.object({ keys: keysOf('partition_key') }),
    z.object({ range: rangeOf('partition_key') }),
    z.object({ list: listReference }),
    z.object({ all: z.literal(true) }),
    z.object({ dims: z.record(id('name'), dimensionSelector) }),
  ],
  { error: SELECTOR_RULE },
)
export type Selector = Parsed<typeof selector>

const MESSAGE_RULE = `at most ${ERROR_MESSAGE_BYTES_MAX} bytes of UTF-8; the rest belongs into the attempt's log`
const fitsMessage = (message: string): boolean =>
  message.length * 3 <= ERROR_MESSAGE_BYTES_MAX || utf8Bytes(message) <= ERROR_MESSAGE_BYTES_MAX
export const errorValue = z.object({
  code: id('text'),
  message: z.string().refine(fitsMessage, { error: MESSAGE_RULE }),
  stack: text.exactOptional(),
  retryable: z.boolean().exactOptional(),
})
export type ErrorValue = Parsed<typeof errorValue>

export const dependency = z.object({ asset_key: id('asset_key'), mapping: json.exactOptional() })
export type Dependency = Parsed<typeof dependency>
