// The revisions of a chain page in one object: a volume. Its first line says which they are, the others are their documents,
// byte for byte, in the order of the page. It is written once all of them are old; the single documents go afterwards.

import { gunzipSync, gzipSync } from 'node:zlib'
import { z } from 'zod'
import { corrupt, messageOf } from '../core/errors.js'
import { CHAIN_PREFIX } from '../core/keys.js'
import { CHAIN_PAGE_REVISIONS } from '../core/limits.js'
import { encodeDocument, parseDocument } from '../storage/document.js'
import type { ObjectStore } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'
import { type ChainPage, chainName, parseChainPage } from './revision.js'

const volumeHead = z.object({
  schema: z.literal('servo-volume-v1'),
  n: z.int(),
  first_sequence: z.int(),
  last_sequence: z.int(),
})

export type Volume = { readonly first_sequence: number; readonly documents: readonly Uint8Array[] }

export const volumeName = (page: number): string => `${CHAIN_PREFIX}${page}.revisions.ndjson.gz`

const VOLUME_NAME = /^(\d+)\.revisions\.ndjson\.gz$/

/** The page whose volume has this name; undefined: it is another object. */
export function volumePageOf(name: string): number | undefined {
  const [, page] = VOLUME_NAME.exec(name.slice(CHAIN_PREFIX.length)) ?? []
  return page === undefined ? undefined : Number(page)
}

const LINE_END = 0x0a

/** The documents are those of the page, in its order. */
export function encodeVolume({ n, first_sequence, last_sequence }: ChainPage, documents: readonly Uint8Array[]): Uint8Array {
  const head = encodeDocument({ schema: 'servo-volume-v1', n, first_sequence, last_sequence })
  const end = Uint8Array.of(LINE_END)
  return gzipSync(Buffer.concat([head, end, ...documents.flatMap((document) => [document, end])]))
}

/** A document that its writer broke into lines has no place in a volume. */
export const isOneLine = (document: Uint8Array): boolean => !document.includes(LINE_END)

/** undefined: the page has none. */
export async function readVolume(store: ObjectStore, page: number): Promise<Volume | undefined> {
  const name = volumeName(page)
  const answer = await readIntact(store, name)
  if (answer.kind === 'absent') return undefined
  const [head, ...documents] = linesOf(unzipped(name, answer.bytes))
  const { n, first_sequence, last_sequence } = parseDocument(volumeHead, name, head ?? new Uint8Array())
  if (n !== page || documents.length !== last_sequence - first_sequence + 1) {
    throw corrupt(
      `${name} holds ${documents.length} revisions, and says that they are ${first_sequence} to ${last_sequence}, of page ${n}. ` +
        'Restore it from a backup.',
    )
  }
  return { first_sequence, documents }
}

function unzipped(name: string, bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes)
  } catch (error) {
    throw corrupt(`${name} cannot be unpacked (${messageOf(error)}). Restore it from a backup.`, error)
  }
}

/** Every line ends, the last one too. */
function linesOf(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LINE_END, start)
    lines.push(bytes.subarray(start, end === -1 ? bytes.length : end))
    start = end === -1 ? bytes.length : end + 1
  }
  return lines
}

/** Volumes for whoever reads several revisions: each is read once, and few are held. */
export type Volumes = {
  /** The document of a revision whose volume is at hand. */
  readonly held: (sequence: number) => Uint8Array | undefined
  /** undefined: its page has no volume. */
  readonly find: (sequence: number) => Promise<Uint8Array | undefined>
}

/** Neighbours of the page at hand: what is read together lies in two of them, as a rule. A volume is a few megabytes. */
const VOLUMES_HELD = 4

type Opened = { readonly reading: Promise<Volume | undefined>; volume?: Volume | undefined }

/** `page_revisions`: for whoever knows how many a page has without the first one. */
export function openVolumes(store: ObjectStore, page_revisions?: number): Volumes {
  /** By page, in the order in which they were asked for. */
  const opened = new Map<number, Opened>()
  let known = page_revisions === undefined ? undefined : Promise.resolve(page_revisions)

  function open(page: number): Opened {
    const held = opened.get(page)
    if (held !== undefined) return held
    const one: Opened = { reading: readVolume(store, page).then((volume) => (one.volume = volume)) }
    opened.set(page, one)
    const [oldest] = opened.keys()
    if (opened.size > VOLUMES_HELD && oldest !== undefined) opened.delete(oldest)
    return one
  }

  return {
    held(sequence) {
      for (const { volume } of opened.values()) {
        const document = volume?.documents[sequence - volume.first_sequence]
        if (document !== undefined) return document
      }
      return undefined
    },
    async find(sequence) {
      const volume = await open(Math.floor((sequence - 1) / (await (known ??= pageLength(store))))).reading
      return volume?.documents[sequence - volume.first_sequence]
    },
  }
}

/** All pages have as many revisions as the first one. Only tests have others than what is usual. */
async function pageLength(store: ObjectStore): Promise<number> {
  const first = await readIntact(store, chainName(0))
  return first.kind === 'absent' ? CHAIN_PAGE_REVISIONS : parseChainPage(chainName(0), first.bytes).revisions.length
}
