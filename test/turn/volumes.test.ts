// The revisions of old pages lie in volumes, and everybody finds them there: what is bound and when, who reads it, and what
// becomes of a binding that was cut short or met something damaged.

import { describe, expect, test } from '@jest/globals'
import { readRevisions } from '../../src/compactor/chain.js'
import { packSegments } from '../../src/compactor/packs/pack.js'
import { verify } from '../../src/compactor/verify.js'
import { CHAIN_PREFIX } from '../../src/core/keys.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { newUlid } from '../../src/core/ulid.js'
import { openAsOf } from '../../src/readers/as-of.js'
import { CREATE } from '../../src/storage/object-store.js'
import { POINTER_NAME, parseRevision, revisionName } from '../../src/tables/revision.js'
import { openSnapshot, readRevision } from '../../src/tables/snapshot.js'
import { fillPages, PAGE, rewrite } from '../fixtures/full-pages.js'
import { bytesOf, readChain } from '../fixtures/reachable.js'
import { merge, pack } from '../fixtures/roles.js'
import { createScenario, once, type Scenario } from '../fixtures/scenario.js'
import { boundRevisions, REVISIONS, volumeNames } from '../fixtures/volumes.js'
import type { Process } from '../fixtures/world.js'
import { listAll } from '../invariants/evidence.js'

const singles = async ({ world }: Scenario) => (await listAll(world.bucket, REVISIONS)).map(({ name }) => name).sort()
const verified = ({ world }: Scenario) => verify({ store: world.bucket, files: world.files, scope: world.scope, held_segments: 3 })
const pointerOf = ({ world }: Scenario) => {
  const pointer = world.oracle.pointers.at(-1)?.pointer
  if (pointer === undefined) throw new Error('Nothing was published.')
  return pointer
}
const chainRead = async (scenario: Scenario, store = scenario.world.bucket) => {
  const read = []
  for await (const revision of readRevisions(store, pointerOf(scenario))) read.push(revision)
  return read
}

describe('binding', () => {
  test('waits until the page is past the window, and keeps each revision byte for byte', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 2)
      expect(await pack(keeper)).toMatchObject({ bound_count: 0, revisions_deleted_count: 0 })
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      expect(await pack(keeper, { is_dry: true })).toMatchObject({ bound_count: 0 })
      const before = await singles(scenario)
      const stored = new Map(await Promise.all(before.map(async (name) => [name, await bytesOf(world.bucket, name)] as const)))
      expect(await pack(keeper)).toMatchObject({ bound_count: 2, revisions_deleted_count: 2 * PAGE, left: [] })
      const bound = await boundRevisions(world.bucket)
      expect(bound.size).toBe(2 * PAGE)
      expect([...bound.keys(), ...(await singles(scenario))].sort()).toEqual(before)
      for (const [name, bytes] of bound) expect(Buffer.compare(bytes, stored.get(name) ?? Buffer.of())).toBe(0)
      expect(await pack(keeper)).toMatchObject({ bound_count: 0, revisions_deleted_count: 0 })
    })
    expect(await verified(scenario)).toMatchObject({ problems: [], strays: [] })
    await expectInvariants()
  })

  test('that died leaves both, and what is left over goes with the next page', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    await tell(async () => {
      await fillPages(scenario, 2)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      const before = await singles(scenario)
      once(world, 'after', { process: 'doomed', operation: 'delete', name: REVISIONS }, ({ kill }) => kill())
      void pack(world.start('doomed'))
      await world.time.sleep(MINUTE_MS)
      expect(await volumeNames(world.bucket)).toHaveLength(2)
      const left = await singles(scenario)
      expect(left.length).toBeLessThan(before.length)
      expect(left.length).toBeGreaterThan(before.length - 2 * PAGE)
      expect(await chainRead(scenario)).toEqual(await readChain(world.bucket, pointerOf(scenario)))
      expect(await pack(world.start('next'), { whole: true })).toMatchObject({ bound_count: 0 })
      expect(await singles(scenario)).toHaveLength(before.length - 2 * PAGE)
    })
    expect(await verified(scenario)).toMatchObject({ problems: [], strays: [] })
    await expectInvariants()
  })

  const hastily = ({ store, clock, random }: Process) => packSegments({ store, clock, random: random.bytes }, {}, { part_ms_max: 0 })

  test('begins no further page when its time is up, and goes on with the next look', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    await tell(async () => {
      await fillPages(scenario, 4)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      const keeper = world.start('hasty')
      const before = await singles(scenario)
      for (let page = 1; page <= 4; page++) {
        expect(await hastily(keeper)).toMatchObject({ page_count: 1, bound_count: 1, revisions_deleted_count: PAGE, left: [] })
        expect(await singles(scenario)).toHaveLength(before.length - page * PAGE)
      }
      expect(await hastily(keeper)).toMatchObject({ page_count: 0, bound_count: 0, revisions_deleted_count: 0 })
    })
    expect(await verified(scenario)).toMatchObject({ problems: [], strays: [] })
    await expectInvariants()
  })

  test('takes pages that were packed long ago one look after the other, as time allows', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    await tell(async () => {
      await fillPages(scenario, 3)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      once(world, 'before', { process: 'doomed', operation: 'put', name: '.revisions.ndjson.gz' }, ({ kill }) => kill())
      void pack(world.start('doomed'))
      await world.time.sleep(MINUTE_MS)
      const keeper = world.start('hasty')
      for (let page = 1; page <= 3; page++) {
        expect(await hastily(keeper)).toMatchObject({ page_count: 0, bound_count: 1, revisions_deleted_count: PAGE, left: [] })
      }
      expect(await volumeNames(world.bucket)).toHaveLength(3)
    })
    await expectInvariants()
  })

  test('that meets another one leaves one volume a page', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    await tell(async () => {
      await fillPages(scenario, 2)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      const answers = await Promise.all([pack(world.start('one')), pack(world.start('two'))])
      expect(answers.flatMap(({ left }) => left)).toEqual([])
      await pack(world.start('three'), { whole: true })
      expect(await volumeNames(world.bucket)).toHaveLength(2)
      expect((await boundRevisions(world.bucket)).size).toBe(2 * PAGE)
    })
    expect(await verified(scenario)).toMatchObject({ problems: [], strays: [] })
    await expectInvariants()
  })

  test('takes away what lost the race for a number long ago, and nothing that is young', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 1)
      const plant = async () => {
        const name = revisionName(
          2,
          newUlid(world.time.now(), (size) => new Uint8Array(size)),
        )
        await world.bucket.put(name, new TextEncoder().encode('{}'), { if_generation: CREATE })
        return name
      }
      const old = await plant()
      await world.time.sleep(2 * HOUR_MS)
      const young = await plant()
      await pack(keeper)
      const names = await singles(scenario)
      expect(names).toContain(young)
      expect(names).not.toContain(old)
    })
  })

  test('leaves a page with a revision that is not what the page lists, and deletes nothing of it', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 2)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      const [second] = (await singles(scenario)).filter((name) => name.startsWith(`${REVISIONS}2-`))
      const other = (bytes: Uint8Array) =>
        new TextEncoder().encode(new TextDecoder().decode(bytes).replace('"sequence":2,', '"sequence":3,'))
      const before = await singles(scenario)
      await pack(keeper, { is_dry: true })
      once(world, 'after', { process: 'keeper', operation: 'put', name: '.packs.json' }, () => rewrite(world, second ?? '', other))
      const answer = await pack(keeper)
      expect(answer).toMatchObject({ bound_count: 1, revisions_deleted_count: PAGE })
      expect(answer.left).toEqual([expect.stringMatching(/^Page 0 of the chain is left as it is: .*says that it is revision 3/)])
      expect((await singles(scenario)).length).toBe(before.length - PAGE)
    })
  })

  test('deletes nothing for a volume that holds another document', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      await fillPages(scenario, 1)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      once(world, 'after', { process: 'doomed', operation: 'put', name: '.revisions.ndjson.gz' }, ({ kill }) => kill())
      void pack(world.start('doomed'))
      await world.time.sleep(MINUTE_MS)
      const before = await singles(scenario)
      const third = before.find((name) => name.startsWith(`${REVISIONS}3-`)) ?? ''
      await rewrite(world, third, (bytes) => Uint8Array.from([...bytes, 0x20]))
      const answer = await pack(world.start('next'), { whole: true })
      expect(answer.left).toEqual([expect.stringContaining(`${third} is another document than the one in`)])
      expect(await singles(scenario)).toEqual(before.filter((name) => name === third || !/\/[1-4]-/.test(name)))
    })
  })
})

describe('whoever reads revisions', () => {
  test('and was told of one finds it in a volume, when it is gone by then', async () => {
    const scenario = createScenario()
    const { world, tell, expectInvariants } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 2)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      const before = await chainRead(scenario)
      const { store } = world.start('reader')
      let bound = 0
      once(world, 'before', { process: 'reader', operation: 'get', name: REVISIONS }, async () => {
        bound = (await pack(keeper)).bound_count
      })
      expect(await chainRead(scenario, store)).toEqual(before)
      expect(bound).toBe(2)
    })
    await expectInvariants()
  })

  test('reads each volume once', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    const reads: string[] = []
    await tell(async () => {
      const keeper = await fillPages(scenario, 3)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      await pack(keeper)
      const { store } = world.start('reader')
      world.intercept(({ phase, process, operation, name }) => {
        if (phase === 'before' && process === 'reader' && operation === 'get') reads.push(name)
      })
      await chainRead(scenario, store)
    })
    const volumes = reads.filter((name) => name.endsWith('.gz'))
    expect(volumes.sort()).toEqual((await volumeNames(world.bucket)).sort())
  })

  test('opens an older revision that is bound, and the newest where its deltas are', async () => {
    const scenario = createScenario()
    const { world, tell, say, writer, decider } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 1)
      // Deltas of a page that is full before they are merged.
      const { append } = writer()
      for (let round = 0; round < PAGE; round++) {
        await append([say.poolDefined('pool:late', 1 + round)])
        await decider().turn()
      }
      await merge(keeper, true, PAGE)
      await world.time.sleep(HOUR_MS + MINUTE_MS)
      const tables = { store: world.bucket, files: world.files }
      const listed = await readChain(world.bucket, pointerOf(scenario))
      await pack(keeper)
      const bound = await boundRevisions(world.bucket)
      expect(bound.size).toBeGreaterThan(PAGE)
      const snapshot = await openSnapshot(tables, pointerOf(scenario))
      expect(snapshot.revision.sequence).toBe(pointerOf(scenario).sequence)
      const older = await openAsOf(tables, { at: Date.parse(listed[PAGE + 1]?.published_at ?? '') + 1 })
      expect([...bound.keys()]).toContain(revisionName(older.revision.sequence, older.revision.revision))
      expect(older.revision).toEqual(listed[older.revision.sequence - 1])
    })
  })
})

describe('a bound history', () => {
  async function bind(scenario: Scenario): Promise<void> {
    const { world, tell } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 2)
      await world.time.sleep(DAY_MS)
      await pack(keeper)
    })
  }

  test.each([
    ['is gone', (world: Scenario['world'], name: string) => remove(world, name), /revisions\/\d-\w+\.json is gone/, PAGE],
    [
      'is cut short',
      (world: Scenario['world'], name: string) => rewrite(world, name, (bytes) => bytes.slice(0, 100)),
      /0\.revisions.* cannot be unpacked/,
      1,
    ],
  ])('whose volume %s is named by verify', async (_, damage, expected, count) => {
    const scenario = createScenario()
    await bind(scenario)
    await damage(scenario.world, `${CHAIN_PREFIX}0.revisions.ndjson.gz`)
    const { problems } = await verified(scenario)
    expect(problems.filter((problem) => expected.test(problem))).toHaveLength(count)
    expect(problems.join(' ')).toContain('Restore it from a copy.')
  })

  test('is no new workspace when its pointer is gone', async () => {
    const scenario = createScenario()
    await bind(scenario)
    const { world, tell, decider } = scenario
    expect((await singles(scenario)).some((name) => name.startsWith(`${REVISIONS}2-`))).toBe(false)
    await remove(world, POINTER_NAME)
    await tell(() => expect(decider('new').turn()).rejects.toThrow('is gone from'))
  })
})

async function remove({ bucket }: Scenario['world'], name: string): Promise<void> {
  const found = await bucket.head(name)
  if (found.kind === 'found') await bucket.delete(name, { if_generation: found.head.generation })
}

test('a revision that a volume has under the number of another one is taken for damage', async () => {
  const scenario = createScenario()
  const { world, tell } = scenario
  await tell(async () => {
    const keeper = await fillPages(scenario, 1)
    await world.time.sleep(HOUR_MS + MINUTE_MS)
    await pack(keeper)
  })
  const [first = Buffer.of()] = [...(await boundRevisions(world.bucket)).values()]
  const { revision } = parseRevision('first', first)
  await expect(readRevision(world.bucket, 2, revision)).rejects.toThrow('says that it is revision 2')
})
