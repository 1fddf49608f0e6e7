// What a backup is made of, object by object: lists under the hash of their content, so that backups that have most in common
// share most of their lists, and one index of these for each backup. It never reads the objects themselves.

import { z } from 'zod'
import { corrupt } from '../../core/errors.js'
import { crc32c, sha256Hex } from '../../core/hash.js'
import { type Origin, originOf, sameOrigin } from '../../ledger/origin.js'
import { LEDGER_PREFIX } from '../../ledger/segment.js'
import { encodeDocument, parseDocument } from '../../storage/document.js'
import { listAll } from '../../storage/list-all.js'
import { type ObjectHead, type ObjectStore, PAGE_SIZE } from '../../storage/object-store.js'
import { readIntact } from '../../storage/read-intact.js'
import { type WriteOnce, writeOnce } from '../../storage/write-once.js'

const CONTENTS_PREFIX = 'backup-contents/'
const BESIDE_PREFIX = 'backup-beside/'

const recorded = z.object({
  name: z.string(),
  size: z.int(),
  crc32c: z.string(),
  /** Of a segment: its place in the order, which its copy carries along. */
  origin: z.object({ creation_time: z.string(), generation: z.string() }).optional(),
  /** Another object of this name was in the place before. */
  is_beside: z.literal(true).optional(),
})

const contentList = z.object({ schema: z.literal('servo-backup-list-v1'), objects: z.array(recorded) })

const listReference = z.object({ sha256: z.string(), first: z.string(), last: z.string(), object_count: z.int() })

const contentIndex = z.object({ schema: z.literal('servo-backup-index-v1'), lists: z.array(listReference) })

/** An object of a backup, as it was when it was copied. */
export type Recorded = z.infer<typeof recorded>
type ListReference = z.infer<typeof listReference>

const contentName = (sha256: string): string => `${CONTENTS_PREFIX}${sha256}.json`

/** Where the copy lies: under its own name, or beside an object that had the name before it. */
export function placeOf({ name, size, crc32c, origin, is_beside }: Recorded): string {
  if (is_beside !== true) return name
  const which = sha256Hex([crc32c, size, origin?.creation_time, origin?.generation].join(' '))
  return `${BESIDE_PREFIX}${which}/${name}`
}

export function recordOf(head: ObjectHead, origin: (head: ObjectHead) => Origin = originOf): Recorded {
  const { name, size, crc32c } = head
  if (!name.startsWith(LEDGER_PREFIX)) return { name, size, crc32c }
  const { creation_time, generation } = origin(head)
  return { name, size, crc32c, origin: { creation_time, generation } }
}

/** The same bytes, and of a segment the same place in the order. */
export const isSameObject = (one: Recorded, other: Recorded): boolean =>
  one.size === other.size && one.crc32c === other.crc32c && sameOrigin(one.origin, other.origin)

export type Recorder = {
  /** In the order of the names, within a section. */
  readonly add: (object: Recorded) => Promise<void>
  readonly endSection: () => Promise<void>
  /** Writes the index of all that was added, and answers its hash. */
  readonly finish: () => Promise<{ readonly sha256: string; readonly object_count: number }>
}

/** A list ends behind a name that says so itself, not behind so many: where something goes or comes, one list is another,
 *  and those after it are as they were. */
const LIST_OBJECTS_USUAL = 1_024
const LIST_OBJECTS_MAX = 8 * LIST_OBJECTS_USUAL
const endsList = (name: string): boolean => crc32c(Buffer.from(name)) % LIST_OBJECTS_USUAL === 0

export async function openRecorder(target: WriteOnce): Promise<Recorder> {
  const { objects: there } = await listAll(target.store, CONTENTS_PREFIX)
  // A damaged one is written again, which fails and says so.
  const known = new Set(there.filter(({ damaged }) => damaged !== true).map(({ name }) => name))
  const lists: ListReference[] = []
  let open: Recorded[] = []

  async function write(document: object): Promise<string> {
    const bytes = encodeDocument(document)
    const sha256 = sha256Hex(bytes)
    const name = contentName(sha256)
    if (!known.has(name)) await writeOnce(target, name, bytes)
    known.add(name)
    return sha256
  }

  async function endSection(): Promise<void> {
    const [first, last] = [open[0], open.at(-1)]
    if (first === undefined || last === undefined) return
    const objects = open
    open = []
    const sha256 = await write({ schema: 'servo-backup-list-v1', objects })
    lists.push({ sha256, first: first.name, last: last.name, object_count: objects.length })
  }

  return {
    endSection,
    async add(object) {
      open.push(object)
      if (open.length === LIST_OBJECTS_MAX || endsList(object.name)) await endSection()
    },
    async finish() {
      await endSection()
      const inOrder = [...lists].sort((left, right) => (left.first < right.first ? -1 : 1))
      const object_count = lists.reduce((sum, list) => sum + list.object_count, 0)
      return { sha256: await write({ schema: 'servo-backup-index-v1', lists: inOrder }), object_count }
    },
  }
}

export type Contents = {
  readonly find: (name: string) => Promise<Recorded | undefined>
  /** The next ones under a prefix, in the order of the names, no more than a page. */
  readonly page: (prefix: string, start_after?: string) => Promise<readonly Recorded[]>
}

/** Some megabytes. Whoever reads a backup through goes along several prefixes at once. */
const LISTS_HELD_MAX = 16

export function openContents(store: ObjectStore, index_sha256: string): Contents {
  const held = new Map<string, Promise<ReadonlyMap<string, Recorded>>>()
  let index: Promise<readonly ListReference[]> | undefined

  async function read<T>(schema: z.ZodType<T>, sha256: string): Promise<T> {
    const name = contentName(sha256)
    const answer = await readIntact(store, name)
    if (answer.kind === 'absent' || sha256Hex(answer.bytes) !== sha256) {
      const fault = answer.kind === 'absent' ? 'is gone' : 'is not what was written'
      throw corrupt(`${name} ${fault} in ${store.label}, and says what is in the backup. Restore another backup.`)
    }
    return parseDocument(schema, name, answer.bytes)
  }

  async function listsWhere(isWanted: (list: ListReference) => boolean): Promise<readonly ListReference[]> {
    index ??= read(contentIndex, index_sha256).then(({ lists }) => lists)
    return (await index).filter(isWanted)
  }

  function objectsOf({ sha256 }: ListReference): Promise<ReadonlyMap<string, Recorded>> {
    const found = held.get(sha256) ?? read(contentList, sha256).then(({ objects }) => new Map(objects.map((one) => [one.name, one])))
    held.delete(sha256)
    held.set(sha256, found)
    const [oldest] = held.keys()
    if (held.size > LISTS_HELD_MAX && oldest !== undefined) held.delete(oldest)
    return found
  }

  return {
    async find(name) {
      for (const list of await listsWhere(({ first, last }) => first <= name && name <= last)) {
        const object = (await objectsOf(list)).get(name)
        if (object !== undefined) return object
      }
      return undefined
    },
    async page(prefix, start_after = '') {
      const lists = await listsWhere(
        ({ first, last }) => last >= prefix && last > start_after && (first < prefix || first.startsWith(prefix)),
      )
      const found: Recorded[] = []
      for (const list of lists) {
        // Sections overlap where their prefixes do: a page is whole when nothing that comes first is left.
        if (found.filter(({ name }) => name < list.first).length >= PAGE_SIZE) break
        for (const object of (await objectsOf(list)).values()) {
          if (object.name > start_after && object.name.startsWith(prefix)) found.push(object)
        }
      }
      return found.sort((left, right) => (left.name < right.name ? -1 : 1)).slice(0, PAGE_SIZE)
    },
  }
}
