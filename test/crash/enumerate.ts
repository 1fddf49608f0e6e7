// Runs the crash story once for each set of points, counts, and says which ones broke it and how to run those again.

import type { CrashCall } from '../faults/crash-store.js'
import type { CrashRun } from './crash-story.js'
import { type PointSet, textOf } from './points.js'

export type Enumeration = {
  readonly run_count: number
  /** Sets of which every point was reached. */
  readonly reached_count: number
  /** Sentences; empty: everything held. */
  readonly failures: readonly string[]
}

/** More than these nobody reads: the first ones show what is wrong. */
const FAILURES_MAX = 5
/** Some points of a second crash lie beyond what a story that was cut short still does. */
const REACHED_SHARE_MIN = 0.9

export async function enumerate(
  stage: string,
  sets: readonly PointSet[],
  run: (points: PointSet) => Promise<CrashRun>,
): Promise<Enumeration> {
  const failures: string[] = []
  let reached_count = 0
  let run_count = 0
  for (const points of sets) {
    const { reached, problems, calls } = await run(points)
    run_count += 1
    if (reached.length === points.length) reached_count += 1
    if (problems.length > 0) {
      const where = points.map(({ at, how }) => `${how} call ${at} (${describe(calls[at - 1])})`).join(' and ')
      const again = `To run it again: npm run crash -- ${stage} --points ${textOf(points)}`
      failures.push(`A crash on ${stage}, ${where}: ${problems.join(' ')} ${again}`)
    }
    if (failures.length >= FAILURES_MAX) break
  }
  if (reached_count < run_count * REACHED_SHARE_MIN) {
    failures.push(`On ${stage} only ${reached_count} of ${run_count} crash points were reached: the others prove nothing.`)
  }
  return { run_count, reached_count, failures }
}

const describe = (call: CrashCall | undefined): string =>
  call === undefined ? 'not reached' : `${call.actor}: ${call.operation} ${call.name}`
