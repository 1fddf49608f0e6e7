// Runs that are over, whole: what ended since the last settle is in memory still, and others are loaded by those who ask
// for all of their tasks. Nothing of them is hot.

import { assert } from '../core/errors.js'
import type { Slot } from './row-index.js'
import type { DepSatisfactionRow, TaskRow } from './run-table.js'

export type EndedRun = { readonly tasks: readonly TaskRow[]; readonly edges: readonly DepSatisfactionRow[] }

export type EndedRuns = {
  readonly add: (run_id: string, slots: readonly Slot[]) => void
  readonly hasEndedHere: (run_id: string) => boolean
  readonly isKnown: (run_id: string) => boolean
  readonly load: (run_id: string, ended: EndedRun) => void
  /** All of its tasks and edges; asserts that they are known. */
  readonly get: (run_id: string) => EndedRun
  /** Each may be ten thousand rows. */
  readonly forgetLoaded: () => void
  readonly clear: () => void
}

export function createEndedRuns(): EndedRuns {
  const slots = new Map<string, readonly Slot[]>()
  const loaded = new Map<string, EndedRun>()

  function rowsOf<Row>(run_id: string, table: Slot['table']): readonly Row[] {
    return (slots.get(run_id) ?? []).flatMap((slot) => (slot.table === table ? [slot.row as Row] : []))
  }

  return {
    add: (run_id: string, of: readonly Slot[]) => void slots.set(run_id, of),
    hasEndedHere: (run_id: string): boolean => slots.has(run_id),
    isKnown: (run_id: string): boolean => slots.has(run_id) || loaded.has(run_id),
    load: (run_id: string, ended: EndedRun) => void loaded.set(run_id, ended),
    get(run_id: string): EndedRun {
      if (slots.has(run_id)) return { tasks: rowsOf(run_id, 'tasks'), edges: rowsOf(run_id, 'dep_satisfaction') }
      const ended = loaded.get(run_id)
      assert(ended, `All tasks of the run ${run_id} were read, which nobody loaded.`)
      return ended
    },
    forgetLoaded: () => loaded.clear(),
    clear() {
      slots.clear()
      loaded.clear()
    },
  }
}
