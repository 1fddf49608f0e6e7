// Moves the rows of days that have gone cold out of the base, once a UTC day of fold time: a table is merged whole into what
// stays and what goes, so that nothing older of a key is left behind. A cold part is written once and never again (ADR 0061).

import { COLD_DAYS_APART_MAX, COLD_MOVE_IDS_MAX, COLD_MOVE_ROWS_MAX, FILE_ROWS_MAX } from '../../core/limits.js'
import { DAY_MS, instantMs, instantText } from '../../core/time.js'
import { coldCut, expiryCut } from '../../projections/retention.js'
import { type TableName, tableNamed } from '../../projections/tables.js'
import type { ColdPart } from '../../tables/cold/list.js'
import type { Checkpoint, Part, Revision } from '../../tables/revision.js'
import type { ColdTest, LedRange, MergeOptions } from '../../tables/table-files.js'
import { levelOfAll } from '../merge-plan.js'
import type { PublishDeps } from '../publish.js'
import { writeFilterOver } from './filters.js'
import { type MovedRuns, movedRuns, partsWithin } from './moved-runs.js'
import { writePart } from './write-part.js'

/** Instants of [from, before), which go into parts of their own. */
type Slice = { readonly day: string; readonly from: number; readonly before: number; readonly is_late: boolean }

export type ColdMove = { readonly before: number; readonly slices: readonly Slice[] }

export type MovedRows = {
  /** What is left of the base. */
  readonly kept: readonly Part[]
  readonly cold: readonly ColdPart[]
  /** Of `runs`: the runs that went. */
  readonly runs?: MovedRuns<Slice>
}

export type ColdBounds = {
  /** Rows that one merge moves, but for a day that has more (cold-step.ts). */
  readonly rows_max: number
  /** Ids of runs in memory at once. */
  readonly ids_max: number
}

export const COLD_BOUNDS: ColdBounds = { rows_max: COLD_MOVE_ROWS_MAX, ids_max: COLD_MOVE_IDS_MAX }

/** What is to be moved at this revision, or up to an earlier day; undefined: it was done already, as far as fold time says. */
export function coldMoveOf(
  { cold_through }: Pick<Checkpoint, 'cold_through'>,
  { fold_time, retention }: Revision,
  before: number = coldCut(instantMs(fold_time), retention),
): ColdMove | undefined {
  if (cold_through !== null && before <= cold_through) return undefined
  const earliest = before - COLD_DAYS_APART_MAX * DAY_MS
  const first = Math.max(cold_through ?? earliest, earliest)
  const slices = [{ day: dayOf(first), from: Number.NEGATIVE_INFINITY, before: first, is_late: true }]
  for (let from = first; from < before; from += DAY_MS) slices.push({ day: dayOf(from), from, before: from + DAY_MS, is_late: false })
  return { before, slices }
}

const dayOf = (at: number): string => instantText(at).slice(0, 'YYYY-MM-DD'.length)

type MoveRequest = {
  readonly move: ColdMove
  readonly newest: Revision
  /** Of the tables before this one: those whose rows go with their run come after the runs. */
  readonly moved: ReadonlyMap<TableName, MovedRows>
  readonly bounds: ColdBounds
}

/** undefined: nothing of the table has gone cold, and it is merged like any other. */
export async function moveRows(
  deps: PublishDeps,
  table: TableName,
  parts: readonly Part[],
  request: MoveRequest,
): Promise<MovedRows | undefined> {
  const shares = sharesOf(table, parts, request)
  const bySlice = new Map<Slice, ColdPart[]>()
  for (const share of shares) {
    const tests = await share.tests()
    if (tests === undefined) continue
    for (const { slice, parts: written } of await slicesWithRows(deps, table, share, tests)) {
      const cold = await Promise.all(written.map((part) => coldPart(deps, table, part, slice)))
      bySlice.set(slice, [...(bySlice.get(slice) ?? []), ...cold])
    }
  }
  const cold = [...bySlice.values()].flat()
  if (cold.length === 0) return undefined
  const level = levelOfAll(Math.max(rowsOf(parts) - rowsOf(cold), 1))
  const kept: Part[] = []
  for (const share of shares) kept.push(...(await keepRest(deps, table, share, { level, newest: request.newest })))
  if (table !== 'runs') return { kept, cold }
  return { kept, cold, runs: await movedRuns(deps.files, bySlice, request.bounds.ids_max) }
}

/** A part of a table's keys, and what goes of it; `tests` undefined: nothing. Shares do not overlap, so that what is kept of
 *  them is one run. */
type Share = {
  readonly parts: readonly Part[]
  readonly led: LedRange | undefined
  readonly tests: () => Promise<Tests | undefined>
}

function sharesOf(table: TableName, parts: readonly Part[], { move, newest, moved }: MoveRequest): readonly Share[] {
  const { cold } = tableNamed(table)
  if (cold === undefined) return []
  if (cold.by !== 'run') return [{ parts, led: undefined, tests: async () => testsOf(table, parts, { move, newest }) }]
  const runs = moved.get('runs')?.runs
  if (runs === undefined) return []
  const isOne = runs.ranges.length === 1
  return runs.ranges.map((range) => ({
    parts: isOne ? parts : partsWithin(parts, range),
    led: isOne ? undefined : range,
    tests: async () => testsByRun(await runs.idsIn(range)),
  }))
}

async function keepRest(
  deps: PublishDeps,
  table: TableName,
  { parts, led, tests }: Share,
  { level, newest }: { readonly level: number; readonly newest: Revision },
): Promise<readonly Part[]> {
  const going = await tests()
  const expired = expiryCut(table, instantMs(newest.fold_time), newest.retention)
  const options: MergeOptions = {
    rows_per_file: FILE_ROWS_MAX,
    ...(led === undefined ? {} : { led }),
    ...(going === undefined ? {} : { cold: { test: going.all, keeps: 'hot' } }),
    ...(expired === undefined ? {} : { drop_before: expired }),
  }
  return writeRun(deps, table, parts, { options, level })
}

const rowsOf = (parts: readonly Part[]): number => parts.reduce((sum, { rows }) => sum + rows, 0)

type Tests = {
  /** Of every row that goes. */
  readonly all: ColdTest
  readonly of: readonly { readonly slice: Slice; readonly test: ColdTest }[]
}

type DueTest = Exclude<ColdTest, { readonly led_by: unknown }>

/** Of all rows that go by an instant of their own; undefined: none does. */
export function dueTestOf(table: TableName, { fold_time, retention }: Revision, { before }: Pick<ColdMove, 'before'>): DueTest | undefined {
  const { cold } = tableNamed(table)
  if (cold === undefined || cold.by === 'run') return undefined
  const { column, unless_set } = cold.by
  const expired = expiryCut(table, instantMs(fold_time), retention)
  // What expires by the same instant goes for good, and not to cold parts first.
  const from = expired?.column === column ? expired.at : Number.NEGATIVE_INFINITY
  return from >= before ? undefined : { column, from, before, ...(unless_set === undefined ? {} : { unless_set }) }
}

/** What instants L0 files have is not known: they are looked through, once a day. */
export function isDueIn({ times, level }: Pick<Part, 'times' | 'level'>, { column, from, before }: DueTest): boolean {
  const range = times[column]
  return range === undefined ? level === 0 : range[0] < before && range[1] >= from
}

/** undefined: no row would go. */
function testsOf(table: TableName, parts: readonly Part[], { move, newest }: Pick<MoveRequest, 'move' | 'newest'>): Tests | undefined {
  const all = dueTestOf(table, newest, move)
  if (all === undefined || !parts.some((part) => isDueIn(part, all))) return undefined
  return {
    all,
    of: move.slices.map((slice) => ({ slice, test: { ...all, from: Math.max(slice.from, all.from), before: slice.before } })),
  }
}

function testsByRun(ids: ReadonlyMap<Slice, ReadonlySet<string>>): Tests | undefined {
  if (ids.size === 0) return undefined
  const all = ids.size === 1 ? ([...ids.values()][0] as ReadonlySet<string>) : new Set([...ids.values()].flatMap((some) => [...some]))
  return { all: { led_by: all }, of: [...ids].map(([slice, led_by]) => ({ slice, test: { led_by } })) }
}

/** All that goes is written once; where that is of one slice, as on any day but the first, it is not written again. */
async function slicesWithRows(deps: PublishDeps, table: TableName, { parts, led }: Share, { all, of }: Tests) {
  const range = led === undefined ? {} : { led }
  const cold = (test: ColdTest) => ({
    options: { rows_per_file: FILE_ROWS_MAX, ...range, cold: { test, keeps: 'cold' as const } },
    level: 1,
  })
  const going = await writeRun(deps, table, parts, cold(all))
  const candidates = of.filter(({ test }) => going.some((part) => mayHave(part, test)))
  if (candidates.length === 1) return candidates.map(({ slice }) => ({ slice, parts: going }))
  const slices: { readonly slice: Slice; readonly parts: readonly Part[] }[] = []
  for (const { slice, test } of candidates) {
    const written = await writeRun(deps, table, going, cold(test))
    if (written.length > 0) slices.push({ slice, parts: written })
  }
  return slices
}

function mayHave({ times }: Part, test: ColdTest): boolean {
  if ('led_by' in test) return true
  const range = times[test.column]
  return range !== undefined && range[0] < test.before && range[1] >= test.from
}

async function writeRun(
  deps: PublishDeps,
  table: TableName,
  inputs: readonly Part[],
  { options, level }: { readonly options: MergeOptions; readonly level: number },
): Promise<Part[]> {
  const written: Part[] = []
  if (inputs.length === 0) return written
  for await (const file of deps.files.merge(table, inputs, options)) {
    written.push(await writePart(deps, table, file, { level, period: null }))
  }
  return written
}

/** Beside it lies a filter over what it is looked for by, which need not be what leads its key. */
async function coldPart(deps: PublishDeps, table: TableName, part: Part, slice: Slice): Promise<ColdPart> {
  const { cold, key } = tableNamed(table)
  const isByLead = cold === undefined || cold.found_by === key[0]
  const filter = isByLead ? part.filter : await writeFilterOver(deps, table, cold.found_by, [part])
  return { ...part, filter, day: slice.day, ...(slice.is_late ? { is_late: true } : {}) }
}
