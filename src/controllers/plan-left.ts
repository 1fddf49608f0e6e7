// What a rerun from failure may plan: the tasks of its parent that did not succeed, by asset. Its request names assets and
// partitions, and these are the union; here each asset has its own. A parent that is over does not change any more, so
// that every turn finds the same.

import { canonicalJson } from '../core/canonical.js'
import { RUN_TASKS_MAX, TASK_PARTITIONS_MAX } from '../core/limits.js'
import { expandSelector } from '../partitions/selector.js'
import type { AssetDefinitionRow } from '../projections/asset-table.js'
import { listReferenceOf } from '../projections/partition.js'
import type { RunRow, TaskRow } from '../projections/run-table.js'
import { isOver } from '../projections/state-machine.js'
import type { KeyedRow } from '../projections/tables.js'
import { unfinishedTasks } from '../projections/unfinished.js'
import { missingKeys, type WorkingSet } from '../projections/working-set.js'
import { type PlanFault, planFault } from './plan-fault.js'
import { type Lane, laneOfSpelled, namedOrder } from './plan-partitions.js'

/** Without tasks: all that the run selects. */
export type Left = { readonly tasks?: ReadonlyMap<string, readonly TaskRow[]> }

type LeftNeeds = { readonly lists: readonly string[]; readonly keys: readonly KeyedRow[]; readonly ended: readonly string[] }

const NO_NEEDS: LeftNeeds = { lists: [], keys: [], ended: [] }

/** Parents are loaded in the order of planning, and up to the tasks of the largest run: a thousand of them are never in
 *  memory together. */
export function createParentRound(): (parent: RunRow) => boolean {
  let tasks = 0
  return ({ tasks_total }) => {
    if (tasks >= RUN_TASKS_MAX) return false
    tasks += tasks_total
    return true
  }
}

export function leftNeeds(rows: WorkingSet, run: RunRow, isParentInRound: (parent: RunRow) => boolean): LeftNeeds {
  const parent_run_id = parentOf(run)
  if (parent_run_id === null) return NO_NEEDS
  if (!rows.isKnown('runs', [parent_run_id])) return { ...NO_NEEDS, keys: [{ table: 'runs', key: [parent_run_id] }] }
  const parent = rows.get('runs', parent_run_id)
  if (parent === undefined || !isOver(parent.state) || parent.tasks_total === 0) return NO_NEEDS
  const isInRound = isParentInRound(parent)
  if (!rows.ended.isKnown(parent_run_id)) return isInRound ? { ...NO_NEEDS, ended: [parent_run_id] } : NO_NEEDS
  const tasks = tasksLeft(rows, parent_run_id).filter(({ partitions }) => partitions !== null)
  const lists = tasks.flatMap(({ partitions }) => listReferenceOf(partitions)).map(({ sha256 }) => sha256)
  // All tasks of an asset have one definition.
  const hashes = new Map(tasks.map(({ asset_key, definition_hash }) => [asset_key, definition_hash]))
  const definitions = [...hashes].map((key): KeyedRow => ({ table: 'asset_definitions', key }))
  return { ...NO_NEEDS, lists: lists.filter((sha256) => !rows.isListKnown(sha256)), keys: missingKeys(rows, definitions) }
}

const parentOf = ({ rerun_mode, parent_run_id }: RunRow): string | null => (rerun_mode === 'FROM_FAILURE' ? parent_run_id : null)

function tasksLeft(rows: WorkingSet, run_id: string): readonly TaskRow[] {
  const { tasks, edges } = rows.ended.get(run_id)
  return unfinishedTasks(tasks, edges)
}

/** `waits`: the parent is not over as far as this turn has read, or there is no room for its tasks in this round. */
export function leftOf(rows: WorkingSet, run: RunRow): Left | PlanFault | 'waits' {
  const parent_run_id = parentOf(run)
  if (parent_run_id === null) return {}
  const parent = rows.get('runs', parent_run_id)
  if (parent === undefined) return lostParent(parent_run_id)
  if (!isOver(parent.state)) return 'waits'
  // It was never planned.
  if (parent.tasks_total === 0) return {}
  if (!rows.ended.isKnown(parent_run_id)) return 'waits'
  if (rows.ended.get(parent_run_id).tasks.length < parent.tasks_total) return lostParent(parent_run_id)
  const tasks = new Map<string, TaskRow[]>()
  for (const task of tasksLeft(rows, parent_run_id)) {
    const known = tasks.get(task.asset_key)
    if (known === undefined) tasks.set(task.asset_key, [task])
    else known.push(task)
  }
  return { tasks }
}

const lostParent = (parent_run_id: string): PlanFault =>
  planFault('UNKNOWN_ASSET', `The tasks of the run ${parent_run_id} cannot be read any more. Ask for a new run of what you want.`)

type Definitions = ReadonlyMap<string, AssetDefinitionRow>

export function leftDefinitions(definitions: Definitions, { parent_run_id }: RunRow, { tasks }: Left): Definitions | PlanFault {
  if (tasks === undefined) return definitions
  const left = new Map([...definitions].filter(([asset_key]) => tasks.has(asset_key)))
  if (left.size > 0) return left
  return planFault('UNKNOWN_ASSET', `Nothing of run ${parent_run_id} is left to run again of what this run selects.`)
}

/** Of the run's partitions those that are left of this asset. Where that is all of them they stay as they are selected. */
export function leftLane(
  { rows, run, left: { tasks } }: { readonly rows: WorkingSet; readonly run: RunRow; readonly left: Left },
  whole: Lane,
  definition: AssetDefinitionRow,
): Lane | PlanFault {
  const left = tasks?.get(definition.asset_key)?.filter(({ partitions }) => partitions !== null) ?? []
  // It had no partitions then.
  if (left.length === 0 || definition.partitions === null) return whole
  const count = left.reduce((sum, { partition_count }) => sum + partition_count, 0)
  if (count === whole.count && left.every((task) => hasSamePartitions(rows, task, definition))) return whole
  if (count > TASK_PARTITIONS_MAX) {
    const advice = 'ask for new runs of ranges of them'
    return planFault(
      'PLAN_TOO_LARGE',
      `${count} partitions of ${definition.asset_key} are left, and ${TASK_PARTITIONS_MAX} is the most: ${advice}.`,
    )
  }
  const keys = new Set<string>()
  for (const task of left) {
    const planned = rows.get('asset_definitions', task.asset_key, task.definition_hash)?.partitions ?? null
    const expanded = expandSelector(planned, task.partitions, rows.list, TASK_PARTITIONS_MAX)
    if ('problem' in expanded) return planFault('BAD_PARTITION', `${task.asset_key}: ${expanded.problem}`)
    for (const { partition_key } of expanded.keys) keys.add(partition_key)
  }
  const lane = laneOfSpelled(definition.partitions, namedOrder(definition.partitions, run), [...keys])
  return 'problem' in lane ? planFault('BAD_PARTITION', `${definition.asset_key}: ${lane.problem}`) : lane
}

function hasSamePartitions(rows: WorkingSet, { asset_key, definition_hash }: TaskRow, current: AssetDefinitionRow): boolean {
  if (definition_hash === current.definition_hash) return true
  const planned = rows.get('asset_definitions', asset_key, definition_hash)
  return planned !== undefined && canonicalJson(planned.partitions) === canonicalJson(current.partitions)
}
