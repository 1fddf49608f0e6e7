// An event before it is said: whoever decides names what is to be said and why, and nobody makes up an id, a time or a
// place in the ledger until it is appended.

import { instantText } from '../core/time.js'
import { newUlid, type RandomBytes } from '../core/ulid.js'
import type { LedgerEvent } from './event.js'

type Stamped = 'event_id' | 'event_version' | 'timestamp' | 'source' | 'tenant_id' | 'workspace_id' | 'causation_id' | 'traceparent'

type DraftOf<Event> = Event extends LedgerEvent
  ? Omit<Event, Stamped> & { readonly event_version?: Event['event_version']; readonly caused_by?: number }
  : never

/** `caused_by` is the position in the same batch of what it depends on. It is of version 1 unless it says another. */
export type Draft = DraftOf<LedgerEvent>

export type Stamp = {
  readonly tenant_id: string
  readonly workspace_id: string
  /** Epoch milliseconds, by the store's clock. */
  readonly now: number
  readonly random: RandomBytes
  readonly source: `servo/${'turn' | 'api' | 'deploy' | 'callback' | 'loop' | 'handover'}`
  /** Of the request that says it. */
  readonly traceparent?: string | undefined
}

export function stampDrafts(drafts: readonly Draft[], stamp: Stamp): readonly LedgerEvent[] {
  const { tenant_id, workspace_id, now, random, source, traceparent } = stamp
  const ids = drafts.map(() => newUlid(now, random))
  return drafts.map(({ caused_by, ...draft }, index) => {
    const cause = caused_by === undefined ? undefined : ids[caused_by]
    return {
      ...draft,
      event_id: ids[index] as string,
      event_version: draft.event_version ?? 1,
      timestamp: instantText(now),
      source,
      tenant_id,
      workspace_id,
      ...(cause === undefined ? {} : { causation_id: cause }),
      // Once a batch, and with each run, which hands it on: a deploy of two thousand events grows by one line.
      ...(traceparent !== undefined && (index === 0 || draft.event_type === 'RunRequested') ? { traceparent } : {}),
    } as LedgerEvent
  })
}
