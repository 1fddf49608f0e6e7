// What a `run` may answer: the metadata of what it made, or a longer form. The worker reads it.

import { boundedJsonBytes, canonicalBytes, type Json } from '../core/canonical.js'
import { TASK_METADATA_BYTES_MAX } from '../core/limits.js'
import { shown } from './fault.js'
import { isObject, type Members } from './member.js'

export type Metadata = { readonly [name: string]: Json }

/** `metadata` beside what else there is to say of the materialization. */
export type Materialization = {
  readonly metadata?: Metadata
  /** What the data is, for those who compare: a checksum, a snapshot's id. */
  readonly data_version?: string
}

/** There was nothing to do: downstream is skipped with this reason. */
export type Skip = { readonly skip_reason: string }

/** Metadata alone; the names of the longer forms are theirs. */
type PlainMetadata = Metadata & { readonly metadata?: never; readonly data_version?: never; readonly skip_reason?: never }

/** Most runs have no return, which is `void`. */
export type RunResult = void | PlainMetadata | Materialization | Skip

type TaskResult =
  | { readonly outcome: 'SUCCEEDED'; readonly metadata?: Metadata; readonly data_version?: string }
  | { readonly outcome: 'SKIPPED'; readonly skip_reason: string }

const NAMES_OF_FORMS = ['metadata', 'data_version', 'skip_reason']

/** What a `run` returned, or why that is nothing that can be recorded. */
export function readResult(returned: unknown): TaskResult | { readonly problem: string } {
  if (returned === undefined || returned === null) return { outcome: 'SUCCEEDED' }
  if (!isObject(returned) || returned instanceof Date) {
    return { problem: `run returned ${shown(returned)}. Return metadata, such as {"row_count": 3}, or nothing.` }
  }
  const names = Object.keys(returned).filter((name) => returned[name] !== undefined)
  if (!names.some((name) => NAMES_OF_FORMS.includes(name))) return names.length === 0 ? { outcome: 'SUCCEEDED' } : withMetadata(returned)
  const stray = names.find((name) => !NAMES_OF_FORMS.includes(name))
  if (stray !== undefined) {
    return {
      problem: `run returned ${stray} beside ${names.find((name) => name !== stray)}. Move it into metadata: {"metadata": {"${stray}": …}}.`,
    }
  }
  return 'skip_reason' in returned && returned.skip_reason !== undefined ? skipped(returned, names) : materialized(returned)
}

function skipped({ skip_reason }: Members, names: readonly string[]): TaskResult | { readonly problem: string } {
  if (names.length > 1) return { problem: `run returned ${names.join(' and ')}. What is skipped has nothing but its skip_reason.` }
  const isReason = typeof skip_reason === 'string' && skip_reason !== '' && skip_reason.isWellFormed()
  return isReason
    ? { outcome: 'SKIPPED', skip_reason }
    : { problem: `run returned a skip_reason that is ${shown(skip_reason)}. Say why in text.` }
}

function materialized({ metadata, data_version }: Members): TaskResult | { readonly problem: string } {
  if (data_version !== undefined && (typeof data_version !== 'string' || !data_version.isWellFormed())) {
    return { problem: `run returned a data_version that is ${shown(data_version)}. Give it text.` }
  }
  const version = data_version === undefined ? {} : { data_version }
  if (metadata === undefined) return { outcome: 'SUCCEEDED', ...version }
  if (!isObject(metadata) || metadata instanceof Date)
    return { problem: `run returned metadata that is ${shown(metadata)}. Give it an object of JSON.` }
  const result = withMetadata(metadata)
  return 'problem' in result ? result : { ...result, ...version }
}

function withMetadata(metadata: Members): TaskResult | { readonly problem: string } {
  const name = Object.keys(metadata).find((each) => !isJsonMember(each, metadata[each]))
  if (name !== undefined)
    return {
      problem: `run returned metadata whose ${JSON.stringify(name)} is no JSON: ${shown(metadata[name])}. Turn it into text or numbers.`,
    }
  const bytes = canonicalBytes(metadata)
  if (bytes > TASK_METADATA_BYTES_MAX) {
    return {
      problem: `run returned ${bytes} bytes of metadata, and ${TASK_METADATA_BYTES_MAX} is the most. Write the rest beside the data, and name where.`,
    }
  }
  return { outcome: 'SUCCEEDED', metadata: metadata as Metadata }
}

const isJsonMember = (name: string, value: unknown): boolean =>
  value === undefined || (name.isWellFormed() && boundedJsonBytes({ value }) !== undefined && !hasDate(value))

/** JSON.stringify would make text of a date, and canonical JSON an empty object. */
function hasDate(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return typeof (value as { toJSON?: unknown }).toJSON === 'function' || Object.values(value).some(hasDate)
}
