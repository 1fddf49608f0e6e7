// What controllers are asked, and what they answer. A controller is a pure function of the folded state and T0; it names
// keys and bases, and never an id of an event, a time or a place in the ledger.

import type { Scope } from '../core/ids.js'
import type { AttemptRef } from '../core/keys.js'
import type { Draft } from '../events/draft.js'
import type { RunIdentity } from '../projections/run-request.js'
import type { KeyedRow } from '../projections/tables.js'
import type { WorkingSet } from '../projections/working-set.js'

export type Decision = {
  /** Which controller said it: reported when a turn does not come to rest. */
  readonly said_by: string
  /** One batch: applied together in one revision. */
  readonly drafts: readonly Draft[]
  /** Long lists that the drafts name, to be written before them. */
  readonly lists?: readonly (readonly string[])[]
  /** Why it is due, so that it can be counted where a turn before should have said it; left out: it is never late. */
  readonly due?: Due
}

/** What rows alone call for could have been said by the turn that published them. What time calls for, by one at that instant;
 *  null: it may have waited for room, and nothing says since when it is due. */
type Due =
  | { readonly by: 'rows'; readonly late_as: LateKind }
  | {
      readonly by: 'time'
      readonly at: number | null
      /** What this turn folds can only move the instant on, so that it was due before as well. */
      readonly holds_after_folds?: true
    }

export type LateKind = 'plan_late' | 'dispatch_late'

export type ReconcileState = {
  readonly rows: WorkingSet
  /** Part of every id that is made here. */
  readonly scope: Scope
  /** T0 of the turn, epoch milliseconds. */
  readonly now: number
  /** Age of the oldest segment that is not folded yet. */
  readonly lag_ms: number
  readonly hold_until: number | null
  /** The shortest time from one publish to the next that the store takes; 0: as soon as a turn is done. */
  readonly publish_interval_ms: number
}

/** Makes ids that cannot be guessed. */
export type Identity = RunIdentity & { readonly attemptIdOf: (attempt: AttemptRef) => string }

export type Needs = {
  readonly lists: readonly string[]
  readonly keys: readonly KeyedRow[]
  /** Runs that are over, with all of their tasks and edges. */
  readonly ended: readonly string[]
}
