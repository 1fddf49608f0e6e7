// Starts the loops of a workspace that do not run: at the start of a process, and again and again (keep-ensured.ts). Whoever
// else starts them at the same time is right too.

import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import { defineSearchAttributeKey } from '@temporalio/common'
import type { Scope } from '../core/ids.js'
import { TASK_QUEUES, type WorkspaceLoopKind, workflowId } from '../core/names.js'
import { type LoopTimings, type MaintenanceLoopInput, pokeSignal, WORKFLOW_TYPES, type WorkspaceLoopInput } from '../workflows/contract.js'

export type EnsureDeps = { readonly client: Client; readonly scope: Scope; readonly timings: LoopTimings; readonly turns_max?: number }

const KINDS: readonly WorkspaceLoopKind[] = ['workspace', 'maintenance']

/** The kinds of the loops that were missing. */
export async function ensureLoops(deps: EnsureDeps): Promise<readonly WorkspaceLoopKind[]> {
  const { client, scope } = deps
  const running = new Set<string>()
  for await (const { workflowId: id } of client.workflow.list({ query: queryOf(scope) })) running.add(id)
  const started: WorkspaceLoopKind[] = []
  for (const kind of KINDS) {
    if (!running.has(workflowId(scope, kind)) && (await startLoop(deps, kind))) started.push(kind)
  }
  return started
}

/** At the start of a process: a new version of the fold publishes a checkpoint at once, idle or not. */
export async function pokeWorkspace({ client, scope }: Pick<EnsureDeps, 'client' | 'scope'>): Promise<void> {
  await client.workflow.getHandle(workflowId(scope, 'workspace')).signal(pokeSignal)
}

/** Ids have no quotes (core/ids.ts). */
const queryOf = ({ tenant_id, workspace_id }: Scope): string =>
  `ServoTenant = "${tenant_id}" AND ServoWorkspace = "${workspace_id}" AND ExecutionStatus = "Running"`

async function startLoop({ client, scope, timings, turns_max }: EnsureDeps, kind: WorkspaceLoopKind): Promise<boolean> {
  const common = { v: 1, ...scope, timings, last_error: null, ...(turns_max === undefined ? {} : { turns_max }) } as const
  const input: WorkspaceLoopInput | MaintenanceLoopInput = kind === 'workspace' ? { ...common, missed: [], failures: 0 } : common
  try {
    await client.workflow.start(WORKFLOW_TYPES[kind], {
      workflowId: workflowId(scope, kind),
      taskQueue: TASK_QUEUES.loops,
      args: [input],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      typedSearchAttributes: searchAttributes(scope, kind),
      staticSummary: SUMMARIES[kind](scope),
    })
    return true
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false
    throw error
  }
}

const keyword = (name: string) => defineSearchAttributeKey(name, 'KEYWORD')

const searchAttributes = ({ tenant_id, workspace_id }: Scope, kind: WorkspaceLoopKind) => [
  { key: keyword('ServoTenant'), value: tenant_id },
  { key: keyword('ServoWorkspace'), value: workspace_id },
  { key: keyword('ServoKind'), value: kind },
  { key: keyword('ServoEntityId'), value: workspace_id },
  { key: keyword('ServoStatus'), value: 'STARTING' },
]

const SUMMARIES: { readonly [Kind in WorkspaceLoopKind]: (scope: Scope) => string } = {
  workspace: ({ tenant_id, workspace_id }) => `workspace ${workspace_id} of ${tenant_id}: says when to decide what runs`,
  maintenance: ({ tenant_id, workspace_id }) => `workspace ${workspace_id} of ${tenant_id}: merges and tidies its tables`,
}
