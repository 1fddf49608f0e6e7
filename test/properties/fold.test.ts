// Whatever the history: its fold counts right, does not care how it is cut, loaded or interrupted, and says nothing twice.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, instantMs, instantText } from '../../src/core/time.js'
import { type LedgerEvent, parseEvent } from '../../src/events/event.js'
import { foldBatch } from '../../src/projections/fold.js'
import type { BatchEntry } from '../../src/projections/outcome.js'
import { poolKeysOf } from '../../src/projections/pool.js'
import { RETENTION } from '../../src/projections/retention.js'
import type { RunRow, TaskRow } from '../../src/projections/run-table.js'
import { isActive, isOver } from '../../src/projections/state-machine.js'
import { keyTextOfRow, TABLE_NAMES, type TableName } from '../../src/projections/tables.js'
import { RESOLUTIONS } from '../../src/projections/task.js'
import { createWorkingSet, type WorkingSet } from '../../src/projections/working-set.js'
import { createStory, type Story, type StoryBatch } from '../fixtures/fold-story.js'
import { createHistory, type HistoryOptions, MIXED_TROUBLE } from '../fixtures/history.js'
import { createRandom } from '../fixtures/random.js'
import { NOW, TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { checkTimes } from '../invariants/time-checks.js'

const SEED = Number(process.env['SERVO_TEST_SEED'] ?? 20_250_115)
/** fast-check prints seed and path of a failure: SERVO_TEST_SEED repeats it. */
const check = (numRuns: number) => ({ seed: SEED, numRuns })

type Told = { readonly batches: readonly StoryBatch[]; readonly lists: ReadonlyMap<string, readonly string[]> }

/** A history in segments of a batch each; the fold time moves on by `step_ms` from one to the next. */
function tell(seed: number, step_ms = 1_000, options: Partial<HistoryOptions> = {}): Told {
  let at = NOW
  const now = () => (at += 1_000)
  const habits = { losses: 0.2, cancels: 0.04, failures: 0.25, page_tasks: 1 + (seed % 3) }
  const history = createHistory({ seed, assets: 4, runs: 10, now, trouble: MIXED_TROUBLE, changes: 0.06, habits, ...options })
  const batches = [...history.batches].map(({ events }, index) => ({
    entries: events.map(entryOf),
    fold_time: NOW + index * step_ms,
    segment_name: `segment-${String(index).padStart(6, '0')}`,
  }))
  return { batches, lists: history.lists }
}

function entryOf(event: unknown): BatchEntry {
  const raw = JSON.stringify(event)
  const parsed = parseEvent(JSON.parse(raw), { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID })
  return parsed.kind === 'event' ? parsed : { ...parsed, raw }
}

function storyOf({ lists }: Told): Story {
  const story = createStory()
  for (const [sha256, values] of lists) story.lists.set(sha256, values)
  return story
}

/** Nothing was ever published before, everything is in memory, and nobody asks keysOf. */
function foldWithEverythingAtHand({ batches, lists }: Told): WorkingSet {
  const rows = createWorkingSet(0)
  const open: WorkingSet = {
    ...rows,
    get(table, ...key) {
      if (!rows.isKnown(table, key)) rows.load(table, [key], [])
      return rows.get(table, ...key)
    },
    list(sha256) {
      if (!rows.isListKnown(sha256)) rows.loadList(sha256, lists.get(sha256))
      return rows.list(sha256)
    },
  }
  for (const { entries, fold_time, segment_name } of batches) {
    foldBatch(entries, open, { fold_time, segment_name, batch_index: 0, batch_id: 'batch', retention: RETENTION })
  }
  return rows
}

/** As Story.everything. */
function everythingIn(rows: WorkingSet): ReturnType<Story['everything']> {
  rows.stamp(1)
  const dirty = rows.dirtyRows()
  const tables = TABLE_NAMES.map((table) => {
    const some = [...(dirty.get(table)?.values() ?? [])]
    const byKey = some.map((row) => [keyTextOfRow(table, row), { ...row, row_version: 0 }] as const)
    return [table, Object.fromEntries(byKey.sort(([left], [right]) => (left < right ? -1 : 1)))]
  })
  return Object.fromEntries(tables)
}

type Step = 'publish' | 'restart' | 'lose' | 'go on'

const seeds = fc.integer({ min: 0, max: 100_000 })
const steps = fc.infiniteStream(fc.constantFrom<Step>('publish', 'restart', 'lose', 'go on', 'go on'))
const widths = fc.infiniteStream(fc.integer({ min: 1, max: 12 }))
/** A history of minutes, of days, and of months: in the last ones keys, refusals and run keys expire. */
const paces = fc.constantFrom(1_000, 10 * 60_000, 3 * HOUR_MS, DAY_MS)

const next = <T>(values: Iterator<T>): T => values.next().value as T

/** Folds the batches in slices that are loaded together, with something happening after each. */
function foldInSlices(story: Story, { batches }: Told, nextStep: () => Step, nextWidth: () => number): void {
  let unpublished: (readonly StoryBatch[])[] = []
  for (let index = 0; index < batches.length; ) {
    const slice = batches.slice(index, index + nextWidth())
    index += slice.length
    unpublished.push(slice)
    const outcomes = story.foldTogether(slice)
    const step = nextStep()
    if (step === 'lose') {
      story.rows.discard()
      expect(unpublished.map((some) => story.foldTogether(some)).at(-1)).toEqual(outcomes)
    }
    if (step !== 'publish' && step !== 'restart') continue
    unpublished = []
    story.publish()
    if (step === 'restart') story.restart()
  }
}

describe('any history', () => {
  test('has the same rows, cut anywhere, loaded on demand, lost or restarted half-way, as with everything at hand', () => {
    fc.assert(
      fc.property(seeds, paces, steps, widths, (seed, step_ms, someSteps, someWidths) => {
        const told = tell(seed, step_ms)
        const story = storyOf(told)
        const [stepSource, widthSource] = [someSteps[Symbol.iterator](), someWidths[Symbol.iterator]()]
        foldInSlices(
          story,
          told,
          () => next(stepSource),
          () => next(widthSource),
        )
        expect(story.everything()).toEqual(everythingIn(foldWithEverythingAtHand(told)))
      }),
      check(20),
    )
  })

  test('counts in its rows what is in its rows, after every batch', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const told = tell(seed)
        const story = storyOf(told)
        for (const batch of told.batches) {
          story.foldTogether([batch])
          expectCounts(story.rows)
        }
        expect(story.rows.hotRows('tasks')).toEqual([])
        expect(story.rows.hotRows('pools').filter(({ in_use }) => in_use !== 0)).toEqual([])
      }),
      check(10),
    )
  })

  test('I33 has no row whose times go back, however far behind the clock of each writer is', () => {
    fc.assert(
      fc.property(seeds, fc.constantFrom(1, 50, 900, 20_000), (seed, behind_ms_max) => {
        const told = tell(seed)
        const random = createRandom(`behind ${seed}`)
        const story = storyOf(told)
        for (const batch of told.batches) {
          story.foldTogether([{ ...batch, entries: batch.entries.map((entry) => saidBehind(entry, random.below(behind_ms_max))) }])
          story.publish()
        }
        const rows = Object.entries(story.everything()).map(([table, byKey]) => [table, Object.values(byKey)] as const)
        expect(checkTimes(new Map(rows) as unknown as Parameters<typeof checkTimes>[0], 'in the end')).toEqual([])
      }),
      check(20),
    )
  })

  test('delivered a second time changes nothing but the account of what was refused and quarantined', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const told = tell(seed)
        const story = storyOf(told)
        for (const batch of told.batches) {
          const kinds = story.foldTogether([batch]).map(({ kind }) => (kind === 'applied' ? 'duplicate' : kind))
          story.publish()
          const applied = story.rows.appliedTotal()
          const again = story.foldTogether([{ ...batch, segment_name: `${batch.segment_name} again` }])
          expect(again.map(({ kind }) => kind)).toEqual(kinds)
          expect(story.rows.appliedTotal()).toBe(applied)
          story.rows.stamp(1)
          expect([...story.rows.dirtyRows().keys()].filter((table) => !ACCOUNT.includes(table))).toEqual([])
          story.publish()
        }
      }),
      check(10),
    )
  })

  test('has the same runs in any order of events that commute: those of other runs', () => {
    fc.assert(
      fc.property(seeds, seeds, (seed, shuffle) => {
        // Without changes of definitions and pools after the first batch, and without schedules, whose decisions do not commute, runs
        // meet in pools and partitions alone.
        const told = tell(seed, 1_000, { changes: 0, schedules: 0, trouble: { duplicate: 0.1, stale_basis: 0.1, illegal: 0.1 } })
        const [first, ...rest] = told.batches
        if (first === undefined) throw new Error('A history has a first batch.')
        const shuffled = { ...told, batches: [first, ...mergeRuns(rest, shuffle)] }
        expect(ofRuns(foldWithEverythingAtHand(shuffled))).toEqual(ofRuns(foldWithEverythingAtHand(told)))
      }),
      check(15),
    )
  })
})

const saidBehind = (entry: BatchEntry, behind_ms: number): BatchEntry =>
  entry.kind === 'event'
    ? { kind: 'event', event: { ...entry.event, timestamp: instantText(instantMs(entry.event.timestamp) - behind_ms) } }
    : entry

/** Refused events leave a row, quarantined ones too, and a conflict says how often it was seen. */
const ACCOUNT: readonly TableName[] = ['refusals', 'quarantine', 'run_key_conflicts']

const groupBy = <Row>(rows: readonly Row[], keyOf: (row: Row) => string): ReadonlyMap<string, readonly Row[]> => {
  const groups = new Map<string, Row[]>()
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row])
  return groups
}

/** Compares plain values, and not with `expect`: there are a hundred thousand of them. */
function same(what: string, found: unknown, counted: unknown): void {
  if (found !== counted) throw new Error(`${what}: the row says ${String(found)}, counted are ${String(counted)}.`)
}

function expectCounts(rows: WorkingSet): void {
  const tasks = rows.hotRows('tasks')
  const active = tasks.filter(({ state }) => isActive(state))
  for (const { pool_key, in_use } of rows.hotRows('pools')) {
    same(`${pool_key} in_use`, in_use, active.filter(({ pool_keys }) => pool_keys.includes(pool_key)).length)
    same(`${pool_key} in_use`, in_use, active.filter((task) => belongsTo(rows, task, pool_key)).length)
  }
  const byRun = groupBy(tasks, ({ run_id }) => run_id)
  for (const run of rows.hotRows('runs')) expectRunCounts(run, byRun.get(run.run_id) ?? [])
  const edges = groupBy(rows.hotRows('dep_satisfaction'), ({ run_id, downstream_task_key }) => `${run_id} ${downstream_task_key}`)
  for (const task of tasks) {
    const own = edges.get(`${task.run_id} ${task.task_key}`) ?? []
    same(`${task.task_key} deps_total`, task.deps_total, own.length)
    same(`${task.task_key} deps_satisfied_count`, task.deps_satisfied_count, own.filter(({ satisfied }) => satisfied).length)
    for (const { upstream_task_key, resolution } of own) {
      const state = rows.get('tasks', task.run_id, upstream_task_key)?.state ?? ''
      same(`${task.task_key} after ${upstream_task_key}`, resolution, isOver(state) ? RESOLUTIONS[state] : null)
    }
  }
}

/** As its definition says, or its run's tags; pinned definitions are not hot, and caps of tags may have gone since: then the
 *  task alone knows. */
function belongsTo(rows: WorkingSet, task: TaskRow, pool_key: string): boolean {
  const { asset_key, definition_hash, location_name, pool_keys } = task
  const [, key, value] = /^tag:([^=]+)=(.*)$/s.exec(pool_key) ?? []
  if (key !== undefined) {
    const isCapped = [pool_key, `tag:${key}`].some((capped) => (rows.get('pools', capped)?.max_running ?? null) !== null)
    return isCapped ? rows.get('runs', task.run_id)?.tags[key] === value : pool_keys.includes(pool_key)
  }
  const definition = rows.currentDefinition(asset_key)
  if (definition?.definition_hash !== definition_hash) return pool_keys.includes(pool_key)
  return poolKeysOf(definition.definition.pools ?? [], location_name).includes(pool_key)
}

function expectRunCounts(run: RunRow, tasks: readonly TaskRow[]): void {
  const count = (wanted: TaskRow['state']) => tasks.filter(({ state }) => state === wanted).length
  same('tasks_total', run.tasks_total, tasks.length)
  same('tasks_open', run.tasks_open, tasks.filter(({ state }) => !isOver(state)).length)
  same('tasks_succeeded', run.tasks_succeeded, count('SUCCEEDED'))
  same('tasks_failed', run.tasks_failed, count('FAILED'))
  same('tasks_skipped', run.tasks_skipped, count('SKIPPED'))
  same('tasks_cancelled', run.tasks_cancelled, count('CANCELLED'))
  same('PENDING', run.state === 'PENDING', tasks.length === 0)
  same('PLANNED tasks', count('PLANNED'), 0)
}

const runOf = ({ payload }: LedgerEvent): string => ('run_id' in payload ? payload.run_id : '')

/** Another interleaving of the same batches: those of one run stay in their order. */
function mergeRuns(batches: readonly StoryBatch[], shuffle: number): readonly StoryBatch[] {
  const random = createRandom(`shuffle/${shuffle}`)
  const byRun = new Map<string, StoryBatch[]>()
  for (const batch of batches) {
    const [entry] = batch.entries
    const run_id = entry?.kind === 'event' ? runOf(entry.event) : ''
    byRun.set(run_id, [...(byRun.get(run_id) ?? []), batch])
  }
  const merged: StoryBatch[] = []
  for (let lines = [...byRun.values()]; lines.length > 0; lines = lines.filter((line) => line.length > 0)) {
    merged.push(random.pick(lines).shift() as StoryBatch)
  }
  return merged
}

/** What belongs to one run each, and how full the pools are. Ordinals and last events of shared rows are of the order. */
function ofRuns(rows: WorkingSet) {
  const { runs, tasks, dep_satisfaction, dispatch_outbox, run_key_index, idempotency_keys } = everythingIn(rows)
  const in_use = rows.hotRows('pools').map((pool) => [pool.pool_key, pool.in_use] as const)
  return { runs, tasks, dep_satisfaction, dispatch_outbox, run_key_index, idempotency_keys, in_use: Object.fromEntries(in_use) }
}
