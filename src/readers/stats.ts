// The size and age of a workspace, from its documents alone: no table file is opened.

import { stampMs } from '../core/time.js'
import { TABLE_NAMES, type TableName } from '../projections/tables.js'
import { wholeListingAfter } from '../tables/listed-after.js'
import { tableOverlayRowCount } from '../tables/overlay.js'
import { partsOf } from '../tables/snapshot.js'
import { listUnfolded } from './fresh.js'
import type { Reader } from './reader.js'
import { turnOverdueMs } from './turn-overdue.js'

type Stats = {
  readonly sequence: number
  readonly published_at: string | null
  readonly applied_total: number
  readonly checkpoint_sequence: number
  readonly delta_count: number
  readonly unfolded_segment_count: number
  readonly unfolded_event_count: number
  /** Age of the oldest unfolded segment. */
  readonly lag_ms: number
  /** How long ago the newest revision wanted a turn that has not come; 0: none is late. */
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
  const oldest = Math.min(...unfolded.map(({ creation_time }) => stampMs(creation_time)))
  const lag_ms = unfolded.length === 0 ? 0 : Math.max(0, clock.now() - oldest)
  const behind = {
    unfolded_segment_count: unfolded.length,
    unfolded_event_count: unfolded.reduce((sum, { meta }) => sum + Number(meta['count'] ?? 1), 0),
    lag_ms,
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
    turn_overdue_ms: turnOverdueMs(view, clock.now()),
    tables,
  }
}
