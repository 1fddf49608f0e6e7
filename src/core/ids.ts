// The names that people and programs choose (DATA section 1, "Names"): what each may look like, and a sentence for
// what it may not. Workflows import this file, so it must not reach core/hash.ts.

import {
  ASSET_KEY_CHARACTERS_MAX,
  NAME_CHARACTERS_MAX,
  PARTITION_KEY_BYTES_MAX,
  REQUEST_KEY_CHARACTERS_MAX,
  TAG_KEY_CHARACTERS_MAX,
  TAG_VALUE_CHARACTERS_MAX,
  TENANT_CHARACTERS_MAX,
} from './limits.js'
import { partitionKeyProblem } from './partition-key.js'
import { ULID_PATTERN } from './ulid.js'

export type Scope = { readonly tenant_id: string; readonly workspace_id: string }

const LETTERS = 'A-Za-z0-9'
const ALPHABET = `[${LETTERS}][${LETTERS}_.-]`
const TENANT = new RegExp(`^[a-z0-9][a-z0-9-]{0,${TENANT_CHARACTERS_MAX - 1}}$`)
const ASSET_KEY = new RegExp(`^${ALPHABET}{0,${ASSET_KEY_CHARACTERS_MAX - 1}}$`)
const TASK_KEY = new RegExp(`^${ALPHABET}{0,${ASSET_KEY_CHARACTERS_MAX - 1}}(#(0|[1-9][0-9]{0,4}))?$`)
const NAME = new RegExp(`^${ALPHABET}{0,${NAME_CHARACTERS_MAX - 1}}$`)
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f'
const TAG_POOL = `tag:[^=${CONTROL}]{1,${TAG_KEY_CHARACTERS_MAX}}(=[^${CONTROL}]{1,${TAG_VALUE_CHARACTERS_MAX}})?`
const POOL_KEY = new RegExp(`^(global|(pool|location):${ALPHABET}{0,${NAME_CHARACTERS_MAX - 1}}|${TAG_POOL})$`)
const REQUEST_KEY = new RegExp(`^[\\x21-\\x7e]{1,${REQUEST_KEY_CHARACTERS_MAX}}$`)
const HEX_64 = /^[0-9a-f]{64}$/
const PLAIN_TEXT = /^[^\u0000-\u001f\u007f-\u009f]+$/
const PLAIN_ASCII = /^[\x20-\x7e]+$/
const DIMENSION_RESERVED = /[|,[\]=]/

export const isTenantId = (text: string): boolean => TENANT.test(text)
export const isAssetKey = (text: string): boolean => ASSET_KEY.test(text)
/** Code locations, pools, schedules, sensors, definitions of dynamic partitions, dimensions. */
export const isName = (text: string): boolean => NAME.test(text)
export const isUlid = (text: string): boolean => ULID_PATTERN.test(text)
/** Ids, keys and other text that ends up in a row's key or in a digest of lines: any, without control characters. */
export const isPlainText = (text: string): boolean => PLAIN_TEXT.test(text)

const isPartitionKey = (text: string): boolean =>
  PLAIN_ASCII.test(text)
    ? text.length <= PARTITION_KEY_BYTES_MAX && text !== '...'
    : partitionKeyProblem(text) === null && text.isWellFormed()

/** A key of one dimension; a whole key is `date=2025-01-15|region=us`. */
export const isDimensionKey = (text: string): boolean => isPartitionKey(text) && !DIMENSION_RESERVED.test(text)

/** The pools that can be defined: the whole workspace, one by name, a code location's own, a tag's value, each value of a tag. */
export const isPoolKey = (text: string): boolean => POOL_KEY.test(text)

export const GLOBAL_POOL_KEY = 'global'
export const poolKeyOfName = (pool_name: string): string => `pool:${pool_name}`
export const poolKeyOfLocation = (location_name: string): string => `location:${location_name}`

export type IdKind =
  | 'tenant'
  | 'workspace'
  | 'asset_key'
  | 'task_key'
  | 'name'
  | 'partition_key'
  | 'dimension_key'
  | 'request_key'
  | 'pool_key'
  | 'ulid'
  | 'sha256'
  | 'text'

/** `pattern` says the same as `test`, where one can: compiled schemas run it without a call. `rule` ends "Give it …". */
type IdRule = { readonly test: (text: string) => boolean; readonly pattern?: RegExp; readonly rule: string }

const byPattern = (pattern: RegExp, rule: string): IdRule => ({ test: (text) => pattern.test(text), pattern, rule })
const alphabetRule = (characters_max: number) => `1 to ${characters_max} letters, digits, _ . and -, the first a letter or digit`
const TENANT_RULE = `1 to ${TENANT_CHARACTERS_MAX} of a-z, 0-9 and -, the first no -`
const PARTITION_RULE = `1 to ${PARTITION_KEY_BYTES_MAX} bytes of UTF-8 in NFC without control characters`

export const ID_RULES: { readonly [Kind in IdKind]: IdRule } = {
  tenant: byPattern(TENANT, TENANT_RULE),
  workspace: byPattern(TENANT, TENANT_RULE),
  asset_key: byPattern(ASSET_KEY, alphabetRule(ASSET_KEY_CHARACTERS_MAX)),
  task_key: byPattern(TASK_KEY, 'an asset key, or one with # and a number'),
  name: byPattern(NAME, alphabetRule(NAME_CHARACTERS_MAX)),
  partition_key: { test: isPartitionKey, rule: `${PARTITION_RULE}, and not "..."` },
  dimension_key: { test: isDimensionKey, rule: `${PARTITION_RULE}, without | , [ ] = and not "..."` },
  request_key: byPattern(REQUEST_KEY, `1 to ${REQUEST_KEY_CHARACTERS_MAX} printable ASCII characters without blanks`),
  pool_key: byPattern(
    POOL_KEY,
    '"global", "pool:" and a name, "location:" and a name, "tag:key=value", or "tag:key" for each value of the key',
  ),
  ulid: byPattern(ULID_PATTERN, 'a ULID: 26 digits of 0-9 and A-Z without I, L, O and U, the first at most 7'),
  sha256: byPattern(HEX_64, '64 lower-case hex digits'),
  text: byPattern(PLAIN_TEXT, 'text without control characters, not empty'),
}

/** What is wrong with a text that should be of this kind, as a sentence that names the field; undefined if nothing is. */
export function idFault(kind: IdKind, text: string, field: string): string | undefined {
  const { test, rule } = ID_RULES[kind]
  if (test(text)) return undefined
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text
  return `${field} is ${JSON.stringify(shown)}. Give it ${rule}.`
}
