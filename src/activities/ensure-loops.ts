// Starts the loops of a workspace that do not run, at the start of a process, and again and again (keep-ensured.ts): its own
// two, and one for each schedule. It pokes loops whose page is out of date, drains those that run on another task queue to
// that of the workspace, and never signals the others. Another process may do the same at the same time.

import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client'
import { defineSearchAttributeKey, type SignalDefinition } from '@temporalio/common'
import type { Scope } from '../core/ids.js'
import { LOOP_SIGNALS_AT_ONCE } from '../core/loop-limits.js'
import { isLoopsQueue, type LoopKind, taskQueues, type WorkspaceLoopKind, workflowId } from '../core/names.js'
import type { Schedule } from '../readers/schedules.js'
import {
  drainSignal,
  type LoopTimings,
  type MaintenanceLoopInput,
  pokeSignal,
  type ScheduleLoopInput,
  WORKFLOW_TYPES,
  type WorkspaceLoopInput,
} from '../workflows/contract.js'
import type { EntityDescription } from './entities/kind.js'
import { SCHEDULE_KIND } from './entities/schedule.js'
import { isStale, type ListedLoop } from './entities/stale.js'

export type LoopsDeps = {
  readonly client: Client
  readonly scope: Scope
}

type EnsureDeps = LoopsDeps & {
  readonly timings: LoopTimings
  readonly schedules?: {
    /** Removed ones too: a tombstone ends a loop. */
    readonly read: () => Promise<readonly Schedule[]>
    /** The store's time. */
    readonly now: () => number
  }
}

const KINDS: readonly WorkspaceLoopKind[] = ['workspace', 'maintenance']

export type EnsuredLoops = {
  /** The kinds of the loops that were missing, as often as there were. */
  readonly started: readonly LoopKind[]
  /** The task queues on which loops of the workspace run and should not: they are drained to its own. */
  readonly elsewhere: readonly string[]
}

export async function ensureLoops(deps: EnsureDeps): Promise<EnsuredLoops> {
  const { client, scope } = deps
  const home = taskQueues(scope).loops
  /** By id, with what lists have of its page. */
  const running = new Map<string, ListedLoop>()
  const elsewhere = new Map<string, string>()
  for await (const { workflowId: id, taskQueue, typedSearchAttributes } of client.workflow.list({ query: queryOf(scope) })) {
    const next_fire_at = typedSearchAttributes.get(SERVO_NEXT_FIRE_AT)?.getTime() ?? null
    running.set(id, { status: typedSearchAttributes.get(SERVO_STATUS), next_fire_at })
    if (taskQueue !== home && isLoopsQueue(taskQueue)) elsewhere.set(id, taskQueue)
  }
  await eachOf([...elsewhere.keys()], LOOP_SIGNALS_AT_ONCE, (id) => signalLoop(client, id, drainSignal, { task_queue: home }))
  return { started: await startMissing(deps, running), elsewhere: [...new Set(elsewhere.values())] }
}

async function startMissing(deps: EnsureDeps, running: ReadonlyMap<string, ListedLoop>): Promise<readonly LoopKind[]> {
  const { scope } = deps
  const started: LoopKind[] = []
  for (const kind of KINDS) {
    if (!running.has(workflowId(scope, kind)) && (await startLoop(deps, kind))) started.push(kind)
  }
  if (deps.schedules === undefined) return started
  const { read, now } = deps.schedules
  await eachOf(await read(), LOOP_SIGNALS_AT_ONCE, async (schedule) => {
    const entity = SCHEDULE_KIND.describe(schedule)
    const id = workflowId(scope, 'schedule', entity.entity_id)
    const listed = running.get(id)
    if (listed === undefined) {
      if (!entity.is_over && (await startScheduleLoop(deps, entity))) started.push('schedule')
    } else if (isStale(SCHEDULE_KIND, listed, schedule, now())) await pokeSchedule(deps, entity.entity_id)
  })
  return started
}

async function eachOf<T>(list: readonly T[], at_once: number, work: (each: T) => Promise<void>): Promise<void> {
  const rest = list.values()
  const worker = async () => {
    for (const each of rest) await work(each)
  }
  await Promise.all(Array.from({ length: at_once }, worker))
}

/** At the start of a process: a new version of the fold publishes a checkpoint at once, idle or not. */
export const pokeWorkspace = ({ client, scope }: LoopsDeps): Promise<void> => signalLoop(client, workflowId(scope, 'workspace'), pokeSignal)

export const pokeSchedule = ({ client, scope }: LoopsDeps, schedule_id: string): Promise<void> =>
  signalLoop(client, workflowId(scope, 'schedule', schedule_id), pokeSignal)

/** One that is not there is started by ensureLoops. */
async function signalLoop<Args extends unknown[]>(
  client: Client,
  id: string,
  signal: SignalDefinition<Args>,
  ...args: Args
): Promise<void> {
  try {
    await client.workflow.getHandle(id).signal(signal, ...args)
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error
  }
}

/** Ids have no quotes (core/ids.ts). */
const queryOf = ({ tenant_id, workspace_id }: Scope): string =>
  `ServoTenant = "${tenant_id}" AND ServoWorkspace = "${workspace_id}" AND ExecutionStatus = "Running"`

function startLoop({ client, scope, timings }: EnsureDeps, kind: WorkspaceLoopKind): Promise<boolean> {
  const common = { v: 1, ...scope, last_error: null } as const
  const input: WorkspaceLoopInput | MaintenanceLoopInput =
    kind === 'workspace' ? { ...common, missed: [], failures: 0 } : { ...common, timings }
  return start(client, {
    kind,
    id: workflowId(scope, kind),
    task_queue: taskQueues(scope).loops,
    input,
    attributes: searchAttributes(scope, kind, scope.workspace_id),
    summary: SUMMARIES[kind](scope),
  })
}

/** false: it runs already. */
export function startScheduleLoop(
  { client, scope }: LoopsDeps,
  { entity_id: schedule_id, summary }: Pick<EntityDescription, 'entity_id' | 'summary'>,
): Promise<boolean> {
  const input: ScheduleLoopInput = { v: 1, ...scope, schedule_id, commands: [], failures: 0, last_error: null }
  return start(client, {
    kind: 'schedule',
    id: workflowId(scope, 'schedule', schedule_id),
    task_queue: taskQueues(scope).loops,
    input,
    attributes: searchAttributes(scope, 'schedule', schedule_id),
    summary,
  })
}

type Start = {
  readonly kind: LoopKind & keyof typeof WORKFLOW_TYPES
  readonly id: string
  readonly task_queue: string
  readonly input: WorkspaceLoopInput | MaintenanceLoopInput | ScheduleLoopInput
  readonly attributes: ReturnType<typeof searchAttributes>
  readonly summary: string
}

async function start(client: Client, { kind, id, task_queue, input, attributes, summary }: Start): Promise<boolean> {
  try {
    await client.workflow.start(WORKFLOW_TYPES[kind], {
      workflowId: id,
      taskQueue: task_queue,
      args: [input],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      typedSearchAttributes: attributes,
      staticSummary: summary,
    })
    return true
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false
    throw error
  }
}

const keyword = (name: string) => defineSearchAttributeKey(name, 'KEYWORD')
const SERVO_STATUS = keyword('ServoStatus')
const SERVO_NEXT_FIRE_AT = defineSearchAttributeKey('ServoNextFireAt', 'DATETIME')

const searchAttributes = ({ tenant_id, workspace_id }: Scope, kind: LoopKind, entity_id: string) => [
  { key: keyword('ServoTenant'), value: tenant_id },
  { key: keyword('ServoWorkspace'), value: workspace_id },
  { key: keyword('ServoKind'), value: kind },
  { key: keyword('ServoEntityId'), value: entity_id },
  { key: SERVO_STATUS, value: 'STARTING' },
]

const SUMMARIES: { readonly [Kind in WorkspaceLoopKind]: (scope: Scope) => string } = {
  workspace: ({ tenant_id, workspace_id }) => `workspace ${workspace_id} of ${tenant_id}: says when to decide what runs`,
  maintenance: ({ tenant_id, workspace_id }) => `workspace ${workspace_id} of ${tenant_id}: merges and tidies its tables`,
}
