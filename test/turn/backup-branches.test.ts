// One place with backups of a workspace that went two ways: each restore brings what its backup names, and nothing else.

import { describe, expect, test } from '@jest/globals'
import { readBackup } from '../../src/compactor/backup/manifest.js'
import { viewOf } from '../../src/compactor/backup/view.js'
import { HOUR_MS, instantText, MINUTE_MS } from '../../src/core/time.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { backUpTo, createShelf, elsewhere, restoreFrom } from '../fixtures/backup.js'
import { refusal } from '../fixtures/refusal.js'
import { replayed } from '../fixtures/replayed.js'
import { merge, pack } from '../fixtures/roles.js'
import { createScenario, once, type Scenario } from '../fixtures/scenario.js'
import { listAll } from '../invariants/evidence.js'

const PAGE = 2
const MARK = 'restore.json'
const POINTER = 'manifests/orchestration.manifest.json'

const ledgerOf = ({ world }: Scenario) => listing(world.bucket, 'ledger/')
const listing = async (store: ObjectStore, prefix = '') =>
  (await listAll(store, prefix)).map(({ name, size, crc32c, meta }) => `${name} ${size} ${crc32c} ${meta['origin_creation_time'] ?? ''}`)

/** Says and folds so much that pages of the chain are written, packed and bound. */
async function goOn({ world, say, writer, decider }: Scenario, way: string, rounds = 2 * PAGE): Promise<void> {
  const { append } = writer(`writer of ${way}`)
  const { turn } = decider(`decider of ${way}`)
  const keeper = world.start(`keeper of ${way}`)
  for (let round = 0; round < rounds; round++) {
    await append([say.poolDefined(`pool:${way}-${round}`, 1 + round)])
    await world.time.sleep(MINUTE_MS)
    await turn()
    await merge(keeper, true, PAGE)
  }
  await world.time.sleep(3 * HOUR_MS)
  await pack(keeper, { whole: true })
  await merge(keeper, true, PAGE)
}

const claim = ({ world }: Scenario, name: string, content: string) =>
  world.bucket.put(name, new TextEncoder().encode(content), { if_generation: CREATE })

describe('a backup of a workspace that was restored from an older one', () => {
  test('has no word of what was given up, though it lies in the same place', async () => {
    const scenario = createScenario()
    const { world, say, tell } = scenario
    const shelf = createShelf(world)
    const [branch, again] = [elsewhere(scenario), elsewhere(scenario)]
    await tell(async () => {
      await goOn(scenario, 'before')
      const first = await backUpTo(world, world.start('first'), shelf.store)
      // No revision has it yet: both backups are of the same one.
      await scenario.writer().append([say.poolDefined('pool:given-up', 1)])
      await backUpTo(world, world.start('second'), shelf.store)
      await world.time.sleep(MINUTE_MS)
      await restoreFrom(shelf.store, branch.world, branch.world.start('restore'), first.manifest.backup)
      await branch.writer().append([branch.say.poolDefined('pool:instead', 1)])
      await branch.decider().turn()
      const third = await backUpTo(branch.world, branch.world.start('third'), shelf.store)
      expect(third.manifest.branch).toMatchObject({ backup: first.manifest.backup })
      const answer = await restoreFrom(shelf.store, again.world, again.world.start('restore again'))
      expect(answer).toMatchObject({ manifest: { backup: third.manifest.backup }, verified: { problems: [], segments: { unfolded: 0 } } })
      expect((await ledgerOf(again)).map((line) => line.split(' ')[0])).toEqual((await ledgerOf(branch)).map((line) => line.split(' ')[0]))
      await again.decider('next').turn()
    })
    expect(await again.row('pools', 'pool:instead')).toBeDefined()
    expect(await again.row('pools', 'pool:given-up')).toBeUndefined()
  })

  test('lies beside what has the same names, and every one of them is restored bit for bit', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    const shelf = createShelf(world)
    const branch = elsewhere(scenario)
    const backups: string[] = []
    const live = new Map<string, { readonly pools: unknown; readonly claim: string | undefined }>()
    const CLAIM = 'claims/of-both.json'
    const keep = async (of: Scenario, process: string) => {
      const { manifest } = await backUpTo(of.world, of.world.start(process), shelf.store)
      const found = await of.world.bucket.get(CLAIM)
      backups.push(manifest.backup)
      live.set(manifest.backup, {
        pools: await of.rows('pools'),
        claim: found.kind === 'found' ? Buffer.from(found.bytes).toString() : undefined,
      })
      await of.world.time.sleep(MINUTE_MS)
    }
    await tell(async () => {
      await goOn(scenario, 'before', PAGE - 1)
      await keep(scenario, 'first')
      await goOn(scenario, 'given-up')
      await claim(scenario, CLAIM, 'given-up')
      await keep(scenario, 'second')
      await restoreFrom(shelf.store, branch.world, branch.world.start('restore'), backups[0])
      await goOn(branch, 'instead')
      await claim(branch, CLAIM, 'instead of it')
      await keep(branch, 'third')
      await keep(branch, 'fourth')
      for (const backup of backups) {
        const copy = elsewhere(scenario)
        const { verified } = await restoreFrom(shelf.store, copy.world, copy.world.start(`restore ${backup}`), backup)
        expect(verified.problems).toEqual([])
        const named = await listing(viewOf(shelf.store, await readBackup(shelf.store, backup)))
        const there = (await listing(copy.world.bucket)).filter((line) => !line.startsWith(MARK) && !line.startsWith(POINTER))
        expect(there).toEqual(named)
        expect(await copy.rows('pools')).toEqual(live.get(backup)?.pools)
        const found = await copy.world.bucket.get(CLAIM)
        expect(found.kind === 'found' ? Buffer.from(found.bytes).toString() : undefined).toBe(live.get(backup)?.claim)
        expect(await replayed(copy.world)).toEqual([])
      }
    })
    const beside = (await listAll(shelf.store, 'backup-beside/')).map(({ name }) => name)
    expect(beside.filter((name) => name.endsWith('/chain/1.json'))).toHaveLength(1)
    expect(beside.filter((name) => name.endsWith(CLAIM))).toHaveLength(1)
  })
})

describe('refused, with a sentence', () => {
  test('is a second workspace in the place, even where no backup of the first one was finished', async () => {
    const scenario = createScenario()
    const other = createScenario({ seed: 'other', time: scenario.world.time })
    const { world, tell } = scenario
    const shelf = createShelf(world)
    await tell(async () => {
      await goOn(scenario, 'one', 1)
      await goOn(other, 'other', 1)
      const doomed = createScenario({ time: world.time, state: shelf.state }).world
      once(doomed, 'before', { process: 'doomed', operation: 'put', name: 'state/' }, ({ kill }) => kill())
      void backUpTo(world, { ...world.start('first'), store: world.bucket }, doomed.start('doomed').store)
      await world.time.sleep(HOUR_MS)
      expect(await listAll(shelf.store, 'backups/')).toEqual([])
      expect((await listAll(shelf.store, 'ledger/')).length).toBeGreaterThan(0)
      const sentence = 'is for backups of another workspace'
      expect(await refusal(backUpTo(other.world, other.world.start('second'), shelf.store))).toContain(sentence)
      await backUpTo(world, world.start('again'), shelf.store)
      expect(await refusal(backUpTo(other.world, other.world.start('third'), shelf.store))).toContain(sentence)
    })
  })

  test('is a restore without a name, where a workspace was backed up after it was given up', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    const shelf = createShelf(world)
    const [branch, copy] = [elsewhere(scenario), elsewhere(scenario)]
    await tell(async () => {
      await goOn(scenario, 'before', 1)
      await backUpTo(world, world.start('first'), shelf.store)
      await restoreFrom(shelf.store, branch.world, branch.world.start('restore'))
      await world.time.sleep(MINUTE_MS)
      const { manifest } = await backUpTo(branch.world, branch.world.start('second'), shelf.store)
      await world.time.sleep(MINUTE_MS)
      const late = await backUpTo(world, world.start('third'), shelf.store)
      expect(await refusal(restoreFrom(shelf.store, copy.world, copy.world.start('unnamed')))).toContain('Say which one with --backup')
      expect(await listAll(copy.world.bucket, '')).toEqual([])
      const named = await restoreFrom(shelf.store, copy.world, copy.world.start('named'), late.manifest.backup)
      expect([named.manifest.branch, manifest.branch?.backup]).toEqual([null, late.manifest.branch ?? manifest.branch?.backup])
    })
  })

  test('are objects of the place that are not those that were recorded', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    const text = (content: string) => new TextEncoder().encode(content)
    await tell(async () => {
      await goOn(scenario, 'before', 1)
      await claim(scenario, 'claims/mine.json', 'as it was')
      const damages: readonly [string, string, (store: ObjectStore, name: string, generation: string) => Promise<unknown>][] = [
        ['claims/', 'somebody has written it again', (store, name, if_generation) => store.put(name, text('not so'), { if_generation })],
        ['claims/', 'is gone from', (store, name, if_generation) => store.delete(name, { if_generation })],
        [
          'ledger/orchestration/',
          'as generation',
          async (store, name, if_generation) => {
            const answer = await store.get(name)
            if (answer.kind !== 'found') throw new Error(`${name} is not there.`)
            const meta = { ...answer.head.meta, origin_creation_time: instantText(world.time.now() - HOUR_MS) }
            return store.put(name, answer.bytes, { if_generation, meta })
          },
        ],
        ['backup-contents/', 'says what is in the backup', (store, name, if_generation) => store.put(name, text('{}'), { if_generation })],
      ]
      for (const [prefix, sentence, damage] of damages) {
        const shelf = createShelf(world)
        const copy = elsewhere(scenario)
        await backUpTo(world, world.start('backup'), shelf.store)
        const victim = (await listAll(shelf.store, prefix)).at(-1)
        await damage(shelf.store, victim?.name ?? '', victim?.generation ?? '')
        expect(await refusal(restoreFrom(shelf.store, copy.world, copy.world.start('restore')))).toContain(sentence)
        expect(await copy.world.bucket.get(POINTER)).toMatchObject({ kind: 'absent' })
      }
    })
  })
})
