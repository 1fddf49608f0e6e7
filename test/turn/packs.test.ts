// Old segments lie in packs, and everybody finds them there: what is packed and when, who reads it, and what becomes of a
// packing that was cut short, came too late, or met another one.

import { readdirSync, rmSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { openRecorded } from '../../src/compactor/packs/recorded.js'
import { verify } from '../../src/compactor/verify.js'
import { crc32cHex } from '../../src/core/hash.js'
import { ORPHAN_AGE_MS } from '../../src/core/limits.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { newUlid } from '../../src/core/ulid.js'
import { readSegment } from '../../src/ledger/read.js'
import { LEDGER_PREFIX, segmentName } from '../../src/ledger/segment.js'
import { readTail } from '../../src/readers/tail.js'
import { createLocalStore } from '../../src/storage/local.js'
import { CREATE } from '../../src/storage/object-store.js'
import { fillPages, PAGE, rewrite as rewriteBytes } from '../fixtures/full-pages.js'
import { indexNames, namedPacks, PACKS, packedSegments, singleName } from '../fixtures/packs.js'
import { readChain } from '../fixtures/reachable.js'
import { collect, pack } from '../fixtures/roles.js'
import { createScenario, once, type Scenario } from '../fixtures/scenario.js'
import { makeScratch } from '../fixtures/scratch.js'
import { createVirtualTime } from '../fixtures/virtual-time.js'
import { listAll } from '../invariants/evidence.js'

const singles = async ({ world }: Scenario) => (await listAll(world.bucket, LEDGER_PREFIX)).map(({ name }) => segmentName(name)).sort()
const packs = async ({ world }: Scenario) => (await listAll(world.bucket, PACKS)).map(({ name }) => name)
const verified = ({ world }: Scenario) => verify({ store: world.bucket, files: world.files, scope: world.scope, held_segments: 3 })

describe('packing', () => {
  test('waits until every segment of a page is past the window, and keeps each byte for byte', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 2)
      const before = await singles(scenario)
      expect(await pack(keeper)).toMatchObject({ page_count: 0, left: [] })
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      expect(await pack(keeper, { is_dry: true })).toMatchObject({ page_count: 2, pack_count: 0 })
      expect(await singles(scenario)).toEqual(before)
      const stored = new Map(world.oracle.ledger)
      const answer = await pack(keeper)
      expect(answer).toMatchObject({ page_count: 2, pack_count: 2, deleted_count: answer.segment_count, left: [] })
      const packed = await packedSegments(world.bucket)
      expect([...packed.keys(), ...(await singles(scenario))].sort()).toEqual(before)
      for (const [name, line] of packed) {
        const head = stored.get(singleName(name))
        expect(line).toMatchObject({ crc32c: head?.crc32c, size: head?.size, keys_sha256: head?.meta['keys_sha256'] })
        expect(line.body).toBe(line.bytes.toString('utf8'))
      }
      expect(await pack(keeper)).toMatchObject({ page_count: 0, deleted_count: 0 })
    })
    expect(await verified(scenario)).toMatchObject({ problems: [], strays: [], segments: { unfolded: 0 } })
    await expectInvariants()
  })
})

describe('whoever reads the ledger', () => {
  test('sees the same events in the same order, whatever is packed', async () => {
    const scenario = createScenario()
    const { world, tell, writer, say, expectInvariants } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 3)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      await writer('late writer').append([say.poolDefined('pool:z', 1)])
      const deps = { store: keeper.store, scope: world.scope, clock: keeper.clock }
      const limits = [1, 3, 7, 1_000]
      const before = await Promise.all(limits.map((limit) => readTail(deps, limit)))
      const all = await singles(scenario)
      once(world, 'after', { process: 'doomed', operation: 'delete', name: LEDGER_PREFIX }, ({ kill }) => kill())
      void pack(world.start('doomed'))
      await world.time.sleep(MINUTE_MS)
      const left = await singles(scenario)
      expect(left.length).toBeLessThan(all.length)
      expect(left.some((name) => name < (all.find((other) => !left.includes(other)) ?? ''))).toBe(true)
      expect(await Promise.all(limits.map((limit) => readTail(deps, limit)))).toEqual(before)
      expect((await pack(keeper)).page_count).toBe(2)
      const packed = await packedSegments(world.bucket)
      expect((await singles(scenario)).filter((name) => packed.has(name))).toEqual([])
      expect(await Promise.all(limits.map((limit) => readTail(deps, limit)))).toEqual(before)
      expect(before.map(({ length }) => length)).toEqual([1, 3, 7, before.at(-1)?.length])
    })
    expect(await verified(scenario)).toMatchObject({ problems: [], strays: [] })
    await expectInvariants()
  })

  test('and has listed a segment finds it in a pack, when it is gone by then', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 2)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      const { store, clock } = world.start('reader')
      const before = await readTail({ store: world.bucket, scope: world.scope, clock }, 1_000)
      let packed = 0
      once(world, 'before', { process: 'reader', operation: 'get', name: LEDGER_PREFIX }, async () => {
        packed = (await pack(keeper)).page_count
      })
      expect(await readTail({ store, scope: world.scope, clock }, 1_000)).toEqual(before)
      expect(packed).toBe(2)
    })
    await expectInvariants()
  })

  test('and replays while packs are made gets every segment', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    const reads: string[] = []
    await tell(async () => {
      const keeper = await fillPages(scenario, 2)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      const { store } = world.start('replayer')
      const history = openRecorded(store, PAGE)
      once(world, 'after', { process: 'replayer', operation: 'get', name: LEDGER_PREFIX }, async () => void (await pack(keeper)))
      world.intercept(({ phase, process, operation, name }) => {
        if (phase === 'before' && process === 'replayer' && operation === 'get') reads.push(name)
      })
      const pointer = world.oracle.pointers.at(-1)?.pointer
      for (const revision of pointer === undefined ? [] : await readChain(world.bucket, pointer)) {
        const found = await history(revision)
        expect(found.map((bytes) => crc32cHex(bytes))).toEqual(revision.segments.map(({ crc32c }) => crc32c))
      }
    })
    // Each of the two once, however many segments it has.
    expect(reads.filter((name) => name.startsWith(PACKS))).toHaveLength(2)
    await expectInvariants()
  })
})

describe('whoever misses a segment', () => {
  const packReads = (world: Scenario['world']): string[] => {
    const reads: string[] = []
    world.intercept(({ phase, process, operation, name }) => {
      if (phase === 'before' && process === 'reader' && operation === 'get' && name.startsWith(PACKS)) reads.push(name)
    })
    return reads
  }

  test('since its page was packed anew opens the packs of that page, and each of them once', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    let reads: readonly string[] = []
    await tell(async () => {
      await fillPages(scenario, 3)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      once(world, 'before', { process: 'slow', operation: 'put', name: '.packs.json' }, async () => {
        await world.time.sleep(ORPHAN_AGE_MS + MINUTE_MS)
        await collect(world.start('collector'))
      })
      once(world, 'after', { process: 'slow', operation: 'put', name: '.packs.json' }, ({ kill }) => kill())
      void pack(world.start('slow'))
      await world.time.sleep(DAY_MS)
      const { store } = world.start('reader')
      reads = packReads(world)
      const recorded = openRecorded(store, PAGE)
      // The index that it has opened names packs that are gone, and goes itself.
      once(world, 'before', { process: 'reader', operation: 'get', name: LEDGER_PREFIX }, async () => {
        expect(await pack(world.start('next'))).toMatchObject({ page_count: 3, left: [] })
      })
      const pointer = world.oracle.pointers.at(-1)?.pointer
      for (const revision of pointer === undefined ? [] : await readChain(world.bucket, pointer)) {
        const found = await recorded(revision)
        expect(found.map((bytes) => crc32cHex(bytes))).toEqual(revision.segments.map(({ crc32c }) => crc32c))
      }
    })
    expect(new Set(reads).size).toBe(reads.length)
    expect(reads).toHaveLength(4)
  })

  test('that nobody has opens no pack that was made before its name', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 2)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      await pack(keeper)
      const [packed = ''] = (await packedSegments(world.bucket)).keys()
      const { store, clock, random } = world.start('reader')
      const reads = packReads(world)
      await world.time.sleep(MINUTE_MS)
      const gone = singleName(newUlid(clock.now(), random.bytes))
      await expect(readSegment(store, gone, '00000000')).rejects.toThrow(`Segment ${gone} is gone`)
      expect(reads).toEqual([])
      await expect(readSegment(store, singleName(packed), '00000000')).rejects.toThrow('is gone')
      expect(reads).toHaveLength(2)
    })
  })
})

test('a folder is rid of the single segments some hours later', async () => {
  const folder = makeScratch('servo-packed-folder-')
  try {
    const time = createVirtualTime()
    const scenario = createScenario({ time, store: createLocalStore({ folder, clock: time.clock(), sync: false }) })
    const filesOf = (name: string) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes(`${name}.json`))
    await scenario.tell(async () => {
      const keeper = await fillPages(scenario, 1)
      await time.sleep(HOUR_MS + MINUTE_MS)
      await pack(keeper)
      const packed = [...(await packedSegments(scenario.world.bucket)).keys()]
      expect(packed.length).toBeGreaterThan(0)
      await time.sleep(3 * HOUR_MS)
      await pack(keeper)
      expect(packed.flatMap(filesOf)).toEqual([])
    })
    await scenario.expectInvariants()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

describe('a packing', () => {
  test('that meets another one leaves one index, and packs that go in the end', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    await tell(async () => {
      await fillPages(scenario, 2)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      await Promise.all([pack(world.start('one')), pack(world.start('two'))])
      await pack(world.start('three'), { whole: true })
      expect(await indexNames(world.bucket)).toHaveLength(2)
      expect((await packs(scenario)).length).toBeGreaterThan(2)
      expect(await collect(world.start('collector'))).toMatchObject({ packs_deleted_count: 0 })
      await world.time.sleep(ORPHAN_AGE_MS + MINUTE_MS)
      await collect(world.start('collector'))
      expect(await packs(scenario)).toEqual((await namedPacks(world.bucket)).sort())
    })
    expect(await verified(scenario)).toMatchObject({ problems: [] })
    await expectInvariants()
  })

  test('whose index comes after its packs were taken for orphans loses nothing, and is done again', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    await tell(async () => {
      await fillPages(scenario, 1)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      const before = await singles(scenario)
      const slow = world.start('slow')
      once(world, 'before', { process: 'slow', operation: 'put', name: '.packs.json' }, async () => {
        await world.time.sleep(ORPHAN_AGE_MS + MINUTE_MS)
        await collect(world.start('collector'))
        expect(await packs(scenario)).toEqual([])
      })
      once(world, 'after', { process: 'slow', operation: 'put', name: '.packs.json' }, ({ kill }) => kill())
      void pack(slow)
      await world.time.sleep(DAY_MS)
      expect(await indexNames(world.bucket)).toHaveLength(1)
      expect(await singles(scenario)).toEqual(before)
      expect(await pack(world.start('next'))).toMatchObject({ page_count: 1, left: [] })
      expect(await packs(scenario)).toEqual(await namedPacks(world.bucket))
    })
    expect(await verified(scenario)).toMatchObject({ problems: [] })
    await expectInvariants()
  })

  test('whose index comes so late that its packs may go deletes nothing, though they are still there', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    await tell(async () => {
      await fillPages(scenario, 1)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      const collector = world.start('collector')
      once(world, 'before', { process: 'slow', operation: 'put', name: '.packs.json' }, () => world.time.sleep(ORPHAN_AGE_MS + MINUTE_MS))
      // It has listed the packs and looked at every index when the late one comes, and deletes afterwards.
      const slow = pack(world.start('slow'))
      await world.time.sleep(ORPHAN_AGE_MS + MINUTE_MS / 2)
      once(world, 'before', { process: 'collector', operation: 'delete', name: PACKS }, () => world.time.sleep(HOUR_MS))
      const collecting = collect(collector)
      await slow
      await collecting
      await pack(world.start('next'))
    })
    expect(await verified(scenario)).toMatchObject({ problems: [] })
    await expectInvariants()
  })

  test('leaves a page that is damaged, says why, and goes on with the next', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 3)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      const [lost = ''] = await singles(scenario)
      const { head } = (await world.bucket.get(singleName(lost))) as { head: { generation: string } }
      await world.bucket.delete(singleName(lost), { if_generation: head.generation })
      const answer = await pack(keeper)
      expect(answer).toMatchObject({
        page_count: 2,
        left: [expect.stringMatching(/^Page 0 of the chain .* segment \w+ is gone\. Restore it/)],
      })
      // Not a pack was written for it.
      expect(await packs(scenario)).toHaveLength(2)
    })
  })

  test('deletes nothing for packs that do not hold it', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      await fillPages(scenario, 1)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      const before = await singles(scenario)
      once(world, 'after', { process: 'doomed', operation: 'put', name: '.packs.json' }, ({ kill }) => kill())
      void pack(world.start('doomed'))
      await world.time.sleep(MINUTE_MS)
      const [name = ''] = await namedPacks(world.bucket)
      await rewrite(world, name, (text) => text.slice(0, -2))
      const answer = await pack(world.start('next'))
      expect(answer).toMatchObject({ deleted_count: 0, left: [expect.stringContaining(name)] })
      expect(await singles(scenario)).toEqual(before)
      expect((await verified(scenario)).problems).toEqual([expect.stringContaining(name)])
    })
  })

  test('that somebody wrote a segment again after keeps its hands off it, and verify names it', async () => {
    const scenario = createScenario()
    const { world, tell, plant } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 1)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      await pack(keeper)
      const [name = ''] = (await packedSegments(world.bucket)).keys()
      await plant(name, { schema: 'servo-segment-v1', batches: [] })
      expect(await pack(keeper, { whole: true })).toMatchObject({ deleted_count: 0, left: [] })
      expect(await verified(scenario)).toMatchObject({ problems: [], strays: [singleName(name)] })
    })
  })
})

const rewrite = (world: Scenario['world'], name: string, change: (text: string) => string) =>
  rewriteBytes(world, name, (bytes) => new TextEncoder().encode(change(new TextDecoder().decode(bytes))))

describe('verify', () => {
  const damages = {
    'a pack that is gone': async ({ bucket }: Scenario['world'], name: string) => {
      const found = await bucket.head(name)
      if (found.kind === 'found') await bucket.delete(name, { if_generation: found.head.generation })
    },
    'a pack that is cut short': (world: Scenario['world'], name: string) => rewrite(world, name, (text) => text.slice(0, 300)),
    'a pack with an altered letter': (world: Scenario['world'], name: string) =>
      rewrite(world, name, (text) => text.replace('pool:x', 'pool:q')),
  }

  test.each(Object.entries(damages))('names %s', async (_, damage) => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 2)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      await pack(keeper)
    })
    const [name = ''] = await namedPacks(world.bucket)
    await damage(world, name)
    const { problems } = await verified(scenario)
    expect(problems[0]).toContain(name)
    expect(problems[0]).toContain('Restore it from a copy.')
    expect(problems[0]).toMatch(/\d+ segments of page 0\.$/)
  })

  test('names a line of a pack that was written over with its index, and a segment that was never folded', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 1)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      await pack(keeper)
    })
    const [name = ''] = await namedPacks(world.bucket)
    const [index = ''] = await indexNames(world.bucket)
    const [first = ''] = [...(await packedSegments(world.bucket)).keys()]
    await rewrite(world, name, (text) => text.replace(first, '01JHMPFN80G8M4P9V0MMKSSZ7N').replace('pool:y', 'pool:q'))
    const altered = await world.bucket.head(name)
    if (altered.kind === 'absent') throw new Error(`${name} is gone.`)
    await rewrite(world, index, (text) => text.replace(/"crc32c":"\w+"/, `"crc32c":"${altered.head.crc32c}"`))
    const { problems } = await verified(scenario)
    expect(problems).toContainEqual(expect.stringMatching(/^Line 2 of .*checksum/))
    expect(problems).toContainEqual(expect.stringContaining('has segment 01JHMPFN80G8M4P9V0MMKSSZ7N, which revision'))
    expect(problems).toContainEqual(expect.stringContaining(`Segment ${first}, folded by revision`))
  })

  test('names what else lies among the packs, and nobody removes it', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    await tell(async () => {
      await fillPages(scenario, 1)
      await world.bucket.put(`${PACKS}notes.txt`, new TextEncoder().encode('mine'), { if_generation: CREATE })
      await world.time.sleep(DAY_MS)
      await pack(world.start('keeper'))
      await collect(world.start('keeper'))
    })
    expect(await verified(scenario)).toMatchObject({ problems: [], strays: [`${PACKS}notes.txt`] })
    await expectInvariants()
  })
})
