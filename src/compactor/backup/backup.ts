// Copies a workspace while it is worked on: one revision with all that it is made of, and every event that was acknowledged
// before the backup began. What is there from an earlier backup is not copied again.

import { conflict, missing, unavailable } from '../../core/errors.js'
import { compareStamps, instantText } from '../../core/time.js'
import { newUlid, type RandomBytes } from '../../core/ulid.js'
import { asOriginal } from '../../ledger/origin.js'
import { listSegments } from '../../ledger/read.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { writeOnce } from '../../storage/write-once.js'
import { openHistory } from '../../tables/history/history.js'
import { POINTER_NAME, type Pointer } from '../../tables/revision.js'
import { readPointer } from '../../tables/snapshot.js'
import { refuseNewerFold } from '../swap.js'
import { lackOf } from './check.js'
import { type CopyDeps, type CopyTally, emptyTally } from './copy.js'
import { backupName, encodeManifest, listBackups, type Manifest, readBackup } from './manifest.js'
import { copyRevision } from './revision-copy.js'

export type BackupDeps = Omit<CopyDeps, 'originOf'> & {
  readonly random: RandomBytes
  readonly scope: { readonly tenant_id: string; readonly workspace_id: string }
  readonly listing_window_ms: number
}

export type BackupAnswer = Pick<CopyTally, 'copied' | 'bytes' | 'present'> & { readonly manifest: Manifest }

/** Each begins with a newer revision and copies what the one before has not: more than a few is a store that loses objects. */
const ROUNDS_MAX = 20

export async function backUp(deps: BackupDeps): Promise<BackupAnswer> {
  const { source, target, clock, random, scope, listing_window_ms, say } = deps
  const copy: CopyDeps = { ...deps, originOf: asOriginal }
  const totals = emptyTally()
  const first = await readPointer(source)
  if (first.published === undefined) throw missing(`${source.label} has no revision yet: run \`servo ledger compact\` first.`)
  // What was acknowledged before this is in the first listing that follows, and in every later one.
  const taken_at = instantText(first.server_time)
  await refuseForeign(deps, first.published.pointer)
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const { published, server_time } = await readPointer(source)
    if (published === undefined)
      throw unavailable(`The pointer of ${source.label} is gone. See that its folder is mounted, then try again.`)
    const { pointer } = published
    refuseNewerFold(pointer)
    const segments_through = await newestSegment(source)
    const tally = await copyRevision(copy, { pointer, segments_through, kept_at: server_time, into: 'backup' })
    totals.copied += tally.copied
    totals.bytes += tally.bytes
    totals.present = tally.present
    const lack = tally.vanished > 0 ? undefined : await lackOf(target, pointer)
    if (tally.vanished > 0 || lack !== undefined) {
      say?.(`${lack ?? 'Something'} was packed, merged or collected meanwhile: going on with a newer revision.`)
      continue
    }
    const backup = newUlid(clock.now(), random)
    const manifest: Manifest = {
      schema: 'servo-backup-v1',
      backup,
      ...scope,
      source: source.label,
      taken_at,
      pointer,
      segments_through,
      listing_window_ms,
    }
    await writeOnce({ store: target, clock }, backupName(backup), encodeManifest(manifest))
    return { manifest, copied: totals.copied, bytes: totals.bytes, present: totals.present }
  }
  throw unavailable(
    `In each of ${ROUNDS_MAX} rounds something was gone from ${source.label} or from ${target.label} before the copy was whole. ` +
      'Run `servo ledger verify`, see that nobody removes objects from the backup, then run the same command again.',
  )
}

/** A second listing shows everything that was created before the youngest of the first one and acknowledged (turn/order.ts). */
async function newestSegment(source: ObjectStore): Promise<string | null> {
  const { segments } = await listSegments(source, 0)
  return segments.reduce<string | null>(
    (newest, { creation_time }) => (newest === null || compareStamps(creation_time, newest) > 0 ? creation_time : newest),
    null,
  )
}

/** Pages of the chain have the same names in every workspace: a place holds backups of one chain, each further along it. */
async function refuseForeign({ source, target }: BackupDeps, pointer: Pointer): Promise<void> {
  const live = await target.head(POINTER_NAME)
  if (live.kind === 'found') throw conflict(`${target.label} is a workspace, and no place for backups. Name another one.`)
  const newest = (await listBackups(target)).at(-1)
  if (newest === undefined) return
  const { pointer: before } = await readBackup(target, newest)
  const isAhead = before.sequence > pointer.sequence
  const isSameChain = !isAhead && (await openHistory(source, pointer).at(before.sequence)).revision === before.revision
  if (isSameChain) return
  throw conflict(
    `The last backup in ${target.label} has revision ${before.sequence}, which is not in the history of ${source.label}: ` +
      'the workspace was begun anew, or restored from an older backup, since. Back up to another place.',
  )
}
