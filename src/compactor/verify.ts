// Checks a whole workspace: the chain, every file that a revision names, and that the ledger is what was folded plus the
// unfolded tail. It reads everything, changes nothing, and names all that is wrong instead of stopping at the first.

import { compareStamps, instantMs } from '../core/time.js'
import { findSegment, listSegments, readSegment, type SegmentHead } from '../ledger/read.js'
import { LEDGER_PREFIX } from '../ledger/segment.js'
import { addToSetSum, EMPTY_SET_SUM, setSumFrom, setSumText } from '../ledger/set-sum.js'
import { countEntries, isLate, parseStored } from '../ledger/stored-segment.js'
import type { ObjectStore } from '../storage/object-store.js'
import type { Listed } from '../tables/history/pages.js'
import type { OutcomeCounts, Revision } from '../tables/revision.js'
import type { TableStore } from '../tables/snapshot.js'
import { findPacks, type PackedHead } from './packs/verify.js'
import { findLinks, findPointer, type Links, readLinked } from './verify-chain.js'
import { orDamage, RESTORE_IT } from './verify-documents.js'
import { inGroups, verifyFiles } from './verify-files.js'

export type VerifyAnswer = {
  readonly sequence: number
  readonly revision_count: number
  readonly file_count: number
  /** Events, and what became of them: ledger = applied + duplicate + refused + quarantined + unfolded. */
  readonly events: OutcomeCounts & { readonly ledger: number; readonly unfolded: number }
  readonly segments: { readonly folded: number; readonly unfolded: number; readonly packed: number }
  /** Objects under the ledger that are no segments and no packs: nothing is wrong with them, but nobody reads them. */
  readonly strays: readonly string[]
  /** Sentences; empty: everything is as it should be. */
  readonly problems: readonly string[]
}

type VerifyDeps = TableStore & { readonly scope: { readonly tenant_id: string; readonly workspace_id: string } }

type Tally = { -readonly [K in keyof OutcomeCounts]: number }

/** Folded segments by name, with the listing window that their revision went by. */
type Folded = Map<string, number>

export async function verify(deps: VerifyDeps): Promise<VerifyAnswer> {
  const { store } = deps
  const problems: string[] = []
  // The pointer first: segments that arrive while the ledger is listed then count as unfolded.
  const { pointer, server_time } = await findPointer(store, problems)
  const listed = await orDamage(LEDGER_PREFIX, () => listSegments(store, 0))
  if ('problem' in listed) problems.push(`The ledger cannot be listed, and what is unfolded is not known: ${listed.problem}`)
  // Packs after singles: what is packed meanwhile is in one of them.
  const packs = await findPacks(store, deps.scope, problems)
  const packed = packs.segments
  const ledger = new Map('problem' in listed ? [] : listed.document.segments.map((segment) => [segment.segment_name, segment]))
  const chain: Chain = {
    ledger,
    packed,
    is_listed: 'document' in listed,
    counts: { ...NO_COUNTS },
    folded: new Map(),
    listed: [],
  }
  const links = pointer === undefined ? NO_LINKS : await findLinks(store, pointer, problems)
  const revision_count = await verifyChain(deps, links, chain, problems)
  const files = pointer === undefined ? new Set<string>() : await verifyFiles(deps, pointer, { ...chain, links, server_time }, problems)
  problems.push(...notFolded(chain))
  const singles = [...ledger.values()].filter(({ segment_name }) => !packed.has(segment_name))
  const events = await countEvents(deps, singles, chain.folded, problems)
  countPacked(chain, events)
  const { counts, folded } = chain
  const accounted = counts.applied + counts.duplicate + counts.refused + counts.quarantined
  if (events.folded !== accounted) {
    problems.push(`The folded segments hold ${events.folded} events, but the revisions account for ${accounted}.`)
  }
  return {
    sequence: pointer?.sequence ?? 0,
    revision_count,
    file_count: files.size,
    events: { ledger: events.folded + events.unfolded, ...counts, unfolded: events.unfolded },
    segments: {
      folded: folded.size,
      unfolded: singles.filter(({ segment_name }) => !folded.has(segment_name)).length,
      packed: packed.size,
    },
    strays: [...('problem' in listed ? [] : listed.document.strays), ...packs.strays, ...writtenAgain(chain)],
    problems,
  }
}

/** What is found out on the way along the chain. */
type Chain = {
  readonly ledger: Map<string, SegmentHead>
  /** What a pack has counts, whether its own place has it too or not. */
  readonly packed: ReadonlyMap<string, PackedHead>
  readonly is_listed: boolean
  readonly counts: Tally
  readonly folded: Folded
  /** Every revision that could be read, oldest first. */
  readonly listed: Listed[]
}

const NO_COUNTS: OutcomeCounts = { applied: 0, duplicate: 0, refused: 0, quarantined: 0 }
const NO_LINKS: Links = new Map()
const SET_SUM_TEXT = /^[0-9a-f]{64}$/

/** Answers how many revisions could be read. Sums begin again behind a gap, with what the next revision says. */
async function verifyChain({ store }: VerifyDeps, links: Links, chain: Chain, problems: string[]): Promise<number> {
  const { counts } = chain
  let before: Revision | undefined
  let set_sum = EMPTY_SET_SUM
  let applied_total = 0
  let revision_count = 0
  let expected = 1
  for await (const { sequence, found } of readLinked(store, links)) {
    if ('problem' in found) {
      // A damaged volume is one problem, however many revisions it has.
      if (problems.at(-1) !== found.problem) problems.push(found.problem)
      continue
    }
    const revision = found.document
    const isBehindGap = sequence !== expected
    expected = sequence + 1
    revision_count += 1
    chain.listed.push(listedOf(revision))
    problems.push(...neverBack(before, revision))
    if (!isBehindGap && revision.previous !== (before?.revision ?? null)) {
      problems.push(`Revision ${sequence} follows ${revision.previous}, but revision ${sequence - 1} is ${before?.revision}.`)
    }
    for (const segment of revision.segments) {
      if (chain.folded.has(segment.name))
        problems.push(`Segment ${segment.name} was folded twice, the second time by revision ${sequence}.`)
      chain.folded.set(segment.name, revision.listing_window_ms)
      set_sum = addToSetSum(set_sum, segment.name, segment.crc32c)
      problems.push(...(await stillThere(store, chain, segment, sequence)))
    }
    for (const outcome of ['applied', 'duplicate', 'refused', 'quarantined'] as const) counts[outcome] += revision.counts[outcome]
    applied_total += revision.counts.applied
    if (isBehindGap && SET_SUM_TEXT.test(revision.set_sum)) {
      set_sum = setSumFrom(revision.set_sum)
      applied_total = revision.applied_total
    }
    if (revision.applied_total !== applied_total) {
      problems.push(
        `Revision ${sequence} says that ${revision.applied_total} events were applied so far; its chain adds up to ${applied_total}.`,
      )
    }
    if (revision.set_sum !== setSumText(set_sum)) problems.push(`The set-sum of revision ${sequence} is not that of its segments.`)
    before = revision
  }
  return revision_count
}

const listedOf = ({ sequence, revision, published_at, checkpoint }: Revision): Listed => ({
  sequence,
  revision,
  published_at: instantMs(published_at),
  checkpoint,
})

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

async function stillThere(
  store: ObjectStore,
  { ledger, packed, is_listed }: Chain,
  segment: Revision['segments'][number],
  sequence: number,
): Promise<string[]> {
  const inPack = packed.get(segment.name)
  if (inPack !== undefined) return asFolded(inPack, segment, sequence)
  if (!is_listed) {
    const found = await orDamage(segment.name, () => findSegment(store, segment.name))
    if ('problem' in found) return [found.problem]
    if (found.document !== undefined) ledger.set(segment.name, found.document)
  }
  const head = ledger.get(segment.name)
  if (head === undefined) return [`Segment ${segment.name}, folded by revision ${sequence}, is not in the ledger any more. ${RESTORE_IT}`]
  if (head.crc32c !== segment.crc32c)
    return [`Segment ${segment.name} has checksum ${head.crc32c}; revision ${sequence} folded ${segment.crc32c}. ${RESTORE_IT}`]
  if (head.generation !== segment.generation) return [`Segment ${segment.name} was written again since revision ${sequence} folded it.`]
  return []
}

function asFolded(
  { crc32c, creation_time, sequence, pack }: PackedHead,
  segment: Revision['segments'][number],
  folded_by: number,
): string[] {
  const isSame = crc32c === segment.crc32c && creation_time === segment.creation_time && sequence === folded_by
  if (isSame) return []
  return [
    `${pack} has segment ${segment.name} with checksum ${crc32c}, created at ${creation_time}, of revision ${sequence}; ` +
      `revision ${folded_by} folded ${segment.crc32c}, created at ${segment.creation_time}. ${RESTORE_IT}`,
  ]
}

/** Only what was folded is ever packed; of a revision that cannot be read nobody knows. */
function notFolded({ packed, folded, listed }: Chain): string[] {
  const read = new Set(listed.map(({ sequence }) => sequence))
  return [...packed]
    .filter(([name, { sequence }]) => !folded.has(name) && read.has(sequence))
    .map(([name, { sequence, pack }]) => `${pack} has segment ${name}, which revision ${sequence} did not fold.`)
}

/** Under the name of a packed segment lies something else: nobody was told that it is durable, and nobody folds it. */
const writtenAgain = ({ ledger, packed }: Chain): string[] =>
  [...ledger].filter(([name, { crc32c }]) => (packed.get(name)?.crc32c ?? crc32c) !== crc32c).map(([, { name }]) => name)

async function countEvents(
  { store, scope }: VerifyDeps,
  segments: readonly SegmentHead[],
  folded: Folded,
  problems: string[],
): Promise<{ folded: number; unfolded: number }> {
  const totals = { folded: 0, unfolded: 0 }
  for (const some of inGroups(segments)) {
    const counted = await Promise.all(
      some.map((segment) => countSegment(store, scope, segment, folded.get(segment.segment_name), problems)),
    )
    for (const [index, count] of counted.entries()) totals[folded.has(some[index]?.segment_name ?? '') ? 'folded' : 'unfolded'] += count
  }
  return totals
}

function countPacked({ packed, folded }: Chain, totals: { folded: number; unfolded: number }): void {
  for (const [segment_name, { creation_time, entry_count }] of packed) {
    const window_ms = folded.get(segment_name)
    const count = window_ms !== undefined && isLate({ segment_name, creation_time }, window_ms) ? 1 : entry_count
    totals[window_ms === undefined ? 'unfolded' : 'folded'] += count
  }
}

async function countSegment(
  store: ObjectStore,
  scope: VerifyDeps['scope'],
  segment: SegmentHead,
  listing_window_ms: number | undefined,
  problems: string[],
): Promise<number> {
  const read = await orDamage(segment.name, async () => {
    const bytes = await readSegment(store, segment.name, segment.crc32c)
    return countEntries(parseStored(segment, bytes, scope, listing_window_ms ?? Number.POSITIVE_INFINITY))
  })
  if ('document' in read) return read.document
  problems.push(read.problem)
  return 0
}
