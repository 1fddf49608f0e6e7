// One seed, one workspace: several writers, two deciders, a merger, a collector, a packer, readers and a worker, each with a clock
// of its own that may be wrong, on a store that fails in the ways that this seed has drawn. They are killed, paused and
// started again; in the end the faults go, everybody comes to rest, and every invariant is checked.

import { repairFilters } from '../../src/compactor/base/repair-filters.js'
import { isUlid } from '../../src/core/ids.js'
import { FOLD_VERSION } from '../../src/core/limits.js'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { ulidTime } from '../../src/core/ulid.js'
import { LEDGER_PREFIX, segmentName } from '../../src/ledger/segment.js'
import { TABLE_NAMES } from '../../src/projections/tables.js'
import { COLD_PREFIX } from '../../src/tables/revision.js'
import { type FaultRule, swarmOfFaults } from '../faults/fault-store.js'
import { namedPacks, PACKS, packedSegments } from '../fixtures/packs.js'
import { createRandom, type Random } from '../fixtures/random.js'
import { filesOfPointer, foldedSegments } from '../fixtures/reachable.js'
import { collect, createDecider, type Decider, findMissed, merge, pack } from '../fixtures/roles.js'
import { createVirtualTime } from '../fixtures/virtual-time.js'
import { checkBound, REVISIONS } from '../fixtures/volumes.js'
import type { World } from '../fixtures/world.js'
import { checkWorld } from '../invariants/check.js'
import { type Evidence, listAll } from '../invariants/evidence.js'
import { checkSums } from '../invariants/table-checks.js'
import { keepUp, type Stage } from './actor.js'
import { castOf } from './cast.js'
import { type Copies, createCopies } from './copies.js'
import { createFaultyWorld, drawNameInterval } from './faulty-world.js'
import { brokeOff, type Purpose, resultOf, type SimulationResult } from './result.js'
import { checkFilters, drawDamage, isDamageReport } from './vandal.js'

/** Times between two stages in which nobody begins anything: seconds, past a closed minute, past an orphan's age, a day. */
const GAPS_MS = [10 * SECOND_MS, 7 * MINUTE_MS, 70 * MINUTE_MS, 26 * HOUR_MS] as const
/** Now and then also until rows have gone cold, and until their month is over. */
const COLD_GAPS_MS = [9 * DAY_MS, 40 * DAY_MS] as const
const STAGE_MS = [20 * SECOND_MS, 80 * SECOND_MS] as const
/** The longest that a paused process sleeps, and the latest that a write applies. */
const PAUSE_MS_MAX = 15 * MINUTE_MS

export async function simulate(seed: number, purpose: Purpose = 'check'): Promise<SimulationResult> {
  const random = createRandom(`simulation/${seed}`)
  const faults: FaultRule[] = swarmOfFaults(random.fork('faults'), random.pick([0.003, 0.01, 0.03]))
  const time = createVirtualTime()
  const same_name_interval_ms = drawNameInterval(random)
  const { world, killCount } = createFaultyWorld(
    { seed, time, page_size: random.pick([2, 3, 5, 1_000]) },
    { rules: faults, same_name_interval_ms },
  )
  const problems: string[] = []
  let backups = 0
  try {
    const page_revisions = random.fork('pages').pick([1, 2, 6])
    const copies = createCopies(world)
    await time.until(play(world, random, page_revisions, copies))
    faults.length = 0
    await time.until(rest(world, { page_revisions, repairs: drawDamage(random) }))
    backups = copies.finished()
    if (purpose === 'check') problems.push(...(await checkWorld(world, checkRest)), ...(await time.until(copies.check())))
  } catch (error) {
    problems.push(brokeOff(error))
  }
  return {
    ...(await resultOf(world, { problems, kill_count: killCount() })),
    reached: { ...reachedIn(world), 'backups that were finished while others worked': backups },
  }
}

/** What a sample of seeds has to come to, or packing, cold parts and folding by readers are not tried. */
const reachedIn = ({ trace, oracle }: World): Readonly<Record<string, number>> => {
  const count = (pattern: RegExp) => trace.filter((line) => pattern.test(line)).length
  return {
    'segments that were packed while others worked': count(/ packer delete ledger\/orchestration\/\S+ deleted$/),
    'fresh reads that folded by themselves': oracle.claims.filter(({ besides }) => besides !== undefined).length,
    'revisions that were bound while others worked': count(/ packer delete manifests\/orchestration\/revisions\/\S+ deleted$/),
    'filters that were damaged while others worked': count(/ vandal put state\/\S+ stored$/),
    'files of merges that turns made': count(/ decider \w+ put state\/orchestration\/base\/\S+ stored$/),
    'sub-lists of cold parts that were written while others worked': count(/ merger put manifests\/orchestration\/cold\/\S+ stored$/),
  }
}

async function play(world: World, random: Random, page_revisions: number, copies: Copies): Promise<void> {
  const stages = 1 + random.below(3)
  const cast = castOf(world, random, page_revisions, copies)
  const cold = random.fork('cold')
  for (let stage = 0; stage < stages; stage++) {
    const ends_at = world.time.now() + random.between(...STAGE_MS)
    const now: Stage = { isOver: () => world.time.now() >= ends_at }
    await Promise.race([
      Promise.all(cast.map((act) => keepUp(world, act, now))),
      world.time.sleep(ends_at - world.time.now() + PAUSE_MS_MAX),
    ])
    await world.time.sleep(random.pick(GAPS_MS))
    if (cold.isTrue(0.5)) await world.time.sleep(cold.pick(COLD_GAPS_MS))
  }
}

/** Faults off: what was acknowledged is visible after two turns, and nothing is left over in the end. */
async function rest(
  world: World,
  { page_revisions, repairs }: { readonly page_revisions: number; readonly repairs: boolean },
): Promise<void> {
  await world.time.sleep(PAUSE_MS_MAX + MINUTE_MS)
  const { problems, acks } = world.oracle
  const decider = createDecider(world, world.start('last decider'), {
    fold_version: world.oracle.pointers.at(-1)?.pointer.fold_version ?? FOLD_VERSION,
  })
  await wholeTurn(decider)
  await wholeTurn(decider)
  const foldedAt = await foldedSegments(world.bucket)
  for (const { head } of acks) {
    if (!foldedAt.has(segmentName(head.name))) problems.push(`I17 ${head.name} was acknowledged and is not folded after two turns.`)
  }
  const keeper = world.start('last keeper')
  const looked_at = world.time.now()
  await decider.turn({ missed: await findMissed(world, keeper) })
  problems.push(...(await checkTail(world, looked_at)))
  const told = decider.log.filter((line) => !isDamageReport(line))
  if (told.length > 0) problems.push(`I23 A turn came to no rest: ${told.join(' ')}`)
  const isMine = world.oracle.pointers.at(-1)?.pointer.fold_version === FOLD_VERSION
  if (isMine) await merge(keeper, true, page_revisions)
  if (repairs) {
    await repairFilters(keeper, { looks_at_all: true })
    problems.push(...(await checkFilters(world)))
  }
  // Until no tier answers with an older revision.
  const { as_of } = world.oracle.pointers.at(-1) ?? {}
  await world.time.sleep((as_of?.as_of_hours_days ?? 30) * DAY_MS + (as_of?.as_of_minutes_hours ?? 24) * HOUR_MS + 2 * HOUR_MS)
  if (isMine) {
    // What is left as it is would be damaged, and nothing damages a segment here.
    problems.push(...(await pack(keeper, { whole: true })).left.map((sentence) => `P1 ${sentence}`))
    await collect(keeper)
    problems.push(...(await checkOrphans(world)), ...(await checkPacks(world)))
  }
}

/** I17: what is left unfolded is named so long ago that no listing reaches it. Nobody was ever told that it is durable. */
async function checkTail({ bucket, listing_window_ms }: World, looked_at: number): Promise<string[]> {
  const foldedAt = await foldedSegments(bucket)
  return (await listAll(bucket, LEDGER_PREFIX))
    .map(({ name }) => segmentName(name))
    .filter(isUlid)
    .filter((name) => !foldedAt.has(name) && ulidTime(name) > looked_at - 2 * listing_window_ms + MINUTE_MS)
    .map((name) => `I17 ${name} stays unfolded.`)
}

const TURNS_MAX = 20

async function wholeTurn({ turn }: Decider): Promise<void> {
  for (let turns = 0; (await turn()).more; turns++) if (turns === TURNS_MAX) throw new Error('A turn of a quiet workspace came to no end.')
}

/** I16: in the end only what the newest revision names is left. */
async function checkOrphans({ bucket, oracle }: World): Promise<string[]> {
  const pointer = oracle.pointers.at(-1)?.pointer
  const named = pointer === undefined ? new Map<string, null>() : await filesOfPointer(bucket, pointer)
  return [...(await listAll(bucket, 'state/')), ...(await listAll(bucket, COLD_PREFIX))]
    .filter(({ name }) => !named.has(name))
    .map(({ name }) => `I16 ${name} is an orphan and was not collected.`)
}

/** P1 and P2: of each full page every segment is packed and every revision bound, and no pack is left that nobody names. */
async function checkPacks({ bucket, oracle }: World): Promise<string[]> {
  const packed = await packedSegments(bucket)
  const named = await namedPacks(bucket)
  const chain_through = oracle.pointers.at(-1)?.pointer.chain_through ?? 0
  const due = [...(await foldedSegments(bucket))].filter(([, sequence]) => sequence <= chain_through)
  const orphans = (await listAll(bucket, PACKS)).filter(({ name }) => !named.includes(name))
  return [
    ...due.filter(([name]) => !packed.has(name)).map(([name, sequence]) => `P1 ${name} of revision ${sequence} is not packed.`),
    ...orphans.map(({ name }) => `P1 ${name} is an orphan and was not collected.`),
    ...(await checkBound(
      bucket,
      chain_through,
      (await listAll(bucket, REVISIONS)).map(({ name }) => name),
    )),
  ]
}

function checkRest({ oracle }: Evidence): string[] {
  const whole = oracle.sightings.filter(({ tables }) => tables.size === TABLE_NAMES.length)
  const sums = whole.flatMap(({ by, sequence, tables }) => checkSums(tables, `At revision ${sequence}, as ${by} read it,`))
  return sums
}
