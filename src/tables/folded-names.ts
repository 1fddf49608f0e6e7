// Names of segments that are folded, by the instant that they are named by, which is a minute: what is closed goes a minute at
// a time, and what a revision adds touches one or two. Immutable, as the revisions are that it is made of.

import { ulidTime } from '../core/ulid.js'

export type FoldedNames = ReadonlyMap<string, ReadonlySet<string>>

export const NO_NAMES: FoldedNames = new Map()

/** The digits of a ULID that are its time. */
const TIME_DIGITS = 10
const instantOf = (segment_name: string): string => segment_name.slice(0, TIME_DIGITS)

export const isAmong = (names: FoldedNames, segment_name: string): boolean => names.get(instantOf(segment_name))?.has(segment_name) ?? false

export function withNames(names: FoldedNames, added: Iterable<string>): FoldedNames {
  const next = new Map(names)
  const own = new Map<string, Set<string>>()
  for (const name of added) {
    const instant = instantOf(name)
    let copy = own.get(instant)
    if (copy === undefined) {
      copy = new Set(names.get(instant))
      own.set(instant, copy)
      next.set(instant, copy)
    }
    copy.add(name)
  }
  return next
}

/** Without those that no listing from this minute on will show again. */
export const namesAfter = (names: FoldedNames, closed_through: number): FoldedNames =>
  new Map([...names].filter(([instant]) => ulidTime(instant) > closed_through))

export const listOf = (names: FoldedNames): string[] => [...names.values()].flatMap((some) => [...some])
