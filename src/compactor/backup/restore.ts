// Makes a workspace of a backup, in a place where nothing is. All of it is checked before the pointer is written, which comes
// last: until then nobody works there, and a restore that was cut short is run again.

import { conflict, corrupt, missing } from '../../core/errors.js'
import { CREATION_SKEW_MS_MAX } from '../../core/limits.js'
import { instantMs, instantText } from '../../core/time.js'
import { newUlid, type RandomBytes } from '../../core/ulid.js'
import { originOf } from '../../ledger/origin.js'
import { manyAtOnce } from '../../storage/many-at-once.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { readIntact } from '../../storage/read-intact.js'
import { writeOnce } from '../../storage/write-once.js'
import { hasRevision, readPointer } from '../../tables/snapshot.js'
import type { TableFiles } from '../../tables/table-files.js'
import { refuseNewerFold, swapPointer } from '../swap.js'
import { type VerifyAnswer, verify } from '../verify.js'
import { findMissedSegments, windowStart } from '../window.js'
import { type CopyDeps, type CopyTally, emptyTally } from './copy.js'
import { encodeRestoreMark, listBackups, type Manifest, parseRestoreMark, RESTORE_NAME, type RestoreMark, readBackup } from './manifest.js'
import { copyBackup } from './revision-copy.js'
import { pointedAt, viewOf } from './view.js'

export type RestoreDeps = Omit<CopyDeps, 'originOf' | 'recorder'> & {
  readonly random: RandomBytes
  readonly files: TableFiles
  readonly scope: { readonly tenant_id: string; readonly workspace_id: string }
}

export type RestoreAnswer = Pick<CopyTally, 'copied' | 'bytes' | 'present'> & {
  readonly manifest: Manifest
  /** Of the workspace that was restored, before the pointer was written. */
  readonly verified: VerifyAnswer
  /** Unfolded segments in minutes that the backup's revision has closed: for a turn, which would not list them. */
  readonly missed: readonly string[]
}

/** `backup`: the newest where none is named. */
export async function restore(deps: RestoreDeps, backup?: string): Promise<RestoreAnswer> {
  const { source, target, clock, files, scope, say } = deps
  const manifest = await findBackup(deps, backup)
  const { pointer, listing_window_ms } = manifest
  refuseNewerFold(pointer)
  await claimTarget(deps, manifest)
  const totals = emptyTally()
  const isThere = await isRestored(target, manifest)
  if (!isThere) {
    Object.assign(totals, await copyBackup({ ...deps, source: viewOf(source, manifest), originOf }))
    const [gone] = totals.vanished
    if (gone !== undefined) {
      throw corrupt(
        `${gone} of backup ${manifest.backup} is gone from ${source.label}. Restore another backup, to a place where nothing is.`,
      )
    }
  }
  say?.('Checking all of it: every file, every checksum, every event.')
  const verified = await verify({ store: isThere ? target : pointedAt(target, pointer), files, scope })
  if (verified.problems.length === 0) {
    const swapped = isThere ? undefined : await swapPointer({ store: target, clock }, pointer, undefined)
    if (swapped?.kind === 'lost') throw occupied(target)
  }
  const missed = verified.problems.length > 0 ? [] : await findMissedSegments(target, listing_window_ms)
  const { copied, present, bytes } = totals
  return { manifest, verified, missed, copied, present, bytes }
}

async function findBackup({ source, scope }: RestoreDeps, wanted: string | undefined): Promise<Manifest> {
  const backups = await listBackups(source)
  if (backups.length === 0) {
    throw missing(
      `${source.label} holds no backup of tenant ${scope.tenant_id}, workspace ${scope.workspace_id}. A backup is restored under the names that it was ` +
        'taken of: its events carry them.',
    )
  }
  if (wanted === undefined) return newestOf(source, backups)
  if (!backups.includes(wanted)) throw missing(`${source.label} holds no backup ${wanted}. It holds ${backups.slice(-5).join(', ')}.`)
  return readBackup(source, wanted)
}

/** Who restores without a name wants what was worked on last: a workspace that was given up for a restored one may be backed up after it. */
async function newestOf(source: ObjectStore, backups: readonly string[]): Promise<Manifest> {
  const all = await manyAtOnce(backups, READS_AT_ONCE, (backup) => readBackup(source, backup))
  const newest = all.at(-1) as Manifest
  const begun_last = all.reduce((latest, { branch }) => (branch !== null && branch.id > latest ? branch.id : latest), '')
  if ((newest.branch?.id ?? '') === begun_last) return newest
  const named = newest.branch === null ? 'a workspace that was never restored' : `branch ${newest.branch.id}`
  throw conflict(
    `The newest backup in ${source.label}, ${newest.backup}, is of ${named}, and branch ${begun_last} was begun since. ` +
      'Say which one with --backup; `servo workspace backups` lists them.',
  )
}

const READS_AT_ONCE = 16

/** Only where nothing is, or where the same backup has been restored up to somewhere. */
async function claimTarget({ source, target, clock, random }: RestoreDeps, manifest: Manifest): Promise<void> {
  const { backup, taken_at, listing_window_ms, pointer } = manifest
  const marked = await readIntact(target, RESTORE_NAME)
  // Stamps of segments are believed up to the store's own clock, and nothing may come before what was folded.
  if (marked.server_time + CREATION_SKEW_MS_MAX < instantMs(taken_at)) {
    throw conflict(
      `The clock of ${target.label} says ${instantText(marked.server_time)}, and the backup was taken at ${taken_at}. Correct the clock, then restore again.`,
    )
  }
  if (marked.kind === 'found') {
    if (parseRestoreMark(marked.bytes).backup === backup) return
    throw occupied(target)
  }
  const { objects } = await target.list('')
  if (objects.length > 0) throw occupied(target)
  const mark: RestoreMark = {
    schema: 'servo-restore-v1',
    backup,
    sequence: pointer.sequence,
    from: source.label,
    begun_at: instantText(marked.server_time),
    branch: newUlid(clock.now(), random),
    look_from: instantText(windowStart(instantMs(taken_at), listing_window_ms)),
  }
  await writeOnce({ store: target, clock }, RESTORE_NAME, encodeRestoreMark(mark))
}

/** Whoever runs it once more after its end is told the same; where turns have gone on since, nothing is checked. */
async function isRestored(target: ObjectStore, { pointer }: Manifest): Promise<boolean> {
  const { published } = await readPointer(target)
  if (published === undefined && !(await hasRevision(target, pointer.sequence + 1))) return false
  if (published === undefined) {
    throw conflict(
      `${target.label} was restored from this backup before, has been worked on since, and has lost its pointer. Restore to a place where nothing is.`,
    )
  }
  if (published.pointer.revision === pointer.revision) return true
  throw conflict(`${target.label} was restored from this backup before, and has been worked on since. Restore to a place where nothing is.`)
}

const occupied = (target: ObjectStore) =>
  conflict(`${target.label} is not empty, and a restore would mix two workspaces. Name a place where nothing is.`)
