// The names that people and programs choose (DATA section 1, "Names"): what each may look like, and a sentence for
// what it may not. Workflows import this file, so it must not reach core/hash.ts.

import { ULID_PATTERN } from './ulid.js'
import {
  ASSET_KEY_CHARACTERS_MAX,
  NAME_CHARACTERS_MAX,
  PARTITION_KEY_BYTES_MAX,
  REQUEST_KEY_CHARACTERS_MAX,
  TENANT_CHARACTERS_MAX,
} from './limits.js'
import { utf8Bytes } from './canonical.js'

export type Scope = { readonly tenant_id: string; readonly workspace_id: string }

const LETTERS = 'A-Za-z0-9'
const TENANT = new RegExp(`^[a-z0-9][a-z0-9-]{0,${TENANT_CHARACTERS_MAX - 1}}$`)
const ASSET_KEY = new RegExp(`^[${LETTERS}][${LETTERS}_.-]{0,${ASSET_KEY_CHARACTERS_MAX - 1}}$`)
const NAME = new RegExp(`^[${LETTERS}][${LETTERS}_.-]{0,${NAME_CHARACTERS_MAX - 1}}$`)
const REQUEST_KEY = new RegExp(`^[\\x21-\\x7e]{1,${REQUEST_KEY_CHARACTERS_MAX}}$`)
const HEX_64 = /^[0-9a-f]{64}$/
const CONTROL = /\p{Cc}/u
const PLAIN_ASCII = /^[\x20-\x7e]*$/
const DIMENSION_RESERVED = /[|,[\]=]/

/** The partition key of everything that an unpartitioned asset has. It is never written into a selector. */
export const UNPARTITIONED_KEY = ''

export const isTenantId = (text: string): boolean => TENANT.test(text)
export const isWorkspaceId = isTenantId
export const isAssetKey = (text: string): boolean => ASSET_KEY.test(text)
/** Code locations, pools, schedules, sensors, definitions of dynamic partitions, dimensions. */
export const isName = (text: string): boolean => NAME.test(text)
/** Request ids, and the run keys that users choose. */
export const isRequestKey = (text: string): boolean => REQUEST_KEY.test(text)
export const isUlid = (text: string): boolean => ULID_PATTERN.test(text)
export const isSha256 = (text: string): boolean => HEX_64.test(text)
/** Ids, keys and other text that ends up in a row's key or in a digest of lines: any, without control characters. */
export const isPlainText = (text: string): boolean => text !== '' && (PLAIN_ASCII.test(text) || !CONTROL.test(text))

export const isPartitionKey = (text: string): boolean =>
  isPlainText(text) &&
  text !== '...' &&
  (PLAIN_ASCII.test(text)
    ? text.length <= PARTITION_KEY_BYTES_MAX
    : utf8Bytes(text) <= PARTITION_KEY_BYTES_MAX && text.normalize('NFC') === text && text.isWellFormed())

/** A key of one dimension; a whole key is `date=2025-01-15|region=us`. */
export const isDimensionKey = (text: string): boolean => isPartitionKey(text) && !DIMENSION_RESERVED.test(text)

/** The pools that can be defined: the whole workspace, one by name, a code location's own. */
export function isPoolKey(text: string): boolean {
  if (text === GLOBAL_POOL_KEY) return true
  const colon = text.indexOf(':')
  const kind = text.slice(0, colon)
  return (kind === 'pool' || kind === 'location') && isName(text.slice(colon + 1))
}

export const GLOBAL_POOL_KEY = 'global'
export const poolKeyOfName = (pool_name: string): string => `pool:${pool_name}`
export const poolKeyOfLocation = (location_name: string): string => `location:${location_name}`

export type IdKind =
  | 'tenant'
  | 'workspace'
  | 'asset_key'
  | 'name'
  | 'partition_key'
  | 'dimension_key'
  | 'request_key'
  | 'pool_key'
  | 'ulid'
  | 'sha256'
  | 'text'

type IdRule = { readonly test: (text: string) => boolean; readonly rule: string }

/** `rule` ends the sentence "Give it …". */
export const ID_RULES: { readonly [Kind in IdKind]: IdRule } = {
  tenant: { test: isTenantId, rule: `1 to ${TENANT_CHARACTERS_MAX} of a-z, 0-9 and -, the first no -` },
  workspace: { test: isWorkspaceId, rule: `1 to ${TENANT_CHARACTERS_MAX} of a-z, 0-9 and -, the first no -` },
  asset_key: { test: isAssetKey, rule: `1 to ${ASSET_KEY_CHARACTERS_MAX} letters, digits, _ . and -, the first a letter or digit` },
  name: { test: isName, rule: `1 to ${NAME_CHARACTERS_MAX} letters, digits, _ . and -, the first a letter or digit` },
  partition_key: {
    test: isPartitionKey,
    rule: `1 to ${PARTITION_KEY_BYTES_MAX} bytes of UTF-8 in NFC without control characters, and not "..."`,
  },
  dimension_key: {
    test: isDimensionKey,
    rule: `1 to ${PARTITION_KEY_BYTES_MAX} bytes of UTF-8 in NFC without control characters and without | , [ ] =`,
  },
  request_key: { test: isRequestKey, rule: `1 to ${REQUEST_KEY_CHARACTERS_MAX} printable ASCII characters without blanks` },
  pool_key: { test: isPoolKey, rule: `"${GLOBAL_POOL_KEY}", "pool:" and a name, or "location:" and a name` },
  ulid: { test: isUlid, rule: 'a ULID: 26 digits of 0-9 and A-Z without I, L, O and U, the first at most 7' },
  sha256: { test: isSha256, rule: '64 lower-case hex digits' },
  text: { test: isPlainText, rule: 'text without control characters, not empty' },
}

/** What is wrong with a text that should be of this kind, as a sentence that names the field; undefined if nothing is. */
export function idFault(kind: IdKind, text: string, field: string): string | undefined {
  const { test, rule } = ID_RULES[kind]
  if (test(text)) return undefined
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text
  return `${field} is ${JSON.stringify(shown)}. Give it ${rule}.`
}
