// How verify reads: what is gone or damaged becomes a sentence that names it, so that everything else is still looked at.
// Only a store that does not answer stops it.

import { isOperatingError, messageOf } from '../core/errors.js'
import { CHAIN_PREFIX } from '../core/keys.js'
import type { ObjectStore } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'
import { type ColdPart, parseColdList } from '../tables/cold/list.js'
import {
  type Checkpoint,
  type ColdList,
  checkpointName,
  parseCheckpoint,
  parseRevision,
  type Revision,
  revisionName,
} from '../tables/revision.js'
import { type Link, readBound } from '../tables/snapshot.js'
import { openVolumes, type Volumes } from '../tables/volume.js'

export type Found<T> = { readonly document: T } | { readonly problem: string }

/** Advice of those who found it by chance: look with verify. Here it is verify that speaks, and there is one advice. */
const ADVICE = / (?:Restore|Run|If a newer|Read the pointer|Nobody deletes) .*$/s
export const RESTORE_IT = 'Restore it from a copy.'

/** undefined: it is no damage, and the caller throws it on. */
function damageOf(name: string, error: unknown): string | undefined {
  if (!isOperatingError(error, 'corrupt') && !isOperatingError(error, 'missing')) return undefined
  const fact = messageOf(error).replace(ADVICE, '')
  // Of a revision that is bound the volume is damaged, and the fault names it.
  const isNamed = fact.includes(name) || fact.startsWith(CHAIN_PREFIX)
  return `${isNamed ? '' : `${name} is damaged: `}${fact} ${RESTORE_IT}`
}

/** What the work answers, or the sentence about the damage that it met. */
export async function orDamage<T>(name: string, work: () => Promise<T>): Promise<Found<T>> {
  try {
    return { document: await work() }
  } catch (error) {
    const problem = damageOf(name, error)
    if (problem === undefined) throw error
    return { problem }
  }
}

type Sought<T> = {
  readonly name: string
  readonly named_by: string
  readonly read: () => Promise<Uint8Array | undefined>
  readonly parse: (name: string, bytes: Uint8Array) => T
}

async function find<T>({ name, named_by, read, parse }: Sought<T>): Promise<Found<T>> {
  const found = await orDamage(name, async () => {
    const bytes = await read()
    return bytes === undefined ? undefined : parse(name, bytes)
  })
  if ('problem' in found) return found
  const { document } = found
  return document === undefined ? { problem: `${name} is gone, though ${named_by} names it. ${RESTORE_IT}` } : { document }
}

export async function findRevision(
  store: ObjectStore,
  { sequence, revision }: Link,
  volumes: Volumes = openVolumes(store),
): Promise<Found<Revision>> {
  const name = revisionName(sequence, revision)
  const read = () => readBound(store, { name, sequence }, volumes)
  const found = await find({ name, named_by: 'the chain', read, parse: parseRevision })
  if ('problem' in found) return { problem: `${found.problem} Until then its segments count as unfolded.` }
  const { document } = found
  if (document.sequence === sequence && document.revision === revision) return found
  return { problem: `${name} says that it is revision ${document.sequence}, ${document.revision}. ${RESTORE_IT}` }
}

async function readAlone(store: ObjectStore, name: string): Promise<Uint8Array | undefined> {
  const answer = await readIntact(store, name)
  return answer.kind === 'found' ? answer.bytes : undefined
}

export async function findCheckpoint(store: ObjectStore, checkpoint: string, named_by: string): Promise<Found<Checkpoint>> {
  const name = checkpointName(checkpoint)
  const found = await find({ name, named_by, read: () => readAlone(store, name), parse: parseCheckpoint })
  if ('problem' in found || found.document.name === checkpoint) return found
  return { problem: `${name} says that it is checkpoint ${found.document.name}. ${RESTORE_IT}` }
}

/** Its name is the hash of its content, and what the checkpoint says of it is how readers choose what to open. */
export async function findColdList(store: ObjectStore, list: ColdList): Promise<Found<readonly ColdPart[]>> {
  const { name } = list
  const found = await find({ name, named_by: 'a checkpoint', read: () => readAlone(store, name), parse: parseColdList })
  if ('problem' in found) return found
  const rows = found.document.reduce((sum, part) => sum + part.rows, 0)
  if (found.document.length === list.parts && rows === list.rows) return found
  return {
    problem: `${list.name} has ${found.document.length} parts with ${rows} rows; its checkpoint says ${list.parts} with ${list.rows}. ${RESTORE_IT}`,
  }
}
