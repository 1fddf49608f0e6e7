// What chaos does is a function of its seed, and every run of a minute does all of it.

import { expect, test } from '@jest/globals'
import { createRandom } from '../fixtures/random.js'
import { PART_KINDS, type PartKind } from './part.js'
import { planOf } from './plan.js'
import { wishesOf } from './work.js'

const PARTS = (
  [
    ['store', 1],
    ['temporal', 1],
    ['automation', 2],
    ['api', 2],
    ['worker', 3],
  ] as const
).flatMap(([kind, count]) => Array.from({ length: count }, (_, i) => ({ kind: kind as PartKind, name: `${kind}-${i + 1}` })))
const SEEDS = Array.from({ length: 50 }, (_, i) => i + 1)
const planned = (seed: number, minutes: number) => planOf(createRandom(seed), minutes, PARTS)

test('the same seed gives the same plan and the same runs, and another seed another', () => {
  const told = (seed: number) => JSON.stringify([planned(seed, 2), wishesOf(createRandom(seed), 100, 120_000)])
  expect(told(7)).toBe(told(7))
  expect(told(7)).not.toBe(told(8))
})

test('within a minute every sort of part is interrupted, within its bounds of time', () => {
  for (const seed of SEEDS) {
    const { interruptions, weather, duration_ms } = planned(seed, 1)
    const kinds = new Set(interruptions.map(({ part }) => PARTS.find(({ name }) => name === part)?.kind))
    expect({ seed, kinds: [...kinds].sort() }).toEqual({ seed, kinds: [...PART_KINDS].sort() })
    for (const { at_ms, for_ms } of interruptions) {
      expect(at_ms).toBeLessThan(duration_ms)
      expect(for_ms).toBeLessThanOrEqual(duration_ms / 5)
    }
    expect(weather.every(({ at_ms, rate }) => at_ms < duration_ms && rate < 0.1)).toBe(true)
  }
})

test('ten minutes have every incident, one after the other, and its parts are left alone meanwhile', () => {
  expect(planned(1, 9).incidents).toEqual([])
  for (const seed of SEEDS) {
    const { incidents, interruptions, duration_ms } = planned(seed, 10)
    expect(new Set(incidents.map(({ kind }) => kind)).size).toBe(4)
    expect(incidents).toHaveLength(4)
    incidents.reduce((end_ms, { at_ms, for_ms }) => {
      expect(at_ms).toBeGreaterThan(end_ms)
      return at_ms + for_ms
    }, 0)
    const last = incidents.at(-1)
    expect((last?.at_ms ?? 0) + (last?.for_ms ?? 0)).toBeLessThan(duration_ms)
    const dead = incidents.find(({ kind }) => kind === 'AUTOMATIONS_DEAD')
    if (dead === undefined) throw new Error('There is no incident of dead automations.')
    const amid = interruptions.filter(({ at_ms, for_ms }) => at_ms < dead.at_ms + dead.for_ms && at_ms + for_ms > dead.at_ms)
    expect(amid.length).toBeGreaterThan(0)
    expect(amid.filter(({ part }) => part.startsWith('automation'))).toEqual([])
  }
})

test('the store, whose objects are in its memory, is stopped and never killed', () => {
  for (const seed of SEEDS) {
    const done = planned(seed, 5).interruptions.filter(({ part }) => part === 'store-1')
    expect(new Set(done.map(({ what }) => what))).toEqual(new Set(['STOP']))
  }
})

test('runs of every graph are asked for within the time, some of them to be cancelled, asked for twice, and contested', () => {
  for (const seed of SEEDS) {
    const wishes = wishesOf(createRandom(seed), 500, 600_000)
    expect(new Set(wishes.map(({ graph }) => graph)).size).toBe(7)
    expect(wishes.every(({ at_ms }) => at_ms < 600_000)).toBe(true)
    for (const flag of ['is_doubled', 'is_contested', 'cancel_after_ms'] as const) {
      expect(wishes.some((wish) => wish[flag] !== false && wish[flag] !== undefined)).toBe(true)
    }
  }
})
