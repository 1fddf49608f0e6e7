// The compare-and-swap of the pointer, the only fence there is, with lost answers resolved. It never decides by time.

import { conflict, corrupt, isOperatingError, unavailable } from '../core/errors.js'
import { FOLD_VERSION, POINTER_BYTES_MAX } from '../core/limits.js'
import type { Clock } from '../core/time.js'
import { CREATE, type ObjectStore } from '../storage/object-store.js'
import { encodePointer, POINTER_NAME, type Pointer, REVISIONS_PREFIX, revisionName } from '../tables/revision.js'
import { hasRevision, type PublishedPointer, readPointer, readRevision } from '../tables/snapshot.js'
import { PLACE_NAME, readRestoreMark } from './backup/manifest.js'

/** `won`: it is the pointer now. `superseded`: it was, and others have published on top of it. `lost`: it never was. */
export type SwapOutcome =
  | { readonly kind: 'won'; readonly published: PublishedPointer }
  | { readonly kind: 'superseded' }
  | { readonly kind: 'lost' }

const ATTEMPTS_MAX = 8
const THROTTLED_WAIT_MS = 1_000
const UNKNOWN_WAIT_MS = 50

export async function swapPointer(
  { store, clock }: { readonly store: ObjectStore; readonly clock: Clock },
  next: Pointer,
  base: PublishedPointer | undefined,
): Promise<SwapOutcome> {
  const bytes = encodePointer(next)
  refuseLongPointer(store, next, bytes.byteLength)
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const answer = await tryPut(store, bytes, base?.generation ?? CREATE)
    if (answer.kind === 'stored') return { kind: 'won', published: { pointer: next, generation: answer.head.generation } }
    if (answer.kind === 'throttled') await clock.sleep(THROTTLED_WAIT_MS)
    const whose = await resolve(store, next, base)
    if (whose !== 'untouched') return whose
    // The base still stands: this write did not land, or will land late under the same precondition. Either way the
    // same bytes may be sent again, and a 412 then means that the first attempt landed after all.
    await clock.sleep(UNKNOWN_WAIT_MS * 2 ** attempt)
  }
  throw unavailable(`The pointer in ${store.label} could not be swapped in ${ATTEMPTS_MAX} tries; nothing was published. Try again.`)
}

/** A turn has merged by itself long before (turn/make-room.ts): here merges fail, and so does every publish until one succeeds. */
function refuseLongPointer(store: ObjectStore, { deltas }: Pointer, size: number): void {
  if (size <= POINTER_BYTES_MAX) return
  throw unavailable(
    `The pointer in ${store.label} would name ${deltas.length} revisions since the last merge, in ${size} bytes where ${POINTER_BYTES_MAX} are ` +
      'the limit, so nothing was published. Merge them with `servo ledger compact --merge`, and see why nobody else does.',
  )
}

/** A workspace without a pointer is a new one, unless a second revision was ever published: to start again at the first
 *  one would give its numbers to other revisions, and the order that the old ones recorded would be lost. Where this process
 *  has seen a pointer, all of the store is somewhere else, as a folder is whose mount is gone. */
export async function refuseLostPointer(store: ObjectStore, has_seen_pointer: boolean): Promise<void> {
  if (has_seen_pointer) {
    throw unavailable(
      `The pointer ${POINTER_NAME} was in ${store.label}, and is not there any more. See that its folder is mounted, or its bucket the right one.`,
    )
  }
  await refuseCopy(store)
  // Of a long history the first ones are bound, and the last ones never.
  const { objects } = await store.list(REVISIONS_PREFIX)
  const first = revisionName(1, '').slice(0, -'.json'.length)
  if (objects.every(({ name }) => name.startsWith(first))) return
  throw corrupt(
    `The pointer ${POINTER_NAME} is gone from ${store.label}, though revisions were published. Restore it from a copy before the next turn.`,
  )
}

/** A backup has every document but the pointer, and so has a workspace that is being restored. */
async function refuseCopy(store: ObjectStore): Promise<void> {
  const mark = await readRestoreMark(store)
  // Where turns have published since, it was restored long ago, and its pointer is lost like any other.
  if (mark !== undefined && !(await hasRevision(store, mark.sequence + 1))) {
    throw conflict(`${store.label} is being restored, and not all of it is there. Let \`servo workspace restore\` end, or run it again.`)
  }
  const place = await store.head(PLACE_NAME)
  if (place.kind === 'absent') return
  throw conflict(`${store.label} holds backups, and nobody works on those. Restore one to another place: \`servo workspace restore\`.`)
}

async function tryPut(store: ObjectStore, bytes: Uint8Array, if_generation: string) {
  try {
    return await store.put(POINTER_NAME, bytes, { if_generation })
  } catch (error) {
    if (isOperatingError(error, 'unavailable')) return { kind: 'unknown' } as const
    throw error
  }
}

async function resolve(store: ObjectStore, next: Pointer, base: PublishedPointer | undefined): Promise<SwapOutcome | 'untouched'> {
  const { published } = await readPointer(store)
  if (published === undefined) {
    if (base === undefined) return 'untouched'
    throw conflict(`The pointer in ${store.label} is gone. Nobody ever deletes it: restore it before anything else is published.`)
  }
  // Before the name of the revision: a fence writes the same revision again, and wants another generation.
  if (published.generation === base?.generation) return 'untouched'
  if (published.pointer.revision === next.revision) return { kind: 'won', published }
  return (await isAncestor(store, next, published.pointer)) ? { kind: 'superseded' } : { kind: 'lost' }
}

/** Whether a pointer that is newer than ours was published on top of ours. */
async function isAncestor(store: ObjectStore, ours: Pointer, newest: Pointer): Promise<boolean> {
  if (newest.deltas.some(({ revision }) => revision === ours.revision)) return true
  let { sequence, revision } = newest
  while (sequence > ours.sequence) {
    const { previous } = await readRevision(store, sequence, revision)
    if (previous === null) return false
    revision = previous
    sequence -= 1
  }
  return revision === ours.revision
}

/** A process that does not know every table of a newer version would publish without them, and collect their files. */
export function refuseNewerFold(pointer: Pointer, fold_version: number = FOLD_VERSION): void {
  if (pointer.fold_version <= fold_version) return
  throw conflict(
    `The workspace is at fold version ${pointer.fold_version} and this process knows version ${fold_version}: ` +
      'it publishes and removes nothing. Install the newer Servo here too.',
  )
}
