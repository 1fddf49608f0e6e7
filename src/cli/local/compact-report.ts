// What `servo ledger compact` says of a turn, a merge or a collection: one shape for programs, whether it watches or not.

import type { Collected } from '../../compactor/collect.js'
import type { MergeAnswer } from '../../compactor/merge.js'
import { instantText } from '../../core/time.js'
import type { TurnAnswer } from '../../turn/turn.js'
import { counted, printJson, printLine } from './print.js'

export type CompactReport = {
  /** The revision that stands now. */
  readonly sequence: number
  /** What was acknowledged before it is folded, in the store's own time. */
  readonly processed_at: string
  readonly published_count: number
  readonly applied: number
  readonly duplicate: number
  readonly refused: number
  readonly quarantined: number
  readonly merged?: MergeAnswer
  readonly collected?: Collected
}

export const reportOf = ({ sequence, processed_at, published_count, counts }: TurnAnswer): CompactReport => ({
  sequence,
  processed_at: instantText(processed_at),
  published_count,
  ...counts,
})

export const sumOf = (before: CompactReport, next: CompactReport): CompactReport => ({
  sequence: next.sequence,
  processed_at: next.processed_at,
  published_count: before.published_count + next.published_count,
  applied: before.applied + next.applied,
  duplicate: before.duplicate + next.duplicate,
  refused: before.refused + next.refused,
  quarantined: before.quarantined + next.quarantined,
})

/** After a report of its own: nothing was folded since. */
export const nothingSince = ({ sequence, processed_at }: CompactReport): CompactReport => ({
  sequence,
  processed_at,
  published_count: 0,
  applied: 0,
  duplicate: 0,
  refused: 0,
  quarantined: 0,
})

export const withMerge = (report: CompactReport, merged: MergeAnswer): CompactReport => ({
  ...report,
  ...(merged.kind === 'merged' ? { sequence: merged.sequence } : {}),
  merged,
})

export function printReport(report: CompactReport, { json }: { readonly json?: boolean | undefined }): void {
  if (json === true) printJson(report)
  else for (const line of linesOf(report)) printLine(line)
}

function linesOf({ merged, collected, ...turn }: CompactReport): string[] {
  const isTurn = turn.published_count > 0 || (merged === undefined && collected === undefined)
  return [
    ...(isTurn ? [describeTurn(turn)] : []),
    ...(merged === undefined ? [] : [describeMerge(merged)]),
    ...(collected === undefined ? [] : [describeCollected(collected)]),
  ]
}

const describeTurn = ({ sequence, published_count, applied, duplicate, refused, quarantined }: CompactReport): string =>
  `Revision ${sequence}: ${applied} applied, ${duplicate} duplicate, ${refused} refused, ${quarantined} quarantined in ${counted(published_count, 'publish').replace(/publishs$/, 'publishes')}.`

function describeCollected({ deleted_count, claims_deleted_count, packs_deleted_count, too_young_count }: Collected): string {
  const packs = packs_deleted_count === 0 ? '' : ` and ${counted(packs_deleted_count, 'pack')}`
  return `Collected ${counted(deleted_count, 'file')} and ${counted(claims_deleted_count, 'claim')}${packs}; ${too_young_count} are too young to judge.`
}

function describeMerge(merged: MergeAnswer): string {
  if (merged.kind !== 'merged') return merged.kind === 'lost' ? 'Another merge published first; its work stands.' : 'Nothing to merge.'
  const cold = merged.cold_rows === 0 ? '' : `, ${merged.cold_rows} of them cold from now on`
  return `Merged into revision ${merged.sequence}: ${counted(merged.rows_written, 'row')} in ${counted(merged.parts_written, 'file')}${cold}.`
}
