// The index of a page's packs: created once, when all segments of the page lie in packs, and never replaced. It stands beside
// the chain page of the same number, which is written long before its segments are old enough.

import { z } from 'zod'
import { CHAIN_PREFIX } from '../core/keys.js'
import { parseDocument } from '../storage/document.js'
import { listAll } from '../storage/list-all.js'
import type { ObjectHead, ObjectStore } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'

const packReference = z.object({ name: z.string(), bytes: z.int(), crc32c: z.string(), segments: z.int() })

const packIndex = z.object({
  schema: z.literal('servo-packs-v1'),
  first_sequence: z.int(),
  last_sequence: z.int(),
  /** Read one after the other they have all segments of the page, in recorded order. */
  packs: z.array(packReference),
})

export type PackReference = z.infer<typeof packReference>
export type PackIndex = z.infer<typeof packIndex>

export const packIndexName = (page: number): string => `${CHAIN_PREFIX}${page}.packs.json`

const INDEX_NAME = /^(\d+)\.packs\.json$/

export const parsePackIndex = (name: string, bytes: Uint8Array): PackIndex => parseDocument(packIndex, name, bytes)

export type IndexedPage = { readonly page: number; readonly head: ObjectHead }

export type ListedChain = {
  /** The pages that have an index, by their numbers. */
  readonly pages: IndexedPage[]
  /** Whatever else lies beside the pages, and they themselves. */
  readonly names: readonly string[]
  readonly server_time: number
}

export async function listIndexedPages(store: ObjectStore): Promise<ListedChain> {
  const { objects, server_time } = await listAll(store, CHAIN_PREFIX)
  const pages = objects.flatMap((head): IndexedPage[] => {
    const [, page] = INDEX_NAME.exec(head.name.slice(CHAIN_PREFIX.length)) ?? []
    return page === undefined ? [] : [{ page: Number(page), head }]
  })
  return { pages: pages.sort((left, right) => left.page - right.page), names: objects.map(({ name }) => name), server_time }
}

export type StoredIndex = { readonly index: PackIndex; readonly head: ObjectHead }

/** undefined: the page is not packed. */
export async function readPackIndex(store: ObjectStore, page: number): Promise<StoredIndex | undefined> {
  const name = packIndexName(page)
  const answer = await readIntact(store, name)
  return answer.kind === 'absent' ? undefined : { index: parsePackIndex(name, answer.bytes), head: answer.head }
}
