// Where the rows of a working set are, and the ways in to hot rows besides their key: the tasks and edges of an open
// run, the open runs of a schedule, the current definition of an asset.

import { assert } from '../core/errors.js'
import type { AssetDefinitionRow } from './asset-table.js'
import type { DepSatisfactionRow, RunRow, TaskRow } from './run-table.js'
import type { OpenRows } from './table.js'
import type { AnyRow, TableName } from './tables.js'

/** The place of one key. It stays the same while its row is replaced, so that one look-up finds all there is to know. */
export type Slot = {
  readonly table: TableName
  readonly text: string
  /** null: known to be absent. */
  row: AnyRow | null
  /** The row stays after the next settle, and is in the index. */
  isHot: boolean
  /** It was written, or left with its run, since the last settle. */
  isTouched: boolean
  /** Its hot row at the last settle; null: it was on disk, or nowhere. */
  before: AnyRow | null
  isDirty: boolean
  isStamped: boolean
}

export const newSlot = (table: TableName, text: string): Slot => ({
  table,
  text,
  row: null,
  isHot: false,
  isTouched: false,
  before: null,
  isDirty: false,
  isStamped: true,
})

type OpenRun = { readonly tasks: Set<Slot>; readonly edgesByUpstream: Map<string, Set<Slot>> }

type RowIndex = {
  /** A slot whose row is hot now; again is harmless. */
  readonly add: (slot: Slot) => void
  readonly remove: (slot: Slot) => void
  /** The run is over: all that belonged to it. */
  readonly removeRun: (run_id: string) => readonly Slot[]
  readonly isOpen: (run_id: string) => boolean
  readonly tasksOf: (run_id: string) => readonly TaskRow[]
  readonly edgesFrom: (run_id: string, upstream_task_key: string) => readonly DepSatisfactionRow[]
  readonly openRunsOf: (schedule_id: string) => readonly RunRow[]
  readonly currentDefinition: (asset_key: string) => AssetDefinitionRow | undefined
}

export function createRowIndex(): RowIndex {
  const runs = new Map<string, OpenRun>()
  const runsBySchedule = new Map<string, Set<Slot>>()
  const current = new Map<string, Slot>()

  function openRun(run_id: string): OpenRun {
    const run = runs.get(run_id)
    assert(run, `The tasks of run ${run_id} were asked for, but the run is not open.`)
    return run
  }

  function addRun(slot: Slot): void {
    if (!runs.has(slot.text)) runs.set(slot.text, { tasks: new Set(), edgesByUpstream: new Map() })
    const { schedule_id } = slot.row as RunRow
    if (schedule_id === null) return
    const ofSchedule = runsBySchedule.get(schedule_id)
    if (ofSchedule === undefined) runsBySchedule.set(schedule_id, new Set([slot]))
    else ofSchedule.add(slot)
  }

  function removeFromSchedule(slot: Slot): void {
    const { schedule_id } = slot.row as RunRow
    if (schedule_id === null) return
    const ofSchedule = runsBySchedule.get(schedule_id)
    ofSchedule?.delete(slot)
    if (ofSchedule?.size === 0) runsBySchedule.delete(schedule_id)
  }

  function addEdge(slot: Slot): void {
    const { run_id, upstream_task_key } = slot.row as DepSatisfactionRow
    const { edgesByUpstream } = openRun(run_id)
    const edges = edgesByUpstream.get(upstream_task_key)
    if (edges === undefined) edgesByUpstream.set(upstream_task_key, new Set([slot]))
    else edges.add(slot)
  }

  return {
    add(slot) {
      const { table } = slot
      if (table === 'tasks') openRun((slot.row as TaskRow).run_id).tasks.add(slot)
      else if (table === 'dep_satisfaction') addEdge(slot)
      else if (table === 'asset_definitions') current.set((slot.row as AssetDefinitionRow).asset_key, slot)
      else if (table === 'runs') addRun(slot)
    },
    remove(slot) {
      const { table } = slot
      if (table === 'runs') removeFromSchedule(slot)
      else if (table === 'tasks') runs.get((slot.row as TaskRow).run_id)?.tasks.delete(slot)
      else if (table === 'dep_satisfaction') {
        const { run_id, upstream_task_key } = slot.row as DepSatisfactionRow
        runs.get(run_id)?.edgesByUpstream.get(upstream_task_key)?.delete(slot)
      } else if (table === 'asset_definitions') {
        // Another version of the asset may be the current one by now.
        const { asset_key } = slot.row as AssetDefinitionRow
        if (current.get(asset_key) === slot) current.delete(asset_key)
      }
    },
    removeRun(run_id) {
      const run = runs.get(run_id)
      runs.delete(run_id)
      if (run === undefined) return []
      return [...run.tasks, ...[...run.edgesByUpstream.values()].flatMap((edges) => [...edges])]
    },
    isOpen: (run_id) => runs.has(run_id),
    tasksOf: (run_id) => rowsOf<TaskRow>(openRun(run_id).tasks),
    edgesFrom: (run_id, upstream_task_key) => rowsOf<DepSatisfactionRow>(openRun(run_id).edgesByUpstream.get(upstream_task_key)),
    openRunsOf: (schedule_id) => rowsOf<RunRow>(runsBySchedule.get(schedule_id)),
    currentDefinition: (asset_key) => current.get(asset_key)?.row as AssetDefinitionRow | undefined,
  }
}

function rowsOf<Row extends AnyRow>(slots: ReadonlySet<Slot> | undefined): readonly Row[] {
  const rows: Row[] = []
  if (slots !== undefined) for (const { row } of slots) rows.push(row as Row)
  return rows
}

/** Of a table whose rows are in memory while they are open. */
export const isOpenRow = ({ column, values }: OpenRows, row: AnyRow): boolean =>
  values.includes((row as unknown as Readonly<Record<string, string>>)[column] as string)
