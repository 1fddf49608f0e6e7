// Tasks and the edges between them: how a task moves, and what its end means for those that wait for it. A finish costs
// its out-degree; a skip or a cancel spreads along the edges without recursion, at once (ADR 0022).

import { assert } from '../core/errors.js'
import { type Moment, notBefore } from './outcome.js'
import type { DepSatisfactionRow, TaskRow } from './run-table.js'
import { isOver, nextStates, type OverState, TASK_MACHINE, type TaskCause, type TaskState } from './state-machine.js'
import type { WorkingSet } from './working-set.js'

type TaskChanges = Partial<Omit<TaskRow, 'run_id' | 'task_key' | 'state' | 'row_version' | 'last_event_id'>>
type Resolution = NonNullable<DepSatisfactionRow['resolution']>

export const RESOLUTIONS: { readonly [State in OverState]: Resolution } = {
  SUCCEEDED: 'SUCCESS',
  FAILED: 'FAILED',
  SKIPPED: 'SKIPPED',
  CANCELLED: 'CANCELLED',
}

const UPSTREAM_CAUSES = {
  SUCCEEDED: 'UPSTREAM_SUCCEEDED',
  FAILED: 'UPSTREAM_FAILED',
  SKIPPED: 'UPSTREAM_SKIPPED',
  CANCELLED: 'UPSTREAM_CANCELLED',
} as const

export function moveTask(
  rows: WorkingSet,
  task: TaskRow,
  by: TaskCause,
  state: TaskState,
  changes: TaskChanges,
  moment: Moment,
  first: TaskChanges = NO_CHANGES,
): TaskRow {
  assert(nextStates(TASK_MACHINE, task.state, by).includes(state), `A task moved from ${task.state} to ${state} by ${by}.`)
  const moved: TaskRow = { ...task, ...first, ...changes, state, last_event_id: moment.event_id }
  rows.put('tasks', moved)
  return moved
}

const NO_CHANGES: TaskChanges = {}

/** When something happens to the task now: not before anything that its row says of it. */
export const endOf = ({ ready_at, dispatched_at, started_at, last_heartbeat_at, attempt_ended_at }: TaskRow, moment: Moment): number =>
  notBefore(moment, ready_at, dispatched_at, started_at, last_heartbeat_at, attempt_ended_at)

/** `cause_at`: when that happened which ends it. */
export function endTask(
  rows: WorkingSet,
  task: TaskRow,
  by: TaskCause,
  state: OverState,
  changes: TaskChanges,
  moment: Moment,
  cause_at?: number | null,
): TaskRow {
  const over = {
    start_deadline_at: null,
    heartbeat_deadline_at: null,
    timeout_at: null,
    cancel_deadline_at: null,
    retry_at: null,
    finished_at: Math.max(endOf(task, moment), cause_at ?? 0),
  }
  return moveTask(rows, task, by, state, changes, moment, over)
}

/** Resolves every edge that leaves these tasks, which are over, and those that are over because of it. All of them. */
export function resolveEdges(rows: WorkingSet, over: readonly TaskRow[], moment: Moment): readonly TaskRow[] {
  const ended = [...over]
  for (let next = 0; next < ended.length; next++) {
    const upstream = ended[next] as TaskRow
    for (const edge of rows.edgesFrom(upstream.run_id, upstream.task_key)) {
      const downstream = resolveEdge(rows, edge, upstream, moment)
      if (downstream !== undefined) ended.push(downstream)
    }
  }
  return ended
}

/** The downstream task, if this edge ended it. */
function resolveEdge(rows: WorkingSet, edge: DepSatisfactionRow, upstream: TaskRow, moment: Moment): TaskRow | undefined {
  assert(isOver(upstream.state), `The edges of ${upstream.task_key} were resolved while it is ${upstream.state}.`)
  assert(edge.resolution === null, `The edge from ${upstream.task_key} to ${edge.downstream_task_key} was resolved twice.`)
  const satisfied = upstream.state === 'SUCCEEDED'
  const resolved_at = notBefore(moment, upstream.finished_at)
  rows.put('dep_satisfaction', {
    ...edge,
    satisfied,
    resolution: RESOLUTIONS[upstream.state],
    resolved_at,
    satisfying_attempt: satisfied ? upstream.attempt : null,
    last_event_id: moment.event_id,
  })
  const task = rows.get('tasks', edge.run_id, edge.downstream_task_key)
  assert(task, `The edge to ${edge.downstream_task_key} leads nowhere.`)
  const by = UPSTREAM_CAUSES[upstream.state]
  const deps_satisfied_count = task.deps_satisfied_count + (satisfied ? 1 : 0)
  const next = nextStates(TASK_MACHINE, task.state, by)[0]
  const waits = satisfied && deps_satisfied_count < task.deps_total
  if (next === undefined || waits) {
    // The count is that of satisfied edges, whatever has become of the task meanwhile.
    if (satisfied) rows.put('tasks', { ...task, deps_satisfied_count, last_event_id: moment.event_id })
    return undefined
  }
  if (!isOver(next)) {
    moveTask(rows, task, by, next, { deps_satisfied_count, ready_at: resolved_at }, moment)
    return undefined
  }
  return endTask(rows, task, by, next, { outcome_reason: by, skip_reason: next === 'SKIPPED' ? by : null }, moment, resolved_at)
}
