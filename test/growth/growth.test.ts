// The growth model: its coefficients are those of the code as it is, what it says of a short story is what a real workspace
// counts, and the tables of docs/performance.md are what it prints.

import { describe, expect, test } from '@jest/globals'
import type { Calls } from '../../bench/growth/counted-store.js'
import { type Flow, flowOf, grouped, publishOf, segmentBytes } from '../../bench/growth/flow.js'
import { type Coefficients, measureCoefficients } from '../../bench/growth/measure.js'
import { callsOfDay, type Kind, type Setting, stockAfter, totalOf } from '../../bench/growth/model.js'
import { readCoefficients, readPrices } from '../../bench/growth/recorded.js'
import { TABLES } from '../../bench/growth/tables.js'
import { openVirtual, type VirtualWorkspace } from '../../bench/growth/virtual-workspace.js'
import { withFolder } from '../../bench/workspace.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { readText } from '../tidy/tree.js'

const TIMEOUT_MS = 400_000
const recorded = readCoefficients()

describe('the coefficients', () => {
  /** What the story draws (ids, files' names) moves sizes by less than this. */
  const TOLERANCE = 0.1

  test(
    'that are written down are those of the code',
    async () => {
      const measured = await measureCoefficients()
      const flat = ({ publish, ...rest }: Coefficients): readonly (readonly [string, number])[] => [
        ...Object.entries(rest),
        ...publish.flatMap(({ events, ...each }) => Object.entries(each).map(([name, value]) => [`${name} of ${events}`, value] as const)),
      ]
      const before = new Map(flat(recorded))
      const moved = flat(measured).filter(([name, value]) => {
        const old = before.get(name) ?? Number.NaN
        return !(Math.abs(value - old) <= TOLERANCE * Math.max(Math.abs(old), 0.1))
      })
      // Measure them anew with `npm run growth -- --measure`, and put the tables that it prints into docs/performance.md.
      expect(moved).toEqual([])
    },
    TIMEOUT_MS,
  )

  test('between those that were measured are in between, and beyond them rows grow and files do not', () => {
    const [few, many] = [publishOf(recorded, 10), publishOf(recorded, 100)]
    const between = publishOf(recorded, 30)
    expect(between.l0_bytes).toBeGreaterThan(few.l0_bytes)
    expect(between.l0_bytes).toBeLessThan(many.l0_bytes)
    const [most, beyond] = [publishOf(recorded, 1_000), publishOf(recorded, 2_000)]
    expect([beyond.l0_files, beyond.l0_rows]).toEqual([most.l0_files, 2 * most.l0_rows])
    expect(segmentBytes(recorded, 1)).toBe(recorded.event_alone_bytes)
  })
})

test('what comes while a write is under way goes together: as many writes as arrivals where these are few, one after the other where they are many', () => {
  expect(grouped(0.01, 0.1)).toBeCloseTo(0.01, 4)
  expect(grouped(1_000, 0.1)).toBeCloseTo(10, 4)
  expect(grouped(0, 0.1)).toBe(0)
  const flow = flowOf({ events_per_s: 1, tasks_per_run: 20, put_s: 0.1, get_s: 0.03, publish_s: 1 }, recorded)
  expect(flow.publishes_per_s).toBeLessThan(1)
  expect(flow.segments_per_s).toBeLessThanOrEqual(1.01)
})

describe('a story of a few virtual hours', () => {
  const EVERY_MS = 20 * SECOND_MS
  const EVENTS = 8
  const SEGMENTS = 2
  const HOURS = 3
  const PAGE = 100
  const LOOK_MS = 10 * MINUTE_MS
  /** The model has no sawtooth: between two looks, and between two pages of the chain, it is in the middle. */
  const TOLERANCE = 0.2

  const setting: Setting = {
    listing_window_s: HOUR_MS / SECOND_MS,
    page_revisions: PAGE,
    look_s: LOOK_MS / SECOND_MS,
    cold_after_s: null,
    requests_a_get: 1,
    reading_processes: 0,
    tables_read: 0,
  }
  const publishes_per_s = SECOND_MS / EVERY_MS
  const flow: Flow = {
    events_per_s: EVENTS * publishes_per_s,
    segments_per_s: SEGMENTS * publishes_per_s,
    foreign_segments_per_s: SEGMENTS * publishes_per_s,
    segment_bytes_per_event: segmentBytes(recorded, EVENTS / SEGMENTS),
    publishes_per_s,
    merges_per_s: SECOND_MS / LOOK_MS,
    start_entries_per_s: 0,
    claims_per_s: 0,
    pointer_reads_per_s: 0,
    publish: publishOf(recorded, EVENTS),
  }

  async function tell(workspace: VirtualWorkspace, hours: number): Promise<void> {
    for (let ms = EVERY_MS; ms <= hours * HOUR_MS; ms += EVERY_MS) {
      await workspace.append(EVENTS, SEGMENTS)
      await workspace.turn()
      workspace.pass(EVERY_MS)
      if (ms % LOOK_MS === 0) await workspace.maintain()
    }
  }

  test(
    'has as many objects, bytes and calls as the model says',
    async () => {
      await withFolder(async (folder) => {
        const workspace = await openVirtual({ folder, listing_window_ms: HOUR_MS, page_revisions: PAGE })
        try {
          await tell(workspace, HOURS - 1)
          const calls = await workspace.callsOf(() => tell(workspace, 1))
          const wrong = [...stockProblems(await counted(workspace)), ...callProblems(calls)]
          expect(wrong).toEqual([])
        } finally {
          await workspace.close()
        }
      })
    },
    TIMEOUT_MS,
  )

  const isNear = (measured: number, expected: number): boolean => Math.abs(measured - expected) <= TOLERANCE * expected

  function stockProblems(measured: ReadonlyMap<Kind, { count: number; bytes: number }>): readonly string[] {
    const expected = stockAfter(flow, recorded, setting, (HOURS * HOUR_MS) / SECOND_MS)
    return [...measured].flatMap(([kind, { count, bytes }]) => [
      ...(isNear(count, expected[kind].count) ? [] : [`${kind}: ${count} objects, and ${expected[kind].count} by the model`]),
      ...(isNear(bytes, expected[kind].bytes) ? [] : [`${kind}: ${bytes} bytes, and ${expected[kind].bytes} by the model`]),
    ])
  }

  /** Of the last hour. */
  function callProblems(calls: Calls): readonly string[] {
    const { class_a, class_b, deletes } = callsOfDay(flow, recorded, setting, ((HOURS - 0.5) * HOUR_MS) / SECOND_MS, 0)
    const expected = { class_a: totalOf(class_a) / 24, class_b: totalOf(class_b) / 24, deletes: deletes / 24 }
    const measured = { class_a: calls.put + calls.list, class_b: calls.get + calls.head, deletes: calls.delete }
    return (['class_a', 'class_b', 'deletes'] as const).flatMap((name) =>
      isNear(measured[name], expected[name]) ? [] : [`${name}: ${measured[name]} calls, and ${expected[name]} by the model`],
    )
  }

  async function counted(workspace: VirtualWorkspace): Promise<ReadonlyMap<Kind, { count: number; bytes: number }>> {
    const prefixes: readonly (readonly [Kind, string])[] = [
      ['segments', 'ledger/orchestration/'],
      ['revisions', 'manifests/orchestration/revisions/'],
      ['checkpoints', 'manifests/orchestration/checkpoints/'],
      ['l0', 'state/orchestration/l0/'],
      ['base', 'state/orchestration/base/'],
    ]
    const objects = await workspace.objects()
    const ending = (end: string) => objects.filter(({ name }) => name.endsWith(end))
    const amount = (some: readonly { readonly size: number }[], besides = 0) => ({
      count: some.length + besides,
      bytes: some.reduce((sum, { size }) => sum + size, 0),
    })
    return new Map([
      ...prefixes.map(([kind, prefix]) => [kind, amount(objects.filter(({ name }) => name.startsWith(prefix)))] as const),
      [
        'packs',
        amount(
          ending('.ndjson').filter(({ name }) => name.startsWith('ledger/')),
          ending('.packs.json').length,
        ),
      ] as const,
      ['volumes', amount(ending('.revisions.ndjson.gz'))] as const,
      ['chain', amount(objects.filter(({ name }) => /\/chain\/\d+\.json$/.test(name)))] as const,
    ])
  }
})

describe('docs/performance.md', () => {
  const text = readText('docs/performance.md')

  test.each(Object.keys(TABLES) as (keyof typeof TABLES)[])('has the %s table that the model prints', (name) => {
    expect(text).toContain(TABLES[name](recorded, readPrices()))
  })

  test('names the prices, where they are from and when they were read', () => {
    const { source, read_at } = readPrices() as ReturnType<typeof readPrices> & { source: string; read_at: string }
    expect(text.replace(/\s+/g, ' ')).toContain(source)
    expect(text).toContain(read_at)
  })
})
