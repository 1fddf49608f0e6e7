// A sub-list of cold parts, as a document under the hash of its content: opened when somebody asks for rows of its days,
// and kept by the process for the next one who does.

import { z } from 'zod'
import { sha256Hex } from '../../core/hash.js'
import { encodeDocument, parseDocument } from '../../storage/document.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { originalOf } from '../../storage/stoppable.js'
import { COLD_PREFIX, type ColdList, type Part, partDocument, readPart, writePart } from '../revision.js'
import { readDocument } from '../snapshot.js'

/** Parts of cold rows: of a key there is one row in all of them, those that are late apart. */
export type ColdPart = Part & {
  /** The UTC day of its rows. Late ones lie with the first day of the move that found them. */
  readonly day: string
  /** May have a newer version of a row that another cold part has. */
  readonly is_late?: boolean
}

const document = z.array(z.object({ ...partDocument.shape, day: z.iso.date(), is_late: z.boolean().optional() }))

export function encodeColdList(parts: readonly ColdPart[]): { readonly name: string; readonly bytes: Uint8Array } {
  const bytes = encodeDocument(parts.map(({ day, is_late, ...part }) => ({ ...writePart(part), day, ...lateness(is_late) })))
  return { name: `${COLD_PREFIX}${sha256Hex(bytes)}.json`, bytes }
}

export const parseColdList = (name: string, bytes: Uint8Array): readonly ColdPart[] =>
  parseDocument(document, name, bytes).map(({ day, is_late, ...part }) => ({ ...readPart(part), day, ...lateness(is_late) }))

const lateness = (is_late: boolean | undefined) => (is_late === undefined ? {} : { is_late })

/** A month of parts each: 15 KB, and as many as five years of five tables have. */
const LISTS_MAX = 300

type Opened = Map<string, Promise<readonly ColdPart[]>>
/** Of each store, in the order of their last use. Documents never change under their name. */
const openedOf = new WeakMap<ObjectStore, Opened>()

/** The parts that a sub-list names. */
export function openColdList(asked: ObjectStore, { name }: Pick<ColdList, 'name'>): Promise<readonly ColdPart[]> {
  // A document that two callers wait for is not stopped with the work of one of them.
  const store = originalOf(asked)
  const opened: Opened = openedOf.get(store) ?? new Map()
  openedOf.set(store, opened)
  const known = opened.get(name)
  const parts = known ?? readDocument(store, name, parseColdList)
  opened.delete(name)
  opened.set(name, parts)
  if (known !== undefined) return parts
  // What failed is not remembered: the next one may succeed.
  parts.catch(() => opened.get(name) === parts && opened.delete(name))
  for (const oldest of opened.keys()) {
    if (opened.size <= LISTS_MAX) break
    opened.delete(oldest)
  }
  return parts
}
