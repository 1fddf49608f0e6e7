// What events that are about to be folded say of each other, so that the rows of a whole backlog are named before any of
// it is folded. A hint may be wrong (its event is refused): it may name too many rows, and never decides anything.

import type { EventOf } from '../events/event.js'
import type { Partitions } from '../events/partitions.js'
import type { BatchEntry } from './outcome.js'
import type { TaskRow } from './run-table.js'

/** What names the partitions of a task. */
export type TaskPartitions = Pick<TaskRow, 'asset_key' | 'definition_hash' | 'partitions'>

export type Hints = {
  /** As the plans among these events say; several, if two turns planned the same run. */
  readonly plannedTasks: (run_id: string, task_key: string) => readonly TaskPartitions[]
  /** The partitions of that definition, as these events define it. */
  readonly definedPartitions: (asset_key: string, definition_hash: string) => readonly (Partitions | null)[]
  /** Whether two of these events ask for the same run key with different requests. */
  readonly hasRival: (run_key: string) => boolean
}

type Plan = EventOf<'PlanCreated'>['payload']

export const NO_HINTS: Hints = hintsOf([])

export function hintsOf(entries: Iterable<BatchEntry>): Hints {
  const plans = new Map<string, Plan[]>()
  const partitions = new Map<string, (Partitions | null)[]>()
  const fingerprints = new Map<string, string>()
  const contested = new Set<string>()
  for (const entry of entries) {
    if (entry.kind !== 'event') continue
    const { event } = entry
    if (event.event_type === 'PlanCreated') append(plans, event.payload.run_id, event.payload)
    else if (event.event_type === 'AssetDefined') {
      const { asset_key, definition_hash, definition } = event.payload
      append(partitions, `${asset_key}\u0000${definition_hash}`, definition.partitions ?? null)
    } else if (event.event_type === 'RunRequested') {
      const { run_key, request_fingerprint } = event.payload
      const other = fingerprints.get(run_key)
      if (other === undefined) fingerprints.set(run_key, request_fingerprint)
      else if (other !== request_fingerprint) contested.add(run_key)
    }
  }
  // Few of the planned tasks end in the same pass: their names are spread out for the runs that are asked for.
  const tasks = new Map<string, ReadonlyMap<string, readonly TaskPartitions[]>>()
  function tasksOf(run_id: string, pages: readonly Plan[]): ReadonlyMap<string, readonly TaskPartitions[]> {
    const known = tasks.get(run_id)
    if (known !== undefined) return known
    const spread = new Map<string, TaskPartitions[]>()
    for (const { definitions, tasks } of pages) {
      for (const { k, d, p } of tasks) {
        const definition = definitions[d]
        if (definition !== undefined) append(spread, k, { ...definition, partitions: p })
      }
    }
    tasks.set(run_id, spread)
    return spread
  }
  return {
    plannedTasks(run_id, task_key) {
      const pages = plans.get(run_id)
      return pages === undefined ? NONE : (tasksOf(run_id, pages).get(task_key) ?? NONE)
    },
    definedPartitions: (asset_key, definition_hash) => partitions.get(`${asset_key}\u0000${definition_hash}`) ?? NONE,
    hasRival: (run_key) => contested.has(run_key),
  }
}

const NONE: readonly never[] = []

function append<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}
