// A rollout: processes of the old fold version and of the new one side by side on one workspace. The new one takes it over with a
// checkpoint, at whatever call its first turn dies; the old ones stop and say so; no event is lost, folded twice or quarantined.

import { describe, expect, test } from '@jest/globals'
import { unfoldable } from '../../src/commands/foldable.js'
import { mergeBase } from '../../src/compactor/merge.js'
import { verify } from '../../src/compactor/verify.js'
import { FOLD_VERSION } from '../../src/core/limits.js'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { EVENT_TYPES, foldedSince, type LedgerEvent } from '../../src/events/event.js'
import { createReader } from '../../src/readers/reader.js'
import { segmentBytes } from '../fixtures/packs.js'
import { readChain } from '../fixtures/reachable.js'
import { rebuildIn, replaySinceIn } from '../fixtures/rebuild.js'
import { refusal } from '../fixtures/refusal.js'
import { replayed } from '../fixtures/replayed.js'
import { merge } from '../fixtures/roles.js'
import { ulidOf } from '../fixtures/say.js'
import { createScenario, type Scenario } from '../fixtures/scenario.js'
import type { Process } from '../fixtures/world.js'

/** The fold version before the one that brought schedules: what is said of them nobody of it may ever fold. */
const NEW = FOLD_VERSION
const OLD = foldedSince('ScheduleDefined') - 1
const IS_NEWER = new Set(EVENT_TYPES.filter((event_type) => foldedSince(event_type) > OLD))

const verified = ({ world }: Scenario) => verify({ store: world.bucket, files: world.files, scope: world.scope })
const mergeAs = ({ store, files, clock, random }: Process, fold_version: number) =>
  mergeBase({ store, files, clock, random: random.bytes }, { whole: true, fold_version })
const INSTALL = `The workspace is at fold version ${NEW} and this process knows version ${OLD}: it publishes and removes nothing. Install the newer Servo here too.`

/** A workspace that old processes have worked on, and what each of them does from then on. */
async function begin(scenario: Scenario) {
  const { world, say, writer, decider } = scenario
  const old = [decider('old one', { fold_version: OLD }), decider('old two', { fold_version: OLD })] as const
  const { append } = writer('old writer')
  await append([say.locationDeployed('main', 0), say.assetDefined('a')])
  for (let round = 0; round < 4; round++) {
    await append([say.poolDefined(`pool:${round}`, 1 + round), say.runRequested(`user:${round}`, { assets: { keys: ['a'] } })])
    await old[round % 2 === 0 ? 0 : 1].turn()
    if (round === 2) await mergeAs(world.start('old keeper'), OLD)
    await world.time.sleep(10 * SECOND_MS)
  }
  return { old, append }
}

/** As the API does it: what the workspace's fold does not know is not appended. */
async function appendAsApi(scenario: Scenario, append: (batch: readonly LedgerEvent[]) => Promise<unknown>, batch: readonly LedgerEvent[]) {
  const view = await createReader({ store: scenario.world.bucket, files: scenario.world.files }).latest()
  const problem = unfoldable(view, batch as never)
  if (problem === undefined) await append(batch)
  return problem
}

async function expectGood(scenario: Scenario): Promise<void> {
  const { world, rows } = scenario
  expect(await rows('quarantine')).toEqual([])
  expect(await verified(scenario)).toMatchObject({ problems: [], events: { quarantined: 0, unfolded: 0 } })
  const chain = await readChain(world.bucket, world.oracle.pointers.at(-1)?.pointer as never)
  const versions = chain.map(({ fold_version }) => fold_version)
  expect(versions).toEqual(versions.toSorted((left, right) => left - right))
  expect(versions.at(-1)).toBe(NEW)
  for (const { fold_version, segments } of chain) {
    if (fold_version === NEW) continue
    for (const { name } of segments) {
      const text = Buffer.from(await segmentBytes(world.bucket, name)).toString()
      expect([...IS_NEWER].filter((event_type) => text.includes(`"${event_type}"`))).toEqual([])
    }
  }
  expect(await replayed(world)).toEqual([])
  await scenario.expectInvariants()
}

describe('a rollout', () => {
  test('lets the new version take over, and the old one stop, with old writers going on', async () => {
    for (const seed of [1, 2, 3, 4]) {
      const scenario = createScenario({ seed })
      const { world, say, tell, decider, row } = scenario
      await tell(async () => {
        const { old, append } = await begin(scenario)
        const definition = say.scheduleDefined(ulidOf('nightly'), { cron_expressions: ['0 0 * * *'] }, {}, { at: world.time.now() })
        expect(await appendAsApi(scenario, append, [definition])).toMatchObject({ problem: 'not-ready' })
        let is_over = false
        const outcomes: string[] = []
        const busy = old.map(async ({ turn }) => {
          while (!is_over) {
            outcomes.push(await refusal(turn()))
            await world.time.sleep(3 * SECOND_MS)
          }
        })
        const saying = (async () => {
          for (let round = 0; !is_over; round++) {
            await append([say.runRequested(`user:during-${round}`, { assets: { keys: ['a'] } })])
            await world.time.sleep(2 * SECOND_MS)
          }
        })()
        await world.time.sleep((5 + seed) * SECOND_MS)
        const young = decider('new', { fold_version: NEW })
        while ((await refusal(young.turn())) !== 'nothing was refused') await world.time.sleep(SECOND_MS)
        expect(await appendAsApi(scenario, append, [definition])).toBeUndefined()
        await world.time.sleep(20 * SECOND_MS)
        await young.turn()
        is_over = true
        await Promise.all([...busy, saying])
        await young.turn()
        expect(outcomes.filter((outcome) => outcome === INSTALL).length).toBeGreaterThan(4)
        const others = outcomes.filter((outcome) => outcome !== INSTALL && outcome !== 'nothing was refused')
        for (const outcome of others) expect(outcome).toContain('published first')
        expect(await row('schedule_definitions', ulidOf('nightly'))).toBeDefined()
        const { from, differences } = await replaySinceIn(world, world.start('replay'))
        expect([from, differences]).toEqual([
          world.oracle.pointers.find(({ pointer }) => pointer.fold_version === NEW)?.pointer.sequence,
          [],
        ])
      })
      await expectGood(scenario)
    }
  })

  test('that dies in its first turn, at whatever call, is done by the next one, or has been done', async () => {
    const counted = createScenario()
    let calls = 0
    await counted.tell(async () => {
      await begin(counted)
      const stop = counted.world.intercept(({ phase, process }) => void (phase === 'before' && process === 'doomed' ? (calls += 1) : 0))
      await counted.decider('doomed', { fold_version: NEW }).turn()
      stop()
    })
    expect(calls).toBeGreaterThan(10)
    for (let at = 1; at <= calls; at++) {
      for (const when of ['before', 'after'] as const) {
        const scenario = createScenario()
        const { world, say, tell, decider } = scenario
        let is_taken = false
        await tell(async () => {
          const { old, append } = await begin(scenario)
          let seen = 0
          world.intercept(({ phase, process, kill }) => {
            if (process === 'doomed' && phase === 'before') seen += 1
            if (process === 'doomed' && phase === when && seen === at) kill()
          })
          const doomed = decider('doomed', { fold_version: NEW })
          await Promise.race([doomed.turn(), doomed.process.gone])
          await world.time.sleep(MINUTE_MS)
          await append([say.runRequested('user:between', { assets: { keys: ['a'] } })])
          // The old ones go on where the new one has not taken over, and stop where it has.
          is_taken = world.oracle.pointers.at(-1)?.pointer.fold_version === NEW
          expect(await refusal(old[0].turn())).toBe(is_taken ? INSTALL : 'nothing was refused')
          const next = decider('next', { fold_version: NEW })
          await next.turn()
          await next.turn()
          expect(await refusal(old[1].turn())).toBe(INSTALL)
        })
        await expectGood(scenario)
      }
    }
  })

  test('is not gone back from: turns, merges and rebuilds of the old version stop with a sentence, and change nothing', async () => {
    const scenario = createScenario()
    const { world, tell, decider } = scenario
    await tell(async () => {
      const { old } = await begin(scenario)
      const merging = world.start('old merger')
      let taken = Promise.resolve()
      const stop = world.intercept(({ phase, process, operation }) => {
        if (phase !== 'before' || process !== 'old merger' || operation !== 'put') return undefined
        stop()
        taken = decider('new', { fold_version: NEW })
          .turn()
          .then(() => undefined)
        return taken
      })
      // One that had begun before publishes nothing either: the checkpoint that it read is not the workspace's any more.
      expect(await mergeAs(merging, OLD)).toEqual({ kind: 'lost' })
      const count = world.oracle.pointers.length
      const restarted = decider('old again', { fold_version: OLD })
      for (const work of [old[0].turn(), restarted.turn(), mergeAs(merging, OLD), rebuildIn(world, merging, { fold_version: OLD })]) {
        expect(await refusal(work)).toBe(INSTALL)
      }
      expect(world.oracle.pointers).toHaveLength(count)
      await merge(world.start('keeper'), true)
    })
    await expectGood(scenario)
  })

  test('and a rebuild may be what takes the workspace over', async () => {
    const scenario = createScenario()
    const { world, tell, decider } = scenario
    await tell(async () => {
      const { old } = await begin(scenario)
      await rebuildIn(world, world.start('rebuild'))
      expect(await refusal(old[0].turn())).toBe(INSTALL)
      await decider('new', { fold_version: NEW }).turn()
    })
    await expectGood(scenario)
  })
})
