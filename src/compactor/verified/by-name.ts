// What is found of segments in any order, told again by their names. It holds some of it in memory and the rest in sorted runs
// in a file on local disk, however many there are.

import { mergedRuns } from '../../core/merged-runs.js'
import { compareText } from '../../core/order.js'
import { createSpillFile, type LineRange, runOfLines } from '../../storage/spill-file.js'

/** As a revision has folded it. */
export type FoldedFind = {
  readonly kind: 'folded'
  readonly sequence: number
  readonly crc32c: string
  readonly creation_time: string
  readonly generation: string
  readonly listing_window_ms: number
}

/** As it lies in a pack. */
export type PackedFind = {
  readonly kind: 'packed'
  /** Of the revision that folded it, as the pack says. */
  readonly sequence: number
  readonly crc32c: string
  readonly creation_time: string
  /** Events, where it did not come too late. */
  readonly entry_count: number
  readonly pack: string
}

/** As it lies in a place of its own. */
export type SingleFind = {
  readonly kind: 'single'
  readonly crc32c: string
  readonly creation_time: string
  readonly generation: string
}

export type Find = FoldedFind | PackedFind | SingleFind

export type FindsByName = {
  readonly add: (segment_name: string, find: Find) => void
  /** Names in order, with all that was found of each in the order in which it was. Nothing is added any more. */
  readonly groups: () => Generator<{ readonly segment_name: string; readonly finds: readonly Find[] }>
  readonly close: () => void
}

/** Of a run: some ten megabytes as text, until they are sorted and written. */
const RUN_FINDS_MAX = 50_000
/** Written at a time; less than this never makes a file. */
const HELD_BYTES_MAX = 4 * 1_024 ** 2

export function createFindsByName(folder: string, run_finds_max = RUN_FINDS_MAX): FindsByName {
  const file = createSpillFile(folder, HELD_BYTES_MAX)
  const runs: LineRange[] = []
  let lines: string[] = []
  let found = 0

  function endRun(): void {
    const start = file.end()
    for (const line of lines.sort(compareText)) file.append(`${line}\n`)
    if (lines.length > 0) runs.push({ start, end: file.end() })
    lines = []
  }

  return {
    add(segment_name, find) {
      // The name comes first, so that lines sort by it.
      lines.push(JSON.stringify([segment_name, found++, find]))
      if (lines.length >= run_finds_max) endRun()
    },
    *groups() {
      endRun()
      const next = mergedRuns(
        runs.map((run) => runOfLines(file, run, (text) => text.split('\n'))),
        compareText,
      )
      let open: { readonly segment_name: string; readonly finds: Numbered[] } | undefined
      for (let line = next(); line !== undefined; line = next()) {
        const [segment_name, number, find] = JSON.parse(line) as [string, number, Find]
        if (open !== undefined && open.segment_name !== segment_name) yield inOrder(open)
        if (open?.segment_name !== segment_name) open = { segment_name, finds: [] }
        open.finds.push({ number, find })
      }
      if (open !== undefined) yield inOrder(open)
    },
    close: file.close,
  }
}

type Numbered = { readonly number: number; readonly find: Find }

const inOrder = ({ segment_name, finds }: { readonly segment_name: string; readonly finds: readonly Numbered[] }) => ({
  segment_name,
  finds: [...finds].sort((left, right) => left.number - right.number).map(({ find }) => find),
})
