// Starts the loops of a workspace that do not run: its own two, and one for each entity. It lists what runs, pokes loops whose
// page is out of date, and drains those on another task queue to that of the workspace. Several processes may do it at once.

import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import { defineSearchAttributeKey, type SignalDefinition } from '@temporalio/common'
import type { Scope } from '../core/ids.js'
import { LOOP_SIGNALS_AT_ONCE } from '../core/loop-limits.js'
import { type EntityLoopKind, isLoopsQueue, type LoopKind, taskQueues, type WorkspaceLoopKind, workflowId } from '../core/names.js'
import type { View } from '../readers/reader.js'
import { drainSignal, pokeSignal } from '../workflows/contract.js'
import type { EntityKind } from './entities/kind.js'
import { isStale, type ListedLoop } from './entities/stale.js'
import { type LoopsDeps, startEntityLoop, startWorkspaceLoop } from './start-loops.js'

/** An entity that has a loop. */
type LoopEntity = {
  readonly entity_id: string
  /** Of its row; its loop has the same one, or ERROR. */
  readonly status: string
  /** It has no loop any more: a tombstone ends it. */
  readonly is_over: boolean
  /** `now` is the store's time. */
  readonly isStale: (listed: ListedLoop, now: number) => boolean
  /** false: it runs already. */
  readonly start: (deps: LoopsDeps) => Promise<boolean>
}

/** What a look after the loops needs to know of a kind of entities. */
export type EntityLoops = {
  readonly kind: EntityLoopKind
  /** Those that are over too. */
  readonly readAll: () => Promise<readonly LoopEntity[]>
  /** The same, as this process remembers them: some minutes old at most. */
  readonly readRecent: () => Promise<readonly LoopEntity[]>
}

/** Of a kind, by what is newest, and by what this process remembers. */
export const entityLoops = <Entity>(
  kind: Pick<EntityKind<Entity, never>, 'kind' | 'readAll' | 'describe' | 'dueAt'>,
  newest: () => Promise<View | undefined>,
  recent: () => Promise<View | undefined> = newest,
): EntityLoops => {
  const describe = (entity: Entity): LoopEntity => {
    const description = kind.describe(entity)
    return {
      ...description,
      isStale: (listed, now) => isStale(kind, listed, entity, now),
      start: (deps) => startEntityLoop(deps, kind.kind, description),
    }
  }
  return {
    kind: kind.kind,
    readAll: async () => (await kind.readAll(await newest())).map(describe),
    readRecent: async () => (await kind.readAll(await recent())).map(describe),
  }
}

export type EnsureDeps = LoopsDeps & {
  readonly entities?: readonly EntityLoops[]
  /** The store's time. */
  readonly now?: () => number
}

export const WORKSPACE_LOOPS: readonly WorkspaceLoopKind[] = ['workspace', 'maintenance']

export type EnsuredLoops = {
  /** The kinds of the loops that were missing, as often as there were. */
  readonly started: readonly LoopKind[]
  /** The task queues on which loops of the workspace run and should not: they are drained to its own. */
  readonly elsewhere: readonly string[]
}

const SERVO_STATUS = defineSearchAttributeKey('ServoStatus', 'KEYWORD')
const SERVO_NEXT_FIRE_AT = defineSearchAttributeKey('ServoNextFireAt', 'DATETIME')

export async function ensureLoops(deps: EnsureDeps): Promise<EnsuredLoops> {
  const { client, scope } = deps
  const home = taskQueues(scope).loops
  /** By id, with what lists have of its page. */
  const running = new Map<string, ListedLoop>()
  const elsewhere = new Map<string, string>()
  for await (const { workflowId: id, taskQueue, typedSearchAttributes } of client.workflow.list({ query: runningLoops(scope) })) {
    const next_fire_at = typedSearchAttributes.get(SERVO_NEXT_FIRE_AT)?.getTime() ?? null
    running.set(id, { status: typedSearchAttributes.get(SERVO_STATUS), next_fire_at })
    if (taskQueue !== home && isLoopsQueue(taskQueue)) elsewhere.set(id, taskQueue)
  }
  await eachOf([...elsewhere.keys()], LOOP_SIGNALS_AT_ONCE, (id) => signalLoop(client, id, drainSignal, { task_queue: home }))
  return { started: await startMissing(deps, running), elsewhere: [...new Set(elsewhere.values())] }
}

async function startMissing(deps: EnsureDeps, running: ReadonlyMap<string, ListedLoop>): Promise<readonly LoopKind[]> {
  const { scope, entities = [], now = Date.now } = deps
  const started: LoopKind[] = []
  for (const kind of WORKSPACE_LOOPS) {
    if (!running.has(workflowId(scope, kind)) && (await startWorkspaceLoop(deps, kind))) started.push(kind)
  }
  for (const { kind, readAll } of entities) {
    await eachOf(await readAll(), LOOP_SIGNALS_AT_ONCE, async ({ entity_id, is_over, isStale, start }) => {
      const listed = running.get(workflowId(scope, kind, entity_id))
      if (listed === undefined) {
        if (!is_over && (await start(deps))) started.push(kind)
      } else if (isStale(listed, now())) await pokeEntity(deps, kind, entity_id)
    })
  }
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

export const pokeEntity = ({ client, scope }: LoopsDeps, kind: EntityLoopKind, entity_id: string): Promise<void> =>
  signalLoop(client, workflowId(scope, kind, entity_id), pokeSignal)

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
export const runningLoops = ({ tenant_id, workspace_id }: Scope): string =>
  `ServoTenant = "${tenant_id}" AND ServoWorkspace = "${workspace_id}" AND ExecutionStatus = "Running"`
