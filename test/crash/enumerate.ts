// Runs the crash story once for each set of points, counts, and says which ones broke it and how to run those again.

import { expect } from '@jest/globals'
import { CRASHES, type Crash, type CrashCall, type CrashPoint } from '../faults/crash-store.js'
import type { CrashRun } from './crash-story.js'

/** Of a read only two make a difference. */
const OF_READS: readonly Crash[] = ['before', 'late']

const isWrite = ({ operation }: CrashCall): boolean => operation === 'put' || operation === 'delete'

/** Every crash of every call. */
export const pointsOf = (calls: readonly CrashCall[]): CrashPoint[] =>
  calls.flatMap((call) => (isWrite(call) ? CRASHES : OF_READS).map((how) => ({ at: call.number, how })))

/** The same without those that leave what another one leaves: of the reads that an actor makes in a row, a death at the
 *  first stands for all, and of the reads without an answer one in each row is taken. */
export function distinctPointsOf(calls: readonly CrashCall[]): CrashPoint[] {
  const lastOf = new Map<string, CrashCall>()
  return calls.flatMap((call) => {
    const before = lastOf.get(call.actor)
    lastOf.set(call.actor, call)
    if (isWrite(call)) return CRASHES.map((how) => ({ at: call.number, how }))
    const isFirst = before === undefined || isWrite(before)
    return isFirst ? OF_READS.map((how) => ({ at: call.number, how })) : []
  })
}

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
      broken.push(`Crash points ${JSON.stringify(points)}, ${where}: ${problems.join(' ')}`)
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

/** Some points of a second crash lie beyond what a story that was cut short still does. */
export function expectAllHold({ run_count, reached_count, broken }: Enumeration): void {
  expect(broken).toEqual([])
  expect(reached_count).toBeGreaterThan(run_count * 0.9)
}
