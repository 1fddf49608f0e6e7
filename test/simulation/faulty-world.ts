// A world in which every process has a store that fails by the same rules, which may be taken away while it lives.

import { SECOND_MS } from '../../src/core/time.js'
import { createFaultState, type FaultRule, faultStore } from '../faults/fault-store.js'
import type { Random } from '../fixtures/random.js'
import type { VirtualTime } from '../fixtures/virtual-time.js'
import { createWorld, type World, type WorldOptions } from '../fixtures/world.js'

export type Faults = {
  readonly rules: readonly FaultRule[]
  /** How long the store wants between two writes to one name. */
  readonly same_name_interval_ms: number
}

/** As on most stores, or as on the one that takes one write a second. */
export const drawNameInterval = (random: Random): number => random.pick([0, 0, SECOND_MS])

export function createFaultyWorld(
  options: Pick<WorldOptions, 'seed' | 'page_size'> & { readonly time: VirtualTime },
  { rules, same_name_interval_ms }: Faults,
): { readonly world: World; readonly killCount: () => number } {
  const state = createFaultState()
  let kill_count = 0
  const world = createWorld({
    ...options,
    wrap: (bucket, { name, clock, random, kill }) =>
      faultStore(bucket, {
        actor: name,
        random: random.fork('faults'),
        clock,
        world_clock: options.time.clock(),
        faults: rules,
        state,
        same_name_interval_ms,
        onKill() {
          kill_count += 1
          kill()
        },
      }),
  })
  return { world, killCount: () => kill_count }
}
