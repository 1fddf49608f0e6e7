// Who takes part in a simulation, and what each does in one step. Everything is drawn from the process's own randomness.

import { repairFilters } from '../../src/compactor/base/repair-filters.js'
import { canonicalJson } from '../../src/core/canonical.js'
import { isOperatingError } from '../../src/core/errors.js'
import { sha256Hex } from '../../src/core/hash.js'
import { FOLD_VERSION } from '../../src/core/limits.js'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { ulidAt } from '../../src/core/ulid.js'
import type { LedgerEvent } from '../../src/events/event.js'
import { TABLE_NAMES } from '../../src/projections/tables.js'
import { openAsOf } from '../../src/readers/as-of.js'
import { POISONS, plantPoison, plantStray, plantUnreadableList, STRAYS } from '../faults/fault-store.js'
import { createHints } from '../faults/hints.js'
import { keptPointers } from '../fixtures/kept-pointers.js'
import type { Random } from '../fixtures/random.js'
import { collect, createDecider, createTableReader, createWriter, type DeciderOptions, findMissed, merge, pack } from '../fixtures/roles.js'
import { saidAgain } from '../fixtures/said-again.js'
import { createSpeaker, runIdOf } from '../fixtures/say.js'
import { drawSettings } from '../fixtures/settings.js'
import { type DeciderVersion, stubDecider } from '../fixtures/stub-decider.js'
import { createWorker } from '../fixtures/worker.js'
import type { Process, World } from '../fixtures/world.js'
import { type Actor, clockOf, exponential } from './actor.js'
import type { Copies } from './copies.js'
import { createVandal, drawDamage } from './vandal.js'

/** What all processes of a simulation know of each other by hints alone. */
type Stagehands = { readonly said: (readonly LedgerEvent[])[]; readonly missed: Set<string>; readonly hint: (name: string) => void }

/** `page_revisions`: of the pages of the chain, so that there are some to pack. */
export function castOf(world: World, random: Random, page_revisions: number, copies: Copies): readonly Actor[] {
  const missed = new Set<string>()
  const hint = createHints<string>((name) => void missed.add(name), { clock: world.clock, random: random.fork('hints') })
  const hands: Stagehands = { said: [], missed, hint }
  const tick = random.isTrue(0.5) ? { period_ms: MINUTE_MS } : undefined
  const isRollout = random.isTrue(0.1)
  const versionOf = (assets: readonly string[], more: DeciderVersion): DeciderVersion => ({
    ...more,
    ...(tick === undefined ? {} : { tick: { ...tick, assets } }),
  })
  const one = versionOf(['a'], { ignores_caps: random.isTrue(0.3) })
  const two = versionOf(['a', 'b'], { ignores_caps: random.isTrue(0.3), plans_backwards: random.isTrue(0.3) })
  const clocks = random.fork('clocks')
  const merging = random.fork('turns that merge')
  const mergesAt = () => (merging.isTrue(0.3) ? 3 : undefined)
  const isDamaging = drawDamage(random)
  const often = exponential(random.pick([5, 10, 20]) * SECOND_MS)
  return [
    { name: 'writer one', options: clockOf(clocks), think_ms: often, begin: (process) => write(world, process, hands) },
    { name: 'writer two', options: clockOf(clocks), think_ms: often, begin: (process) => write(world, process, hands) },
    {
      name: 'decider one',
      options: clockOf(clocks),
      think_ms: exponential(18 * SECOND_MS),
      begin: (process) => decide(world, process, hands, { version: one, fold_version: FOLD_VERSION, turn_merges_at: mergesAt() }),
    },
    {
      name: 'decider two',
      options: clockOf(clocks),
      think_ms: exponential(30 * SECOND_MS),
      begin: (process) =>
        decide(world, process, hands, {
          version: two,
          fold_version: isRollout ? FOLD_VERSION + 1 : FOLD_VERSION,
          turn_merges_at: mergesAt(),
        }),
    },
    { name: 'worker', options: clockOf(clocks), think_ms: exponential(25 * SECOND_MS), begin: (process) => work(world, process) },
    {
      name: 'merger',
      options: clockOf(clocks),
      think_ms: exponential(60 * SECOND_MS),
      begin: (process) => maintain(world, process, hands, { page_revisions, repairs: isDamaging }),
    },
    {
      name: 'collector',
      options: clockOf(clocks),
      think_ms: exponential(80 * SECOND_MS),
      begin: (process) => () => collect(process).then(() => undefined),
    },
    { name: 'reader', options: clockOf(clocks), think_ms: exponential(60 * SECOND_MS), begin: (process) => read(world, process) },
    {
      name: 'fresh reader',
      options: clockOf(clocks),
      think_ms: exponential(6 * SECOND_MS),
      begin: (process) => readFreshly(world, process),
    },
    {
      name: 'packer',
      options: clockOf(clocks),
      think_ms: exponential(12 * SECOND_MS),
      begin: (process) => () => pack(process, { whole: process.random.isTrue(0.3) }).then(() => undefined),
    },
    // A second one, beside the first.
    ...(random.fork('collectors').isTrue(0.5)
      ? [
          {
            name: 'other collector',
            options: clockOf(clocks),
            think_ms: exponential(80 * SECOND_MS),
            begin: (process: Process) => () => collect(process).then(() => undefined),
          },
        ]
      : []),
    ...(isDamaging ? [createVandal(world)] : []),
    // Not in every seed: a backup is some hundred calls. One of a damaged filter would be whole only after its repair.
    ...(random.fork('copies').isTrue(0.3) && !isDamaging
      ? [
          {
            name: 'copier',
            options: clockOf(clocks),
            think_ms: exponential(25 * SECOND_MS),
            begin: (process: Process) => () => copies.backUp(process),
          },
        ]
      : []),
  ]
}

function write(world: World, process: Process, { said }: Stagehands): () => Promise<void> {
  const { append } = createWriter(world, process)
  const { random, clock } = process
  let isDefined = false
  return async () => {
    if (!isDefined) {
      await append(deployment(process))
      isDefined = true
      return
    }
    const batches = Array.from({ length: random.isTrue(0.2) ? 3 : 1 }, () => batchOf(process, said))
    const answers = await Promise.allSettled(batches.map((batch) => appendUntilTold(batch)))
    said.push(...batches)
    if (random.isTrue(0.05)) await plant(world, process)
    if (random.isTrue(0.01)) await plantStray(world.bucket, random.pick(STRAYS))
    if (random.isTrue(0.02)) await appendUntilTold(await batchWithUnreadableList(world, process))
    for (const answer of answers) if (answer.status === 'rejected') throw answer.reason
  }

  /** A client tries again with the same keys, and gives up at some point. */
  async function appendUntilTold(batch: readonly LedgerEvent[]): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        await append(batch)
        return
      } catch (error) {
        if (!isOperatingError(error, 'unavailable') || tries === 2) throw error
        await clock.sleep(random.between(0, 30 * SECOND_MS))
      }
    }
  }
}

const speak = (process: Process) => {
  const say = createSpeaker()
  /** Minted by this process, now, by its own clock. */
  const said = (more: object = {}) => ({ at: process.clock.now(), event_id: newId(process), ...more })
  return { say, said }
}

const newId = ({ clock, random }: Process): string => ulidAt(Math.max(0, clock.now()), random.bytes(10))

function deployment(process: Process): LedgerEvent[] {
  const { say, said } = speak(process)
  const retry = { retry: { max_attempts: 3, backoff_seconds: 5 }, start_timeout_seconds: 60 }
  return [
    say.locationDeployed('main', 0, {}, said()),
    say.assetDefined('a', retry, 'main', said()),
    say.assetDefined('b', { ...retry, deps: [{ asset_key: 'a' }] }, 'main', said()),
    say.assetDefined('c', { ...retry, pools: ['small'] }, 'main', said()),
  ]
}

function batchOf(process: Process, history: (readonly LedgerEvent[])[]): readonly LedgerEvent[] {
  const { random } = process
  const { say, said } = speak(process)
  const request = String(random.below(1_000_000))
  const run_key = `user:${random.below(8)}`
  const draw = random.below(100)
  if (draw < 45) return [requestOf(process, run_key)]
  if (draw < 55) return [say.poolDefined(random.pick(['global', 'pool:small', 'pool:x']), 1 + random.below(4), said({ request }))]
  if (draw < 62) return [say.runCancelRequested(runIdOf(run_key), said({ request }))]
  if (draw < 70) {
    // A trigger that is refused where the pool has no cap: then its request has to be refused with it.
    const trigger = say.poolRemoved('pool:x', said({ request }))
    return [trigger, { ...requestOf(process, `sensor:01JHMPFN80G8M4P9V0MMKSSZ7N:msg:${request}`), causation_id: trigger.event_id }]
  }
  if (draw < 73) return [say.retentionChanged(drawSettings(random), said({ request }))]
  if (draw < 78) return [say.assetDefined('c', { code_version: String(random.below(3)), pools: ['small'] }, 'main', said({ request }))]
  const before = history.length === 0 ? undefined : random.pick(history)
  if (before === undefined) return [requestOf(process, run_key)]
  return random.isTrue(0.5) ? before : saidAgain(before, () => newId(process))
}

function requestOf(process: Process, run_key: string): LedgerEvent {
  const { random } = process
  const { say, said } = speak(process)
  const assets = random.pick([['a'], ['a', 'b'], ['c'], ['a', 'b', 'c']])
  return say.runRequested(run_key, { assets: { keys: assets }, request_fingerprint: sha256Hex(assets.join()) }, said())
}

/** F16: it is quarantined for want of its list, and holds nothing else up. */
async function batchWithUnreadableList(world: World, process: Process): Promise<readonly LedgerEvent[]> {
  const { say, said } = speak(process)
  const sha256 = await plantUnreadableList(world.bucket, process.random)
  return [say.runRequested(`user:list:${sha256.slice(0, 8)}`, { assets: { list: { sha256, count: 3 } } }, said())]
}

/** F16: a stranger leaves something under a name of this minute, or of one long ago. */
async function plant(world: World, { random }: Process): Promise<void> {
  const minute = world.time.now() - random.pick([0, 0, 10 * MINUTE_MS])
  // Megabytes that every reader of the ledger reads: some seeds with one are enough.
  const poison = random.isTrue(0.05) ? 'oversized' : random.pick(POISONS.filter((kind) => kind !== 'oversized'))
  await plantPoison(world.bucket, `ledger/orchestration/${ulidAt(minute, random.bytes(10))}.json`, poison, random)
}

type Deciding = Pick<DeciderOptions, 'turn_merges_at'> & { readonly version: DeciderVersion; readonly fold_version: number }

function decide(world: World, process: Process, { missed }: Stagehands, { version, ...options }: Deciding): () => Promise<void> {
  const { turn, follow } = createDecider(world, process, { reconcile: stubDecider(version), ...options })
  return async () => {
    // One that stands by for a while, and takes over later.
    if (process.random.isTrue(0.2)) {
      await follow()
      return
    }
    const names = [...missed]
    missed.clear()
    for (let turns = 0; turns < 3; turns++) if (!(await turn(names.length === 0 ? {} : { missed: names })).more) return
  }
}

function work(world: World, process: Process): () => Promise<void> {
  const worker = createWorker(world, process, { failing: 0.2, silent: 0.15 })
  return async () => void (await worker.work())
}

type Maintaining = { readonly page_revisions: number; readonly repairs: boolean }

function maintain(world: World, process: Process, { hint }: Stagehands, { page_revisions, repairs }: Maintaining): () => Promise<void> {
  return async () => {
    for (const name of await findMissed(world, process)) hint(name)
    if (repairs) await repairFilters(process, { looks_at_all: process.random.isTrue(0.5) })
    await merge(process, process.random.isTrue(0.3), page_revisions)
  }
}

/** An API that folds for itself: what it shows beside a revision counts as its claim. */
function readFreshly(world: World, process: Process): () => Promise<void> {
  const { fresh } = createTableReader(world, process, { folds: true })
  return async () => {
    const { view } = await fresh(() => undefined)
    if (view?.snapshot.unpublished !== undefined) for (const table of TABLE_NAMES) await view.page(table, { limit: 5 })
  }
}

/** A view stays readable for as long as a reader may work on one. */
const PINNED_MS_MAX = 8 * MINUTE_MS

function read(world: World, process: Process): () => Promise<void> {
  const { random, clock } = process
  const { reader, look, lookAt, fresh } = createTableReader(world, process)
  return async () => {
    const draw = random.below(4)
    const began = world.time.now()
    try {
      if (draw === 0) {
        await fresh(() => undefined)
      } else if (draw === 1) {
        // What is kept until it will have been opened, however long the store takes.
        const kept = keptPointers(world.oracle.pointers, world.time.now() + PINNED_MS_MAX)
        const before = kept.length === 0 ? undefined : random.pick(kept)
        const moment = random.isTrue(0.5) ? { at: Date.parse(before?.published_at ?? '') } : { sequence: before?.sequence ?? 0 }
        if (before !== undefined) await lookAt(reader.viewOf(await openAsOf(reader.tables, moment)))
      } else if (draw === 2) {
        await look(TABLE_NAMES, 1 + random.below(20))
      } else {
        const view = await reader.latest()
        await clock.sleep(random.between(0, PINNED_MS_MAX / 2))
        if (view !== undefined) await lookAt(view, [random.pick(TABLE_NAMES), random.pick(TABLE_NAMES)], 2)
      }
    } catch (error) {
      const took_ms = world.time.now() - began
      // Settings that came meanwhile may keep less than those that it was chosen by.
      const isLetGo = String(error).includes('No longer kept') && isShortened(world, began)
      if (!isLetGo && isOperatingError(error, 'missing') && took_ms < PINNED_MS_MAX) {
        world.oracle.problems.push(`I16 ${process.name} missed a file after ${took_ms} ms: ${String(error)}`)
      }
      throw error
    }
  }
}

const isShortened = ({ oracle: { pointers } }: World, since: number): boolean =>
  pointers.some(({ at, as_of }, index) => at >= since && canonicalJson(as_of ?? null) !== canonicalJson(pointers[index - 1]?.as_of ?? null))
