// Opens an older revision: what was believed then. It walks the published chain and reads nothing else.

import { isOperatingError, missing } from '../core/errors.js'
import { CHAIN_PAGE_REVISIONS } from '../core/limits.js'
import { instantMs, instantText } from '../core/time.js'
import {
  type ChainPage,
  chainName,
  checkpointName,
  type Pointer,
  parseChainPage,
  parseCheckpoint,
  type Revision,
} from '../tables/revision.js'
import { openSnapshot, readDocument, readPointer, readRevision, type Snapshot, type TableStore } from '../tables/snapshot.js'

/** The newest revision published at or before an instant, or a revision by its sequence or its id. */
export type Moment = { readonly at: number } | { readonly sequence: number } | { readonly revision: string }

export async function openAsOf(tables: TableStore, moment: Moment): Promise<Snapshot> {
  const { published } = await readPointer(tables.store)
  if (published === undefined) throw missing(`${tables.store.label} has no revision yet, so there is nothing to look back at.`)
  const found = await findRevision(tables, published.pointer, moment)
  if (found === undefined) throw missing(`No revision was published ${describe(moment)}. The newest is ${published.pointer.sequence}.`)
  try {
    return await openSnapshot(tables, await pointerAt(tables, found))
  } catch (error) {
    if (!isOperatingError(error, 'missing')) throw error
    throw missing(
      `Revision ${found.sequence}, published at ${found.published_at}, cannot be opened any more: revisions are kept for 24 hours, ` +
        'and the table files of older ones are collected. `servo ledger replay` can rebuild them.',
      error,
    )
  }
}

const describe = (moment: Moment): string => {
  if ('at' in moment) return `at or before ${instantText(moment.at)}`
  return 'sequence' in moment ? `with sequence ${moment.sequence}` : `under the id ${moment.revision}`
}

async function findRevision({ store }: TableStore, pointer: Pointer, moment: Moment): Promise<Revision | undefined> {
  const fits = ({ sequence, revision, published_at }: Pick<Revision, 'sequence' | 'revision' | 'published_at'>): boolean => {
    if ('at' in moment) return instantMs(published_at) <= moment.at
    return 'sequence' in moment ? sequence === moment.sequence : revision === moment.revision
  }
  let link: { sequence: number; revision: string } = pointer
  while (link.sequence > pointer.chain_through) {
    const revision = await readRevision(store, link.sequence, link.revision)
    if (fits(revision)) return revision
    if (revision.previous === null) return undefined
    link = { sequence: link.sequence - 1, revision: revision.previous }
  }
  for (let n = pointer.chain_through / CHAIN_PAGE_REVISIONS - 1; n >= 0; n--) {
    const page: ChainPage = await readDocument(store, chainName(n), parseChainPage)
    const entry = page.revisions.findLast(fits)
    if (entry !== undefined) return readRevision(store, entry.sequence, entry.revision)
  }
  return undefined
}

/** The pointer as it was when this revision was the newest. */
async function pointerAt({ store }: TableStore, revision: Revision): Promise<Pointer> {
  const checkpoint = await readDocument(store, checkpointName(revision.checkpoint), parseCheckpoint)
  const deltas: { sequence: number; revision: string }[] = []
  let at: Revision = revision
  while (at.sequence > checkpoint.sequence) {
    deltas.push({ sequence: at.sequence, revision: at.revision })
    if (at.previous === null) break
    at = await readRevision(store, at.sequence - 1, at.previous)
  }
  return {
    schema: 'servo-pointer-v1',
    revision: revision.revision,
    sequence: revision.sequence,
    fold_version: revision.fold_version,
    published_at: revision.published_at,
    checkpoint: { name: checkpoint.name, sequence: checkpoint.sequence },
    deltas: deltas.reverse(),
    chain_through: 0,
  }
}
