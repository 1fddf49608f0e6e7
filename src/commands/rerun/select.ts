// What a rerun asks for. One request names assets and partitions: where tasks of several assets are left for different
// partitions it has the union, and the plan takes of each asset what is left of it (controllers/plan-left.ts).

import { TASK_PARTITIONS_MAX } from '../../core/limits.js'
import type { Selector } from '../../events/value.js'
import { anchoredAssets } from '../../partitions/mapping/anchored.js'
import { expandSelector } from '../../partitions/selector.js'
import type { RunRow, TaskRow } from '../../projections/run-table.js'
import { unfinishedTasks } from '../../projections/unfinished.js'
import { readDefinitionsOf } from '../../readers/assets.js'
import { readTaskLists } from '../../readers/outbox.js'
import { readAll } from '../../readers/pages.js'
import type { View } from '../../readers/reader.js'
import type { WriteOnce } from '../../storage/write-once.js'
import { isProblem, type Problem, problem } from '../problem.js'
import type { AskedPartitions } from '../run-partitions.js'

export type Selected = { readonly asset_keys: readonly string[]; readonly partitions: AskedPartitions | undefined }

type Deps = Pick<WriteOnce, 'store'>
type Lists = ReadonlyMap<string, readonly string[]>

/** As the parent selected it. */
export async function selectWhole({ store }: Deps, run: RunRow): Promise<Selected | Problem> {
  const asset_list = 'list' in run.assets ? run.assets : null
  const lists = await readTaskLists(store, [asset_list, run.partitions])
  const asset_keys = 'keys' in run.assets ? run.assets.keys : sliceOf(lists, run.assets.list)
  if (asset_keys === undefined) return lostList(run, 'assets')
  const partitions = askedAs(run, run.partitions, lists)
  if (partitions !== undefined && isProblem(partitions)) return partitions
  return { asset_keys: [...new Set(asset_keys)].sort(), partitions }
}

/** A run without tasks was never planned: all of it is left. */
export async function selectUnfinished(deps: Deps, view: View, run: RunRow): Promise<Selected | Problem> {
  const where = [{ column: 'run_id', is: '=', value: run.run_id }] as const
  const [tasks, edges] = await Promise.all([readAll(view, 'tasks', { where }), readAll(view, 'dep_satisfaction', { where })])
  if (tasks.length === 0 && run.state !== 'SUCCEEDED') return selectWhole(deps, run)
  const left = unfinishedTasks(tasks, edges)
  if (left.length === 0) {
    const counts = `${run.tasks_succeeded} of its ${run.tasks_total} tasks succeeded, and the code of the others left them out`
    const why = run.tasks_succeeded === run.tasks_total ? 'all of its tasks succeeded' : counts
    return problem('conflict', `Nothing of run ${run.run_id} is left to run again: ${why}. Ask for the whole of it with the mode "whole".`)
  }
  const partitions = await unfinishedPartitions(deps, view, { run, tasks, left })
  if (partitions !== undefined && isProblem(partitions)) return partitions
  return { asset_keys: [...new Set(left.map(({ asset_key }) => asset_key))].sort(), partitions }
}

type Left = { readonly run: RunRow; readonly tasks: readonly TaskRow[]; readonly left: readonly TaskRow[] }

async function unfinishedPartitions(deps: Deps, view: View, { run, tasks, left }: Left): Promise<AskedPartitions | Problem | undefined> {
  const partitioned = left.filter(({ partitions }) => partitions !== null)
  if (partitioned.length === 0) return undefined
  const named = await namedTasks(view, tasks, partitioned)
  const lists = await readTaskLists(deps.store, [run.partitions, ...named.map(({ partitions }) => partitions)])
  const [planned, open] = [countByAsset(tasks), countByAsset(partitioned)]
  // The tasks of one asset have all of the run's partitions between them.
  const isWhole = (asset_key: string): boolean => open.get(asset_key) === planned.get(asset_key)
  if (named.length === 0 || [...open.keys()].some(isWhole)) {
    return (
      tooManyOfOne(
        run,
        partitioned.filter(({ asset_key }) => !isWhole(asset_key)),
      ) ?? askedAs(run, run.partitions, lists)
    )
  }
  const keys = await keysOfTasks(view, named, lists)
  if (keys === undefined) return lostList(run, 'partitions')
  if (keys.size <= TASK_PARTITIONS_MAX) return { keys: [...keys] }
  return tooMany(run, keys.size, 'one rerun')
}

/** Of those that are left the ones whose partitions the run named: what they are made from is mapped to again by the plan. */
async function namedTasks(view: View, tasks: readonly TaskRow[], left: readonly TaskRow[]): Promise<readonly TaskRow[]> {
  const definitionOf = await readDefinitionsOf(view, tasks)
  const definitions = new Map(tasks.flatMap((task) => [[task.asset_key, definitionOf(task)] as const]))
  const anchored = anchoredAssets([...definitions.values()].flatMap((definition) => definition ?? []))
  const keys = new Set(anchored.map(({ asset_key }) => asset_key))
  // One whose definition is in no table is told of below.
  return left.filter((task) => keys.has(task.asset_key) || definitionOf(task) === undefined)
}

const tooMany = ({ run_id }: RunRow, count: number, where: string): Problem =>
  problem(
    'conflict',
    `${count} partitions of run ${run_id} did not succeed, and ${TASK_PARTITIONS_MAX} is the most that ${where} names. Ask for new runs of ranges of them, or for the whole of it with the mode "whole".`,
  )

/** What is left of an asset that succeeded in part is spelled out by the plan. */
function tooManyOfOne(run: RunRow, tasks: readonly TaskRow[]): Problem | undefined {
  const counts = new Map<string, number>()
  for (const { asset_key, partition_count } of tasks) counts.set(asset_key, (counts.get(asset_key) ?? 0) + partition_count)
  for (const [asset_key, count] of counts) if (count > TASK_PARTITIONS_MAX) return tooMany(run, count, `a rerun of ${asset_key}`)
  return undefined
}

function countByAsset(tasks: readonly TaskRow[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { asset_key } of tasks) counts.set(asset_key, (counts.get(asset_key) ?? 0) + 1)
  return counts
}

/** A range is spelled out by the definition that its task was planned with. */
async function keysOfTasks(view: View, tasks: readonly TaskRow[], lists: Lists): Promise<ReadonlySet<string> | undefined> {
  const definitionOf = await readDefinitionsOf(view, tasks)
  const keys = new Set<string>()
  for (const task of tasks) {
    const expanded = expandSelector(
      definitionOf(task)?.partitions ?? null,
      task.partitions,
      (sha256) => lists.get(sha256),
      TASK_PARTITIONS_MAX,
    )
    if ('problem' in expanded) return undefined
    for (const { partition_key } of expanded.keys) keys.add(partition_key)
  }
  return keys
}

function askedAs(run: RunRow, selector: Selector, lists: Lists): AskedPartitions | Problem | undefined {
  if (selector === null) return undefined
  if ('dims' in selector) return problem('conflict', `Run ${run.run_id} selects partitions by dimension, which this version cannot run.`)
  if (!('list' in selector)) return selector
  const keys = sliceOf(lists, selector.list)
  return keys === undefined ? lostList(run, 'partitions') : { keys }
}

function sliceOf(
  lists: Lists,
  { sha256, count, offset = 0 }: { readonly sha256: string; readonly count: number; readonly offset?: number },
) {
  const list = lists.get(sha256)
  return list === undefined || list.length < offset + count ? undefined : list.slice(offset, offset + count)
}

const lostList = ({ run_id }: RunRow, what: string): Problem =>
  problem('conflict', `The list of the ${what} of run ${run_id} cannot be read any more. Ask for a new run of what you want.`)
