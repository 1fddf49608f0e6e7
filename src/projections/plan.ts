// A plan: all pages of it in one batch, taken whole or not at all. Its tasks carry the policy of their definitions from
// here on, so that neither a deploy nor a restart changes what a run was planned to do.

import { assert } from '../core/errors.js'
import { PRIORITY_MAX, PRIORITY_MIN, RUN_EDGES_MAX } from '../core/limits.js'
import { SECOND_MS } from '../core/time.js'
import type { EventOf, LedgerEvent } from '../events/event.js'
import type { AssetDefinitionRow } from './asset-table.js'
import { type Moment, notBefore, type Refusal, refusal } from './outcome.js'
import { poolKeysOf } from './pool.js'
import { keysOfRun, moveRun, stalePlan } from './run.js'
import type { RunRow, TaskRow } from './run-table.js'
import type { KeyedRow } from './tables.js'
import { moveTask } from './task.js'
import type { WorkingSet } from './working-set.js'

type PlanCreated = EventOf<'PlanCreated'>
type Plan = PlanCreated['payload']
type PlannedTask = Plan['tasks'][number]

export const keysOfPlan = ({ payload }: PlanCreated): readonly KeyedRow[] => [
  keysOfRun(payload.run_id),
  ...payload.definitions.map(
    ({ asset_key, definition_hash }): KeyedRow => ({ table: 'asset_definitions', key: [asset_key, definition_hash] }),
  ),
]

/** What is wrong with the plans of a batch, by the place of each of their pages, before any page is folded: a plan that
 *  was half taken could be neither finished nor planned again. */
export function judgePlans(rows: WorkingSet, batch: readonly (LedgerEvent | undefined)[]): ReadonlyMap<number, Refusal | 'whole'> {
  const judged = new Map<number, Refusal | 'whole'>()
  for (let index = 0; index < batch.length; ) {
    const pages = pagesFrom(batch, index)
    const verdict = pages.length === 0 ? 'whole' : (shapeFault(pages) ?? unknownDefinition(rows, pages) ?? 'whole')
    for (const place of pages.keys()) judged.set(index + place, verdict)
    index += Math.max(1, pages.length)
  }
  return judged
}

/** The pages of one plan, which follow each other in the batch. */
function pagesFrom(batch: readonly (LedgerEvent | undefined)[], first: number): readonly PlanCreated[] {
  const pages: PlanCreated[] = []
  for (let index = first; index < batch.length; index++) {
    const event = batch[index]
    if (event?.event_type !== 'PlanCreated') break
    const { run_id, page } = event.payload
    if (pages.length > 0 && (run_id !== pages[0]?.payload.run_id || page !== pages.length)) break
    pages.push(event)
  }
  return pages
}

function shapeFault(events: readonly PlanCreated[]): Refusal | undefined {
  const [first] = events
  assert(first, 'A plan has a page.')
  const { run_id, pages, task_count } = first.payload
  const fault = (message: string) =>
    refusal('ILLEGAL_TRANSITION', { run_id, message: `${message} Append the whole plan again as one batch.` })
  if (first.payload.page !== 0 || events.length !== pages) {
    return fault(`The batch has ${events.length} pages of a plan of ${pages}, one after the other, from page ${first.payload.page} on.`)
  }
  const ids = new Set<string>()
  const taskKeys = new Set<string>()
  let edges = 0
  for (const { event_id, causation_id, basis, payload } of events) {
    // With one cause and one basis, the pages are applied or refused together.
    const sharesCause = causation_id === first.causation_id || (causation_id !== undefined && ids.has(causation_id))
    if (!sharesCause || basis.request_event_id !== first.basis.request_event_id || payload.task_count !== task_count) {
      return fault(`Page ${payload.page} has another cause, basis or task count than the first.`)
    }
    if (payload.task_offset !== taskKeys.size)
      return fault(`Page ${payload.page} begins at task ${payload.task_offset}, not ${taskKeys.size}.`)
    for (const { k, d, w = [] } of payload.tasks) {
      if (payload.definitions[d] === undefined) return fault(`Task ${k} has no definition ${d} on its page.`)
      if (taskKeys.has(k)) return fault(`Task ${k} is there twice.`)
      if (w.some((upstream) => upstream < 0 || upstream >= taskKeys.size)) return fault(`Task ${k} waits for one that is not before it.`)
      taskKeys.add(k)
      edges += w.length
    }
    ids.add(event_id)
  }
  if (taskKeys.size === 0 || taskKeys.size !== task_count) return fault(`The pages have ${taskKeys.size} tasks, and say ${task_count}.`)
  if (edges > RUN_EDGES_MAX) return fault(`The plan has ${edges} edges, and ${RUN_EDGES_MAX} is the most.`)
  return undefined
}

function unknownDefinition(rows: WorkingSet, events: readonly PlanCreated[]): Refusal | undefined {
  for (const { payload } of events) {
    for (const { asset_key, definition_hash } of payload.definitions) {
      if (rows.get('asset_definitions', asset_key, definition_hash) === undefined) {
        return refusal('UNKNOWN_ENTITY', { asset_key, definition_hash })
      }
    }
  }
  return undefined
}

export function foldPlanCreated(rows: WorkingSet, { payload, basis }: PlanCreated, moment: Moment): Refusal | undefined {
  const { run_id, page, pages, task_offset, task_count } = payload
  const run = rows.get('runs', run_id)
  const stale = stalePlan(run, run_id, basis.request_event_id)
  if (stale !== undefined || run === undefined) return stale

  const earlier = rows.tasksOf(run_id)
  assert(earlier.length === task_offset, `The plan of ${run_id} has ${earlier.length} tasks before page ${page}.`)
  const policies = payload.definitions.map((reference) => policyOf(rows, run, reference))
  const taskKeys = earlier.toSorted((left, right) => left.task_index - right.task_index).map(({ task_key }) => task_key)
  const planned = payload.tasks.map((task) => {
    taskKeys.push(task.k)
    return putTask(rows, run, task, policies[task.d] as TaskPolicy, taskKeys, moment)
  })
  if (page < pages - 1) return undefined
  const planned_at = notBefore(moment, run.requested_at)
  for (const task of [...earlier, ...planned]) makeReady(rows, task, planned_at, moment)
  moveRun(rows, run, 'PLANNED_WHOLE', 'PLANNED', { planned_at, tasks_total: task_count, tasks_open: task_count }, moment)
  return undefined
}

function makeReady(rows: WorkingSet, task: TaskRow, ready_at: number, moment: Moment): void {
  if (task.deps_total > 0) moveTask(rows, task, 'PLANNED_WHOLE', 'BLOCKED', {}, moment)
  else moveTask(rows, task, 'PLANNED_WHOLE', 'READY', { ready_at }, moment)
}

function putTask(
  rows: WorkingSet,
  { run_id }: RunRow,
  planned: PlannedTask,
  policy: TaskPolicy,
  taskKeys: readonly string[],
  { event_id }: Moment,
): TaskRow {
  const upstream = [...new Set(planned.w ?? [])].map((index) => taskKeys[index] as string)
  for (const upstream_task_key of upstream) {
    rows.put('dep_satisfaction', {
      run_id,
      downstream_task_key: planned.k,
      upstream_task_key,
      satisfied: false,
      resolution: null,
      resolved_at: null,
      satisfying_attempt: null,
      row_version: 0,
      last_event_id: event_id,
    })
  }
  const task = newTask(run_id, planned, policy, taskKeys.length - 1, upstream.length, event_id)
  rows.put('tasks', task)
  return task
}

/** Spelled out: tasks are made by the thousand, and a row put together from parts takes ten times as long (measured). */
const newTask = (
  run_id: string,
  { k, p, n }: PlannedTask,
  policy: TaskPolicy,
  task_index: number,
  deps_total: number,
  event_id: string,
): TaskRow => ({
  run_id,
  task_key: k,
  task_index,
  asset_key: policy.asset_key,
  definition_hash: policy.definition_hash,
  location_name: policy.location_name,
  worker_queue: policy.worker_queue,
  partitions: p,
  partition_count: n,
  state: 'PLANNED',
  attempt: 0,
  attempt_id: null,
  execution_id: null,
  worker_id: null,
  failures: 0,
  infra_losses: 0,
  releases: 0,
  max_attempts: policy.max_attempts,
  max_infra_losses: policy.max_infra_losses,
  retry: policy.retry,
  start_timeout_ms: policy.start_timeout_ms,
  heartbeat_timeout_ms: policy.heartbeat_timeout_ms,
  timeout_ms: policy.timeout_ms,
  cancel_grace_ms: policy.cancel_grace_ms,
  priority: policy.priority,
  pool_keys: policy.pool_keys,
  deps_total,
  deps_satisfied_count: 0,
  ready_at: null,
  dispatched_at: null,
  started_at: null,
  last_heartbeat_at: null,
  heartbeat_seq: null,
  progress: null,
  finished_at: null,
  start_deadline_at: null,
  heartbeat_deadline_at: null,
  timeout_at: null,
  retry_at: null,
  attempt_ended_at: null,
  cancel_requested_at: null,
  cancel_deadline_at: null,
  outcome_reason: null,
  skip_reason: null,
  materialization_id: null,
  code_version: policy.code_version,
  metadata: null,
  error: null,
  row_version: 0,
  last_event_id: event_id,
})

/** The columns that a task takes from its definition, its location and its run. */
type TaskPolicy = Pick<
  TaskRow,
  | 'asset_key'
  | 'definition_hash'
  | 'location_name'
  | 'worker_queue'
  | 'max_attempts'
  | 'max_infra_losses'
  | 'retry'
  | 'start_timeout_ms'
  | 'heartbeat_timeout_ms'
  | 'timeout_ms'
  | 'cancel_grace_ms'
  | 'priority'
  | 'pool_keys'
  | 'code_version'
>

/** What a definition that leaves a policy out gets (DATA section 3, AssetDefined). */
export const POLICY_DEFAULTS = {
  max_attempts: 1,
  max_infra_losses: 5,
  backoff_seconds: 30,
  factor: 2,
  max_backoff_seconds: 600,
  jitter: 0.2,
  start_timeout_seconds: 600,
  heartbeat_timeout_seconds: 60,
  cancel_grace_seconds: 30,
} as const

function policyOf(rows: WorkingSet, run: RunRow, reference: Plan['definitions'][number]): TaskPolicy {
  const row = rows.get('asset_definitions', reference.asset_key, reference.definition_hash)
  assert(row, `The definition of ${reference.asset_key} is gone.`)
  const location = rows.get('code_locations', row.location_name)
  assert(location, `The location ${row.location_name} is gone.`)
  const { definition } = row
  const retry = { ...POLICY_DEFAULTS, ...definition.retry }
  return {
    asset_key: row.asset_key,
    definition_hash: row.definition_hash,
    location_name: row.location_name,
    worker_queue: location.worker_queue,
    max_attempts: retry.max_attempts,
    max_infra_losses: retry.max_infra_losses,
    retry: {
      backoff_seconds: retry.backoff_seconds,
      factor: retry.factor,
      max_backoff_seconds: retry.max_backoff_seconds,
      jitter: retry.jitter,
    },
    start_timeout_ms: milliseconds(definition.start_timeout_seconds ?? POLICY_DEFAULTS.start_timeout_seconds),
    heartbeat_timeout_ms: milliseconds(definition.heartbeat_timeout_seconds ?? POLICY_DEFAULTS.heartbeat_timeout_seconds),
    timeout_ms: definition.timeout_seconds === undefined ? null : milliseconds(definition.timeout_seconds),
    cancel_grace_ms: milliseconds(definition.cancel_grace_seconds ?? POLICY_DEFAULTS.cancel_grace_seconds),
    priority: taskPriority(run, row),
    pool_keys: poolKeysOf(definition.pools ?? [], row.location_name),
    code_version: row.code_version,
  }
}

const milliseconds = (seconds: number): number => Math.round(seconds * SECOND_MS)

/** The run's and the asset's together: an urgent asset goes first within its run, and a backfill stays behind. */
const taskPriority = ({ priority }: RunRow, { definition }: AssetDefinitionRow): number =>
  Math.min(PRIORITY_MAX, Math.max(PRIORITY_MIN, priority + (definition.priority ?? 0)))
