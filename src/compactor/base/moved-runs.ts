// The runs that a move of `runs` has just written, for the tables whose rows go with their run. Their ids are read from the
// cold parts, a range after the other, so that memory holds so many at a time, however many runs a day has.

import { assert } from '../../core/errors.js'
import { compareText } from '../../core/order.js'
import type { Part } from '../../tables/revision.js'
import type { LedRange, TableFiles } from '../../tables/table-files.js'

export type MovedRuns<Slice> = {
  /** Of all ids that there are, in their order. */
  readonly ranges: readonly LedRange[]
  /** The runs of a range, by slice; those of the last range asked for are at hand. */
  readonly idsIn: (range: LedRange) => Promise<ReadonlyMap<Slice, ReadonlySet<string>>>
}

const EVERYTHING: LedRange = { after: null, through: null }

export async function movedRuns<Slice>(
  files: Pick<TableFiles, 'stream'>,
  bySlice: ReadonlyMap<Slice, readonly Part[]>,
  ids_max: number,
): Promise<MovedRuns<Slice>> {
  let last: { readonly range: LedRange; readonly ids: ReadonlyMap<Slice, ReadonlySet<string>> } | undefined
  return {
    ranges: await rangesOf(files, [...bySlice.values()].flat(), ids_max),
    async idsIn(range) {
      if (last?.range === range) return last.ids
      last = undefined
      const ids = new Map<Slice, ReadonlySet<string>>()
      for (const [slice, parts] of bySlice) {
        const some = await idsOf(files, partsWithin(parts, range), range)
        if (some.size > 0) ids.set(slice, some)
      }
      last = { range, ids }
      return ids
    },
  }
}

/** None has more than so many of these runs; together they are all keys there are. */
async function rangesOf(files: Pick<TableFiles, 'stream'>, parts: readonly Part[], ids_max: number): Promise<readonly LedRange[]> {
  assert(ids_max > 0, 'A move must be allowed to hold the id of a run.')
  if (parts.reduce((sum, { rows }) => sum + rows, 0) <= ids_max) return [EVERYTHING]
  const ranges: LedRange[] = []
  let after: string | null = null
  let count = 0
  for await (const rows of files.stream('runs', parts)) {
    for (const { run_id } of rows) {
      count += 1
      if (count % ids_max !== 0) continue
      ranges.push({ after, through: String(run_id) })
      after = String(run_id)
    }
  }
  return [...ranges, { after, through: null }]
}

async function idsOf(files: Pick<TableFiles, 'stream'>, parts: readonly Part[], range: LedRange): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  if (parts.length === 0) return ids
  for await (const rows of files.stream('runs', parts)) {
    for (const { run_id } of rows) if (isWithin(range, String(run_id))) ids.add(String(run_id))
  }
  return ids
}

const isWithin = ({ after, through }: LedRange, id: string): boolean =>
  (after === null || compareText(id, after) > 0) && (through === null || compareText(id, through) <= 0)

/** Those that may have rows of the range. */
export const partsWithin = <P extends Pick<Part, 'min_key' | 'max_key'>>(parts: readonly P[], { after, through }: LedRange): readonly P[] =>
  parts.filter(
    ({ min_key, max_key }) =>
      (after === null || compareText(String(max_key[0]), after) > 0) && (through === null || compareText(String(min_key[0]), through) <= 0),
  )
