// The names under which Temporal knows Servo: workflow ids, task queues, search attributes. People read them in its UI,
// and running loops are found by them: what changes here has to move them (ADR 0081). Workflows import this file: no hash, no Node module.

import { assert } from './errors.js'
import type { Scope } from './ids.js'

/** Where loops live unless somebody says otherwise. */
export const NAMESPACE_DEFAULT = 'servo'

/** The task queues that belong together: of loops, and of what they call. */
export type TaskQueues = {
  /** The loops themselves: workflow tasks only. */
  readonly loops: string
  /** What loops ask for and wait for: many slots, so that a burst of due loops never holds up the turn. */
  readonly calls: string
  /** The turn alone: few slots, in the process that holds the hot state. */
  readonly turn: string
  /** Hand-over, evaluations, maintenance: what takes its time. */
  readonly work: string
}

const LOOPS_QUEUE = 'servo-loops'

const queuesWith = (suffix: string): TaskQueues => ({
  loops: `${LOOPS_QUEUE}${suffix}`,
  calls: `servo-calls${suffix}`,
  turn: `servo-turn${suffix}`,
  work: `servo-work${suffix}`,
})

/** Where the loops of a workspace begin, and what they call. It alone knows which workspaces share queues: none do, because a
 *  process would be given turns of a workspace that it does not serve. */
export const taskQueues = ({ tenant_id, workspace_id }: Scope): TaskQueues => queuesWith(`/${tenant_id}/${workspace_id}`)

/** The queues beside the one that a loop runs on. A loop of an older Servo runs on one that all workspaces shared, and what it
 *  calls stays beside it: its history names these queues. */
export const queuesBeside = (loops_queue: string): TaskQueues =>
  queuesWith(isLoopsQueue(loops_queue) ? loops_queue.slice(LOOPS_QUEUE.length) : '')

export const isLoopsQueue = (name: string): boolean => name === LOOPS_QUEUE || name.startsWith(`${LOOPS_QUEUE}/`)

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

/** Loops run without it: it is written only where the namespace has it, because an attribute that it lacks fails every workflow
 *  task. The name of what a loop is for; its id is in the id of the workflow. */
export const OPTIONAL_SEARCH_ATTRIBUTES = { ServoName: 'Keyword' } as const satisfies Readonly<Record<string, SearchAttributeType>>

/** Those that a namespace is made with. */
export const ALL_SEARCH_ATTRIBUTES = { ...SEARCH_ATTRIBUTES, ...OPTIONAL_SEARCH_ATTRIBUTES }

/** One of each in a workspace. */
export type WorkspaceLoopKind = 'workspace' | 'maintenance'
/** One for each entity. */
export type EntityLoopKind = 'schedule' | 'sensor' | 'backfill'
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
