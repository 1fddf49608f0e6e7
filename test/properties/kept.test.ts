// The tiers of `as_of` on histories drawn by seed, with bursts, pauses of days and instants that are equal: what is kept, what
// an instant is answered with, and that the walk which reads little finds what a look at every revision finds.

import { describe, expect, test } from '@jest/globals'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { RETENTION, type RetentionPolicy } from '../../src/projections/retention.js'
import { openAsOf } from '../../src/readers/as-of.js'
import { openHistory } from '../../src/tables/history/history.js'
import { keptUntil, lettingGo } from '../../src/tables/history/kept.js'
import { keptRevisions } from '../../src/tables/history/kept-revisions.js'
import { createPlainFiles } from '../fixtures/plain-files.js'
import { createRandom, type Random } from '../fixtures/random.js'
import { drawSettings } from '../fixtures/settings.js'
import { writeChain } from '../fixtures/written-chain.js'

const NOW = Date.parse('2025-03-15T10:20:30.456Z')

/** Instants of publication, oldest first: of a week, or of months. */
function drawInstants(random: Random): number[] {
  const longest_ms = random.pick([20 * MINUTE_MS, 6 * HOUR_MS, 4 * DAY_MS])
  const instants = [NOW - random.below(random.pick([SECOND_MS, HOUR_MS, 2 * DAY_MS]))]
  while (instants.length < 5_500) {
    const newest = instants.at(-1) as number
    const burst = random.pick([1, 5, 400, 2_000])
    const apart_ms = random.pick([0, 100, SECOND_MS, 20 * SECOND_MS])
    for (let i = 0; i < burst; i++) instants.push(newest - i * apart_ms)
    instants.push((instants.at(-1) as number) - random.below(longest_ms))
    if (newest < NOW - 40 * DAY_MS) break
  }
  return instants.reverse()
}

type Revision = { readonly published_at: number; readonly replaced_at: number | null }

const revisionsOf = (instants: readonly number[]): Revision[] =>
  instants.map((published_at, index) => ({ published_at, replaced_at: instants[index + 1] ?? null }))

const keptAt = (revisions: readonly Revision[], now: number, retention = RETENTION): number[] =>
  revisions.flatMap((revision, index) => (now <= keptUntil(revision, retention) ? [index + 1] : []))

const SEEDS = [1, 2, 3, 4, 5, 6]

describe.each(SEEDS)('seed %s', (seed) => {
  const random = createRandom(`kept ${seed}`)
  const instants = drawInstants(random)
  const revisions = revisionsOf(instants)

  test('what was let go is never kept again, whatever is published and however time goes on', () => {
    let now = NOW - 3 * DAY_MS
    let before: ReadonlySet<number> | undefined
    let published = 0
    while (now < NOW + 35 * DAY_MS) {
      const known = instants.slice(0, instants.findLastIndex((at) => at <= now) + 1)
      const kept = keptAt(revisionsOf(known), now)
      const returned = kept.filter((sequence) => sequence <= published && before?.has(sequence) === false)
      if (returned.length > 0) expect({ seed, now, returned }).toBe('nothing')
      before = new Set(kept)
      published = known.length
      now += random.below(random.pick([MINUTE_MS, 3 * HOUR_MS, 3 * DAY_MS]))
    }
  })

  test('what was let go is never kept again, whatever settings come', () => {
    const recorded: RetentionPolicy[] = []
    let settings = RETENTION
    for (const published_at of instants) {
      if (random.isTrue(20 / instants.length)) settings = { ...settings, ...drawSettings(random) }
      recorded.push(lettingGo(recorded.at(-1), settings, published_at))
    }
    expect(recorded.at(-1)?.gone_before).toBeDefined()
    let before: ReadonlySet<number> | undefined
    let published = 0
    for (let now = NOW - 3 * DAY_MS; now < NOW + 35 * DAY_MS; now += random.below(random.pick([MINUTE_MS, 3 * HOUR_MS, 3 * DAY_MS]))) {
      const known = instants.slice(0, instants.findLastIndex((at) => at <= now) + 1)
      const kept = keptAt(revisionsOf(known), now, recorded[known.length - 1])
      const returned = kept.filter((sequence) => sequence <= published && before?.has(sequence) === false)
      if (returned.length > 0) expect({ seed, now, returned }).toBe('nothing')
      before = new Set(kept)
      published = known.length
    }
  })

  test('the walk that reads little finds all of them by any settings', async () => {
    const { store, pointer } = chainOf(instants)
    const shorter = { ...RETENTION, as_of_minutes_hours: 1 + random.below(30), as_of_hours_days: 1 + random.below(40) }
    const retention = lettingGo(shorter, { ...RETENTION, ...drawSettings(random) }, NOW - random.below(2 * DAY_MS))
    const found: number[] = []
    for await (const { sequence } of keptRevisions(openHistory(store, pointer), { now: NOW, retention })) found.push(sequence)
    expect({ seed, found: found.reverse() }).toEqual({ seed, found: keptAt(revisions, NOW, retention) })
  })

  test('an instant is answered with what stood then, or not more than a minute or an hour before', () => {
    const kept = keptAt(revisions, NOW).map((sequence) => revisions[sequence - 1] as Revision)
    expect(kept.filter(({ replaced_at }) => replaced_at !== null && NOW - replaced_at > HOUR_MS).length).toBeLessThan(1_441 + 721)
    for (let i = 0; i < 2_000; i++) {
      const [for_ms, older_by_ms] = random.pick([
        [HOUR_MS, 0],
        [DAY_MS, MINUTE_MS],
        [30 * DAY_MS, HOUR_MS],
      ] as const)
      const at = NOW - random.below(for_ms + 1)
      if (at < (instants[0] as number)) continue
      const answer = kept.findLast(({ published_at }) => published_at <= at)
      const { replaced_at } = answer ?? { replaced_at: instants[0] as number }
      const isClose = replaced_at === null || replaced_at > at - older_by_ms
      if (!isClose) expect({ seed, at, answer }).toBe('what stood not long before')
    }
  })

  test('the walk that reads little finds all of them, in a chain of pages', async () => {
    const { store, pointer } = chainOf(instants)
    const found: number[] = []
    for await (const { sequence } of keptRevisions(openHistory(store, pointer), { now: NOW, retention: RETENTION })) found.push(sequence)
    expect({ seed, found: found.reverse() }).toEqual({ seed, found: keptAt(revisions, NOW) })
  })

  test('as_of opens the newest kept one, and names the nearest of one that is not kept', async () => {
    const tables = tablesOf(instants)
    const kept = new Set(keptAt(revisions, NOW))
    const sequences = [...kept]
    for (let i = 0; i < 12; i++) {
      const sequence = 1 + random.below(instants.length)
      const at = (instants[sequence - 1] as number) + random.below(random.pick([1, SECOND_MS, HOUR_MS]))
      const stood = instants.findLastIndex((published_at) => published_at <= at) + 1
      const older = sequences.findLast((one) => one <= stood)
      const opened = await openAsOf(tables, { at }).then(
        (snapshot) => snapshot.revision.sequence,
        () => undefined,
      )
      expect({ seed, at, opened }).toEqual({ seed, at, opened: older })
      const said = await openAsOf(tables, { sequence }).then(
        (snapshot) => `opened ${snapshot.revision.sequence}`,
        (error: unknown) => String(error),
      )
      const below = sequences.findLast((one) => one <= sequence)
      const above = sequences.find((one) => one > sequence)
      const named = below === undefined ? `is kept is revision ${above} ` : `are kept are revision ${below} (`
      const expected = kept.has(sequence)
        ? [`opened ${sequence}`]
        : [`No longer kept: revision ${sequence} (`, named, `revision ${above} (`]
      for (const text of expected) expect({ seed, said }).toEqual({ seed, said: expect.stringContaining(text) })
    }
  })
})

const chainOf = (instants: readonly number[]) =>
  writeChain({
    count: instants.length,
    publishedAt: (sequence) => instants[sequence - 1] as number,
    checkpointOf: (sequence) => Math.max(1, sequence - (sequence % 64)),
    now: NOW,
  })

function tablesOf(instants: readonly number[]) {
  const { store } = chainOf(instants)
  return { store, files: createPlainFiles({ store }) }
}

const PER_DAY = DAY_MS / 500
/** From the share of a day's revisions to that of the day. */
const PACES = [
  ['evenly', (share: number) => share, 2],
  [
    'nearly all in a third of the day',
    (share: number) => (share < 0.05 ? share * 6.6 : share < 0.95 ? 0.33 + (share - 0.05) * 0.37 : 0.663 + (share - 0.95) * 6.7),
    4,
  ],
] as const

test.each(PACES)(
  'of a month with two publishes a second, %s, the walk reads the pages of a day and few for each hour',
  async (_, pace, few) => {
    const count = 31 * PER_DAY
    const publishedAt = (sequence: number) => NOW - (count - sequence) * 500
    const paced = (sequence: number) => {
      const day = Math.floor(sequence / PER_DAY)
      return publishedAt(day * PER_DAY) + Math.floor(pace((sequence % PER_DAY) / PER_DAY) * DAY_MS)
    }
    const { store, pointer, reads } = writeChain({
      count,
      publishedAt: paced,
      checkpointOf: (sequence) => sequence - (sequence % 64),
      now: NOW,
    })
    let kept_count = 0
    for await (const _ of keptRevisions(openHistory(store, pointer), { now: NOW, retention: RETENTION })) kept_count += 1
    const page_reads = reads.filter((name) => name.includes('/chain/')).length
    const revision_reads = reads.length - page_reads
    console.log(
      `${count} revisions in ${pointer.chain_through / 1_000} pages: ${kept_count} kept, ${page_reads} pages and ${revision_reads} revisions read`,
    )
    expect(kept_count).toBeGreaterThan(1_380 + 690)
    expect(page_reads).toBeLessThan(PER_DAY / 1_000 + few * 720)
    expect(revision_reads).toBeLessThanOrEqual(1_000)
  },
)
