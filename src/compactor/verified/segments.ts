// What verify says of segments, name by name: each that was folded lies where it should and is what was folded, in one place of
// the chain and in one pack, and holds the events that it is said to hold. It reads every one that lies in its own place.

import { findSegment, readSegment } from '../../ledger/read.js'
import { segmentObjectName } from '../../ledger/segment.js'
import { countEntries, isLate, parseStored } from '../../ledger/stored-segment.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { orDamage, RESTORE_IT } from '../verify-documents.js'
import { READS_AT_ONCE } from '../verify-files.js'
import type { Find, FindsByName, FoldedFind, PackedFind, SingleFind } from './by-name.js'

type Scope = { readonly tenant_id: string; readonly workspace_id: string }

type SegmentsDeps = { readonly store: ObjectStore; readonly scope: Scope }

/** What is known besides. */
export type Surveyed = {
  /** Otherwise each that was folded and lies in no pack is looked for. */
  readonly is_listed: boolean
  /** Whether the revision of this number could be read. */
  readonly isRead: (sequence: number) => boolean
}

export type SegmentsAnswer = {
  readonly events: { folded: number; unfolded: number }
  readonly segments: { folded: number; unfolded: number; packed: number }
  /** Under the name of a packed segment lies something else: nobody was told that it is durable, and nobody folds it. */
  readonly strays: string[]
}

export async function verifySegments(
  deps: SegmentsDeps,
  found: FindsByName,
  surveyed: Surveyed,
  problems: string[],
): Promise<SegmentsAnswer> {
  const answer: SegmentsAnswer = { events: { folded: 0, unfolded: 0 }, segments: { folded: 0, unfolded: 0, packed: 0 }, strays: [] }
  let due: Single[] = []
  const countDue = async () => {
    const counts = await Promise.all(due.map((single) => countSegment(deps, single, problems)))
    for (const [index, count] of counts.entries()) answer.events[due[index]?.folded === undefined ? 'unfolded' : 'folded'] += count
    due = []
  }
  for (const { segment_name, finds } of found.groups()) {
    const named = namedOf(segment_name, finds, surveyed)
    problems.push(...foundTwice(named))
    if (!surveyed.is_listed && named.folded.length > 0 && named.packed.length === 0) await lookFor(deps.store, named, problems)
    problems.push(...asFolded(named), ...notFolded(named, surveyed))
    tally(answer, named)
    const single = singleOf(named)
    if (single !== undefined) due.push(single)
    if (due.length === READS_AT_ONCE) await countDue()
  }
  await countDue()
  return answer
}

/** All of one name. */
type Named = {
  readonly segment_name: string
  readonly folded: readonly FoldedFind[]
  readonly packed: readonly PackedFind[]
  single: SingleFind | undefined
  /** What became of looking for it. */
  problem?: string
}

function namedOf(segment_name: string, finds: readonly Find[], { is_listed }: Surveyed): Named {
  return {
    segment_name,
    folded: finds.filter((find) => find.kind === 'folded'),
    packed: finds.filter((find) => find.kind === 'packed'),
    // Of a listing that broke off some are known, and none of them counts.
    single: is_listed ? finds.find((find) => find.kind === 'single') : undefined,
  }
}

function foundTwice({ segment_name, folded, packed }: Named): string[] {
  return [
    ...folded.slice(1).map(({ sequence }) => `Segment ${segment_name} was folded twice, the second time by revision ${sequence}.`),
    ...packed.slice(1).map(({ pack }, index) => `Segment ${segment_name} is packed twice, in ${packed[index]?.pack} and in ${pack}.`),
  ]
}

async function lookFor(store: ObjectStore, named: Named, problems: string[]): Promise<void> {
  const found = await orDamage(named.segment_name, () => findSegment(store, named.segment_name))
  if ('problem' in found) {
    named.problem = found.problem
    problems.push(...named.folded.map(() => found.problem))
  } else if (found.document !== undefined) named.single = { kind: 'single', ...found.document }
}

/** Each fold of it, against where it lies: what a pack has counts, whether its own place has it too or not. */
function asFolded({ segment_name, folded, packed, single, problem }: Named): string[] {
  const inPack = packed.at(-1)
  if (problem !== undefined) return []
  return folded.flatMap((fold) => {
    if (inPack !== undefined) return isSame(inPack, fold) ? [] : [differsInPack(segment_name, inPack, fold)]
    if (single === undefined)
      return [`Segment ${segment_name}, folded by revision ${fold.sequence}, is not in the ledger any more. ${RESTORE_IT}`]
    // Its content is read later, which says what is wrong with it.
    if (isDamaged(single)) return []
    if (single.crc32c !== fold.crc32c)
      return [`Segment ${segment_name} has checksum ${single.crc32c}; revision ${fold.sequence} folded ${fold.crc32c}. ${RESTORE_IT}`]
    if (single.generation !== fold.generation)
      return [`Segment ${segment_name} was written again since revision ${fold.sequence} folded it.`]
    return []
  })
}

/** A damaged object is listed without a checksum. */
const isDamaged = ({ crc32c }: SingleFind): boolean => crc32c === ''

const isSame = ({ crc32c, creation_time, sequence }: PackedFind, fold: FoldedFind): boolean =>
  crc32c === fold.crc32c && creation_time === fold.creation_time && sequence === fold.sequence

const differsInPack = (segment_name: string, { pack, crc32c, creation_time, sequence }: PackedFind, fold: FoldedFind): string =>
  `${pack} has segment ${segment_name} with checksum ${crc32c}, created at ${creation_time}, of revision ${sequence}; ` +
  `revision ${fold.sequence} folded ${fold.crc32c}, created at ${fold.creation_time}. ${RESTORE_IT}`

/** Only what was folded is ever packed; of a revision that cannot be read nobody knows. */
function notFolded({ segment_name, folded, packed }: Named, { isRead }: Surveyed): string[] {
  const inPack = packed.at(-1)
  if (inPack === undefined || folded.length > 0 || !isRead(inPack.sequence)) return []
  return [`${inPack.pack} has segment ${segment_name}, which revision ${inPack.sequence} did not fold.`]
}

function tally({ events, segments, strays }: SegmentsAnswer, { segment_name, folded, packed, single }: Named): void {
  const fold = folded.at(-1)
  const inPack = packed.at(-1)
  if (fold !== undefined) segments.folded += 1
  if (inPack === undefined) {
    if (fold === undefined && single !== undefined) segments.unfolded += 1
    return
  }
  segments.packed += 1
  const { crc32c, creation_time, entry_count } = inPack
  if (single !== undefined && !isDamaged(single) && single.crc32c !== crc32c) strays.push(segmentObjectName(segment_name))
  const isCutOff = fold !== undefined && isLate({ segment_name, creation_time }, fold.listing_window_ms)
  events[fold === undefined ? 'unfolded' : 'folded'] += isCutOff ? 1 : entry_count
}

type Single = SingleFind & { readonly segment_name: string; readonly folded: FoldedFind | undefined }

/** Its events are counted where it lies. Of one that is packed too only damage counts: readers meet it first. */
function singleOf({ segment_name, folded, packed, single }: Named): Single | undefined {
  return single === undefined || (packed.length > 0 && !isDamaged(single)) ? undefined : { ...single, segment_name, folded: folded.at(-1) }
}

async function countSegment({ store, scope }: SegmentsDeps, single: Single, problems: string[]): Promise<number> {
  const name = segmentObjectName(single.segment_name)
  const read = await orDamage(name, async () => {
    const bytes = await readSegment(store, name, single.crc32c)
    return countEntries(parseStored(single, bytes, scope, single.folded?.listing_window_ms ?? Number.POSITIVE_INFINITY))
  })
  if ('document' in read) return read.document
  problems.push(read.problem)
  return 0
}
