// The port to the controllers. What they answer is theirs alone (controllers/decision.ts).

import type { Reconciled, ReconcileState } from '../controllers/decision.js'

/** Every controller, once. */
export type Reconcile = (state: ReconcileState) => Reconciled

/** A turn without controllers only folds. */
export const foldOnly: Reconcile = () => ({ decisions: [], wake_at: null })
