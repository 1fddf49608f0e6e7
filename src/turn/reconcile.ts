// The port to the controllers, and how their answer becomes events: here it gets its ids, its time and its source. What
// they answer is theirs alone (controllers/decision.ts).

import type { Decision, Reconciled, ReconcileState } from '../controllers/decision.js'
import { instantText } from '../core/time.js'
import { newUlid, type RandomBytes } from '../core/ulid.js'
import type { LedgerEvent } from '../events/event.js'

/** Every controller, once. */
export type Reconcile = (state: ReconcileState) => Reconciled

/** A turn without controllers only folds. */
export const foldOnly: Reconcile = () => ({ decisions: [], wake_at: null })

export type Envelope = { readonly tenant_id: string; readonly workspace_id: string; readonly now: number; readonly random: RandomBytes }

export function eventsOf({ drafts }: Decision, { tenant_id, workspace_id, now, random }: Envelope): readonly LedgerEvent[] {
  const ids = drafts.map(() => newUlid(now, random))
  return drafts.map(({ caused_by, ...draft }, index) => {
    const cause = caused_by === undefined ? undefined : ids[caused_by]
    return {
      ...draft,
      event_id: ids[index] as string,
      event_version: 1,
      timestamp: instantText(now),
      source: 'servo/turn',
      tenant_id,
      workspace_id,
      ...(cause === undefined ? {} : { causation_id: cause }),
    } as LedgerEvent
  })
}
