// Copies objects from one store to another, page by page: both list in the order of names, so that what is there already is
// seen without being read. It deletes nothing and replaces nothing.

import { corrupt } from '../../core/errors.js'
import type { Clock } from '../../core/time.js'
import { type Origin, withOrigin } from '../../ledger/origin.js'
import { listPages } from '../../storage/list-all.js'
import type { ObjectHead, ObjectStore } from '../../storage/object-store.js'
import { readIntact } from '../../storage/read-intact.js'
import { writeOnce } from '../../storage/write-once.js'
import { isSameObject, placeOf, type Recorded, type Recorder, recordOf } from './contents.js'

export type CopyDeps = {
  readonly source: ObjectStore
  readonly target: ObjectStore
  readonly clock: Clock
  /** What the source says of a segment that it has from elsewhere: a workspace is believed up to its clock, a backup as it is. */
  readonly originOf: (head: ObjectHead) => Origin
  /** Told of everything that the target has then. */
  readonly recorder?: Recorder
  /** A line for whoever waits. */
  readonly say?: (line: string) => void
}

/** `vanished`: names of what was listed, and is not there any more or not the same. */
export type CopyTally = { copied: number; bytes: number; present: number; vanished: string[] }

export const emptyTally = (): CopyTally => ({ copied: 0, bytes: 0, present: 0, vanished: [] })

/** What is under a name that both have, and differs. `refuse`: no two things ever have this name, so one of them is damaged.
 *  `beside`: the name says too little, as where a workspace that was restored goes another way; both are kept. */
type Differing = 'refuse' | 'beside'

type CopyRequest = {
  readonly prefix: string
  readonly isWanted?: (head: ObjectHead) => boolean
  readonly differing?: Differing | ((name: string) => Differing)
}

const differingOf = ({ differing = 'refuse' }: CopyRequest, name: string): Differing =>
  typeof differing === 'function' ? differing(name) : differing

/** A part of the base has some megabytes. */
const COPIES_AT_ONCE = 8

export async function copyObjects(deps: CopyDeps, request: CopyRequest): Promise<CopyTally> {
  const { source, target, say } = deps
  const { prefix, isWanted = () => true } = request
  const tally = emptyTally()
  const there = namesFrom(target, prefix)
  let next = await there.next()
  let due: Due[] = []
  for await (const head of headsOf(source, prefix)) {
    if (!isWanted(head)) continue
    while (next !== undefined && next.name < head.name) next = await there.next()
    due.push({ head, present: next?.name === head.name ? next : undefined })
    if (due.length < COPIES_AT_ONCE) continue
    await copyAll(deps, request, due, tally)
    due = []
  }
  await copyAll(deps, request, due, tally)
  await deps.recorder?.endSection()
  if (tally.copied + tally.present > 0) say?.(`${prefix} ${tally.copied} copied, ${tally.present} there already.`)
  return tally
}

type Due = { readonly head: ObjectHead; readonly present: ObjectHead | undefined }

async function copyAll(deps: CopyDeps, request: CopyRequest, due: readonly Due[], tally: CopyTally): Promise<void> {
  for (const object of await Promise.all(due.map((one) => copyOne(deps, request, one, tally)))) {
    if (object !== undefined) await deps.recorder?.add(object)
  }
}

/** As it is in the target; undefined: it has vanished from the source. */
async function copyOne(deps: CopyDeps, request: CopyRequest, { head, present }: Due, tally: CopyTally): Promise<Recorded | undefined> {
  const { source, target, clock, originOf } = deps
  const { name } = head
  const wanted = recordOf(head, originOf)
  if (present !== undefined && isSameObject(recordOf(present), wanted)) {
    tally.present += 1
    return wanted
  }
  if (present !== undefined && differingOf(request, name) === 'refuse') {
    throw corrupt(
      `${name} has checksum ${head.crc32c} in ${source.label} and ${present.crc32c} in ${target.label}, and nobody ever writes it twice. ` +
        'Run `servo ledger verify`; if all is well there, copy to another place.',
    )
  }
  const object: Recorded = present === undefined ? wanted : { ...wanted, is_beside: true }
  if (object.is_beside === true && (await isIntact(target, placeOf(object)))) {
    tally.present += 1
    return object
  }
  const answer = await readIntact(source, name)
  // Packed, merged away or collected since it was listed: whoever asked for it knows whether it is missed.
  if (answer.kind === 'absent' || !isSameObject(recordOf(answer.head, originOf), wanted)) {
    tally.vanished.push(name)
    return undefined
  }
  const meta = wanted.origin === undefined ? answer.head.meta : withOrigin(answer.head, wanted.origin)
  await writeOnce({ store: target, clock }, placeOf(object), answer.bytes, meta)
  tally.copied += 1
  tally.bytes += answer.bytes.byteLength
  return object
}

export async function* headsOf(store: ObjectStore, prefix: string): AsyncGenerator<ObjectHead> {
  for await (const { objects } of listPages(store, prefix)) {
    for (const head of objects) yield head.damaged === true ? await intactHead(store, head) : head
  }
}

/** No copy is made of a damaged object, or taken for one: reading it fails with what is wrong, unless somebody has restored it since. */
async function intactHead(store: ObjectStore, listed: ObjectHead): Promise<ObjectHead> {
  const answer = await readIntact(store, listed.name)
  return answer.kind === 'found' ? answer.head : listed
}

async function isIntact(store: ObjectStore, name: string): Promise<boolean> {
  const answer = await store.head(name)
  return answer.kind === 'found' && answer.head.damaged !== true
}

function namesFrom(store: ObjectStore, prefix: string): { readonly next: () => Promise<ObjectHead | undefined> } {
  const heads = headsOf(store, prefix)
  return {
    async next() {
      const { done, value } = await heads.next()
      return done === true ? undefined : value
    },
  }
}
