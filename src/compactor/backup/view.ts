// A backup as a workspace that can be read: exactly the objects that its document names, and the pointer that it holds. So
// whatever checks and replays a workspace does so to a backup, and a restore copies it. Nothing is written through it.

import { assert, corrupt } from '../../core/errors.js'
import { crc32cHex } from '../../core/hash.js'
import { withOrigin } from '../../ledger/origin.js'
import { type ObjectHead, type ObjectStore, PAGE_SIZE } from '../../storage/object-store.js'
import { encodePointer, POINTER_NAME, type Pointer } from '../../tables/revision.js'
import { isSameObject, openContents, placeOf, type Recorded, recordOf } from './contents.js'

/** What a view is made from: a backup's document, or as much of it as there is before it is written. */
type Viewed = { readonly pointer: Pointer; readonly taken_at: string; readonly contents: { readonly sha256: string } }

export function viewOf(store: ObjectStore, { pointer, taken_at, contents }: Viewed): ObjectStore {
  const { find, page } = openContents(store, contents.sha256)

  async function recordedAs<Answer extends { readonly kind: string }>(name: string, ask: (place: string) => Promise<Answer>) {
    const object = await find(name)
    const answer = await ask(object === undefined ? nowhere(name) : placeOf(object))
    return { object, answer }
  }

  const { filePath: _, ...calls } = store
  return pointedAt(
    {
      ...calls,
      async get(name) {
        const { object, answer } = await recordedAs(name, store.get)
        return object === undefined || answer.kind === 'absent' ? answer : { ...answer, head: asRecorded(store, object, answer.head) }
      },
      async head(name) {
        const { object, answer } = await recordedAs(name, store.head)
        return object === undefined || answer.kind === 'absent' ? answer : { ...answer, head: asRecorded(store, object, answer.head) }
      },
      async list(prefix, start_after) {
        const objects = (await page(prefix, start_after)).map((object) => headOf(object, taken_at))
        const { server_time } = await store.head(POINTER_NAME)
        const last = objects.at(-1)
        return { objects, server_time, ...(objects.length === PAGE_SIZE && last !== undefined ? { next: last.name } : {}) }
      },
    },
    pointer,
  )
}

/** A name that is in no backup: the answer is the store's, with its time. */
const nowhere = (name: string): string => `backup-without/${name}`

/** As a listing shows it, from what was recorded alone. */
function headOf({ name, size, crc32c, origin }: Recorded, taken_at: string): ObjectHead {
  const head = { name, size, crc32c, generation: '1', creation_time: taken_at, meta: {} }
  return origin === undefined ? head : { ...head, ...origin, meta: withOrigin(head, origin) }
}

function asRecorded(store: ObjectStore, object: Recorded, head: ObjectHead): ObjectHead {
  const found = recordOf({ ...head, name: object.name })
  if (isSameObject(found, object)) return { ...head, name: object.name }
  throw corrupt(
    `${placeOf(object)} in ${store.label} is ${described(found)}, and the backup has ${described(object)} there: ` +
      'somebody has written it again. Restore another backup.',
  )
}

function described({ size, crc32c, origin }: Recorded): string {
  const bytes = `${size} bytes with checksum ${crc32c}`
  return origin === undefined ? bytes : `${bytes}, created at ${origin.creation_time} as generation ${origin.generation}`
}

/** A store that has everything but its pointer, read as if it were there already. */
export function pointedAt(store: ObjectStore, pointer: Pointer): ObjectStore {
  const bytes = encodePointer(pointer)
  return {
    ...store,
    async get(name) {
      if (name !== POINTER_NAME) return store.get(name)
      const { server_time } = await store.head(name)
      const head = { name, generation: '1', creation_time: pointer.published_at, size: bytes.length, crc32c: crc32cHex(bytes), meta: {} }
      return { kind: 'found', head, bytes, server_time }
    },
    put: async (name) => assert(false, `${name} was written through a view of a backup.`) as never,
    delete: async (name) => assert(false, `${name} was deleted through a view of a backup.`) as never,
  }
}
