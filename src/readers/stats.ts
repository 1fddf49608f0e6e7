// The size and age of a workspace, from its documents alone: no table file is opened.

import { TABLE_NAMES, type TableName } from '../projections/tables.js'
import { wholeListingAfter } from '../tables/listed-after.js'
import { tableOverlayRowCount } from '../tables/overlay.js'
import { partsOf } from '../tables/snapshot.js'
import { listUnfolded } from './fresh.js'
import { oldestOf } from './oldest-unfolded.js'
import type { Reader } from './reader.js'
import { turnOverdue } from './turn-overdue.js'

type Stats = {
  readonly sequence: number
  readonly published_at: string | null
  readonly applied_total: number
  readonly checkpoint_sequence: number
  readonly delta_count: number
  readonly unfolded_segment_count: number
  readonly unfolded_event_count: number
  /** When the oldest unfolded segment was created; null: there is none. */
  readonly oldest_unfolded_at: number | null
  /** Its age. */
  readonly lag_ms: number
  /** How long a turn is overdue that the newest revision wanted, or that what is not folded waits for; 0: none is. */
  readonly turn_overdue_ms: number
  readonly tables: readonly TableStats[]
}

type TableStats = {
  readonly table: TableName
  /** A key that was changed since it was merged is in more than one file, and counted in each. */
  readonly rows_at_most: number
  readonly file_count: number
  readonly bytes: number
  readonly overlay_rows: number
}

export async function readStats({ clock }: { readonly clock: { readonly now: () => number } }, reader: Reader): Promise<Stats> {
  const view = await reader.latest()
  // All open minutes: what nobody acknowledged is unfolded as well.
  const unfolded = await listUnfolded(reader, view, view === undefined ? 0 : wholeListingAfter(view.snapshot.revision.watermarks))
  const oldest_unfolded_at = oldestOf(unfolded)
  const now = clock.now()
  const behind = {
    unfolded_segment_count: unfolded.length,
    unfolded_event_count: unfolded.reduce((sum, { meta }) => sum + Number(meta['count'] ?? 1), 0),
    oldest_unfolded_at,
    lag_ms: oldest_unfolded_at === null ? 0 : Math.max(0, now - oldest_unfolded_at),
  }
  const nothing = {
    sequence: 0,
    published_at: null,
    applied_total: 0,
    checkpoint_sequence: 0,
    delta_count: 0,
    turn_overdue_ms: 0,
    tables: [],
  }
  if (view === undefined) return { ...nothing, ...behind }
  const { revision, checkpoint, deltas, overlay } = view.snapshot
  const tables = TABLE_NAMES.map((table) => {
    const parts = partsOf(view.snapshot, table)
    const overlay_rows = tableOverlayRowCount(overlay, table)
    // What a list says of its parts is enough: none is opened.
    const cold = view.snapshot.checkpoint.cold.get(table) ?? []
    const files = [...parts, ...cold]
    const rows = files.reduce((sum, file) => sum + file.rows, 0)
    return {
      table,
      rows_at_most: rows + overlay_rows,
      file_count: parts.length + cold.reduce((sum, list) => sum + list.parts, 0),
      bytes: files.reduce((sum, file) => sum + file.bytes, 0),
      overlay_rows,
    }
  })
  return {
    sequence: revision.sequence,
    published_at: revision.published_at,
    applied_total: revision.applied_total,
    checkpoint_sequence: checkpoint.sequence,
    delta_count: deltas.length,
    ...behind,
    turn_overdue_ms: turnOverdue(view, oldest_unfolded_at, now)?.overdue_ms ?? 0,
    tables,
  }
}
