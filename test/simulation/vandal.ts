// Damages filters where they lie, as a disk does: look-ups have to go on without them, and maintenance rebuilds them.

import { isOperatingError, messageOf } from '../../src/core/errors.js'
import { SECOND_MS } from '../../src/core/time.js'
import { openFilter } from '../../src/tables/bloom.js'
import { filtersOf } from '../fixtures/damage.js'
import type { Random } from '../fixtures/random.js'
import type { World } from '../fixtures/world.js'
import { listAll } from '../invariants/evidence.js'
import { type Actor, exponential } from './actor.js'

const BASE = 'state/orchestration/base/'

export const drawDamage = (random: Random): boolean => random.fork('damage').isTrue(0.3)

/** What a turn has to say of it. */
export const isDamageReport = (line: string): boolean => /^The filter \S+ is damaged\./.test(line)

export const createVandal = (world: World): Actor => ({
  name: 'vandal',
  options: {},
  think_ms: exponential(15 * SECOND_MS),
  begin:
    ({ store, random }) =>
    async () => {
      const filters = (await listAll(world.bucket, BASE)).filter(({ name }) => name.endsWith('.bloom'))
      if (filters.length === 0) return
      const { name, generation } = random.pick(filters)
      const found = await world.bucket.get(name)
      if (found.kind === 'absent') return
      await store.put(name, damaged(found.bytes, random), { if_generation: generation })
    },
})

function damaged(bytes: Uint8Array, random: Random): Uint8Array {
  const kept = bytes.slice(0, random.isTrue(0.3) ? random.below(bytes.length) : bytes.length)
  if (kept.length === bytes.length) {
    const at = random.below(kept.length)
    kept[at] = (kept[at] as number) ^ (1 << random.below(8))
  }
  return kept
}

/** F9: at rest every filter that the newest revision names can be opened. */
export async function checkFilters({ bucket, files }: Pick<World, 'bucket' | 'files'>): Promise<string[]> {
  const problems: string[] = []
  for (const name of Object.values(await filtersOf({ store: bucket, files })).flat()) {
    try {
      const found = await bucket.get(name)
      if (found.kind === 'absent') problems.push(`F9 The filter ${name} is gone.`)
      else openFilter(found.bytes, name)
    } catch (error) {
      if (!isOperatingError(error, 'corrupt')) throw error
      problems.push(`F9 ${messageOf(error)}`)
    }
  }
  return problems
}
