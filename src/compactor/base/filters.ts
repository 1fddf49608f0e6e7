// Filters over the keys of many parts: of a day of hours, of a month of days. The keys are read one batch after another and
// never held together.

import type { TableName } from '../../projections/tables.js'
import { writeOnce } from '../../storage/write-once.js'
import { FILTER_KEYS_MAX, keyDigest, startFilter } from '../../tables/bloom.js'
import type { Part } from '../../tables/revision.js'
import type { PublishDeps } from '../publish.js'
import { FILTER_ENDING, newPartName } from './write-part.js'

export async function writeFilterOver(deps: PublishDeps, table: TableName, column: string, parts: readonly Part[]): Promise<string> {
  const bytes = await buildFilterOver(deps, table, column, parts)
  const name = `${newPartName(deps, table)}${FILTER_ENDING}`
  await writeOnce(deps, name, bytes)
  return name
}

/** One filter over the values that this column has in these parts, which have no more rows than one filter has room for. The same
 *  parts give the same bytes. */
export async function buildFilterOver(
  { files }: Pick<PublishDeps, 'files'>,
  table: TableName,
  column: string,
  parts: readonly Part[],
): Promise<Uint8Array> {
  const filter = startFilter(parts.reduce((sum, { rows }) => sum + rows, 0))
  let last: unknown
  for (const part of parts) {
    for await (const rows of files.stream(table, [part])) {
      for (const { [column]: value } of rows) {
        if (value !== last) filter.add(keyDigest(String(value)))
        last = value
      }
    }
  }
  return filter.finish()
}

/** Parts in their order, as many together as one filter has room for. */
export function partsByFilter<P extends Pick<Part, 'rows'>>(parts: readonly P[], keys_max: number = FILTER_KEYS_MAX): P[][] {
  const groups: P[][] = []
  let room = 0
  for (const part of parts) {
    if (part.rows > room) {
      groups.push([])
      room = keys_max
    }
    groups.at(-1)?.push(part)
    room -= part.rows
  }
  return groups
}
