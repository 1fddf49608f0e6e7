// A backup as a workspace that can be read: with the pointer that its document holds, and without the segments of later
// backups. So whatever checks and replays a workspace does so to a backup. Nothing is written through it.

import { assert } from '../../core/errors.js'
import { crc32cHex } from '../../core/hash.js'
import { compareStamps } from '../../core/time.js'
import { type Origin, originOf } from '../../ledger/origin.js'
import { isSegmentObject, LEDGER_PREFIX } from '../../ledger/segment.js'
import type { ObjectHead, ObjectStore } from '../../storage/object-store.js'
import { encodePointer, POINTER_NAME, type Pointer } from '../../tables/revision.js'

/** What of a ledger belongs to a backup; null: nothing. */
export const isCreatedBy = (through: string | null, originOf: (head: ObjectHead) => Origin) => (head: ObjectHead) =>
  isSegmentObject(head.name) && through !== null && compareStamps(originOf(head).creation_time, through) <= 0

export function viewOf(
  store: ObjectStore,
  { pointer, segments_through }: { readonly pointer: Pointer; readonly segments_through: string | null },
): ObjectStore {
  const bytes = encodePointer(pointer)
  const isOfBackup = isCreatedBy(segments_through, originOf)
  return {
    ...store,
    async get(name) {
      if (name !== POINTER_NAME) return store.get(name)
      const { server_time } = await store.head(name)
      const head = { name, generation: '1', creation_time: pointer.published_at, size: bytes.length, crc32c: crc32cHex(bytes), meta: {} }
      return { kind: 'found', head, bytes, server_time }
    },
    async list(prefix, start_after) {
      const page = await store.list(prefix, start_after)
      return { ...page, objects: page.objects.filter((head) => !head.name.startsWith(LEDGER_PREFIX) || isOfBackup(head)) }
    },
    put: async (name) => assert(false, `${name} was written through a view of a backup.`) as never,
    delete: async (name) => assert(false, `${name} was deleted through a view of a backup.`) as never,
  }
}
