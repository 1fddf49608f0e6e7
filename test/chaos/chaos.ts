// Carries out a plan: kills, stops and wipes at their times, and ends with everything running and the store reached again.

// A plan is instants: nothing else is waited for.
import { setTimeout as sleep } from 'node:timers/promises'
import { carryOutIncidents, type Happened, type Means } from './incidents.js'
import type { Part, PartKind } from './part.js'
import { type Interruption, noneOf, type Plan } from './plan.js'
import type { World } from './world.js'

export type Done = Happened & Counts

type Counts = {
  readonly kills: Record<PartKind, number>
  readonly stops: Record<PartKind, number>
  wipes: number
  /** Meant for a part that was down or stopped still. */
  missed: number
}

export async function carryOut(world: World, { duration_ms, interruptions, weather, incidents }: Plan, means: Means): Promise<Done> {
  const { say } = means
  const began = performance.now()
  const until = (at_ms: number) => sleep(Math.max(0, began + at_ms - performance.now()))
  const done: Counts = { kills: noneOf(), stops: noneOf(), wipes: 0, missed: 0 }
  const changing = weather.map(async ({ at_ms, rate }) => {
    await until(at_ms)
    world.proxy?.setRate(rate)
  })
  const interrupting = interruptions.map(async (interruption) => {
    await until(interruption.at_ms)
    const part = world.parts.find(({ name }) => name === interruption.part) as Part
    if (part.state() !== 'RUNNING') {
      done.missed += 1
      return
    }
    say(`${interruption.part}: ${interruption.what} for ${(interruption.for_ms / 1_000).toFixed(1)} s`)
    await interrupt(world, part, interruption, done, () => until(Math.min(interruption.at_ms + interruption.for_ms, duration_ms)))
  })
  const [happened] = await Promise.all([
    carryOutIncidents(world, incidents, until, means),
    ...changing,
    ...interrupting,
    until(duration_ms),
  ])
  world.proxy?.setRate(0)
  return { ...done, ...happened }
}

async function interrupt(world: World, part: Part, { what }: Interruption, done: Counts, isOver: () => Promise<void>): Promise<void> {
  if (what === 'STOP') {
    done.stops[part.kind] += 1
    part.stop()
    await isOver()
    part.goOn()
    return
  }
  done.kills[part.kind] += 1
  await part.kill()
  if (what === 'WIPE') {
    done.wipes += 1
    world.wipeTemporal()
  }
  await isOver()
  part.start()
}
