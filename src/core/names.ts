// The names under which Temporal knows Servo: workflow ids, task queues, search attributes. People read them in its UI,
// and running loops are found by them, so none ever changes. Workflows import this file: no hash, no Node module.

import { assert } from './errors.js'
import type { Scope } from './ids.js'

/** Where loops live unless somebody says otherwise. */
export const NAMESPACE_DEFAULT = 'servo'

export const TASK_QUEUES = {
  /** The loops themselves: workflow tasks only. */
  loops: 'servo-loops',
  /** What loops ask for and wait for: many slots, so that a burst of due loops never holds up the turn. */
  calls: 'servo-calls',
  /** The turn alone: few slots, in the process that holds the hot state. */
  turn: 'servo-turn',
  /** Hand-over, evaluations, maintenance: what takes its time. */
  work: 'servo-work',
} as const

export type SearchAttributeType = 'Keyword' | 'Datetime'

/** SQL visibility has room for ten keywords and three datetimes in a namespace; registered where the namespace is made. */
export const SEARCH_ATTRIBUTES = {
  ServoTenant: 'Keyword',
  ServoWorkspace: 'Keyword',
  ServoKind: 'Keyword',
  ServoEntityId: 'Keyword',
  ServoStatus: 'Keyword',
  ServoNextFireAt: 'Datetime',
} as const satisfies Readonly<Record<string, SearchAttributeType>>

/** One of each in a workspace. */
export type WorkspaceLoopKind = 'workspace' | 'maintenance'
/** One for each entity. */
type EntityLoopKind = 'schedule' | 'sensor' | 'backfill'
export type LoopKind = WorkspaceLoopKind | EntityLoopKind

/** Ids and names have no slash, so no two loops share an id. */
export function workflowId(scope: Scope, kind: WorkspaceLoopKind): string
export function workflowId(scope: Scope, kind: EntityLoopKind, id: string): string
export function workflowId({ tenant_id, workspace_id }: Scope, kind: LoopKind, id?: string): string {
  const parts = ['servo', tenant_id, workspace_id, kind, ...(id === undefined ? [] : [id])]
  assert(
    parts.every((part) => part !== '' && !part.includes('/')),
    `A workflow id is made of ${JSON.stringify(parts)}, of which none may be empty or have a slash.`,
  )
  return parts.join('/')
}
