// One seed, one workspace, and the execution engine as it runs for real: two automations, two APIs, workers, people and
// sometimes a liar, on a store, a queue and a network that fail in the ways that this seed has drawn. Then the weather calms
// down, everything has to come to its end, and every invariant is checked against what the workers say that they ran.

import { MINUTE_MS, SECOND_MS } from '../../../src/core/time.js'
import { segmentName } from '../../../src/ledger/segment.js'
import { createReader } from '../../../src/readers/reader.js'
import { type FaultRule, swarmOfFaults } from '../../faults/fault-store.js'
import { createRandom, type Random } from '../../fixtures/random.js'
import { foldedSegments } from '../../fixtures/reachable.js'
import { collect, createDecider, findMissed, merge } from '../../fixtures/roles.js'
import { createVirtualTime } from '../../fixtures/virtual-time.js'
import type { Process, World } from '../../fixtures/world.js'
import { checkWorld } from '../../invariants/check.js'
import { checkExecution } from '../../invariants/execution-checks.js'
import { type Actor, clockOf, exponential, keepUp, type Stage } from '../actor.js'
import { createFaultyWorld, drawNameInterval } from '../faulty-world.js'
import { brokeOff, type Purpose, resultOf, type SimulationResult } from '../result.js'
import { createApi } from './api.js'
import { createAutomation, reconcile } from './automation.js'
import { createFront, drawOutage, takeAway } from './front.js'
import { createLiar } from './liar.js'
import { createPeople, createPerson, GRACE_SECONDS, type Person } from './people.js'
import { createQueue } from './queue.js'
import { createSite, type Site } from './site.js'
import { weatherOf } from './weather.js'
import { createWorker } from './worker.js'

const PLAY_MS = [20 * SECOND_MS, 60 * SECOND_MS] as const
/** The longest that a paused process sleeps, and the latest that a write applies which nobody waits for any more: as long
 *  as the deadlines of this cast, many times over. */
const PAUSE_MS = [10 * SECOND_MS, 2 * MINUTE_MS] as const
const WRITE_LATE_MS = [SECOND_MS, 40 * SECOND_MS] as const
/** Once nothing goes wrong any more, every run is over within this: its tasks have a few attempts left, one after another. */
const END_WITHIN_MS = 15 * MINUTE_MS
/** A cancel in calm, beyond the grace of its tasks: the poke, the turn, and the one that judges the deadline. */
const CANCEL_SLACK_MS = 8 * SECOND_MS
const LOOK_EVERY_MS = 5 * SECOND_MS

export async function simulate(seed: number, purpose: Purpose = 'check'): Promise<SimulationResult> {
  const random = createRandom(`execution/${seed}`)
  const faults: FaultRule[] = swarmOfFaults(random.fork('faults'), random.pick([0, 0.003, 0.01, 0.02])).map(inScale)
  const time = createVirtualTime()
  const same_name_interval_ms = drawNameInterval(random)
  const { world, killCount } = createFaultyWorld(
    { seed: `execution/${seed}`, time, page_size: random.pick([40, 1_000]) },
    { rules: faults, same_name_interval_ms },
  )
  const site = createSite(world, weatherOf(random.fork('weather')))
  const problems: string[] = []
  try {
    await time.until(play(site, random, faults))
    await time.until(rest(world))
    const bound_ms = GRACE_SECONDS * SECOND_MS + CANCEL_SLACK_MS
    if (purpose === 'check') problems.push(...(await checkWorld(world, (evidence) => checkExecution(evidence, site.witness, bound_ms))))
  } catch (error) {
    problems.push(brokeOff(error))
  }
  const reached = { 'starts that were told to cancel': site.witness.cancelled_starts.length, ...(await prefetchedIn(world)) }
  return { ...(await resultOf(world, { problems, kill_count: killCount() })), reached }
}

async function prefetchedIn({ bucket, files }: World): Promise<Readonly<Record<string, number>>> {
  const where = [{ column: 'prefetched', is: '=', value: true }] as const
  const { rows } = (await (await createReader({ store: bucket, files }).latest())?.page('dispatch_outbox', { where, limit: 10_000 })) ?? {
    rows: [],
  }
  const closed = (close_reason: string) => rows.filter((row) => row['close_reason'] === close_reason).length
  return {
    'attempts that were dispatched ahead and started': closed('STARTED'),
    'attempts that were dispatched ahead and taken back': closed('WITHDRAWN'),
  }
}

function inScale(rule: FaultRule): FaultRule {
  if (rule.fault === 'pause') return { ...rule, duration_ms: PAUSE_MS }
  return rule.fault === 'apply_late' ? { ...rule, duration_ms: WRITE_LATE_MS } : rule
}

async function play(site: Site, random: Random, faults: FaultRule[]): Promise<void> {
  const { world, weather } = site
  let isOver = false
  const stage: Stage = { isOver: () => isOver }
  const cast = castOf(site, random).map(playerOf)
  const played = cast.map(({ actor }) => keepUp(world, actor, stage))
  await world.time.sleep(random.between(...PLAY_MS))
  faults.length = 0
  weather.calmDown()
  // Either whoever runs it starts everything again, or who was paused comes back by himself, long after.
  const isRestarted = random.isTrue(0.7)
  if (isRestarted) for (const process of cast.flatMap(({ processes }) => processes)) process.kill()
  await world.time.sleep(isRestarted ? WRITE_LATE_MS[1] : PAUSE_MS[1])
  // Who was not started again may stand still for a while yet.
  if (isRestarted) site.witness.calm_since = world.time.now()
  const person = createPerson(site, world.start('person'))
  await person.openPools()
  if (random.isTrue(0.5)) await loseApiInCalm(site, person, random)
  await cancelInCalm(site, person, random)
  // Whoever was paused while he closed one has done so by now.
  await person.openPools()
  await untilOver(site)
  isOver = true
  await Promise.all(played)
}

/** An actor, and the processes that it was. */
function playerOf(actor: Actor): { readonly actor: Actor; readonly processes: readonly Process[] } {
  const processes: Process[] = []
  const begin: Actor['begin'] = (process) => {
    processes.push(process)
    return actor.begin(process)
  }
  return { processes, actor: { ...actor, begin } }
}

function castOf(site: Site, random: Random): readonly Actor[] {
  const clocks = random.fork('clocks')
  const queue = createQueue(site, random.pick(['DIRECT', 'CLOUD_TASKS'] as const))
  const workers = Array.from({ length: 2 + random.below(2) }, (_, index) => createWorker(site, `worker ${index + 1}`, clockOf(clocks)))
  return [
    createAutomation(site, 'automation one', clockOf(clocks), queue),
    createAutomation(site, 'automation two', clockOf(clocks), queue),
    createApi(site, 'api one', clockOf(clocks)),
    createApi(site, 'api two', clockOf(clocks)),
    ...workers,
    createPeople(site, 'people', {}),
    createFront(site, 'front'),
    ...(site.weather.hasLiar ? [createLiar(site, 'liar', {})] : []),
    ...(random.isTrue(0.5) ? [createKeeper('keeper', clockOf(clocks))] : []),
  ]
}

/** Maintenance, more often than any day has it. */
const createKeeper = (name: string, options: Actor['options']): Actor => ({
  name,
  options,
  think_ms: exponential(50 * SECOND_MS),
  begin: (process) => async () => {
    await merge(process, process.random.isTrue(0.3))
    await collect(process)
  },
})

/** Automations have reached the API by then: one that never did knows nothing of it. */
const ASKED_WITHIN_MS = 25 * SECOND_MS

/** Nothing goes wrong, but that nobody reaches an API while code runs: whoever lives through it is not given up (I31). */
async function loseApiInCalm(site: Site, person: Person, random: Random): Promise<void> {
  for (const until = site.world.time.now() + ASKED_WITHIN_MS; site.world.time.now() < until; ) {
    await person.askForRun()
    await site.world.time.sleep(random.below(5 * SECOND_MS))
  }
  await takeAway(site, drawOutage(random))
}

/** Runs that are under way, and are cancelled while nothing goes wrong: how long that takes is known. */
async function cancelInCalm(site: Site, person: Person, random: Random): Promise<void> {
  const { world, witness } = site
  for (let asked = 0; asked < 2; asked++) {
    const run_id = await person.askForRun()
    await world.time.sleep(random.below(12 * SECOND_MS))
    if (run_id === undefined) continue
    const asked_at = world.time.now()
    const reply = await person.cancel(run_id)
    // It may have been over already.
    if (reply?.status === 200) witness.calm_cancels.push({ run_id, asked_at })
  }
}

async function untilOver({ world }: Site): Promise<void> {
  const reader = createReader({ store: world.bucket, files: world.files })
  const gives_up_at = world.time.now() + END_WITHIN_MS
  const where = [{ column: 'state', in: ['PENDING', 'PLANNED', 'RUNNING', 'CANCELLING'] }] as const
  // A few more moments in any case. What was asked for last is to be seen: a poke may be lost, and then the next look folds it.
  const isAllFolded = async () => {
    const foldedAt = await foldedSegments(world.bucket)
    return world.oracle.acks.every(({ head }) => foldedAt.has(segmentName(head.name)))
  }
  for (let quiet = 0; quiet < 2 && world.time.now() < gives_up_at; ) {
    await world.time.sleep(LOOK_EVERY_MS)
    const open = await (await reader.latest())?.page('runs', { where, limit: 1 })
    const isQuiet = (open === undefined || open.rows.length === 0) && (await isAllFolded())
    quiet = isQuiet ? quiet + 1 : 0
  }
}

/** Everything is over: what is left is folded, and then there is nothing to write any more. */
async function rest(world: World): Promise<void> {
  const keeper = world.start('last keeper')
  const decider = createDecider(world, world.start('last decider'), { reconcile })
  for (let turns = 0; (await decider.turn({ missed: await findMissed(world, keeper) })).more; turns++) {
    if (turns === TURNS_MAX) throw new Error('A turn of a quiet workspace came to no end.')
  }
  const [revisions, segments] = [world.oracle.pointers.length, world.oracle.ledger.size]
  await decider.turn()
  if (world.oracle.pointers.length !== revisions || world.oracle.ledger.size !== segments) {
    world.oracle.problems.push('I28 A turn over a workspace in which everything is over wrote something.')
  }
}

const TURNS_MAX = 20
