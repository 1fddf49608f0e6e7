// Plans every run that waits for it: its tasks, in pages of one batch, or why there are none. It looks at the request,
// at definitions and at what is left of a rerun's parent, never at what else runs: room is asked for when a task is dispatched.

import { utf8Bytes } from '../core/canonical.js'
import { planFailedKey, planKey } from '../core/keys.js'
import { BATCH_BYTES_MAX, EVENT_BYTES_MAX, PLAN_PAGE_TASKS_MAX, RUN_TASKS_MAX } from '../core/limits.js'
import type { Draft } from '../events/draft.js'
import type { EventOf } from '../events/event.js'
import type { RunRow } from '../projections/run-table.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { Decision } from './decision.js'
import { pendingRuns, selectDefinitions } from './plan-definitions.js'
import { type PlanFault, planFault } from './plan-fault.js'
import { type Left, leftDefinitions, leftOf } from './plan-left.js'
import { orderAssets } from './plan-order.js'
import { planTasks, type TaskOfAsset } from './plan-tasks.js'

type Page = EventOf<'PlanCreated'>['payload']
type Basis = EventOf<'PlanCreated'>['basis']

/** A round ends once it has as many tasks as the largest run: a
 *  thousand large runs that wait are planned one after the other, and never held in memory together. */
const ROUND_TASKS_MAX = RUN_TASKS_MAX

export function reconcilePlan({ rows }: { readonly rows: WorkingSet }): readonly Decision[] {
  const decisions: Decision[] = []
  let tasks = 0
  for (const run of pendingRuns(rows)) {
    if (tasks >= ROUND_TASKS_MAX) break
    const left = leftOf(rows, run)
    // Its parent is not over, or comes with a later round.
    if (left === 'waits') continue
    const planned = 'code' in left ? left : planRun(rows, run, left)
    tasks += 'code' in planned ? 1 : (planned.pages[0]?.task_count ?? 0)
    decisions.push('code' in planned ? { said_by: 'plan', drafts: [failed(run, planned)], due: DUE } : decisionOf(run, planned))
  }
  return decisions
}

const DUE = { by: 'rows', late_as: 'plan_late' } as const

const basisOf = ({ request_event_id }: RunRow): Basis => ({ request_event_id, run_state: 'PENDING' })

const created = (run: RunRow, payload: Page): Draft => ({
  event_type: 'PlanCreated',
  idempotency_key: planKey(payload, run.request_event_id),
  correlation_id: run.run_id,
  basis: basisOf(run),
  payload,
})

const failed = (run: RunRow, error: PlanFault): Draft => ({
  event_type: 'PlanFailed',
  idempotency_key: planFailedKey(run, run.request_event_id),
  correlation_id: run.run_id,
  basis: basisOf(run),
  payload: { run_id: run.run_id, error },
})

type Planned = { readonly pages: readonly Page[]; readonly lists: readonly (readonly string[])[] }

const decisionOf = (run: RunRow, { pages, lists }: Planned): Decision => ({
  said_by: 'plan',
  drafts: pages.map((page) => created(run, page)),
  due: DUE,
  ...(lists.length === 0 ? {} : { lists }),
})

function planRun(rows: WorkingSet, run: RunRow, left: Left): Planned | PlanFault {
  const selected = selectDefinitions(rows, run)
  if ('code' in selected) return selected
  const definitions = leftDefinitions(selected.definitions, run, left)
  if ('code' in definitions) return definitions
  const ordered = orderAssets(definitions)
  if ('cycle' in ordered) return cycleFault(ordered.cycle)
  const planned = planTasks({ rows, run, left, definitions }, ordered.order)
  if ('code' in planned) return planned
  const pages = pagesOf(run.run_id, planned.tasks)
  return 'code' in pages ? pages : { pages, lists: planned.lists }
}

function cycleFault(cycle: readonly string[]): PlanFault {
  const needs = cycle.map((asset_key, index) => `${asset_key} needs ${cycle[(index + 1) % cycle.length]}`)
  return planFault('CYCLE', 'The assets need each other in a circle: ', needs, '. Remove one of these dependencies and deploy again.')
}

/** Around the tasks of a page: the envelope, the keys and the members of the payload. */
const PAGE_HEAD_BYTES = 4_096
const PAGE_BYTES_MAX = EVENT_BYTES_MAX - PAGE_HEAD_BYTES

type DefinitionReference = Page['definitions'][number]
type OpenPage = {
  readonly task_offset: number
  readonly definitions: DefinitionReference[]
  readonly tasks: Page['tasks'][number][]
  bytes: number
}

/** By count and by bytes: tasks with many edges, or many keys each, fill a page before they are two hundred. */
function pagesOf(run_id: string, planned: readonly TaskOfAsset[]): readonly Page[] | PlanFault {
  const pages: OpenPage[] = []
  let places = new Map<string, number>()
  for (const [index, { definition, task }] of planned.entries()) {
    const { asset_key, definition_hash } = definition
    const reference = { asset_key, definition_hash }
    const ofReference = bytesOf(reference)
    const ofTask = bytesOf(task)
    let page = pages.at(-1)
    if (page === undefined || page.tasks.length === PLAN_PAGE_TASKS_MAX || page.bytes + ofTask + ofReference > PAGE_BYTES_MAX) {
      page = { task_offset: index, definitions: [], tasks: [], bytes: 0 }
      pages.push(page)
      places = new Map()
    }
    let d = places.get(asset_key)
    if (d === undefined) {
      d = page.definitions.push(reference) - 1
      places.set(asset_key, d)
      page.bytes += ofReference
    }
    page.tasks.push({ ...task, d })
    page.bytes += ofTask
  }
  const bytes = pages.reduce((sum, page) => sum + page.bytes + PAGE_HEAD_BYTES, 0)
  if (bytes > BATCH_BYTES_MAX) return tooManyBytes(planned.length, bytes)
  return pages.map(({ task_offset, definitions, tasks }, page) => ({
    run_id,
    page,
    pages: pages.length,
    task_offset,
    task_count: planned.length,
    definitions,
    tasks,
  }))
}

/** With the comma and the number that its definition has on the page. */
const bytesOf = (value: object): number => utf8Bytes(JSON.stringify(value)) + 8

const tooManyBytes = (task_count: number, bytes: number): PlanFault =>
  planFault(
    'PLAN_TOO_LARGE',
    `The plan of ${task_count} tasks has ${bytes} bytes, and ${BATCH_BYTES_MAX} is the most: ` +
      'select fewer assets, or partitions by a range or a list, which a task names in a line.',
  )
