// Partitions as the engine has them beside those of the rule by brute force: how many there are, which exist at an instant, and
// whether what a run may name is the same for the API, for the plan and for the rule.

import { describe, expect, test } from '@jest/globals'
import { rowOf } from '../../src/commands/deploy-faults.js'
import { type AskedPartitions, partitionFaults, writePartitions } from '../../src/commands/run-partitions.js'
import { listSha256 } from '../../src/core/keys.js'
import type { AssetDefinition } from '../../src/events/asset.js'
import type { Selector } from '../../src/events/value.js'
import { isRefusal, type KeyOrder } from '../../src/partitions/key-order.js'
import { keyOrderOf } from '../../src/partitions/order.js'
import { expandSelector } from '../../src/partitions/selector.js'
import { createPlanStory, pagesOf } from '../fixtures/plan-story.js'
import { createRandom, type Random } from '../fixtures/random.js'
import { type Drawn, drawDefinition, drawInstant, drawTime, HORIZON } from './partition-draw.js'
import { combinations } from './partition-rule.js'

const SEED = process.env['SERVO_TEST_SEED'] ?? '1'
const DRAWN = 70
const INSTANTS = 3
const TIMEOUT_MS = 240_000

function orderOf(definition: object): KeyOrder {
  const order = keyOrderOf(definition)
  if (isRefusal(order)) throw new Error(`${JSON.stringify(definition)}: ${order.problem}`)
  return order
}

const sortKeysIn = (order: KeyOrder): readonly string[] =>
  Array.from({ length: order.total ?? 0 }, (_, index) => order.entryAt(index)?.sort_key ?? `none at ${index}`)

describe('the partitions of a definition and the rule by brute force agree', () => {
  test(
    'which of them exist at an instant, and by an offset ahead of it',
    () => {
      let keys = 0
      for (let number = 0; number < DRAWN; number++) {
        const random = createRandom(`partition-oracle/${SEED}/${number}`)
        const { definition, sides } = drawDefinition(random)
        const order = orderOf(definition)
        for (let i = 0; i < INSTANTS; i++) {
          const [now_ms, ahead] = [drawInstant(random), random.pick([0, 0, 1, 3])]
          const asked = `seed ${SEED}, number ${number}: ${JSON.stringify(definition)} at ${new Date(now_ms).toISOString()} and ${ahead} ahead`
          const expected = combinations(sides, now_ms, ahead)
          const existing = order.at(now_ms, ahead)
          expect([asked, existing.total, existing.size()]).toEqual([asked, expected.length, expected.length])
          expect([asked, sortKeysIn(existing)]).toEqual([asked, expected])
          for (const index of [0, 1, Math.floor(expected.length / 2), expected.length - 1]) {
            const key = existing.keyAt(index)
            if (key !== null) expect([asked, key, existing.indexOf(key)]).toEqual([asked, key, { index }])
          }
          keys += expected.length
        }
      }
      // What compares nothing proves nothing.
      expect(keys).toBeGreaterThan(5_000)
    },
    TIMEOUT_MS,
  )

  test('all that there will ever be, where there is an end', () => {
    let ended = 0
    for (let number = 0; number < DRAWN; number++) {
      const random = createRandom(`partition-oracle-ever/${SEED}/${number}`)
      const { definition, ever } = drawTime(random, null)
      const asked = `seed ${SEED}, number ${number}: ${JSON.stringify(definition)}`
      const order = orderOf(definition)
      expect([asked, order.total]).toEqual([asked, ever?.length ?? null])
      if (ever === null) continue
      ended += 1
      const expected = ever.map((start_ms) => new Date(start_ms).toISOString())
      expect([asked, sortKeysIn(order)]).toEqual([asked, expected])
      // No instant, however late, has a key that the whole order has not.
      const late = Date.UTC(2150, 0, 1)
      expect([asked, sortKeysIn(order.at(late, 3))]).toEqual([asked, expected])
      expect([asked, order.keyAt(ever.length), order.windowAt(ever.length)]).toEqual([asked, null, null])
    }
    expect(ended).toBeGreaterThan(15)
  })
})

type Chosen = {
  readonly asked: AskedPartitions | { readonly dims: Extract<Selector, { dims: unknown }>['dims'] }
  /** By what they are sorted by; null: some of it does not exist. */
  readonly expected: readonly string[] | null
}

describe('what a run may name is one thing for the API, the plan and the rule', () => {
  test(
    'by keys, as a range, all of it, or by dimensions',
    () => {
      const counts = { taken: 0, refused: 0 }
      for (let number = 0; number < 2 * DRAWN; number++) {
        const random = createRandom(`requestable/${SEED}/${number}`)
        const drawn = drawDefinition(random, 0.2)
        const [now_ms, ahead] = [drawInstant(random), random.pick([0, 0, 0, 2])]
        const { asked, expected } = drawSelection(random, drawn, now_ms, ahead)
        const told = `seed ${SEED}, number ${number}: ${JSON.stringify({ ...drawn.definition, asked, at: new Date(now_ms), ahead })}`
        const instant = { requested_at: now_ms, partition_end_offset: ahead === 0 ? null : ahead }
        const asset = { asset_key: 'a', deps: [], partitions: drawn.definition, ...drawSize(random) } as unknown as AssetDefinition
        if (!('dims' in asked)) {
          const faults = partitionFaults(asked, [rowOf(asset, 'main')], instant)
          expect([told, faults.length === 0]).toEqual([told, expected !== null])
        }
        const planned = planOf(asset, asked, instant)
        if (expected === null) {
          expect([told, planned]).toEqual([told, 'BAD_PARTITION'])
          counts.refused += 1
        } else {
          // In keys of a list the order is that of the list.
          expect([told, typeof planned === 'string' ? planned : [...planned].sort()]).toEqual([told, [...expected].sort()])
          counts.taken += 1
        }
      }
      expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(DRAWN / 4)
    },
    TIMEOUT_MS,
  )

  const drawSize = (random: Random) => (random.isTrue(0.5) ? {} : { partitions_per_task: random.pick([1, 7, 100, 250]) })

  /** What the tasks of a plan make, read as a worker's dispatch is: by the definition alone, and at no instant. */
  function planOf(
    asset: AssetDefinition,
    asked: Chosen['asked'],
    { requested_at, partition_end_offset }: { readonly requested_at: number; readonly partition_end_offset: number | null },
  ): readonly string[] | string {
    const { story, say, fold, reconcile } = createPlanStory({ a: asset })
    const written = 'dims' in asked ? { selector: asked } : writePartitions(asked)
    const long_list = 'long_list' in written ? written.long_list : []
    story.lists.set(listSha256(long_list), long_list)
    const partitions = 'selector' in written ? written.selector : { list: { sha256: listSha256(long_list), count: long_list.length } }
    const offset = partition_end_offset === null ? {} : { partition_end_offset }
    fold(say.runRequested('user:drawn', { partitions, ...offset }, { at: requested_at }))
    const [decision] = reconcile()
    const [draft] = decision?.drafts ?? []
    if (decision === undefined || draft?.event_type !== 'PlanCreated') {
      return draft?.event_type === 'PlanFailed' ? draft.payload.error.code : 'no decision'
    }
    const lists = new Map([...(decision.lists ?? []), long_list].map((list) => [listSha256(list), list]))
    const tasks = pagesOf(decision).flatMap((page) => page.tasks)
    return tasks.flatMap(({ p, n }) => {
      const made = expandSelector(asset.partitions, p, (sha256) => lists.get(sha256), 1_000_000)
      if (isRefusal(made)) throw new Error(made.problem)
      expect(made.keys).toHaveLength(n)
      return made.keys.map(({ sort_key }) => sort_key)
    })
  }

  function drawSelection(random: Random, { definition, sides }: Drawn, now_ms: number, ahead: number): Chosen {
    const existing = combinations(sides, now_ms, ahead)
    // Some of what comes later is named as well.
    const known = namesOf(definition, random.isTrue(0.5) ? now_ms : HORIZON.to_ms, ahead)
    const sortKeys = [...known.keys()]
    if (sortKeys.length > 0 && random.isTrue(0.75)) {
      const picked = Array.from({ length: random.pick([1, 2, 150]) }, () => random.pick(sortKeys))
      const keyOf = (sort_key: string) => known.get(sort_key) ?? ''
      if (random.isTrue(0.5)) {
        const asked = { keys: [...new Set(picked.map(keyOf))] }
        return { asked, expected: picked.every((each) => existing.includes(each)) ? [...new Set(picked)] : null }
      }
      const [start = '', end = ''] = picked.length === 1 ? [picked[0], picked[0]] : picked
      const places = [existing.indexOf(start), existing.indexOf(end)] as const
      // Most ranges are drawn the right way round.
      const [from, to] = places[0] > places[1] && places[1] >= 0 && random.isTrue(0.9) ? [end, start] : [start, end]
      const [first, last] = [existing.indexOf(from), existing.indexOf(to)]
      const expected = first < 0 || last < first ? null : existing.slice(first, last + 1)
      return { asked: { range: { start: keyOf(from), end: keyOf(to) } }, expected }
    }
    const isEndless = sides.some(({ is_endless }) => is_endless)
    if (sides[0]?.name === null || random.isTrue(0.4)) {
      return { asked: { all: true }, expected: isEndless || existing.length === 0 ? null : existing }
    }
    return drawDims(random, sides, now_ms, ahead)
  }

  /** Each dimension by all of its keys, or by some that are listed: of time these are all known by what they are sorted by. */
  function drawDims(random: Random, sides: Drawn['sides'], now_ms: number, ahead: number): Chosen {
    const dims: Record<string, { readonly all: true } | { readonly keys: readonly string[] }> = {}
    const taken = sides.map((side) => {
      const listed = side.is_time ? [] : side.keysAt(now_ms, ahead).filter(() => random.isTrue(0.5))
      dims[side.name ?? ''] = listed.length === 0 ? { all: true } : { keys: [...listed].sort() }
      return listed.length === 0 ? side : { ...side, keysAt: () => listed }
    })
    const expected = combinations(taken, now_ms, ahead)
    const isEndless = sides.some(({ is_endless }) => is_endless)
    return { asked: { dims }, expected: isEndless || expected.length === 0 ? null : expected }
  }

  /** What the engine calls them: how keys are spelled is compared elsewhere. */
  function namesOf(definition: object, now_ms: number, ahead: number): ReadonlyMap<string, string> {
    const order = orderOf(definition).at(now_ms, ahead)
    const entries = Array.from({ length: Math.min(order.total ?? 0, 4_000) }, (_, index) => order.entryAt(index))
    return new Map(entries.flatMap((entry) => (entry === null ? [] : [[entry.sort_key, entry.partition_key] as const])))
  }
})
