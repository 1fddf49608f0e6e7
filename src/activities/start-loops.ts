// Starts loops: where each begins, with which input, and what lists of Temporal show of it.

import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import { defineSearchAttributeKey } from '@temporalio/common'
import type { Scope } from '../core/ids.js'
import { type LoopKind, taskQueues, type WorkspaceLoopKind, workflowId } from '../core/names.js'
import { type MaintenanceLoopInput, WORKFLOW_TYPES, type WorkspaceLoopInput } from '../workflows/contract.js'
import type { EntityDescription, StartedEntityKind } from './entities/kind.js'

export type LoopsDeps = {
  readonly client: Client
  readonly scope: Scope
  /** The namespace has `ServoName`. An attribute that it lacks would fail the start. */
  readonly has_names?: boolean
}

/** false: it runs already. */
export function startWorkspaceLoop(deps: LoopsDeps, kind: WorkspaceLoopKind): Promise<boolean> {
  const { scope } = deps
  const { workspace_id } = scope
  const common = { ...scope, last_error: null } as const
  const input: WorkspaceLoopInput | MaintenanceLoopInput =
    kind === 'workspace' ? { ...common, v: 1, missed: [], failures: 0 } : { ...common, v: 2 }
  const summary = SUMMARIES[kind](scope)
  return start(deps, { kind, id: workflowId(scope, kind), entity_id: workspace_id, name: workspace_id, input, summary })
}

/** false: it runs already. */
export function startEntityLoop(
  deps: LoopsDeps,
  kind: StartedEntityKind,
  { entity_id, name, summary }: Pick<EntityDescription, 'entity_id' | 'name' | 'summary'>,
): Promise<boolean> {
  const { scope } = deps
  const input = { v: 1, ...scope, commands: [], failures: 0, last_error: null, [`${kind}_id`]: entity_id } as const
  return start(deps, { kind, id: workflowId(scope, kind, entity_id), entity_id, name, input, summary })
}

type LoopStart = {
  readonly kind: LoopKind & keyof typeof WORKFLOW_TYPES
  readonly id: string
  readonly entity_id: string
  readonly name: string
  readonly input: object
  readonly summary: string
}

async function start({ client, scope, has_names }: LoopsDeps, { kind, id, entity_id, name, input, summary }: LoopStart): Promise<boolean> {
  const attributes = searchAttributes(scope, kind, entity_id)
  try {
    await client.workflow.start(WORKFLOW_TYPES[kind], {
      workflowId: id,
      taskQueue: taskQueues(scope).loops,
      args: [input],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      typedSearchAttributes: has_names === true ? [...attributes, { key: keyword('ServoName'), value: name }] : attributes,
      staticSummary: summary,
    })
    return true
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false
    throw error
  }
}

const keyword = (name: string) => defineSearchAttributeKey(name, 'KEYWORD')

const searchAttributes = ({ tenant_id, workspace_id }: Scope, kind: LoopKind, entity_id: string) => [
  { key: keyword('ServoTenant'), value: tenant_id },
  { key: keyword('ServoWorkspace'), value: workspace_id },
  { key: keyword('ServoKind'), value: kind },
  { key: keyword('ServoEntityId'), value: entity_id },
  { key: keyword('ServoStatus'), value: 'STARTING' },
]

const SUMMARIES: { readonly [Kind in WorkspaceLoopKind]: (scope: Scope) => string } = {
  workspace: ({ tenant_id, workspace_id }) => `workspace ${workspace_id} of ${tenant_id}: says when to decide what runs`,
  maintenance: ({ tenant_id, workspace_id }) => `workspace ${workspace_id} of ${tenant_id}: merges and tidies its tables`,
}
