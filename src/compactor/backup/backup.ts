// Copies a workspace while it is worked on: one revision with all that it is made of, and every event that was acknowledged
// before the backup began. What is there from an earlier backup is not copied again.

import { conflict, missing, unavailable } from '../../core/errors.js'
import { compareStamps, instantText } from '../../core/time.js'
import { newUlid, type RandomBytes } from '../../core/ulid.js'
import { asOriginal } from '../../ledger/origin.js'
import { listSegments } from '../../ledger/read.js'
import { createOrRead } from '../../storage/create-or-read.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { writeOnce } from '../../storage/write-once.js'
import { openHistory } from '../../tables/history/history.js'
import { POINTER_NAME, type Pointer } from '../../tables/revision.js'
import { readPointer } from '../../tables/snapshot.js'
import { refuseNewerFold } from '../swap.js'
import { lackOf } from './check.js'
import { openRecorder } from './contents.js'
import { type CopyDeps, type CopyTally, emptyTally } from './copy.js'
import { backupName, encodeManifest, type Manifest, PLACE_NAME, type Place, parsePlace, readRestoreMark } from './manifest.js'
import { copyRevision } from './revision-copy.js'
import { viewOf } from './view.js'

export type BackupDeps = Omit<CopyDeps, 'originOf' | 'recorder'> & {
  readonly random: RandomBytes
  readonly scope: { readonly tenant_id: string; readonly workspace_id: string }
  readonly listing_window_ms: number
}

export type BackupAnswer = Pick<CopyTally, 'copied' | 'bytes' | 'present'> & { readonly manifest: Manifest }

/** Each begins with a newer revision and copies what the one before has not: more than a few is a store that loses objects. */
const ROUNDS_MAX = 20

export async function backUp(deps: BackupDeps): Promise<BackupAnswer> {
  const { source, target, clock, random, scope, listing_window_ms, say } = deps
  const totals = emptyTally()
  const first = await readPointer(source)
  if (first.published === undefined) throw missing(`${source.label} has no revision yet: run \`servo ledger compact\` first.`)
  // What was acknowledged before this is in the first listing that follows, and in every later one.
  const taken_at = instantText(first.server_time)
  await claimPlace(deps, first.published.pointer)
  const mark = await readRestoreMark(source)
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const { published, server_time } = await readPointer(source)
    if (published === undefined)
      throw unavailable(`The pointer of ${source.label} is gone. See that its folder is mounted, then try again.`)
    const { pointer } = published
    refuseNewerFold(pointer)
    const segments_through = await newestSegment(source)
    const recorder = await openRecorder({ store: target, clock })
    const copy: CopyDeps = { ...deps, originOf: asOriginal, recorder }
    const tally = await copyRevision(copy, { pointer, segments_through, kept_at: server_time })
    totals.copied += tally.copied
    totals.bytes += tally.bytes
    totals.present = tally.present
    const backup = newUlid(clock.now(), random)
    const manifest: Manifest = {
      schema: 'servo-backup-v2',
      backup,
      ...scope,
      source: source.label,
      taken_at,
      pointer,
      segments_through,
      listing_window_ms,
      contents: await recorder.finish(),
      branch: mark === undefined ? null : { id: mark.branch ?? mark.backup, backup: mark.backup },
    }
    const lack = tally.vanished[0] ?? (await lackOf(viewOf(target, manifest), pointer))
    if (lack !== undefined) {
      say?.(`${lack} was packed, merged or collected meanwhile: going on with a newer revision.`)
      continue
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

/** What is written under one name by two workspaces would lie side by side, and nobody would know whose backups these are. */
async function claimPlace({ source, target, clock, scope }: BackupDeps, pointer: Pointer): Promise<void> {
  const live = await target.head(POINTER_NAME)
  if (live.kind === 'found') throw conflict(`${target.label} is a workspace, and no place for backups. Name another one.`)
  const { revision: first_revision } = await openHistory(source, pointer).at(1)
  const begun_at = instantText(live.server_time)
  const { tenant_id, workspace_id } = scope
  const ours: Place = { schema: 'servo-backup-place-v1', tenant_id, workspace_id, first_revision, source: source.label, begun_at }
  const found = await createOrRead({ store: target, clock }, PLACE_NAME, ours, 'Run the same command again.')
  const theirs = found === 'created' ? ours : parsePlace(found)
  if (theirs.first_revision === first_revision) return
  throw conflict(
    `${target.label} is for backups of another workspace, that of ${theirs.source} whose first revision is ${theirs.first_revision} ` +
      `(since ${theirs.begun_at}). ${source.label} began with ${first_revision}: it is another one, or was begun anew. Back up to another place.`,
  )
}
