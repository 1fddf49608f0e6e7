// The chain from its first revision on: each links to the one before, its sums go on, and nothing in it goes back. It tells what
// every revision has folded, and keeps of the revisions themselves only which of them are kept.

import { compareStamps } from '../../core/time.js'
import { addToSetSum, EMPTY_SET_SUM, setSumFrom, setSumText } from '../../ledger/set-sum.js'
import { RETENTION } from '../../projections/retention.js'
import type { ObjectStore } from '../../storage/object-store.js'
import type { OutcomeCounts, Pointer, Revision } from '../../tables/revision.js'
import { readLinked } from '../verify-chain.js'
import { findRevision } from '../verify-documents.js'
import type { FindsByName } from './by-name.js'
import { createKept, type KeptRevisions } from './kept.js'
import { type Links, openLinks } from './links.js'

export type Chain = {
  readonly revision_count: number
  readonly counts: OutcomeCounts
  /** Whether the revision of this number could be read. */
  readonly isRead: (sequence: number) => boolean
  readonly links: Links
  readonly kept: KeptRevisions
}

type Tally = { -readonly [K in keyof OutcomeCounts]: number }

export const NO_COUNTS: OutcomeCounts = { applied: 0, duplicate: 0, refused: 0, quarantined: 0 }
const SET_SUM_TEXT = /^[0-9a-f]{64}$/

/** What the revisions before have come to. */
type Sums = { before: Revision | undefined; set_sum: bigint; applied_total: number; expected: number }

export async function walkChain(
  store: ObjectStore,
  pointer: Pointer,
  server_time: number,
  found: FindsByName,
  problems: string[],
): Promise<Chain> {
  // What is wrong with it is said where it comes in the chain.
  const newest = await findRevision(store, pointer)
  const retention = 'document' in newest ? newest.document.retention : RETENTION
  const kept = createKept(pointer, { now: server_time, retention })
  const links = await openLinks(store, pointer, problems)
  const counts: Tally = { ...NO_COUNTS }
  const sums: Sums = { before: undefined, set_sum: EMPTY_SET_SUM, applied_total: 0, expected: 1 }
  /** Of a chain that is whole there is none. */
  const unread = new Set<number>()
  let revision_count = 0
  const passOver = (until: number) => {
    for (let sequence = sums.expected; sequence < until; sequence++) unread.add(sequence)
  }
  for await (const page of links.pages()) {
    for await (const { sequence, found: one } of readLinked(store, page, links.volumes)) {
      if ('problem' in one) {
        // A damaged volume is one problem, however many revisions it has.
        if (problems.at(-1) !== one.problem) problems.push(one.problem)
        continue
      }
      const revision = one.document
      passOver(sequence)
      revision_count += 1
      kept.pass(revision)
      for (const outcome of ['applied', 'duplicate', 'refused', 'quarantined'] as const) counts[outcome] += revision.counts[outcome]
      for (const { name, crc32c, creation_time, generation } of revision.segments) {
        const { listing_window_ms } = revision
        found.add(name, { kind: 'folded', sequence, crc32c, creation_time, generation, listing_window_ms })
      }
      problems.push(...afterThose(sums, revision))
    }
  }
  return {
    revision_count,
    counts,
    isRead: (sequence) => sequence >= 1 && sequence < sums.expected && !unread.has(sequence),
    links,
    kept: kept.all(),
  }
}

/** Sums begin again behind a gap, with what the revision says. */
function afterThose(sums: Sums, revision: Revision): string[] {
  const { before, expected } = sums
  const { sequence, counts, segments } = revision
  const problems = neverBack(before, revision)
  const isBehindGap = sequence !== expected
  if (!isBehindGap && revision.previous !== (before?.revision ?? null)) {
    problems.push(`Revision ${sequence} follows ${revision.previous}, but revision ${sequence - 1} is ${before?.revision}.`)
  }
  for (const { name, crc32c } of segments) sums.set_sum = addToSetSum(sums.set_sum, name, crc32c)
  sums.applied_total += counts.applied
  if (isBehindGap && SET_SUM_TEXT.test(revision.set_sum)) {
    sums.set_sum = setSumFrom(revision.set_sum)
    sums.applied_total = revision.applied_total
  }
  if (revision.applied_total !== sums.applied_total) {
    problems.push(
      `Revision ${sequence} says that ${revision.applied_total} events were applied so far; its chain adds up to ${sums.applied_total}.`,
    )
  }
  if (revision.set_sum !== setSumText(sums.set_sum)) problems.push(`The set-sum of revision ${sequence} is not that of its segments.`)
  sums.before = revision
  sums.expected = sequence + 1
  return problems
}

function neverBack(before: Revision | undefined, revision: Revision): string[] {
  if (before === undefined) return []
  const at = `revision ${revision.sequence}`
  const problems: string[] = []
  if (revision.fold_version < before.fold_version) problems.push(`The fold version went back in ${at}.`)
  if (compareStamps(revision.fold_time, before.fold_time) < 0) problems.push(`The fold time went back in ${at}.`)
  for (const mark of ['closed_through', 'last_processed_at'] as const) {
    if (compareStamps(revision.watermarks[mark], before.watermarks[mark]) < 0) problems.push(`${mark} went back in ${at}.`)
  }
  return problems
}
