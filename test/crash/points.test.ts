// The crash points that are run are those that are meant: what a sample and a shard leave out, and what a failure says.

import { describe, expect, test } from '@jest/globals'
import { COLD_PREFIX } from '../../src/tables/revision.js'
import { type CrashCall, createCrashScript } from '../faults/crash-store.js'
import { createRandom } from '../fixtures/random.js'

import { type CrashRun, runCrashStory } from './crash-story.js'
import { enumerate } from './enumerate.js'
import { distinctPointsOf, pairsOf, pointsIn, pointsOf, sampleOf, shardOf, sortsOf, textOf } from './points.js'
import { STAGES, type Stage, seedOf } from './stages.js'

const { calls } = await runCrashStory([])
const seeds = Array.from({ length: 20 }, (_, seed) => seed)
const isWrite = ({ operation }: CrashCall) => operation === 'put' || operation === 'delete'

describe('the crash points of a story', () => {
  test('are two of each read and four of each write, and the memory stage leaves none out', () => {
    const writes = calls.filter(isWrite).length
    expect(calls.length).toBeGreaterThan(200)
    expect(new Set(pointsOf(calls).map((point) => textOf([point]))).size).toBe(2 * calls.length + 2 * writes)
    const memory: Stage = STAGES.memory
    const sets = memory.setsOf(calls, 1, createRandom(1))
    expect(sets).toEqual(pointsOf(calls).map((point) => [point]))
  })

  test('are of every table of schedules, too: when it is published, and when it is merged', () => {
    for (const table of ['schedule_definitions', 'schedule_state', 'schedule_ticks']) {
      const written = calls.filter(isWrite).filter(({ name }) => name.includes(`/${table}`))
      const actors = new Set(written.map(({ actor }) => actor.replace(/ \d+$/, '')))
      expect([table, actors.has('keeper'), [...actors].some((actor) => actor.endsWith('decider'))]).toEqual([table, true, true])
    }
  })

  test('are of two moves of what has gone cold, the second of which writes the filter of a month', () => {
    const lists = calls.filter(isWrite).filter(({ operation, name }) => operation === 'put' && name.startsWith(COLD_PREFIX))
    const after = lists.filter(({ number }) => number > (lists[0]?.number ?? 0) + lists.length)
    expect([lists.length - after.length, after.length].every((count) => count >= 2)).toBe(true)
    const filters = calls.filter(
      ({ operation, name, number }) => operation === 'put' && name.endsWith('.bloom') && number > (after[0]?.number ?? 0),
    )
    expect(filters.some(({ name }) => name.includes('/runs/'))).toBe(true)
  })

  test('that are distinct keep every write, and of reads in a row the first', () => {
    const distinct = new Set(distinctPointsOf(calls).map(({ at }) => at))
    expect(calls.filter(isWrite).filter(({ number }) => !distinct.has(number))).toEqual([])
    for (const { number, actor } of calls.filter((call) => !distinct.has(call.number))) {
      const before = calls.slice(0, number - 1).findLast((call) => call.actor === actor)
      expect(before === undefined || isWrite(before)).toBe(false)
    }
  })

  test('are sampled with every crash of every actor and of every operation, whatever the seed', () => {
    const all = distinctPointsOf(calls)
    const sorts = new Set(all.flatMap((point) => sortsOf(point, calls)))
    for (const actor of new Set(calls.map((call) => call.actor))) expect(sorts).toContain(`before ${actor}`)
    for (const seed of seeds) {
      const sample = sampleOf(all, calls, 5, createRandom(seed))
      expect(sample).toHaveLength(Math.ceil(all.length / 5))
      expect(new Set(sample.flatMap((point) => sortsOf(point, calls)))).toEqual(sorts)
    }
    expect(sampleOf(all, calls, 5, createRandom(1))).toEqual(sampleOf(all, calls, 5, createRandom(1)))
    expect(sampleOf(all, calls, 5, createRandom(1))).not.toEqual(sampleOf(all, calls, 5, createRandom(2)))
  })

  test('of a pair are different ones within eight calls, and no pair comes twice', () => {
    const pairs = pairsOf(calls, 200, createRandom(1))
    expect(new Set(pairs.map(textOf)).size).toBe(200)
    for (const [first, second] of pairs) expect([1, 2, 3, 4, 5, 6, 7, 8]).toContain((second?.at ?? 0) - (first?.at ?? 0))
  })

  test('are all run by the shards together, each by one of them', () => {
    const values = Array.from({ length: 11 }, (_, value) => value)
    const shards = [1, 2, 3].map((number) => shardOf(values, { number, count: 3 }))
    expect(shards.flat().sort((left, right) => left - right)).toEqual(values)
  })

  test('are read as they are written', () => {
    for (const points of pairsOf(calls, 20, createRandom(2))) expect(pointsIn(textOf(points))).toEqual(points)
    for (const text of ['', '17', '0:late', '17:later', '17:late,', 'late:17']) expect(pointsIn(text)).toBeUndefined()
  })

  test('get another name on the Parquet shelf each', () => {
    const names = new Set(pointsOf(calls).map((point) => seedOf([point])))
    expect(names.size).toBe(pointsOf(calls).length)
    expect(names).not.toContain(seedOf([]))
  })
})

describe('an enumeration', () => {
  const script = createCrashScript()
  const answer = (run: Partial<CrashRun>) => async (): Promise<CrashRun> => ({ calls: script.calls, reached: [], problems: [], ...run })
  const point = { at: 17, how: 'late' } as const

  test('says which crash broke the story, and the command that runs it again', async () => {
    const { failures, run_count } = await enumerate('folder', [[point]], answer({ reached: [point], problems: ['I4 They differ.'] }))
    expect(run_count).toBe(1)
    expect(failures).toEqual([expect.stringContaining('I4 They differ. To run it again: npm run crash -- folder --points 17:late')])
  })

  test('fails when the points are not reached', async () => {
    expect(await enumerate('memory', [[point]], answer({ reached: [point] }))).toMatchObject({ reached_count: 1, failures: [] })
    expect(await enumerate('memory', [[point]], answer({}))).toMatchObject({ reached_count: 0, failures: [expect.anything()] })
  })

  test('runs every set, and stops at five that broke', async () => {
    const sets = Array.from({ length: 9 }, () => [point])
    expect((await enumerate('memory', sets, answer({ reached: [point] }))).run_count).toBe(9)
    expect((await enumerate('memory', sets, answer({ reached: [point], problems: ['no'] }))).run_count).toBe(5)
  })
})
