// What a backup is: copies of objects under their own names, and one document for each backup that says which of them it is
// made of. The document is written last and never again, so that a backup is whole or not there.

import { z } from 'zod'
import { encodeDocument, parseDocument } from '../../storage/document.js'
import { listAll } from '../../storage/list-all.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { type Pointer, parsePointer } from '../../tables/revision.js'
import { readDocument } from '../../tables/snapshot.js'

export const BACKUPS_PREFIX = 'backups/'
/** In a workspace that was restored, or is about to be: which backup it is made of. */
export const RESTORE_NAME = 'restore.json'

export const backupName = (backup: string): string => `${BACKUPS_PREFIX}${backup}.json`

const manifest = z.object({
  schema: z.literal('servo-backup-v1'),
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
})

const restoreMark = z.object({
  schema: z.literal('servo-restore-v1'),
  backup: z.string(),
  /** Of the backup's revision: what is newer was published here. */
  sequence: z.int(),
  from: z.string(),
  begun_at: z.iso.datetime(),
})

export type Manifest = Omit<z.infer<typeof manifest>, 'pointer'> & { readonly pointer: Pointer }
export type RestoreMark = z.infer<typeof restoreMark>

export const encodeManifest = (document: Manifest): Uint8Array => encodeDocument(document)

function parseManifest(name: string, bytes: Uint8Array): Manifest {
  const document = parseDocument(manifest, name, bytes)
  return { ...document, pointer: parsePointer(encodeDocument(document.pointer)) }
}

export const encodeRestoreMark = (document: RestoreMark): Uint8Array => encodeDocument(document)
export const parseRestoreMark = (bytes: Uint8Array): RestoreMark => parseDocument(restoreMark, RESTORE_NAME, bytes)

/** Oldest first. */
export async function listBackups(store: ObjectStore): Promise<readonly string[]> {
  const { objects } = await listAll(store, BACKUPS_PREFIX)
  return objects.map(({ name }) => name.slice(BACKUPS_PREFIX.length, -'.json'.length))
}

export const readBackup = (store: ObjectStore, backup: string): Promise<Manifest> => readDocument(store, backupName(backup), parseManifest)
