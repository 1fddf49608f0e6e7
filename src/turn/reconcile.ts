// The port to the controllers. What they answer is theirs alone (controllers/decision.ts).

import type { Decision, ReconcileState } from '../controllers/decision.js'
import { wakeAt } from '../controllers/wake.js'

export type Reconcile = {
  /** Every controller, once. */
  readonly decide: (state: ReconcileState) => readonly Decision[]
  /** The earliest instant at which something is due without any event; null: nothing is. */
  readonly wakeAt: (state: Pick<ReconcileState, 'rows' | 'now' | 'hold_until'>) => number | null
}

/** A turn without controllers only folds, and says all the same when something would be due. */
export const foldOnly: Reconcile = { decide: () => [], wakeAt }
