// One simulated run: several writers, two deciders, workers, a merger, a collector and readers on one workspace, in virtual
// time, under the faults of its seed; then the faults end, and everything that was acknowledged has to be there.

import { isOperatingError, messageOf } from '../../src/core/errors.js'
import { sha256Hex } from '../../src/core/hash.js'
import { listName } from '../../src/core/keys.js'
import { canonicalJson } from '../../src/core/canonical.js'
import type { LedgerEvent } from '../../src/events/event.js'
import { BatchRefusedError } from '../../src/ledger/segment.js'
import { CREATE } from '../../src/storage/object-store.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createFaultState, faultStore, type FaultRule, KilledError } from '../faults/fault-store.js'
import { createHistory, MIXED_TROUBLE } from '../fixtures/history.js'
import { createRandom } from '../fixtures/random.js'
import { collect, createDecider, createTableReader, createWriter, findMissed, merge } from '../fixtures/roles.js'
import { stubDecider } from '../fixtures/stub-decider.js'
import { createVirtualTime } from '../fixtures/virtual-time.js'
import { createWorker } from '../fixtures/worker.js'
import { createWorld, type Process, type World } from '../fixtures/world.js'
import { checkWorld } from '../invariants/check.js'
import { drawFaults, drawSkew } from './swarm.js'

export type Simulated = {
  /** Sentences; empty: all invariants held. */
  readonly problems: readonly string[]
  /** Of every call that a process made and its answer, in order. */
  readonly trace_hash: string
  readonly call_count: number
  readonly faults: readonly string[]
}

type Behaviour = (process: Process, generation: number) => Promise<void>

type Stage = {
  readonly world: World
  /** Starts the role, and another process in its place whenever it is killed. */
  readonly play: (name: string, behaviour: Behaviour) => void
  readonly isOver: () => boolean
  readonly problems: string[]
}

export async function simulate(seed: number): Promise<Simulated> {
  const random = createRandom(`simulation/${seed}`)
  const time = createVirtualTime()
  const rules = drawFaults(random.fork('faults'))
  const state = createFaultState()
  const respawn = new Map<string, () => void>()
  let isCalm = false
  const world = createWorld({
    seed,
    time,
    page_size: random.pick([5, 50, 1_000]),
    wrap: (store, { name, clock, random: own, kill }) =>
      faultStore(store, {
        actor: name,
        random: own,
        clock,
        world_clock: time.clock(),
        faults: isCalm ? [] : rules,
        state,
        onKill() {
          kill()
          respawn.get(name)?.()
        },
      }),
  })
  const stage = createStage(world, respawn, () => isCalm)
  await cast(stage, seed)
  await time.until(time.sleep(random.between(20_000, 200_000)))
  isCalm = true
  await time.until(untilNothingIsUnderWay(world, state))
  const problems = [...stage.problems, ...(await time.until(settle(world)))]
  return {
    problems: [...problems, ...(problems.length === 0 ? await checkWorld(world) : [])],
    trace_hash: sha256Hex(world.trace.join('\n')),
    call_count: world.callCount(),
    faults: rules.map(({ fault, probability }: FaultRule) => `${fault} ${probability.toFixed(4)}`),
  }
}

/** While faults are on, an operating error is what a process lives with; anything else is a bug. */
const isExpected = (error: unknown): boolean => isOperatingError(error) || error instanceof KilledError

function createStage(world: World, respawn: Map<string, () => void>, isOver: () => boolean): Stage {
  const problems: string[] = []
  function play(name: string, behaviour: Behaviour): void {
    const random = world.random.fork(`role/${name}`)
    let generation = 0
    const start = () => {
      if (isOver()) return
      const process = world.start(name, { skew_ms: drawSkew(random) })
      behaviour(process, generation++).catch((error: unknown) => problems.push(`${name} broke: ${messageOf(error)}`))
    }
    respawn.set(name, () => void world.time.sleep(random.between(100, 20_000)).then(start))
    start()
  }
  return { world, play, isOver, problems }
}

/** Does something again and again until the end; what the store refuses is tried again at the next time. */
async function repeat(
  { isOver }: Stage,
  process: Process,
  pause_ms: readonly [number, number],
  act: () => Promise<unknown>,
): Promise<void> {
  while (!isOver()) {
    try {
      await act()
    } catch (error) {
      if (!isExpected(error)) throw error
    }
    await process.clock.sleep(process.random.between(...pause_ms))
  }
}

async function cast(stage: Stage, seed: number): Promise<void> {
  const { world, play } = stage
  const random = world.random.fork('cast')
  for (let writer = 0; writer < 2 + random.below(2); writer++) await playWriter(stage, `writer-${writer}`, `${seed}/${writer}`)
  const tick = random.isTrue(0.5) ? { tick: { period_ms: 60_000, assets: ['a1'] } } : {}
  for (const name of ['decider-0', 'decider-1']) {
    play(name, async (process) => {
      const version = random.isTrue(0.3) ? { ...tick, plans_backwards: true } : tick
      const decider = createDecider(world, process, { reconcile: stubDecider(version) })
      await repeat(stage, process, [500, 20_000], () => decider.turn())
    })
  }
  play('worker', async (process) => {
    const worker = createWorker(world, process, { failing: 0.1, silent: 0.1 })
    await repeat(stage, process, [2_000, 20_000], () => worker.work())
  })
  play('merger', (process) => repeat(stage, process, [5_000, 90_000], () => merge(process, process.random.isTrue(0.2))))
  play('collector', (process) => repeat(stage, process, [20_000, 200_000], () => collect(process)))
  play('reader', (process) => {
    const reader = createTableReader(world, process)
    return repeat(stage, process, [10_000, 60_000], () => reader.look(['pools', 'runs', 'tasks', 'run_key_index'], 50))
  })
}

/** Says a history in its order, each batch until it is acknowledged; whoever starts in its place goes on where it was,
 *  or a little before: a client forgets what it has said. */
async function playWriter({ world, play, isOver }: Stage, name: string, seed: string): Promise<void> {
  const history = createHistory({ seed, assets: 3, runs: 2, open_runs: 2, trouble: MIXED_TROUBLE, now: () => world.time.now() })
  for (const [sha256, values] of history.lists) {
    await world.bucket.put(listName(sha256), new TextEncoder().encode(canonicalJson(values)), { if_generation: CREATE })
  }
  const said: (readonly LedgerEvent[])[] = []
  const batches = history.batches[Symbol.iterator]()
  const batchAt = (at: number): readonly LedgerEvent[] | undefined => {
    while (said.length <= at) {
      const next = batches.next()
      if (next.done === true) return undefined
      said.push(next.value.events as readonly LedgerEvent[])
    }
    return said[at]
  }
  let at = 0
  play(name, async (process) => {
    const writer = createWriter(world, process)
    at = Math.max(0, at - process.random.below(3))
    for (let batch = batchAt(at); batch !== undefined && !isOver(); batch = batchAt(at)) {
      try {
        await writer.append(batch)
        at += 1
      } catch (error) {
        // Some of its trouble nobody may append: the appender says so, and the writer goes on.
        if (error instanceof BatchRefusedError) at += 1
        else if (!isExpected(error)) throw error
      }
      await process.clock.sleep(process.random.between(50, 5_000))
    }
  })
}

/** What was sent before the calm still lands, and whoever was paused wakes up. */
async function untilNothingIsUnderWay({ time }: World, state: { readonly pending: number }): Promise<void> {
  await time.sleep(20 * 60_000)
  while (state.pending > 0) await time.sleep(1_000)
}

const TURNS_MAX = 50

/** With the faults gone, two calls for a turn have to make everything visible (I17). */
async function settle(world: World): Promise<string[]> {
  const process = world.start('calm')
  const decider = createDecider(world, process)
  const problems: string[] = []
  try {
    for (let call = 0; call < 2; call++) {
      const missed = await findMissed(world, process)
      for (let turns = 0; (await decider.turn({ missed })).more; turns++) {
        if (turns > TURNS_MAX) return [`I17 A turn still has more to do after ${TURNS_MAX} times: ${decider.log.at(-1) ?? ''}`]
      }
    }
    await merge(process, true)
    await collect(process)
    const { counts } = await createDecider(world, process, { reconcile: foldOnly }).turn()
    if (counts.applied + counts.duplicate + counts.refused + counts.quarantined > 0)
      problems.push('I17 A third call still found something to fold.')
  } catch (error) {
    problems.push(`I17 With all faults gone: ${messageOf(error)}`)
  }
  return problems
}
