// Somebody backs the workspace up while everybody works, again and again into one place; in the end the last backup that was
// finished is restored elsewhere, and has to be a workspace that is whole.

import { backUp } from '../../src/compactor/backup/backup.js'
import { restore } from '../../src/compactor/backup/restore.js'
import { segmentName } from '../../src/ledger/segment.js'
import { createMemoryState, createMemoryStore } from '../../src/storage/memory.js'
import { packedSegments, singleName } from '../fixtures/packs.js'
import { replayed } from '../fixtures/replayed.js'
import { createDecider } from '../fixtures/roles.js'
import { createWorld, type Process, type World } from '../fixtures/world.js'

export type Copies = {
  readonly backUp: (process: Process) => Promise<void>
  /** Sentences; empty: what was restored is good, or there is nothing to restore. */
  readonly check: () => Promise<readonly string[]>
  readonly finished: () => number
}

export function createCopies(world: World): Copies {
  const { clock, scope, listing_window_ms } = world
  const shelf = createMemoryStore({ clock, label: 'memory:shelf', page_size: 5 })
  let finished = 0
  /** What was acknowledged before the last one began. */
  let acked: readonly string[] = []

  return {
    finished: () => finished,
    async backUp({ store, random }) {
      const before = world.oracle.acks.map(({ head }) => segmentName(head.name))
      await backUp({ source: store, target: shelf, clock, random: random.bytes, scope, listing_window_ms })
      finished += 1
      acked = before
    },
    async check() {
      if (finished === 0) return []
      const copy = createWorld({ seed: `${world.seed}/copy`, time: world.time, state: createMemoryState(), listing_window_ms })
      const { random } = copy.start('restore')
      const { verified, missed } = await restore({
        source: shelf,
        target: copy.bucket,
        files: copy.files,
        clock,
        random: random.bytes,
        scope,
      })
      const problems = verified.problems.map((problem) => `B1 The last backup is not whole: ${problem}`)
      if (problems.length > 0) return problems
      const packed = await packedSegments(copy.bucket)
      for (const name of acked) {
        const isThere = packed.has(name) || (await copy.bucket.head(singleName(name))).kind === 'found'
        if (!isThere) problems.push(`B2 ${name} was acknowledged before the last backup began, and is not in it.`)
      }
      const { turn } = createDecider(copy, copy.start('turn of the copy'))
      while ((await turn({ missed })).more);
      problems.push(
        ...(await replayed(copy)).map((difference) => `B3 A replay of the copy differs: ${JSON.stringify(difference).slice(0, 400)}`),
      )
      return problems
    },
  }
}
