// One filter over the hours of a finished UTC day, beside those of the hours: of a key that is nowhere, seven filters and
// those of today say so, where 168 would have to. Which parts it is over, the parts themselves say, so that it never speaks
// for one that was written after it (ADR 0061).

import { DAY_MS, floorTo, instantMs } from '../../core/time.js'
import { type TableName, tableNamed } from '../../projections/tables.js'
import type { Part, Revision } from '../../tables/revision.js'
import type { PublishDeps } from '../publish.js'
import { partsByFilter, writeFilterOver } from './filters.js'

export async function withDayFilters(
  deps: PublishDeps,
  table: TableName,
  parts: readonly Part[],
  { fold_time }: Revision,
): Promise<readonly Part[]> {
  const { period, bloom, key } = tableNamed(table)
  if (period === undefined || !bloom || period.unit_ms >= DAY_MS) return parts
  const named = new Map<Part, string>()
  for (const [day, hours] of byDay(parts)) {
    // Fold time never goes back: no row of the day is still to come. Its last rows may lie in files of level 0, though.
    const isWhole = day + DAY_MS <= instantMs(fold_time) && hours.every(({ level }) => level > 0)
    if (!isWhole || hours.length === 1 || hours.every(({ day_filter }) => day_filter !== undefined)) continue
    for (const some of partsByFilter(hours)) {
      const filter = await writeFilterOver(deps, table, key[0] as string, some)
      for (const part of some) named.set(part, filter)
    }
  }
  return named.size === 0 ? parts : parts.map((part) => ({ ...part, ...filterOf(named.get(part)) }))
}

const filterOf = (day_filter: string | undefined) => (day_filter === undefined ? {} : { day_filter })

/** In the order of the hours; those of level 0 mix several, and count for each of their days. */
function byDay(parts: readonly Part[]): ReadonlyMap<number, readonly Part[]> {
  const days = new Map<number, Part[]>()
  for (const part of parts) {
    const periods = part.period === null ? (part.periods ?? []) : [part.period]
    for (const day of new Set(periods.map((at) => floorTo(at, DAY_MS)))) days.set(day, [...(days.get(day) ?? []), part])
  }
  for (const some of days.values()) some.sort((left, right) => (left.period ?? 0) - (right.period ?? 0))
  return days
}
