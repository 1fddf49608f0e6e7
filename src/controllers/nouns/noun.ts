// What a noun brings to the turn. The code that decides, loads, wakes, counts and pokes goes through the table of nouns
// (nouns/every.ts), and knows none of them by name.

import type { NounTally } from '../../projections/tallies/tally.js'
import type { WorkingSet } from '../../projections/working-set.js'
import type { Decision, Identity, Needs, ReconcileState } from '../decision.js'

export type Noun = {
  /** What is to be decided now. */
  readonly reconcile?: (state: ReconcileState, identity: Identity) => readonly Decision[]
  /** Rows and lists that `reconcile` reads and memory does not hold. Asked again when they are there, until nothing is missing. */
  readonly needs?: (rows: WorkingSet) => Needs
  /** The earliest instant after now at which something is due without any event; infinity: there is none. It counts instants that
   *  lie in rows, and nothing that waits for an event: a task that waits for room is woken by the end of another. */
  readonly wakeAt?: (state: WakeState) => number
  /** Ids of those whose definition or state a publish changes, for the loops that they have. Asked before the rows are settled. */
  readonly changed?: (rows: Pick<WorkingSet, 'changesOf'>) => readonly string[]
  /** Its metrics, and how they are counted from what a publish changes. */
  readonly tally?: NounTally
}

export type WakeState = Pick<ReconcileState, 'rows' | 'now' | 'hold_until'>
