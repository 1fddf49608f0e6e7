// Long troubles that a run of ten minutes and more goes through, one after the other, while the short interruptions of other parts
// go on: Temporal away, Temporal emptied and without its namespace, all automations dead, secrets rotated.

import type { Random } from '../fixtures/random.js'
import { runServo } from '../fixtures/servo-process.js'
import { watchAlerts } from './alerts.js'
import type { Part } from './part.js'
import type { Incident } from './plan.js'
import { rotateSecrets } from './rotation.js'
import type { World } from './world.js'

export type Happened = { readonly incidents: Record<string, number>; readonly problems: string[] }

/** How they went: an alert that did not fire is a problem, and so is a command that failed. */
export async function carryOutIncidents(
  world: World,
  incidents: readonly Incident[],
  until: (at_ms: number) => Promise<void>,
  means: Means,
): Promise<Happened> {
  const { say } = means
  const happened: Happened = { incidents: {}, problems: [] }
  for (const incident of incidents) {
    await until(incident.at_ms)
    say(`${incident.kind} for ${incident.for_ms / 1_000} s`)
    happened.problems.push(...(await HAPPENING[incident.kind](world, () => until(incident.at_ms + incident.for_ms), means)))
    happened.incidents[incident.kind] = (happened.incidents[incident.kind] ?? 0) + 1
  }
  return happened
}

export type Means = { readonly random: Random; readonly say: (line: string) => void }

type Happening = (world: World, isOver: () => Promise<void>, means: Means) => Promise<readonly string[]>

const partsOf = ({ parts }: World, kind: Part['kind']): readonly Part[] => parts.filter((part) => part.kind === kind)

const HAPPENING: Readonly<Record<Incident['kind'], Happening>> = {
  async TEMPORAL_ABSENT(world, isOver) {
    await killAll(partsOf(world, 'temporal'))
    await isOver()
    for (const part of partsOf(world, 'temporal')) part.start()
    return []
  },

  async TEMPORAL_EMPTIED(world, isOver, { say }) {
    await killAll(partsOf(world, 'temporal'))
    world.wipeTemporal()
    world.setTemporalNamespace(false)
    for (const part of partsOf(world, 'temporal')) part.start()
    await isOver()
    world.setTemporalNamespace(true)
    const { code, stderr } = await runServo(['temporal', 'set-up', '--temporal', world.temporal_address])
    say('the namespace is there again')
    return code === 0 ? [] : [`servo temporal set-up ended with ${code}: ${stderr}`]
  },

  async AUTOMATIONS_DEAD(world, isOver, { say }) {
    const alerts = watchAlerts(world.api_urls, world.metricsAt)
    await killAll(partsOf(world, 'automation'))
    await isOver()
    const fired = alerts.stop()
    for (const part of partsOf(world, 'automation')) part.start()
    say(`alerts that fired: ${fired.join(', ') || 'none'}`)
    return fired.some((name) => SAY_THAT_NONE_IS_ALIVE.includes(name)) ? [] : ['All automations were dead, and no alert fired.']
  },

  async SECRETS_ROTATED(world, isOver, { random, say }) {
    await rotateSecrets(world, random, say)
    await isOver()
    return []
  },
}

/** What the API serves of dead automations. */
const SAY_THAT_NONE_IS_ALIVE: readonly string[] = ['ServoTurnOverdue', 'ServoNothingFolded']

async function killAll(parts: readonly Part[]): Promise<void> {
  await Promise.all(parts.map((part) => part.kill()))
}
