// Weeks of a workspace that is published to, merged and collected, in memory and in a folder: what `as_of` opens, which files
// are left, and that verify finds all of those and asks for no others.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { verify } from '../../src/compactor/verify.js'
import { ORPHAN_AGE_MS, READER_PIN_MS } from '../../src/core/limits.js'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, stampMs } from '../../src/core/time.js'
import { RETENTION } from '../../src/projections/retention.js'
import { openAsOf } from '../../src/readers/as-of.js'
import { createReader } from '../../src/readers/reader.js'
import { createLocalStore } from '../../src/storage/local.js'
import { keptUntil } from '../../src/tables/history/kept.js'
import type { Pointer } from '../../src/tables/revision.js'
import { createRandom, type Random } from '../fixtures/random.js'
import { filesOfPointer } from '../fixtures/reachable.js'
import { collect, merge } from '../fixtures/roles.js'
import { createScenario, type Scenario } from '../fixtures/scenario.js'
import { makeScratch } from '../fixtures/scratch.js'
import { createVirtualTime } from '../fixtures/virtual-time.js'
import type { World, WorldOptions } from '../fixtures/world.js'
import { listAll } from '../invariants/evidence.js'

const TIMEOUT_MS = 120_000
const STEPS = 60

let folder = ''
beforeAll(() => {
  folder = makeScratch('servo-as-of-')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function inFolder(seed: number): WorldOptions {
  const time = createVirtualTime()
  return { time, store: createLocalStore({ folder: join(folder, String(seed)), clock: time.clock(), sync: false }) }
}

type Told = { readonly pointer: Pointer; readonly published_at: number; readonly replaced_at: number | null }

/** Every revision, oldest first; collection writes the pointer once more as it is. */
function toldBy({ oracle }: World): Told[] {
  const pointers = oracle.pointers.map(({ pointer }) => pointer).filter(({ sequence }, index, all) => all[index - 1]?.sequence !== sequence)
  const instants = pointers.map(({ published_at }) => Date.parse(published_at))
  return pointers.map((pointer, index) => ({
    pointer,
    published_at: instants[index] as number,
    replaced_at: instants[index + 1] ?? null,
  }))
}

async function expectFilesOfKept({ world, now }: { readonly world: World; readonly now: number }): Promise<number> {
  const needed = new Set<string>()
  for (const { pointer, ...stood } of toldBy(world)) {
    if (now - READER_PIN_MS > keptUntil(stood, RETENTION)) continue
    for (const name of (await filesOfPointer(world.bucket, pointer)).keys()) needed.add(name)
  }
  const left = (await listAll(world.bucket, 'state/')).filter(
    ({ name, creation_time }) => needed.has(name) || now - stampMs(creation_time) > ORPHAN_AGE_MS,
  )
  expect(left.map(({ name }) => name).sort()).toEqual([...needed].sort())
  return left.length
}

/** The limit of the pool is the number of the step that set it: a row tells when it was believed. */
async function expectAnswers({ world, random }: { readonly world: World; readonly random: Random }): Promise<void> {
  const tables = { store: world.bucket, files: world.files }
  const reader = createReader(tables)
  const told = toldBy(world)
  const now = world.time.now()
  for (const for_ms of [HOUR_MS, DAY_MS, 30 * DAY_MS]) {
    for (let i = 0; i < 5; i++) {
      const at = now - random.below(for_ms)
      const expected = told.findLast((stood) => stood.published_at <= at && now <= keptUntil(stood, RETENTION))
      const opened = await openAsOf(tables, { at }).catch(() => undefined)
      expect(opened?.revision.sequence).toBe(expected?.pointer.sequence)
      if (opened === undefined) continue
      const view = reader.viewOf(opened)
      const by_sequence = reader.viewOf(await openAsOf(tables, { sequence: view.sequence }))
      expect(await view.row('pools', ['pool:x'])).toEqual(await by_sequence.row('pools', ['pool:x']))
      world.oracle.sightings.push({
        by: 'reader',
        sequence: view.sequence,
        tables: new Map([['pools', (await view.page('pools', { limit: 1_000 })).rows]]),
      })
    }
  }
  const { pointer } = random.pick(told.filter((stood) => now > keptUntil(stood, RETENTION)))
  await expect(openAsOf(tables, { sequence: pointer.sequence })).rejects.toThrow(
    `No longer kept: revision ${pointer.sequence} (published at`,
  )
}

async function tellStory({ say, writer, decider, world }: Scenario, random: Random): Promise<void> {
  const { append } = writer()
  const { turn } = decider()
  const keeper = world.start('keeper')
  for (let step = 0; step < STEPS; step++) {
    await append([say.poolDefined('pool:x', step)])
    await turn()
    if (random.isTrue(0.2)) await merge(keeper, random.isTrue(0.3))
    if (random.isTrue(0.3)) await collect(keeper)
    await world.time.sleep(
      random.below(random.pick([5 * SECOND_MS, 20 * SECOND_MS, 3 * MINUTE_MS, 50 * MINUTE_MS, 7 * HOUR_MS, 4 * DAY_MS])),
    )
  }
  await collect(keeper)
}

describe.each([
  ['in memory', (): WorldOptions => ({})],
  ['in a folder', inFolder],
])('%s', (_, optionsOf) => {
  test.each([1, 2, 3])(
    'seed %s: the kept revisions are open, and their files are what is left',
    async (seed) => {
      const random = createRandom(`tiers ${seed}`)
      const scenario = createScenario({ seed, ...optionsOf(seed) })
      const { world, tell, expectInvariants } = scenario
      await tell(async () => {
        await tellStory(scenario, random)
        const now = world.time.now()
        const left_count = await expectFilesOfKept({ world, now })
        const { problems, file_count } = await verify({ store: world.bucket, files: world.files, scope: world.scope })
        expect(problems).toEqual([])
        expect(file_count).toBeLessThanOrEqual(left_count)
        await expectAnswers({ world, random })
        // Nothing is published, and nearly all of it goes.
        await world.time.sleep(31 * DAY_MS)
        await collect(world.start('late keeper'))
        const { pointer } = toldBy(world).at(-1) as Told
        expect(await expectFilesOfKept({ world, now: world.time.now() })).toBe((await filesOfPointer(world.bucket, pointer)).size)
      })
      await expectInvariants()
    },
    TIMEOUT_MS,
  )
})
