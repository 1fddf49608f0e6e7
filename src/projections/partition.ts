// Partition status: what the last attempt of each partition came to, and its last success. Every attempt that ends sets
// `last_attempt_*`; only a success sets `last_materialization_*`, and no failure ever touches them.

import { TASK_PARTITIONS_MAX } from '../core/limits.js'
import type { Partitions } from '../events/partitions.js'
import type { ListReference, Selector } from '../events/value.js'
import { expandSelector, type SelectedKey } from '../partitions/selector.js'
import type { PartitionStatusRow } from './asset-table.js'
import type { Hints, TaskPartitions } from './hint.js'
import type { Moment } from './outcome.js'
import type { TaskRow } from './run-table.js'
import { isOver, type OverState } from './state-machine.js'
import type { KeyedRow } from './tables.js'
import type { WorkingSet } from './working-set.js'

export type AttemptEnd = {
  readonly outcome: OverState
  readonly error_code: string | null
  readonly materialization: Materialization | null
}

type Materialization = {
  readonly materialization_id: string
  readonly code_version: string | null
  readonly data_version: string | null
}

export function recordAttemptEnd(rows: WorkingSet, task: TaskRow, end: AttemptEnd, ended_at: number, moment: Moment): void {
  const { asset_key } = task
  for (const selected of partitionsOf(rows, task)) {
    const known = rows.get('partition_status', asset_key, selected.sort_key, selected.partition_key)
    rows.put('partition_status', {
      ...(known ?? newStatus(asset_key, selected)),
      ...(end.materialization === null ? {} : materialized(task, end.materialization, ended_at, moment)),
      last_attempt_run_id: task.run_id,
      last_attempt_id: task.attempt_id,
      last_attempt_at: ended_at,
      last_attempt_outcome: end.outcome,
      last_attempt_error_code: end.error_code,
      failed_since_at: failedSince(known, end.outcome, ended_at),
      last_event_id: moment.event_id,
    })
  }
}

/** A skip or a cancel says nothing about whether the partition would fail again. */
function failedSince(known: PartitionStatusRow | undefined, outcome: OverState, ended_at: number): number | null {
  if (outcome === 'SUCCEEDED') return null
  const since = known?.failed_since_at ?? null
  return outcome === 'FAILED' ? (since ?? ended_at) : since
}

const materialized = (
  task: TaskRow,
  { materialization_id, code_version, data_version }: Materialization,
  ended_at: number,
  { ordinal }: Moment,
) =>
  ({
    last_materialization_id: materialization_id,
    last_materialization_run_id: task.run_id,
    last_materialization_at: ended_at,
    last_materialization_ordinal: ordinal,
    last_materialization_code_version: code_version,
    last_materialization_definition_hash: task.definition_hash,
    last_materialization_source: 'RUN',
    data_version,
  }) as const

const newStatus = (asset_key: string, { sort_key, partition_key, partition_values }: SelectedKey): PartitionStatusRow => ({
  asset_key,
  sort_key,
  partition_key,
  partition_values,
  last_materialization_id: null,
  last_materialization_run_id: null,
  last_materialization_at: null,
  last_materialization_ordinal: null,
  last_materialization_code_version: null,
  last_materialization_definition_hash: null,
  last_materialization_source: null,
  data_version: null,
  last_attempt_run_id: null,
  last_attempt_id: null,
  last_attempt_at: null,
  last_attempt_outcome: null,
  last_attempt_error_code: null,
  failed_since_at: null,
  wiped_at: null,
  row_version: 0,
  last_event_id: '',
})

function partitionsOf(rows: WorkingSet, { asset_key, definition_hash, partitions }: TaskPartitions): readonly SelectedKey[] {
  if (partitions === null) return expand(rows, null, null)
  return expand(rows, rows.get('asset_definitions', asset_key, definition_hash)?.partitions ?? null, partitions)
}

/** The one key of an asset without partitions. */
const UNPARTITIONED: readonly SelectedKey[] = [{ partition_key: '', sort_key: '', partition_values: null }]

/** More of them are spelled out again when they are needed, rather than held for as long as their task is. */
const REMEMBERED_KEYS_MAX = 8

// Memory of a pure function, as long as the task's row is held: its keys are asked for by every look-up before its end.
const remembered = new WeakMap<object, { readonly definition: Partitions | null; readonly keys: readonly SelectedKey[] }>()

/** A fact stands, whatever has become of the keys that its task was planned for: those that cannot be told have no row. */
function expand(rows: WorkingSet, definition: Partitions | null, selector: Selector): readonly SelectedKey[] {
  if (selector === null) return UNPARTITIONED
  const known = remembered.get(selector)
  if (known !== undefined && known.definition === definition) return known.keys
  const selected = expandSelector(definition, selector, rows.list, TASK_PARTITIONS_MAX)
  if ('problem' in selected) return []
  if (!('list' in selector) && selected.keys.length <= REMEMBERED_KEYS_MAX) remembered.set(selector, { definition, keys: selected.keys })
  return selected.keys
}

type TaskName = { readonly run_id: string; readonly task_key: string }

/** Every row that the end of this task's attempt may touch, as far as can be told from what is loaded. */
export function keysOfPartitions(rows: WorkingSet, { run_id, task_key }: TaskName, hints: Hints): readonly KeyedRow[] {
  const keys: KeyedRow[] = []
  for (const task of candidates(rows, run_id, task_key, hints)) {
    const { asset_key, definition_hash, partitions } = task
    if (partitions !== null) keys.push({ table: 'asset_definitions', key: [asset_key, definition_hash] })
    if (!isListLoaded(rows, partitions)) continue
    for (const definition of definitionsOf(rows, task, hints)) {
      for (const { sort_key, partition_key } of expand(rows, definition, partitions)) {
        keys.push({ table: 'partition_status', key: [asset_key, sort_key, partition_key] })
      }
    }
  }
  return keys
}

/** The list that holds the task's partitions, if they are many and it may still end. */
export function listsOfTask(rows: WorkingSet, { run_id, task_key }: TaskName): readonly string[] {
  if (!rows.isRunOpen(run_id) && !rows.isKnown('tasks', [run_id, task_key])) return []
  const task = rows.get('tasks', run_id, task_key)
  return task === undefined || isOver(task.state) ? [] : listReferenceOf(task.partitions).map(({ sha256 }) => sha256)
}

export const listReferenceOf = (selector: Selector): readonly ListReference[] =>
  selector !== null && 'list' in selector ? [selector.list] : []

const isListLoaded = (rows: WorkingSet, selector: Selector): boolean =>
  listReferenceOf(selector).every(({ sha256 }) => rows.isListKnown(sha256))

/** The task itself, once it is there: it keeps its asset and partitions. Before, what plans in the same pass say. */
function candidates(rows: WorkingSet, run_id: string, task_key: string, hints: Hints): readonly TaskPartitions[] {
  const isKnown = rows.isRunOpen(run_id) || rows.isKnown('tasks', [run_id, task_key])
  const task = isKnown ? rows.get('tasks', run_id, task_key) : undefined
  if (task === undefined) return hints.plannedTasks(run_id, task_key)
  return isOver(task.state) ? [] : [task]
}

function definitionsOf(
  rows: WorkingSet,
  { asset_key, definition_hash, partitions }: TaskPartitions,
  hints: Hints,
): readonly (Partitions | null)[] {
  if (partitions === null) return [null]
  if (!rows.isKnown('asset_definitions', [asset_key, definition_hash])) return []
  const known = rows.get('asset_definitions', asset_key, definition_hash)
  return known === undefined ? hints.definedPartitions(asset_key, definition_hash) : [known.partitions]
}
