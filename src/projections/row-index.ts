// The ways in to hot rows besides their key: tasks and edges of an open run, the current definition of an asset.

import { assert } from '../core/errors.js'
import type { AssetDefinitionRow } from './asset-table.js'
import type { DepSatisfactionRow, TaskRow } from './run-table.js'
import type { AnyRow, TableName } from './tables.js'

type OpenRun = { readonly tasks: Set<string>; readonly edgesByUpstream: Map<string, Set<string>> }

/** Names rows by the text of their key. */
export type RowIndex = {
  readonly add: (table: TableName, text: string, row: AnyRow) => void
  readonly remove: (table: TableName, text: string, row: AnyRow) => void
  /** The run is over: what belonged to it, by its key's text. */
  readonly removeRun: (run_id: string) => { readonly tasks: readonly string[]; readonly edges: readonly string[] }
  readonly tasksOf: (run_id: string) => readonly string[]
  readonly edgesFrom: (run_id: string, upstream_task_key: string) => readonly string[]
  readonly currentDefinition: (asset_key: string) => string | undefined
}

export function createRowIndex(): RowIndex {
  const runs = new Map<string, OpenRun>()
  const current = new Map<string, string>()

  function openRun(run_id: string): OpenRun {
    const run = runs.get(run_id)
    assert(run, `The tasks of run ${run_id} were asked for, but the run is not open.`)
    return run
  }

  function addEdge({ run_id, upstream_task_key }: DepSatisfactionRow, text: string): void {
    const { edgesByUpstream } = openRun(run_id)
    const edges = edgesByUpstream.get(upstream_task_key)
    if (edges === undefined) edgesByUpstream.set(upstream_task_key, new Set([text]))
    else edges.add(text)
  }

  return {
    add(table, text, row) {
      if (table === 'tasks') openRun((row as TaskRow).run_id).tasks.add(text)
      else if (table === 'dep_satisfaction') addEdge(row as DepSatisfactionRow, text)
      else if (table === 'asset_definitions') current.set((row as AssetDefinitionRow).asset_key, text)
      else if (table === 'runs' && !runs.has(text)) runs.set(text, { tasks: new Set(), edgesByUpstream: new Map() })
    },
    remove(table, text, row) {
      if (table === 'tasks') runs.get((row as TaskRow).run_id)?.tasks.delete(text)
      else if (table === 'dep_satisfaction') {
        const { run_id, upstream_task_key } = row as DepSatisfactionRow
        runs.get(run_id)?.edgesByUpstream.get(upstream_task_key)?.delete(text)
      } else if (table === 'asset_definitions') {
        // Another version of the asset may be the current one by now.
        const { asset_key } = row as AssetDefinitionRow
        if (current.get(asset_key) === text) current.delete(asset_key)
      }
    },
    removeRun(run_id) {
      const run = runs.get(run_id)
      runs.delete(run_id)
      if (run === undefined) return { tasks: [], edges: [] }
      return { tasks: [...run.tasks], edges: [...run.edgesByUpstream.values()].flatMap((edges) => [...edges]) }
    },
    tasksOf: (run_id) => [...openRun(run_id).tasks],
    edgesFrom: (run_id, upstream_task_key) => [...(openRun(run_id).edgesByUpstream.get(upstream_task_key) ?? [])],
    currentDefinition: (asset_key) => current.get(asset_key),
  }
}
