// Runs the crash story once for each set of points, counts, and says which ones broke it and how to run those again.

import { expect } from '@jest/globals'
import { CRASHES, type Crash, type CrashCall, type CrashPoint } from '../faults/crash-store.js'
import type { CrashRun } from './crash-story.js'

/** Of a read only two make a difference. */
const OF_READS: readonly Crash[] = ['before', 'late']

export const pointsOf = (calls: readonly CrashCall[]): CrashPoint[] =>
  calls.flatMap(({ number, operation }) => {
    const isWrite = operation === 'put' || operation === 'delete'
    return (isWrite ? CRASHES : OF_READS).map((how) => ({ at: number, how }))
  })

export type Enumeration = { readonly run_count: number; readonly reached_count: number; readonly broken: readonly string[] }

/** More than these nobody reads: the first ones show what is wrong. */
const BROKEN_MAX = 5

export async function enumerate(
  what: string,
  sets: readonly (readonly CrashPoint[])[],
  run: (points: readonly CrashPoint[], index: number) => Promise<CrashRun>,
): Promise<Enumeration> {
  const began = performance.now()
  const broken: string[] = []
  let reached_count = 0
  let run_count = 0
  for (const [index, points] of sets.entries()) {
    const { reached, problems, calls } = await run(points, index)
    run_count += 1
    if (reached.length === points.length) reached_count += 1
    if (problems.length > 0) {
      const where = points.map(({ at, how }) => `${how} call ${at} (${describe(calls[at - 1])})`).join(' and ')
      broken.push(`${JSON.stringify(points)} killed ${where}: ${problems.join(' ')}`)
    }
    if (broken.length >= BROKEN_MAX) break
  }
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  // The line is for whoever reads the output of `npm test`.
  process.stdout.write(`note: ${run_count} ${what} in ${seconds} s, ${reached_count} of them reached\n`)
  return { run_count, reached_count, broken }
}

const describe = (call: CrashCall | undefined): string =>
  call === undefined ? 'not reached' : `${call.actor}: ${call.operation} ${call.name}`

export function expectAllHold({ run_count, reached_count, broken }: Enumeration): void {
  expect(broken).toEqual([])
  expect(reached_count).toBeGreaterThan(run_count * 0.9)
}
