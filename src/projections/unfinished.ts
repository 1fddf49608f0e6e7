// What is left of a run that is over: its tasks that did not succeed, less what their own code left out. Pure.

import type { DepSatisfactionRow, TaskRow } from './run-table.js'

type Task = Pick<TaskRow, 'task_key' | 'task_index' | 'state' | 'outcome_reason'>
type Edge = Pick<DepSatisfactionRow, 'upstream_task_key' | 'downstream_task_key'>

/** A task whose code said that there is nothing to do is done, and what waits for it would be skipped again. */
const isLeftOut = ({ state, outcome_reason }: Task): boolean => state === 'SKIPPED' && outcome_reason === 'WORKER_SKIPPED'

/** In the order of the plan. */
export function unfinishedTasks<T extends Task>(tasks: readonly T[], edges: readonly Edge[]): readonly T[] {
  const downstream = new Map<string, string[]>()
  for (const { upstream_task_key, downstream_task_key } of edges) {
    const known = downstream.get(upstream_task_key)
    if (known === undefined) downstream.set(upstream_task_key, [downstream_task_key])
    else known.push(downstream_task_key)
  }
  const left_out = new Set(tasks.filter(isLeftOut).map(({ task_key }) => task_key))
  // A set goes on to what is added to it on the way.
  for (const task_key of left_out) for (const next of downstream.get(task_key) ?? []) left_out.add(next)
  return tasks
    .filter(({ state, task_key }) => state !== 'SUCCEEDED' && !left_out.has(task_key))
    .sort((left, right) => left.task_index - right.task_index)
}
