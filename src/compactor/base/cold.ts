// Moves the rows of days that have gone cold out of the base, once a UTC day of fold time: a table is merged whole into what
// stays and what goes, so that nothing older of a key is left behind. A cold part is written once and never again (ADR 0061).

import { COLD_DAYS_APART_MAX, FILE_ROWS_MAX } from '../../core/limits.js'
import { DAY_MS, instantMs, instantText } from '../../core/time.js'
import { coldCut, expiryCut } from '../../projections/retention.js'
import { type TableName, tableNamed } from '../../projections/tables.js'
import type { ColdPart } from '../../tables/cold/list.js'
import type { Checkpoint, Part, Revision } from '../../tables/revision.js'
import type { ColdTest, MergeOptions } from '../../tables/table-files.js'
import { levelOfAll } from '../merge-plan.js'
import type { PublishDeps } from '../publish.js'
import { writeFilterOver } from './filters.js'
import { writePart } from './write-part.js'

/** Instants of [from, before), which go into parts of their own. */
type Slice = { readonly day: string; readonly from: number; readonly before: number; readonly is_late: boolean }

export type ColdMove = { readonly before: number; readonly slices: readonly Slice[] }

export type MovedRows = {
  /** What is left of the base. */
  readonly kept: readonly Part[]
  readonly cold: readonly ColdPart[]
  /** Of `runs`: the runs that went, by slice. */
  readonly ids: ReadonlyMap<Slice, ReadonlySet<string>>
}

/** What a merge at this revision has to move; undefined: it was done already, as far as fold time says. */
export function coldMoveOf({ cold_through }: Pick<Checkpoint, 'cold_through'>, { fold_time, retention }: Revision): ColdMove | undefined {
  const before = coldCut(instantMs(fold_time), retention)
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
}

/** undefined: nothing of the table has gone cold, and it is merged like any other. */
export async function moveRows(
  deps: PublishDeps,
  table: TableName,
  parts: readonly Part[],
  request: MoveRequest,
): Promise<MovedRows | undefined> {
  const { newest } = request
  const tests = testsOf(table, parts, request)
  if (tests === undefined) return undefined
  const went = { ...tests, slices: await slicesWithRows(deps, table, parts, tests) }
  if (went.slices.length === 0) return undefined
  const cold: ColdPart[] = []
  const ids = new Map<Slice, ReadonlySet<string>>()
  for (const { slice, parts: written } of went.slices) {
    cold.push(...(await Promise.all(written.map((part) => coldPart(deps, table, part, slice)))))
    ids.set(slice, new Set(written.flatMap(({ led_by }) => led_by)))
  }
  const rows = rowsOf(parts) - rowsOf(cold)
  const expired = expiryCut(table, instantMs(newest.fold_time), newest.retention)
  const options: MergeOptions = {
    rows_per_file: FILE_ROWS_MAX,
    cold: { test: tests.all, keeps: 'hot' },
    ...(expired === undefined ? {} : { drop_before: expired }),
  }
  const kept = await writeRun(deps, table, parts, { options, level: levelOfAll(Math.max(rows, 1)) })
  return { kept: kept.map(({ led_by: _led_by, ...part }) => part), cold, ids: table === 'runs' ? ids : NO_IDS }
}

const NO_IDS: MovedRows['ids'] = new Map()

const rowsOf = (parts: readonly Part[]): number => parts.reduce((sum, { rows }) => sum + rows, 0)

type Tests = {
  /** Of every row that goes. */
  readonly all: ColdTest
  readonly of: readonly { readonly slice: Slice; readonly test: ColdTest }[]
}

/** undefined: no row would go. What instants L0 files have is not known: they are looked through, once a day. */
function testsOf(table: TableName, parts: readonly Part[], { move, newest, moved }: MoveRequest): Tests | undefined {
  const { cold } = tableNamed(table)
  if (cold === undefined) return undefined
  if (cold.by === 'run') return testsByRun(moved.get('runs')?.ids ?? NO_IDS)
  const { column, unless_set } = cold.by
  const expired = expiryCut(table, instantMs(newest.fold_time), newest.retention)
  // What expires by the same instant goes for good, and not to cold parts first.
  const earliest = expired?.column === column ? expired.at : Number.NEGATIVE_INFINITY
  const isDue = parts.some(({ times, level }) => {
    const range = times[column]
    return range === undefined ? level === 0 : range[0] < move.before && range[1] >= earliest
  })
  if (!isDue || earliest >= move.before) return undefined
  const testOf = ({ from, before }: Pick<Slice, 'from' | 'before'>): ColdTest => ({
    column,
    from: Math.max(from, earliest),
    before,
    ...(unless_set === undefined ? {} : { unless_set }),
  })
  return {
    all: testOf({ from: Number.NEGATIVE_INFINITY, before: move.before }),
    of: move.slices.map((slice) => ({ slice, test: testOf(slice) })),
  }
}

function testsByRun(ids: MovedRows['ids']): Tests | undefined {
  if (ids.size === 0) return undefined
  const all = ids.size === 1 ? ([...ids.values()][0] as ReadonlySet<string>) : new Set([...ids.values()].flatMap((some) => [...some]))
  return { all: { led_by: all }, of: [...ids].map(([slice, led_by]) => ({ slice, test: { led_by } })) }
}

type WrittenPart = Part & { readonly led_by: readonly string[] }

/** All that goes is written once; where that is of one slice, as on any day but the first, it is not written again. */
async function slicesWithRows(deps: PublishDeps, table: TableName, parts: readonly Part[], { all, of }: Tests) {
  const cold = (test: ColdTest) => ({ options: { rows_per_file: FILE_ROWS_MAX, cold: { test, keeps: 'cold' as const } }, level: 1 })
  const going = await writeRun(deps, table, parts, cold(all))
  const candidates = of.filter(({ test }) => going.some((part) => mayHave(part, test)))
  if (candidates.length === 1) return candidates.map(({ slice }) => ({ slice, parts: going }))
  const slices: { readonly slice: Slice; readonly parts: readonly WrittenPart[] }[] = []
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
): Promise<WrittenPart[]> {
  const written: WrittenPart[] = []
  for await (const file of deps.files.merge(table, inputs, options)) {
    const part = await writePart(deps, table, file, { level, period: null })
    written.push({ ...part, led_by: table === 'runs' ? file.filter_keys : [] })
  }
  return written
}

/** Beside it lies a filter over what it is looked for by, which need not be what leads its key. */
async function coldPart(deps: PublishDeps, table: TableName, { led_by: _led_by, ...part }: WrittenPart, slice: Slice): Promise<ColdPart> {
  const { cold, key } = tableNamed(table)
  const isByLead = cold === undefined || cold.found_by === key[0]
  const filter = isByLead ? part.filter : await writeFilterOver(deps, table, cold.found_by, [part])
  return { ...part, filter, day: slice.day, ...(slice.is_late ? { is_late: true } : {}) }
}
