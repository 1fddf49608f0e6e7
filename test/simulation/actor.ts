// An actor of a simulation: what it is called, how often it acts, and how wrong its clock is. It is started again after each
// of its deaths, until its stage is over.

import { isOperatingError } from '../../src/core/errors.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import type { Random } from '../fixtures/random.js'
import type { Process, ProcessOptions, World } from '../fixtures/world.js'

export type Stage = { readonly isOver: () => boolean }

export type Actor = {
  readonly name: string
  readonly options: ProcessOptions
  readonly think_ms: (random: Random) => number
  /** A process begins: what it does in each step. */
  readonly begin: (process: Process) => () => Promise<void>
}

export const exponential =
  (mean_ms: number) =>
  (random: Random): number =>
    Math.floor(-mean_ms * Math.log(1 - random.next()))

/** F8: most clocks are right to seconds, some wrong by minutes or hours, some jump. */
export function clockOf(random: Random): ProcessOptions {
  const wrong_by = random.pick([0, 0, 2 * SECOND_MS, 90 * SECOND_MS, 4 * MINUTE_MS, 3 * HOUR_MS]) * random.pick([-1, 1])
  if (!random.isTrue(0.15)) return { skew_ms: () => wrong_by }
  const jumps_at = random.between(0, 3 * MINUTE_MS)
  let began: number | undefined
  return {
    skew_ms(now) {
      began ??= now
      return now - began < jumps_at ? 0 : wrong_by
    },
  }
}

/** Starts an actor again after each of its deaths, until the stage is over. */
export async function keepUp(world: World, actor: Actor, stage: Stage): Promise<void> {
  while (!stage.isOver()) {
    const process = world.start(actor.name, actor.options)
    await Promise.race([live(process, actor, stage).catch((error: unknown) => noteBug(world, actor.name, error)), process.gone])
    if (!process.isGone()) return
    await world.time.sleep(2 * SECOND_MS)
  }
}

/** An operating error is what a log would show and a loop would try again; anything else is a bug. */
export function noteBug({ oracle }: World, name: string, error: unknown): void {
  oracle.problems.push(`${name} broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
}

async function live(process: Process, actor: Actor, stage: Stage): Promise<void> {
  const step = actor.begin(process)
  while (!stage.isOver()) {
    await process.clock.sleep(actor.think_ms(process.random))
    if (stage.isOver()) return
    try {
      await step()
    } catch (error) {
      if (!isOperatingError(error)) throw error
    }
  }
}
