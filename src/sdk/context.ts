// What a `run` is given: filled by the worker, for one attempt.

import type { Json } from '../core/canonical.js'
import { PROGRESS_MESSAGE_CHARACTERS_MAX } from '../core/limits.js'
import { cutText } from '../core/text.js'
import { isRefusal } from '../partitions/key-order.js'
import { keyOrderOf } from '../partitions/order.js'
import type { Partitions, StaticPartitions } from './partitions.js'
import type { Metadata } from './result.js'

/** The partitions of one task, in the order of their definition. */
export type RunPartitions<Key extends string = string> = {
  readonly keys: readonly [Key, ...Key[]]
  /** First and last key, both included; null where keys between them are left out. */
  readonly range: { readonly start: Key; readonly end: Key } | null
}

/** null: the asset has no partitions. */
type PartitionsOf<P> = P extends StaticPartitions<infer Key> ? RunPartitions<Key> : P extends Partitions ? RunPartitions : null

export type UpstreamMaterialization = {
  /** Empty where the upstream asset has no partitions. */
  readonly partition_key: string
  readonly materialization_id: string
  /** RFC 3339, in UTC. */
  readonly materialized_at: string
  readonly code_version: string | null
  readonly data_version: string | null
  readonly metadata: Metadata | null
}

export type LogFields = { readonly [name: string]: Json }

/** Lines of the attempt's own log, which the API and the CLI show. */
export type Logger = {
  readonly debug: (message: string, fields?: LogFields) => void
  readonly info: (message: string, fields?: LogFields) => void
  readonly warn: (message: string, fields?: LogFields) => void
  readonly error: (message: string, fields?: LogFields) => void
}

export type Progress = { readonly done?: number; readonly total?: number; readonly message?: string }

export type RunContext<DependencyKey extends string = string, P = Partitions | undefined> = {
  readonly run_id: string
  readonly asset_key: string
  /** From 1; every try of the task has the next number, and an id of its own. */
  readonly attempt: number
  readonly attempt_id: string
  readonly partitions: PartitionsOf<P>
  /** By the key of the dependency: what is known of it when the attempt is handed over, one for each partition. */
  readonly upstream: { readonly [Key in DependencyKey]: readonly UpstreamMaterialization[] }
  readonly logger: Logger
  /** Aborted when the run is cancelled, a deadline has passed, or the worker drains. */
  readonly signal: AbortSignal
  /** Says that the attempt is alive, and how far it is. */
  readonly heartbeat: (progress?: Progress) => void
}

/** A message of progress is cut to what is kept of it. */
export const cutProgress = ({ message, ...rest }: Progress): Progress =>
  message === undefined ? rest : { ...rest, message: cutText(message, PROGRESS_MESSAGE_CHARACTERS_MAX) }

/** The partitions of a task from the keys that were selected for it. */
export function runPartitions(definition: Partitions | undefined, keys: readonly string[]): RunPartitions | null {
  const [start, ...others] = keys
  if (definition === undefined || start === undefined) return null
  const end = others.at(-1) ?? start
  return { keys: [start, ...others], range: isWhole(definition, keys) ? { start, end } : null }
}

function isWhole(definition: Partitions, keys: readonly string[]): boolean {
  const order = keyOrderOf(definition)
  if (isRefusal(order)) return false
  const indexes = keys.map((key) => order.indexOf(key))
  return indexes.every((found, i) => {
    const before = indexes[i - 1]
    return 'index' in found && (before === undefined || ('index' in before && found.index === before.index + 1))
  })
}
