// What became of an event. Durable is not applied: whoever needs to know asks here until there is an answer.

import type { Clock } from '../core/time.js'
import type { Reader, View } from './reader.js'

export type Asked = { readonly event_id: string; readonly idempotency_key: string }

export type KnownOutcome =
  | { readonly kind: 'applied'; readonly sequence: number }
  /** Its key was applied by another event, which stands. */
  | { readonly kind: 'duplicate'; readonly sequence: number; readonly applied_event_id: string }
  | { readonly kind: 'refused'; readonly sequence: number; readonly reason: string; readonly detail: unknown }
  | { readonly kind: 'quarantined'; readonly sequence: number; readonly reason: string; readonly detail: unknown }

export type Outcome = KnownOutcome | { readonly kind: 'pending' }

/** What this revision says of the event. `pending`: it was not folded yet, or so long ago that its key has expired. */
export async function outcomeIn(view: View, { event_id, idempotency_key }: Asked): Promise<Outcome> {
  const { sequence } = view
  const applied = await view.row('idempotency_keys', [idempotency_key])
  if (applied?.['event_id'] === event_id) return { kind: 'applied', sequence }
  // Before the duplicate: the key of a refused event may have been applied by a later one, and that is not its outcome.
  const refusal = await view.row('refusals', [idempotency_key, event_id])
  if (refusal !== undefined) return { kind: 'refused', sequence, reason: String(refusal['reason']), detail: refusal['detail'] }
  if (applied !== undefined) return { kind: 'duplicate', sequence, applied_event_id: String(applied['event_id']) }
  const { rows } = await view.page('quarantine', { where: [{ column: 'event_id', is: '=', value: event_id }], limit: 1 })
  const [quarantined] = rows
  if (quarantined === undefined) return { kind: 'pending' }
  return { kind: 'quarantined', sequence, reason: String(quarantined['reason']), detail: quarantined['detail'] }
}

const POLL_MS = 25

/** Pokes once, then looks at each new revision until the outcome is there or the time is up. */
export async function waitForOutcome(
  { reader, clock, poke }: { readonly reader: Reader; readonly clock: Clock; readonly poke: () => void },
  asked: Asked,
  timeout_ms: number,
): Promise<Outcome> {
  poke()
  const started = clock.elapsed()
  let seen = -1
  for (;;) {
    const view = await reader.latest()
    if (view !== undefined && view.sequence > seen) {
      seen = view.sequence
      const outcome = await outcomeIn(view, asked)
      if (outcome.kind !== 'pending') return outcome
    }
    if (clock.elapsed() - started >= timeout_ms) return { kind: 'pending' }
    await clock.sleep(POLL_MS)
  }
}
