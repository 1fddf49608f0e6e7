// Takes away the single segments of a page whose index is durable, and nothing else. It deletes by generation, only what the
// packs have byte for byte, and may be begun again wherever it ended.

import { isOperatingError, unavailable } from '../../core/errors.js'
import { ORPHAN_AGE_MS } from '../../core/limits.js'
import { stampMs } from '../../core/time.js'
import { packLines, parsePackLine } from '../../ledger/pack.js'
import { type PackReference, readPackIndex, type StoredIndex } from '../../ledger/pack-index.js'
import { readPackFile } from '../../ledger/packed.js'
import { findSegment } from '../../ledger/read.js'
import { manyAtOnce } from '../../storage/many-at-once.js'
import type { ObjectHead, ObjectStore } from '../../storage/object-store.js'
import { lastSegmentOf, listSingles, type PageSegment, readChainPage } from './page.js'

/** `void`: the index was taken away, and the page is as if nobody had packed it. */
export type Settled = { readonly deleted_count: number } | { readonly left: string } | 'void'

const DELETES_AT_ONCE = 16

/** Singles go in any order, but the one that was folded last goes last of all: where it is gone, they all are. */
export async function isSettled(store: ObjectStore, page: number): Promise<boolean> {
  const last = await lastSegmentOf(store, await readChainPage(store, page))
  if (last === undefined) return true
  const single = await findSegment(store, last.name)
  return single === undefined || single.crc32c !== last.crc32c
}

export async function settle(store: ObjectStore, page: number, segments: readonly PageSegment[]): Promise<Settled> {
  const stored = await readPackIndex(store, page)
  if (stored === undefined) return 'void'
  // What does not hold every segment is no reason to delete one.
  const checked = await checkPacks(store, stored, segments)
  const singles = await listSingles(store, segments)
  if (checked === 'good') return { deleted_count: await deleteSingles(store, segments, singles) }
  if (checked !== 'void') return { left: checked.fault }
  const isWhole = segments.every(({ name, crc32c }) => singles.get(name)?.crc32c === crc32c)
  if (!isWhole) return { left: 'packs that its index names are gone, or may go, and so are segments. Restore them from a copy.' }
  await remove(store, stored.head)
  return 'void'
}

type Checked = 'good' | 'void' | { readonly fault: string }

/** An index that was created long after one of its packs may name what collection had taken for an orphan before. By the store's
 *  stamps alone everybody judges the same: nobody deletes a single under such an index, and it goes. */
async function checkPacks(store: ObjectStore, { index, head }: StoredIndex, segments: readonly PageSegment[]): Promise<Checked> {
  let at = 0
  for (const reference of index.packs) {
    const pack = await findPack(store, reference)
    if (pack === undefined || stampMs(head.creation_time) - stampMs(pack.head.creation_time) > ORPHAN_AGE_MS) return 'void'
    for (const line of packLines(pack.bytes)) {
      const { name, crc32c, creation_time, sequence } = parsePackLine(line, `Segment ${at + 1} of the packs`)
      const segment = segments[at++]
      const isSame = segment?.name === name && segment.crc32c === crc32c && segment.creation_time === creation_time
      if (isSame && segment.sequence === sequence) continue
      return { fault: `${reference.name} holds segment ${name} where ${segment?.name ?? 'none'} was folded. Restore it from a copy.` }
    }
  }
  return at === segments.length ? 'good' : { fault: `its packs hold ${at} of ${segments.length} segments. Restore them from a copy.` }
}

async function findPack(store: ObjectStore, reference: PackReference) {
  try {
    return await readPackFile(store, reference)
  } catch (error) {
    if (isOperatingError(error, 'missing')) return undefined
    throw error
  }
}

async function deleteSingles(
  store: ObjectStore,
  segments: readonly PageSegment[],
  singles: ReadonlyMap<string, ObjectHead>,
): Promise<number> {
  // One that was written again under the name since is not what the pack holds, and stays.
  const present = segments.flatMap(({ name, crc32c }) => {
    const head = singles.get(name)
    return head?.crc32c === crc32c ? [head] : []
  })
  const last = present.at(-1)
  const removed = await manyAtOnce(present.slice(0, -1), DELETES_AT_ONCE, (head) => remove(store, head))
  let deleted_count = removed.filter((isDeleted) => isDeleted).length
  if (last !== undefined && (await remove(store, last))) deleted_count += 1
  return deleted_count
}

/** false: it is gone already, or another object now. */
export async function remove(store: ObjectStore, { name, generation }: ObjectHead): Promise<boolean> {
  const { kind } = await store.delete(name, { if_generation: generation })
  if (kind === 'throttled') throw unavailable(`${store.label} takes no more deletions now. The next look goes on with ${name}.`)
  if (kind === 'forbidden') {
    throw unavailable(`${name} may not be deleted from ${store.label}: give whoever maintains the workspace the right to delete objects.`)
  }
  return kind === 'deleted'
}
