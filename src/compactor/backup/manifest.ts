// What a backup is: copies of objects, and one document for each backup that says which of them it is made of. The document is
// written last and never again, so that a backup is whole or not there.

import { z } from 'zod'
import { conflict } from '../../core/errors.js'
import { encodeDocument, parseDocument } from '../../storage/document.js'
import { listAll } from '../../storage/list-all.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { readIntact } from '../../storage/read-intact.js'
import { type Pointer, parsePointer } from '../../tables/revision.js'
import { readDocument } from '../../tables/snapshot.js'

const BACKUPS_PREFIX = 'backups/'
/** Whose backups are in a place, said before the first of them is begun. */
export const PLACE_NAME = 'backup-place.json'
/** In a workspace that was restored, or is about to be: which backup it is made of. */
export const RESTORE_NAME = 'restore.json'

export const backupName = (backup: string): string => `${BACKUPS_PREFIX}${backup}.json`

const manifest = z.object({
  schema: z.literal('servo-backup-v2'),
  backup: z.string(),
  tenant_id: z.string(),
  workspace_id: z.string(),
  /** For people: where it was taken. */
  source: z.string(),
  /** By the clock of that store: every event that was acknowledged before it is in the backup. */
  taken_at: z.iso.datetime(),
  pointer: z.record(z.string(), z.unknown()),
  /** Segments that were created later belong to another backup; null: there is no segment outside of packs. */
  segments_through: z.string().nullable(),
  listing_window_ms: z.int(),
  /** The index of all that it is made of (contents.ts). */
  contents: z.object({ sha256: z.string(), object_count: z.int() }),
  /** What a workspace is on since it was restored, and of which backup; null: it never was. */
  branch: z.object({ id: z.string(), backup: z.string() }).nullable(),
})

const place = z.object({
  schema: z.literal('servo-backup-place-v1'),
  tenant_id: z.string(),
  workspace_id: z.string(),
  /** The first of all: a workspace keeps it, restored or not, and no other has it. */
  first_revision: z.string(),
  /** For people: of what the first backup was begun, and when. */
  source: z.string(),
  begun_at: z.iso.datetime(),
})

const restoreMark = z.object({
  schema: z.literal('servo-restore-v1'),
  backup: z.string(),
  /** Of the backup's revision: what is newer was published here. */
  sequence: z.int(),
  from: z.string(),
  begun_at: z.iso.datetime(),
  /** New with each restore: the same backup may be restored twice, and go two ways. */
  branch: z.string().optional(),
  /** What nobody had folded in minutes that the backup's revision had closed is looked for from here on (window.ts). */
  look_from: z.iso.datetime().optional(),
})

export type Manifest = Omit<z.infer<typeof manifest>, 'pointer'> & { readonly pointer: Pointer }
export type Branch = Manifest['branch']
export type Place = z.infer<typeof place>
export type RestoreMark = z.infer<typeof restoreMark>

export const encodeManifest = (document: Manifest): Uint8Array => encodeDocument(document)

function parseManifest(name: string, bytes: Uint8Array): Manifest {
  if (Buffer.from(bytes).includes('"schema":"servo-backup-v1"')) {
    throw conflict(`${name} does not say what is in the backup, as those of today do. Back up to another place, and give this one up.`)
  }
  const document = parseDocument(manifest, name, bytes)
  return { ...document, pointer: parsePointer(encodeDocument(document.pointer)) }
}

export const parsePlace = (bytes: Uint8Array): Place => parseDocument(place, PLACE_NAME, bytes)

export const encodeRestoreMark = (document: RestoreMark): Uint8Array => encodeDocument(document)
export const parseRestoreMark = (bytes: Uint8Array): RestoreMark => parseDocument(restoreMark, RESTORE_NAME, bytes)

/** undefined: it was never restored. */
export async function readRestoreMark(store: ObjectStore): Promise<RestoreMark | undefined> {
  const answer = await readIntact(store, RESTORE_NAME)
  return answer.kind === 'absent' ? undefined : parseRestoreMark(answer.bytes)
}

/** Oldest first. */
export async function listBackups(store: ObjectStore): Promise<readonly string[]> {
  const { objects } = await listAll(store, BACKUPS_PREFIX)
  return objects.map(({ name }) => name.slice(BACKUPS_PREFIX.length, -'.json'.length))
}

export const readBackup = (store: ObjectStore, backup: string): Promise<Manifest> => readDocument(store, backupName(backup), parseManifest)
