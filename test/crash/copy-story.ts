// The story of a copy for all crash points: a workspace is backed up, restored elsewhere days later, and its tables are made anew
// there. Whoever is killed is run again with the same words, and in the end everything is as it was. What lay in closed minutes
// nobody hands over, as if each restore had died behind the pointer: a look of maintenance has to find it.

import { backUp } from '../../src/compactor/backup/backup.js'
import { restore } from '../../src/compactor/backup/restore.js'
import { verify } from '../../src/compactor/verify.js'
import { findMissedSegments } from '../../src/compactor/window.js'
import { canonicalJson } from '../../src/core/canonical.js'
import { isOperatingError, messageOf } from '../../src/core/errors.js'
import { DAY_MS, HOUR_MS, instantText, MINUTE_MS } from '../../src/core/time.js'
import { ulidAt } from '../../src/core/ulid.js'
import { encodeSegment, segmentObjectName } from '../../src/ledger/segment.js'
import { type LooseRow, TABLE_NAMES, type TableName } from '../../src/projections/tables.js'
import { createReader } from '../../src/readers/reader.js'
import { createMemoryState, createMemoryStore, type MemoryState } from '../../src/storage/memory.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { rebuild } from '../../src/turn/rebuild.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { type CrashPoint, createCrashScript } from '../faults/crash-store.js'
import { KilledError } from '../faults/fault-store.js'
import { createPlainFiles } from '../fixtures/plain-files.js'
import { createRandom } from '../fixtures/random.js'
import { replayed } from '../fixtures/replayed.js'
import { createDecider, createWriter, merge, pack } from '../fixtures/roles.js'
import { createSpeaker } from '../fixtures/say.js'
import { createVirtualTime } from '../fixtures/virtual-time.js'
import { createWorld, type World } from '../fixtures/world.js'
import { publishWrongRows } from '../fixtures/wrong-rows.js'
import type { CrashRun } from './crash-story.js'

/** What every run begins with, and what it has to come to. */
type Origin = { readonly state: MemoryState; readonly now: number; readonly tables: string }

const PAGE = 3
const TRIES_MAX = 8

let made: Promise<Origin> | undefined

export async function runCopyStory(points: readonly CrashPoint[]): Promise<CrashRun> {
  made ??= makeOrigin()
  const origin = await made
  const time = createVirtualTime(origin.now)
  const clock = time.clock()
  const script = createCrashScript(points)
  const random = createRandom('copies')
  const states = { live: cloned(origin.state), shelf: createMemoryState(), copy: createMemoryState() }
  const problems: string[] = []
  const open = (state: MemoryState, actor: string) => script.store(createMemoryStore({ clock, state, page_size: 20 }), actor)

  /** Each try is a process of its own, with other randomness. */
  async function act<Answer>(
    name: string,
    work: (actor: string, bytes: (count: number) => Uint8Array) => Promise<Answer>,
  ): Promise<Answer> {
    let failure: unknown
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      try {
        return await work(`${name} ${tries}`, random.fork(`${name}/${tries}`).bytes)
      } catch (error) {
        if (!(error instanceof KilledError) && !isOperatingError(error, 'unavailable')) throw error
        failure = error
        await clock.sleep(MINUTE_MS)
      }
    }
    throw new Error(`${name} came to no end in ${TRIES_MAX} tries: ${messageOf(failure)}`)
  }

  const copied = createWorld({ time, state: states.copy, seed: 'copied' })
  const { scope } = copied
  async function tell(): Promise<void> {
    await act('backup', (actor, bytes) =>
      backUp({
        source: open(states.live, actor),
        target: open(states.shelf, actor),
        clock,
        random: bytes,
        scope,
        listing_window_ms: HOUR_MS,
      }),
    )
    await clock.sleep(9 * DAY_MS)
    const { verified } = await act('restore', (actor, bytes) => {
      const target = open(states.copy, actor)
      const source = open(states.shelf, actor)
      return restore({ source, target, files: createPlainFiles({ store: target }), clock, random: bytes, scope })
    })
    problems.push(...verified.problems)
    const row = (await rowsOf(copied, 'pools')).find(({ pool_key }) => pool_key === 'pool:1')
    await publishWrongRows(copied.start('fault'), 'pools', [{ ...row, max_running: 77 }])
    await act('rebuild', (actor, bytes) => {
      const store = open(states.copy, actor)
      const scratch: ObjectStore = createMemoryStore({ clock })
      const live = { store, files: createPlainFiles({ store }) }
      return rebuild({ live, scratch: { store: scratch, files: createPlainFiles({ store: scratch }) }, scope, clock, random: bytes })
    })
  }

  let call_count = 0
  try {
    await time.until(tell())
    call_count = script.calls.length
    await script.release()
    await time.until(foldAll(copied))
    const { problems: found, segments } = await verify({ store: copied.bucket, files: copied.files, scope })
    problems.push(...found)
    if (segments.unfolded > 0) problems.push(`I2 ${segments.unfolded} segments of the copy are folded by nobody.`)
    const differences = await replayed(copied)
    if (differences.length > 0) problems.push(`I4 A replay of the copy differs: ${JSON.stringify(differences).slice(0, 400)}`)
    if ((await tablesOf(copied)) !== origin.tables) problems.push('I4 The tables of the copy are not those of the original.')
  } catch (error) {
    problems.push(`The story broke off: ${messageOf(error)}`)
  }
  return { calls: script.calls.slice(0, call_count), reached: script.reached, problems }
}

async function foldAll(world: World): Promise<void> {
  const missed = await findMissedSegments(world.bucket, HOUR_MS)
  await createDecider(world, world.start('last'), { reconcile: foldOnly }).turn({ missed })
}

/** Two pages of which the first is packed, runs, and a tail, with a segment in a minute that is closed. */
async function makeOrigin(): Promise<Origin> {
  const state = createMemoryState()
  const world = createWorld({ state, seed: 'origin' })
  const say = createSpeaker()
  const { append } = createWriter(world, world.start('writer'))
  const { turn } = createDecider(world, world.start('decider'))
  async function tell(): Promise<void> {
    const keeper = world.start('keeper')
    await append([say.locationDeployed('main', 0), say.assetDefined('a')])
    for (const max of [1, 2, 3]) {
      await append([say.poolDefined(`pool:${max}`, max), say.runRequested(`user:${max}`, { assets: { keys: ['a'] } })])
      await world.time.sleep(MINUTE_MS)
      await turn()
      await merge(keeper, true, PAGE)
    }
    await world.time.sleep(HOUR_MS + MINUTE_MS)
    await pack(keeper)
    await append([say.poolDefined('pool:4', 4)])
    await turn()
    await append([say.poolDefined('pool:tail', 5)])
    // Its writer was paused before it sent it.
    const stalled = ulidAt(world.time.now() - 12 * MINUTE_MS, new Uint8Array(10).fill(1))
    const batches = [{ batch_id: stalled, events: [say.poolDefined('pool:stalled', 6)] }]
    const bytes = encodeSegment({ ...world.scope, write_id: stalled, written_at: instantText(world.time.now()), batches })
    await world.bucket.put(segmentObjectName(stalled), bytes, { if_generation: CREATE })
  }
  await world.time.until(tell())
  const origin = cloned(state)
  const now = world.time.now()
  // Whoever decides says when, and the copy is made at another time.
  await world.time.until(foldAll(world))
  return { state: origin, now, tables: await tablesOf(world) }
}

/** Without the numbers of revisions: the copy has one more, of the rebuild. */
async function tablesOf(world: World): Promise<string> {
  const tables = await Promise.all(TABLE_NAMES.map(async (table) => (await rowsOf(world, table)).map(({ row_version: _, ...row }) => row)))
  return canonicalJson(tables)
}

async function rowsOf({ bucket, files }: World, table: TableName): Promise<readonly LooseRow[]> {
  const view = await createReader({ store: bucket, files }).latest()
  return (await view?.page(table, { limit: 10_000 }))?.rows ?? []
}

const cloned = ({ objects, names, now_ms, generations }: MemoryState): MemoryState => ({
  objects: new Map(objects),
  names: [...names],
  now_ms,
  generations,
})
