// Cold parts against a workspace that never moves anything: the same history, told to both, reads the same in every way.

import { describe, expect, test } from '@jest/globals'
import { verify } from '../../src/compactor/verify.js'
import { DAY_MS, instantMs } from '../../src/core/time.js'
import { coldCut, expiryCut } from '../../src/projections/retention.js'
import { keyOfRow, type LooseRow, type RowKey, TABLE_NAMES, type TableName, tableNamed } from '../../src/projections/tables.js'
import { readNewest } from '../../src/readers/newest.js'
import { createReader, type View } from '../../src/readers/reader.js'
import type { Scan } from '../../src/tables/table-files.js'
import { randomConditions } from '../contract/table-files.js'
import { coldStory, NEVER_COLD, tellColdStory } from '../fixtures/cold-story.js'
import { createRandom, type Random } from '../fixtures/random.js'
import { mergeInSteps } from '../fixtures/roles.js'
import type { Scenario } from '../fixtures/scenario.js'

const SEEDS = [1]
/** Months of turns, told twice: half a minute, alone on a machine. */
const TIMEOUT_MS = 240_000
/** Fewer rows than most days have, and fewer runs than go with a day. */
const STEPS = { rows_max: 5, ids_max: 1 }
/** So that a merge finds weeks of what has gone cold. */
const SELDOM = 0.03
const COLD_TABLES = TABLE_NAMES.filter((table) => tableNamed(table).cold !== undefined)

/** Merges come at other places in the two: which revision wrote a row is not compared. */
const plain = (rows: readonly LooseRow[]): readonly LooseRow[] => rows.map((row) => ({ ...row, row_version: 0 }))
const inOrder = (rows: readonly LooseRow[]): readonly string[] =>
  plain(rows)
    .map((row) => JSON.stringify(row))
    .sort()

async function latest({ world }: Scenario): Promise<View> {
  const view = await createReader({ store: world.bucket, files: world.files }).latest()
  if (view === undefined) throw new Error('Nothing was published.')
  return view
}

/** As people ask: for what a row of the table has, and what it has not. */
function conditionsOf(random: Random, table: TableName, rows: readonly LooseRow[]): Scan['where'] {
  const comparable = Object.entries(tableNamed(table).columns).filter(([, { type }]) => type !== 'json' && type !== 'boolean')
  if (rows.length === 0 || random.isTrue(0.2)) return randomConditions(random, table)
  return Array.from({ length: random.pick([0, 1, 1, 2]) }, () => {
    const [column] = random.pick(comparable)
    const value = random.pick(rows)[column]
    if (value === null) return { column, is_null: random.isTrue(0.5) }
    if (random.isTrue(0.3)) return { column, in: [value as string, random.pick(rows)[column] as string].filter((each) => each !== null) }
    return { column, is: random.pick(['=', '=', '!=', '<', '<=', '>', '>='] as const), value: value as string }
  })
}

/** Page after page: one that had expired rows is shorter, and how many it had depends on what merges have dropped. */
async function firstRows(view: View, table: TableName, scan: Scan): Promise<readonly LooseRow[]> {
  const found: LooseRow[] = []
  for (let { after } = scan; ; ) {
    const { rows, last_key, is_last } = await view.page(table, { ...scan, ...(after === undefined ? {} : { after }) })
    found.push(...rows)
    if (is_last || last_key === undefined || found.length >= scan.limit) return found.slice(0, scan.limit)
    after = last_key
  }
}

async function expectSameReads(random: Random, moved: View, whole: View): Promise<void> {
  for (const table of TABLE_NAMES) {
    const { rows } = await whole.page(table, { limit: 1_000_000 })
    expect({ table, rows: plain((await moved.page(table, { limit: 1_000_000 })).rows) }).toEqual({ table, rows: plain(rows) })
    for (let i = 0; i < 6; i++) {
      const where = conditionsOf(random, table, rows)
      const after = rows.length > 0 && random.isTrue(0.4) ? { after: keyOfRow(table, random.pick(rows)) } : {}
      const scan: Scan = { ...(where === undefined ? {} : { where }), limit: random.pick([1, 5, 1_000]), ...after }
      const [a, b] = [await firstRows(moved, table, scan), await firstRows(whole, table, scan)]
      expect({ table, scan, rows: plain(a) }).toEqual({ table, scan, rows: plain(b) })
      expect({ table, where, few: inOrder(await moved.few(table, where ?? [])) }).toEqual({
        table,
        where,
        few: inOrder(await whole.few(table, where ?? [])),
      })
    }
    const keys: RowKey[] = [
      ...Array.from({ length: Math.min(rows.length, 30) }, () => keyOfRow(table, random.pick(rows))),
      ...Array.from({ length: rows.length === 0 ? 0 : 5 }, () =>
        keyOfRow(table, random.pick(rows)).map((value) => (typeof value === 'string' ? `${value}0` : value + 1)),
      ),
    ]
    expect({ table, found: inOrder(await moved.rows(table, keys)) }).toEqual({ table, found: inOrder(await whole.rows(table, keys)) })
  }
}

async function newestOf(view: View, limit: number): Promise<unknown[]> {
  const pages: unknown[] = []
  for (let after: { at_ms: number; id: string } | undefined; ; ) {
    const page = await readNewest(view, 'runs', { at: 'requested_at', id: 'run_id', where: [], limit, after })
    pages.push(page.rows.map(({ run_id, state }) => [run_id, state]))
    const last = page.rows.at(-1)
    if (!page.more || last === undefined) return pages
    after = { at_ms: last.requested_at, id: last.run_id }
  }
}

describe('cold parts', () => {
  test.each(SEEDS)(
    'read as a workspace that never moves anything, seed %i',
    async (seed) => {
      const story = coldStory(seed)
      const whole = await tellColdStory(story, { seed, retention: NEVER_COLD })
      const moved = await tellColdStory(story, { seed })
      const view = await latest(moved)
      const { cold } = view.snapshot.checkpoint
      const counts = COLD_TABLES.map((table) => ({ table, isCold: (cold.get(table) ?? []).some(({ rows }) => rows > 0) }))
      expect(counts).toEqual(COLD_TABLES.map((table) => ({ table, isCold: true })))
      expect([...(cold.get('runs') ?? [])].length).toBeGreaterThan(1)
      const { fold_time, retention } = view.snapshot.revision
      // Up to a day after they expired a merge comes by.
      const expired = (expiryCut('dispatch_outbox', instantMs(fold_time), retention)?.at ?? 0) - DAY_MS
      for (const { times } of cold.get('dispatch_outbox') ?? []) expect(times['closed_at']?.[1]).toBeGreaterThan(expired)
      const random = createRandom(`cold-reads/${seed}`)
      await expectSameReads(random, view, await latest(whole))
      expect(await newestOf(view, 4)).toEqual(await newestOf(await latest(whole), 4))
      await moved.expectInvariants()
      const { bucket, files, scope } = moved.world
      expect((await verify({ store: bucket, files, scope })).problems).toEqual([])
    },
    TIMEOUT_MS,
  )

  test.each(SEEDS)(
    'that go in steps read as a workspace that never moves anything, seed %i',
    async (seed) => {
      const story = coldStory(seed)
      const whole = await tellColdStory(story, { seed, retention: NEVER_COLD, merges: SELDOM })
      const reached = new Set<string>()
      const isBehind = async (scenario: Scenario) => {
        const { checkpoint, revision } = (await latest(scenario)).snapshot
        const cut = coldCut(instantMs(revision.fold_time), revision.retention)
        return checkpoint.cold_through !== null && checkpoint.cold_through < cut
      }
      const onMerge = async (scenario: Scenario) => {
        if (await isBehind(scenario)) reached.add(String((await latest(scenario)).snapshot.checkpoint.cold_through))
      }
      const moved = await tellColdStory(story, { seed, merges: SELDOM, cold_bounds: STEPS, onMerge })
      await moved.tell(async () => {
        const keeper = moved.world.start('last keeper')
        while ((await isBehind(moved)) && (await mergeInSteps(keeper, STEPS)).kind === 'merged') await onMerge(moved)
      })
      expect(reached.size).toBeGreaterThan(5)
      const view = await latest(moved)
      for (const table of COLD_TABLES) expect([table, (view.snapshot.checkpoint.cold.get(table) ?? []).length > 0]).toEqual([table, true])
      await expectSameReads(createRandom(`cold-steps/${seed}`), view, await latest(whole))
      expect(await newestOf(view, 4)).toEqual(await newestOf(await latest(whole), 4))
      await moved.expectInvariants()
    },
    TIMEOUT_MS,
  )
})
