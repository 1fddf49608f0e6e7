// Checks a whole workspace: the chain, every file that a revision names, and that the ledger is what was folded plus the
// unfolded tail. It reads everything, changes nothing, and names all that is wrong instead of stopping at the first. Of a
// history of any length it holds a page and some thousands of segments at a time.

import { tmpdir } from 'node:os'
import { listSegmentPages } from '../ledger/read.js'
import { LEDGER_PREFIX } from '../ledger/segment.js'
import type { ObjectStore } from '../storage/object-store.js'
import type { OutcomeCounts } from '../tables/revision.js'
import type { TableStore } from '../tables/snapshot.js'
import { findPacks } from './packs/verify.js'
import { createFindsByName, type FindsByName } from './verified/by-name.js'
import { NO_COUNTS, walkChain } from './verified/chain.js'
import { verifySegments } from './verified/segments.js'
import { findPointer } from './verify-chain.js'
import { orDamage } from './verify-documents.js'
import { verifyFiles } from './verify-files.js'

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

type VerifyDeps = TableStore & {
  readonly scope: { readonly tenant_id: string; readonly workspace_id: string }
  /** Where a file may be made for what memory does not hold; absent: where temporary files are made. */
  readonly scratch_folder?: string
  /** Segments that memory holds; less than usual is for tests. */
  readonly held_segments?: number
}

export async function verify(deps: VerifyDeps): Promise<VerifyAnswer> {
  const { store, scope, scratch_folder = tmpdir(), held_segments } = deps
  const problems: string[] = []
  const found = createFindsByName(scratch_folder, held_segments)
  try {
    // The pointer first: segments that arrive while the ledger is listed then count as unfolded.
    const { pointer, server_time } = await findPointer(store, problems)
    const chain = pointer === undefined ? undefined : await walkChain(store, pointer, server_time, found, problems)
    // Files next: they are collected when nobody can reach them any more, and segments never are.
    const file_count = pointer === undefined || chain === undefined ? 0 : await verifyFiles(deps, pointer, chain, problems)
    const singles = await findSingles(store, found, problems)
    // Packs after singles: what is packed meanwhile is in one of them.
    const strayPacks = await findPacks(store, scope, found, problems)
    const isRead = chain?.isRead ?? (() => false)
    const { events, segments, strays } = await verifySegments(deps, found, { ...singles, isRead }, problems)
    const counts = chain?.counts ?? NO_COUNTS
    const accounted = counts.applied + counts.duplicate + counts.refused + counts.quarantined
    if (events.folded !== accounted) {
      problems.push(`The folded segments hold ${events.folded} events, but the revisions account for ${accounted}.`)
    }
    return {
      sequence: pointer?.sequence ?? 0,
      revision_count: chain?.revision_count ?? 0,
      file_count,
      events: { ledger: events.folded + events.unfolded, ...counts, unfolded: events.unfolded },
      segments,
      strays: [...singles.strays, ...strayPacks, ...strays],
      problems,
    }
  } finally {
    found.close()
  }
}

async function findSingles(
  store: ObjectStore,
  found: FindsByName,
  problems: string[],
): Promise<{ readonly is_listed: boolean; readonly strays: readonly string[] }> {
  const all: string[] = []
  const listed = await orDamage(LEDGER_PREFIX, async () => {
    for await (const { segments, strays } of listSegmentPages(store, 0)) {
      all.push(...strays)
      for (const { segment_name, crc32c, creation_time, generation } of segments)
        found.add(segment_name, { kind: 'single', crc32c, creation_time, generation })
    }
  })
  if ('document' in listed) return { is_listed: true, strays: all }
  problems.push(`The ledger cannot be listed, and what is unfolded is not known: ${listed.problem}`)
  return { is_listed: false, strays: [] }
}
