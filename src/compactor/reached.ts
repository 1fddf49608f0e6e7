// What each checkpoint reaches, remembered by a process from one look to the next: some two thousand checkpoints are kept, a
// handful are new, and none ever changes under its name. It holds names alone, each of them once.

import type { ObjectStore } from '../storage/object-store.js'
import { originalOf } from '../storage/stoppable.js'
import { type Checkpoint, type ColdList, checkpointName, type Part, parseCheckpoint } from '../tables/revision.js'
import { readDocument } from '../tables/snapshot.js'

export type Reached = {
  readonly sequence: number
  /** Parts that are not cold, and their filters. */
  readonly files: readonly string[]
  readonly cold: readonly ColdList[]
}

export const filesOfPart = ({ name, filter, day_filter }: Part): readonly string[] => [name, filter ?? [], day_filter ?? []].flat()

export const reachedBy = ({ sequence, tables, cold }: Checkpoint): Reached => ({
  sequence,
  files: [...tables.values()].flat().flatMap(filesOfPart),
  cold: [...cold.values()].flat(),
})

/** Of all that is remembered, 8 bytes each: with the names some tens of megabytes. What is beyond is read again each time. */
const NAMES_MAX = 2_000_000

type Memory = {
  readonly checkpoints: ReadonlyMap<string, Reached>
  /** Neighbours have nearly all names and sub-lists in common; these by what they say. */
  readonly names: Map<string, string>
  readonly lists: Map<string, ColdList>
}

const memories = new WeakMap<ObjectStore, Memory>()

export type ReachedLook = {
  readonly open: (checkpoint: string) => Promise<Reached>
  /** What this look has opened is what the next one finds. */
  readonly end: () => void
}

export function beginReachedLook(store: ObjectStore): ReachedLook {
  const { checkpoints, names, lists } = memories.get(originalOf(store)) ?? { checkpoints: new Map(), names: new Map(), lists: new Map() }
  const opened = new Map<string, Reached>()
  let name_count = 0

  function once<T>(known: Map<string, T>, text: string, value: T): T {
    const first = known.get(text) ?? value
    known.set(text, first)
    return first
  }

  async function read(checkpoint: string): Promise<Reached> {
    const { sequence, files, cold } = reachedBy(await readDocument(store, checkpointName(checkpoint), parseCheckpoint))
    return {
      sequence,
      files: files.map((name) => once(names, name, name)),
      cold: cold.map((list) => once(lists, JSON.stringify(list), list)),
    }
  }

  return {
    async open(checkpoint) {
      const reached = checkpoints.get(checkpoint) ?? (await read(checkpoint))
      name_count += reached.files.length + reached.cold.length
      if (name_count <= NAMES_MAX) opened.set(checkpoint, reached)
      return reached
    },
    end() {
      // Those of checkpoints that are not kept any more go with them.
      const used = new Set<string | ColdList>()
      for (const { files, cold } of opened.values()) for (const one of [...files, ...cold]) used.add(one)
      for (const [text, name] of names) if (!used.has(name)) names.delete(text)
      for (const [text, list] of lists) if (!used.has(list)) lists.delete(text)
      memories.set(originalOf(store), { checkpoints: opened, names, lists })
    },
  }
}
