// One seed, one workspace with a few schedules: people who edit, pause and deploy at any time, two automations, and a
// maintenance, each with a clock that may be wrong or jump, on a store that fails. Now and then nobody decides for minutes
// or for a week. In the end each instant of each schedule has ticked exactly once.

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/core/time.js'
import { createReconcile } from '../../../src/turn/controllers.js'
import { type FaultRule, swarmOfFaults } from '../../faults/fault-store.js'
import { createRandom, type Random } from '../../fixtures/random.js'
import { collect, createDecider, findMissed, merge } from '../../fixtures/roles.js'
import { createVirtualTime, VIRTUAL_START } from '../../fixtures/virtual-time.js'
import type { World } from '../../fixtures/world.js'
import { checkWorld } from '../../invariants/check.js'
import { checkSchedules } from '../../invariants/schedule-checks.js'
import { type Actor, clockOf, exponential, keepUp, type Stage } from '../actor.js'
import { createFaultyWorld } from '../faulty-world.js'
import { brokeOff, type Purpose, resultOf, type SimulationResult } from '../result.js'
import { meaningsOf } from './crons.js'
import { createPeople, type Shared } from './people.js'

const SECRET = { secret_key_id: 's1', secret: 'servo-golden-secret' }
const reconcile = createReconcile({ secret: SECRET })

/** A winter's day, and the days around which clocks change in New York and on Lord Howe. */
const STARTS = [VIRTUAL_START, Date.parse('2025-03-08T05:00:00Z'), Date.parse('2025-04-05T13:30:00Z'), Date.parse('2025-11-01T22:00:00Z')]
const STAGE_MS = [90 * SECOND_MS, 5 * MINUTE_MS] as const
/** Times in which nobody decides. */
const OUTAGES_MS = [2 * MINUTE_MS, 40 * MINUTE_MS, 9 * HOUR_MS, 30 * HOUR_MS, 7 * DAY_MS] as const
const PAUSE_MS_MAX = 15 * MINUTE_MS

export async function simulate(seed: number, purpose: Purpose = 'check'): Promise<SimulationResult> {
  const random = createRandom(`schedules/${seed}`)
  const faults: FaultRule[] = swarmOfFaults(random.fork('faults'), random.pick([0, 0.003, 0.01, 0.02]))
  const time = createVirtualTime(random.pick(STARTS))
  const { world, killCount } = createFaultyWorld(
    { seed: `schedules/${seed}`, time, page_size: random.pick([3, 40, 1_000]) },
    { rules: faults, same_name_interval_ms: 0 },
  )
  const problems: string[] = []
  try {
    await time.until(play(world, random))
    faults.length = 0
    const now = await time.until(rest(world))
    if (purpose === 'check') problems.push(...(await checkWorld(world, (evidence) => checkSchedules(evidence, meaningsOf, now))))
  } catch (error) {
    problems.push(brokeOff(error))
  }
  return resultOf(world, { problems, kill_count: killCount() })
}

async function play(world: World, random: Random): Promise<void> {
  const clocks = random.fork('clocks')
  const shared: Shared = { defined: new Set() }
  const people = [createPeople(world, 'people one', clockOf(clocks), shared), createPeople(world, 'people two', clockOf(clocks), shared)]
  const machines = [
    createAutomation(world, 'automation one', clockOf(clocks)),
    createAutomation(world, 'automation two', clockOf(clocks)),
    createKeeper('keeper', clockOf(clocks)),
  ]
  const stages = 2 + random.below(2)
  for (let stage = 0; stage < stages; stage++) {
    await playStage(world, [...people, ...machines], random.between(...STAGE_MS))
    // The API is there without an automation: what people say then waits.
    if (random.isTrue(0.5)) await playStage(world, people, random.between(...STAGE_MS))
    await world.time.sleep(random.pick(OUTAGES_MS))
  }
}

async function playStage(world: World, cast: readonly Actor[], duration_ms: number): Promise<void> {
  const ends_at = world.time.now() + duration_ms
  const stage: Stage = { isOver: () => world.time.now() >= ends_at }
  await Promise.race([
    Promise.all(cast.map((actor) => keepUp(world, actor, stage))),
    world.time.sleep(ends_at - world.time.now() + PAUSE_MS_MAX),
  ])
}

/** As the loop of a workspace does it: again when something is due, and now and then by itself. */
const createAutomation = (world: World, name: string, options: Actor['options']): Actor => ({
  name,
  options,
  think_ms: () => 0,
  begin(process) {
    const decider = createDecider(world, process, { reconcile })
    let wait_ms = 0
    return async () => {
      await process.clock.sleep(wait_ms)
      wait_ms = 2 * SECOND_MS
      const { more, wake_in_ms } = await decider.turn()
      const backstop_ms = process.random.between(2 * SECOND_MS, 25 * SECOND_MS)
      wait_ms = more ? 0 : Math.min(backstop_ms, Math.max(SECOND_MS, wake_in_ms ?? backstop_ms))
    }
  },
})

const createKeeper = (name: string, options: Actor['options']): Actor => ({
  name,
  options,
  think_ms: exponential(70 * SECOND_MS),
  begin: (process) => async () => {
    await merge(process, process.random.isTrue(0.3))
    await collect(process)
  },
})

const TURNS_MAX = 50

/** Faults off, and everybody else is gone: what is due is decided, and then there is nothing to write. */
async function rest(world: World): Promise<number> {
  await world.time.sleep(PAUSE_MS_MAX + MINUTE_MS)
  const keeper = world.start('last keeper')
  const decider = createDecider(world, world.start('last decider'), { reconcile })
  let answer = await decider.turn({ missed: await findMissed(world, keeper) })
  for (let turns = 0; answer.more; turns++) {
    if (turns === TURNS_MAX) throw new Error('A turn of a quiet workspace came to no end.')
    answer = await decider.turn()
  }
  return answer.processed_at
}
