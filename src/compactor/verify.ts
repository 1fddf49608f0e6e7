// Checks a whole workspace: the chain, every file that a revision names, and that the ledger is what was folded plus the
// unfolded tail. It reads everything, changes nothing, and names all that is wrong instead of stopping at the first.

import { messageOf } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import { compareStamps } from '../core/time.js'
import { listSegments, readSegment, type SegmentHead } from '../ledger/read.js'
import { countEntries, parseStored } from '../ledger/stored-segment.js'
import { addToSetSum, EMPTY_SET_SUM, setSumText } from '../ledger/set-sum.js'
import type { ObjectStore } from '../storage/object-store.js'
import type { OutcomeCounts, Pointer, Revision } from '../tables/revision.js'
import { openSnapshot, readPointer, type TableStore } from '../tables/snapshot.js'
import { readRevisions } from './chain.js'
import { reachableFiles } from './collect.js'

export type VerifyAnswer = {
  readonly sequence: number
  readonly revision_count: number
  readonly file_count: number
  /** Events, and what became of them: ledger = applied + duplicate + refused + quarantined + unfolded. */
  readonly events: OutcomeCounts & { readonly ledger: number; readonly unfolded: number }
  readonly segments: { readonly folded: number; readonly unfolded: number }
  /** Sentences; empty: everything is as it should be. */
  readonly problems: readonly string[]
}

export type VerifyDeps = TableStore & { readonly scope: { readonly tenant_id: string; readonly workspace_id: string } }

type Tally = { -readonly [K in keyof OutcomeCounts]: number }

/** Folded segments by name, with the listing window that their revision went by. */
type Folded = Map<string, number>

const READS_AT_ONCE = 16

export async function verify(deps: VerifyDeps): Promise<VerifyAnswer> {
  const problems: string[] = []
  // The pointer first: segments that arrive while the ledger is listed then count as unfolded.
  const { published, server_time } = await readPointer(deps.store)
  const { segments } = await listSegments(deps.store, 0)
  const ledger = new Map(segments.map((segment) => [segment.segment_name, segment]))
  const counts: Tally = { applied: 0, duplicate: 0, refused: 0, quarantined: 0 }
  const folded: Folded = new Map()
  const revision_count = published === undefined ? 0 : await verifyChain(deps, published.pointer, ledger, folded, counts, problems)
  const files = published === undefined ? new Set<string>() : await reachableFiles(deps.store, published.pointer, server_time)
  if (published !== undefined) await verifyFiles(deps, published.pointer, files, problems)
  const events = await countEvents(deps, segments, folded, problems)
  const accounted = counts.applied + counts.duplicate + counts.refused + counts.quarantined
  if (events.folded !== accounted) {
    problems.push(`The folded segments hold ${events.folded} events, but the revisions account for ${accounted}.`)
  }
  return {
    sequence: published?.pointer.sequence ?? 0,
    revision_count,
    file_count: files.size,
    events: { ledger: events.folded + events.unfolded, ...counts, unfolded: events.unfolded },
    segments: { folded: folded.size, unfolded: segments.length - folded.size },
    problems,
  }
}

async function verifyChain(
  deps: VerifyDeps,
  pointer: Pointer,
  ledger: ReadonlyMap<string, SegmentHead>,
  folded: Folded,
  counts: Tally,
  problems: string[],
): Promise<number> {
  let before: Revision | undefined
  let set_sum = EMPTY_SET_SUM
  let applied_total = 0
  let revision_count = 0
  try {
    for await (const revision of readRevisions(deps.store, pointer)) {
      revision_count += 1
      problems.push(...neverBack(before, revision))
      for (const segment of revision.segments) {
        if (folded.has(segment.name))
          problems.push(`Segment ${segment.name} was folded twice, the second time by revision ${revision.sequence}.`)
        folded.set(segment.name, revision.listing_window_ms)
        set_sum = addToSetSum(set_sum, segment.name, segment.crc32c)
        problems.push(...stillThere(ledger.get(segment.name), segment, revision.sequence))
      }
      for (const outcome of ['applied', 'duplicate', 'refused', 'quarantined'] as const) counts[outcome] += revision.counts[outcome]
      applied_total += revision.counts.applied
      if (revision.applied_total !== applied_total) {
        problems.push(
          `Revision ${revision.sequence} says that ${revision.applied_total} events were applied so far; its chain adds up to ${applied_total}.`,
        )
      }
      if (revision.set_sum !== setSumText(set_sum))
        problems.push(`The set-sum of revision ${revision.sequence} is not that of its segments.`)
      before = revision
    }
  } catch (error) {
    problems.push(`The chain of revisions breaks: ${messageOf(error)}`)
  }
  return revision_count
}

function neverBack(before: Revision | undefined, revision: Revision): string[] {
  if (before === undefined) return revision.sequence === 1 ? [] : [`The chain begins with revision ${revision.sequence}, not with 1.`]
  const at = `revision ${revision.sequence}`
  const problems: string[] = []
  if (revision.sequence !== before.sequence + 1) problems.push(`After revision ${before.sequence} comes ${at}.`)
  if (revision.fold_version < before.fold_version) problems.push(`The fold version went back in ${at}.`)
  if (compareStamps(revision.fold_time, before.fold_time) < 0) problems.push(`The fold time went back in ${at}.`)
  for (const mark of ['closed_through', 'last_processed_at'] as const) {
    if (compareStamps(revision.watermarks[mark], before.watermarks[mark]) < 0) problems.push(`${mark} went back in ${at}.`)
  }
  return problems
}

function stillThere(head: SegmentHead | undefined, segment: Revision['segments'][number], sequence: number): string[] {
  if (head === undefined) return [`Segment ${segment.name}, folded by revision ${sequence}, is not in the ledger any more.`]
  if (head.crc32c !== segment.crc32c)
    return [`Segment ${segment.name} has checksum ${head.crc32c}; revision ${sequence} folded ${segment.crc32c}.`]
  if (head.generation !== segment.generation) return [`Segment ${segment.name} was written again since revision ${sequence} folded it.`]
  return []
}

/** Every reachable file is there; those of the current revision have the size and checksum that it states. */
async function verifyFiles(deps: VerifyDeps, pointer: Pointer, reachable: ReadonlySet<string>, problems: string[]): Promise<void> {
  const snapshot = await openSnapshot(deps, pointer).catch((error: unknown) => {
    problems.push(`The current revision cannot be opened: ${messageOf(error)}`)
    return undefined
  })
  const stated = new Map<string, string>()
  for (const parts of snapshot?.checkpoint.tables.values() ?? []) for (const { name, crc32c } of parts) stated.set(name, crc32c)
  for (const { files_added } of snapshot?.deltas ?? []) for (const { name, crc32c } of files_added) stated.set(name, crc32c)
  for (const some of inGroups([...reachable])) {
    const found = await Promise.all(some.map((name) => verifyFile(deps.store, name, stated.get(name))))
    problems.push(...found.filter((problem) => problem !== undefined))
  }
}

async function verifyFile(store: ObjectStore, name: string, crc32c: string | undefined): Promise<string | undefined> {
  const answer = await store.get(name)
  if (answer.kind === 'absent') return `${name} is gone, though a revision names it.`
  const found = crc32cHex(answer.bytes)
  if (found !== answer.head.crc32c) return `${name} is damaged: its bytes have checksum ${found}, the store recorded ${answer.head.crc32c}.`
  if (crc32c !== undefined && found !== crc32c) return `${name} has checksum ${found}; the revision that names it says ${crc32c}.`
  return undefined
}

async function countEvents(
  { store, scope }: VerifyDeps,
  segments: readonly SegmentHead[],
  folded: Folded,
  problems: string[],
): Promise<{ readonly folded: number; readonly unfolded: number }> {
  const totals = { folded: 0, unfolded: 0 }
  for (const some of inGroups(segments)) {
    const counted = await Promise.all(
      some.map((segment) => countSegment(store, scope, segment, folded.get(segment.segment_name), problems)),
    )
    for (const [index, count] of counted.entries()) totals[folded.has(some[index]?.segment_name ?? '') ? 'folded' : 'unfolded'] += count
  }
  return totals
}

async function countSegment(
  store: ObjectStore,
  scope: VerifyDeps['scope'],
  segment: SegmentHead,
  listing_window_ms: number | undefined,
  problems: string[],
): Promise<number> {
  try {
    const bytes = await readSegment(store, segment.name, segment.crc32c)
    return countEntries(parseStored(segment, bytes, scope, listing_window_ms ?? Number.POSITIVE_INFINITY))
  } catch (error) {
    problems.push(messageOf(error))
    return 0
  }
}

function* inGroups<T>(values: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < values.length; start += READS_AT_ONCE) yield values.slice(start, start + READS_AT_ONCE)
}
