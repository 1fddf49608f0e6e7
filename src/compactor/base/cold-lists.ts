// The sub-lists of cold parts, one a table and month. That of the month in which rows go is replaced by a longer one under
// another name; once a later month has begun it gets its filters, and never changes again (ADR 0061).

import { instantMs } from '../../core/time.js'
import { expiryCut } from '../../projections/retention.js'
import { TABLE_NAMES, type TableName, tableNamed } from '../../projections/tables.js'
import { writeOnce } from '../../storage/write-once.js'
import { type ColdPart, encodeColdList, openColdList } from '../../tables/cold/list.js'
import type { Checkpoint, ColdList, Part, Revision } from '../../tables/revision.js'
import type { PublishDeps } from '../publish.js'
import type { MovedRows } from './cold.js'
import { partsByFilter, writeFilterOver } from './filters.js'

export async function coldListsAfter(
  deps: PublishDeps,
  before: Checkpoint['cold'],
  moved: ReadonlyMap<TableName, MovedRows>,
  newest: Revision,
): Promise<Checkpoint['cold']> {
  const after = new Map<TableName, readonly ColdList[]>()
  // In this order: the tables of a run share the filters of the runs.
  for (const table of TABLE_NAMES) {
    const longer = await withParts(deps, before.get(table) ?? [], moved.get(table)?.cold ?? [])
    const lists = await withFilters(deps, table, notExpired(table, longer, newest), { newest, runs: after.get('runs') ?? [] })
    if (lists.length > 0) after.set(table, lists)
  }
  return after
}

const monthOf = (day: string): string => day.slice(0, 'YYYY-MM'.length)

async function withParts(deps: PublishDeps, lists: readonly ColdList[], parts: readonly ColdPart[]): Promise<readonly ColdList[]> {
  const after = [...lists]
  for (const month of [...new Set(parts.map(({ day }) => monthOf(day)))].sort()) {
    const last = after.at(-1)
    const isSame = last !== undefined && monthOf(last.day_max) === month
    const held = isSame ? await openColdList(deps.store, last) : []
    const list = await writeList(deps, [...held, ...parts.filter(({ day }) => monthOf(day) === month)])
    if (isSame) after.pop()
    after.push(list)
  }
  return after
}

async function writeList(deps: PublishDeps, parts: readonly ColdPart[]): Promise<ColdList> {
  const { name, bytes } = encodeColdList(parts)
  await writeOnce(deps, name, bytes)
  const days = parts.map(({ day }) => day).sort()
  return {
    name,
    day_min: days[0] as string,
    day_max: days.at(-1) as string,
    parts: parts.length,
    rows: parts.reduce((sum, { rows }) => sum + rows, 0),
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    times: timesOf(parts),
    filters: [],
  }
}

/** Of the columns whose instants are known of each part: what one of them does not say is not known of all. */
function timesOf(parts: readonly ColdPart[]): Part['times'] {
  const columns = Object.keys(parts[0]?.times ?? {}).filter((column) => parts.every(({ times }) => times[column] !== undefined))
  return Object.fromEntries(
    columns.map((column) => {
      const ranges = parts.flatMap(({ times }) => times[column] ?? [])
      return [column, [Math.min(...ranges), Math.max(...ranges)] as const]
    }),
  )
}

/** Rows that expire by the instant that made them cold go a month at a time: until then nobody is shown them. */
function notExpired(table: TableName, lists: readonly ColdList[], { fold_time, retention }: Revision): readonly ColdList[] {
  const cut = expiryCut(table, instantMs(fold_time), retention)
  if (cut === undefined) return lists
  return lists.filter(({ times }) => (times[cut.column]?.[1] ?? cut.at) >= cut.at)
}

/** Every list but the last, whose month may not be over. */
async function withFilters(
  deps: PublishDeps,
  table: TableName,
  lists: readonly ColdList[],
  { newest: { fold_time, retention }, runs }: { readonly newest: Revision; readonly runs: readonly ColdList[] },
): Promise<readonly ColdList[]> {
  const { cold } = tableNamed(table)
  // Of what expires by the same instant there are few months.
  const isKept = cold?.by === 'run' || cold?.by.column !== expiryCut(table, instantMs(fold_time), retention)?.column
  if (cold === undefined || !isKept) return lists
  const after: ColdList[] = []
  for (const [i, list] of lists.entries()) {
    const isOver = i + 1 < lists.length
    const filters = list.filters.length > 0 || !isOver ? list.filters : await filtersOver(deps, table, list, runs)
    after.push({ ...list, filters })
  }
  return after
}

async function filtersOver(deps: PublishDeps, table: TableName, list: ColdList, runs: readonly ColdList[]): Promise<string[]> {
  const { cold } = tableNamed(table)
  // Rows that go with their run are of runs of the same month.
  if (cold?.by === 'run') return [...(runs.find(({ day_max }) => monthOf(day_max) === monthOf(list.day_max))?.filters ?? [])]
  const parts = await openColdList(deps.store, list)
  const filters: string[] = []
  for (const some of partsByFilter(parts)) filters.push(await writeFilterOver(deps, table, cold?.found_by ?? '', some))
  return filters
}
