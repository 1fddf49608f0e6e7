// What became of an event, or of whatever was said under a key. Durable is not applied: whoever needs to know asks here
// until there is an answer. It reads revisions alone, and no segment.

import { type Clock, instantMs, MINUTE_MS } from '../core/time.js'
import { ulidTime } from '../core/ulid.js'
import type { LooseRow } from '../projections/tables.js'
import { isAmong } from '../tables/folded-names.js'
import { openSegmentNames } from '../tables/snapshot.js'
import { readAll } from './pages.js'
import type { Reader, View } from './reader.js'

/** Both names ask for this event; the key alone for whichever event was said under it; the event's id alone for the event
 *  where its key is not known. A duplicate's own id never enters the tables, so whoever appended asks by key. By id alone
 *  the table of keys is searched through, while a key is looked up. */
export type Asked = (
  | { readonly idempotency_key: string; readonly event_id?: string }
  | { readonly event_id: string; readonly idempotency_key?: never }
) & {
  /** The segment that the append was answered with, by its ULID: it tells `not_kept` from `pending`. */
  readonly segment_name?: string
}

type KnownOutcome =
  | { readonly kind: 'applied'; readonly sequence: number; readonly event_id: string }
  /** Its key was applied by another event, which stands. */
  | { readonly kind: 'duplicate'; readonly sequence: number; readonly applied_event_id: string }
  | Told<'refused'>
  | Told<'quarantined'>
  /** Its segment was folded, and no row says as what: a refused heartbeat is counted and no more; an event that was asked
   *  for by its id alone was a duplicate; or the row has expired since. */
  | { readonly kind: 'not_kept'; readonly sequence: number }

type Told<Kind extends 'refused' | 'quarantined'> = {
  readonly kind: Kind
  readonly sequence: number
  readonly event_id: string | null
  readonly reason: string
  readonly detail: unknown
}

/** `pending`: this revision does not know of it. Without a `segment_name` that is also what a heartbeat stays that was
 *  refused, and what everything comes back to once its rows have expired. */
export type Outcome = KnownOutcome | { readonly kind: 'pending' }

/** What this revision says of it. */
export async function outcomeIn(view: View, asked: Asked): Promise<Outcome> {
  const { sequence } = view
  const { event_id } = asked
  const applied = await findApplied(view, asked)
  const applied_event_id = applied === undefined ? undefined : String(applied['event_id'])
  if (applied_event_id !== undefined && (event_id === undefined || applied_event_id === event_id)) {
    return { kind: 'applied', sequence, event_id: applied_event_id }
  }
  // Before the duplicate: the key of a refused event may have been applied by a later one, and that is not its outcome.
  const refusal = await findRefusal(view, asked)
  if (refusal !== undefined) return told('refused', sequence, refusal)
  const quarantined = await findQuarantined(view, asked)
  if (quarantined !== undefined) return told('quarantined', sequence, quarantined)
  if (applied_event_id !== undefined) return { kind: 'duplicate', sequence, applied_event_id }
  return isFolded(view, asked) ? { kind: 'not_kept', sequence } : { kind: 'pending' }
}

const told = <Kind extends 'refused' | 'quarantined'>(kind: Kind, sequence: number, row: LooseRow): Told<Kind> => ({
  kind,
  sequence,
  event_id: row['event_id'] as string | null,
  reason: String(row['reason']),
  detail: row['detail'],
})

async function findApplied(view: View, { idempotency_key, event_id }: Asked): Promise<LooseRow | undefined> {
  if (idempotency_key !== undefined) return view.row('idempotency_keys', [idempotency_key])
  const [row] = await readAll(view, 'idempotency_keys', { where: [{ column: 'event_id', is: '=', value: event_id }], limit: 1 })
  return row
}

/** A key that is refused again and again, each time by another event: those that are looked at for the newest. */
const REFUSALS_MAX = 1_000

async function findRefusal(view: View, { idempotency_key, event_id }: Asked): Promise<LooseRow | undefined> {
  if (idempotency_key !== undefined && event_id !== undefined) return view.row('refusals', [idempotency_key, event_id])
  const column = idempotency_key === undefined ? 'event_id' : 'idempotency_key'
  const value = idempotency_key ?? event_id
  const rows = await readAll(view, 'refusals', { where: [{ column, is: '=', value: value as string }], limit: REFUSALS_MAX })
  return rows.reduce<LooseRow | undefined>(
    (newest, row) => (newest === undefined || newest.row_version <= row.row_version ? row : newest),
    undefined,
  )
}

/** What is quarantined has an id where it could be read, and no key. */
async function findQuarantined(view: View, { event_id }: Asked): Promise<LooseRow | undefined> {
  if (event_id === undefined) return undefined
  const [row] = await readAll(view, 'quarantine', { where: [{ column: 'event_id', is: '=', value: event_id }], limit: 1 })
  return row
}

/** By the names that the revision has, and by the minutes that it has closed: in those everything acknowledged is folded. */
function isFolded({ snapshot }: View, { segment_name }: Asked): boolean {
  if (segment_name === undefined) return false
  const closed_through = instantMs(snapshot.revision.watermarks.closed_through)
  return ulidTime(segment_name) < closed_through + MINUTE_MS || isAmong(openSegmentNames(snapshot), segment_name)
}

const POLL_MS = 25

/** Pokes once, then looks at each new revision until the outcome is there; `pending` when the time is up before. */
export async function waitForOutcome(
  { reader, clock, poke }: { readonly reader: Pick<Reader, 'latest'>; readonly clock: Clock; readonly poke: () => void },
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

/** Why a batch was refused that is taken whole or not at all: what its parts say, but for those that only followed. */
export async function readBatchRefusal(
  view: View,
  events: readonly { readonly idempotency_key: string; readonly event_id: string }[],
): Promise<{ readonly reason: string; readonly detail: unknown } | undefined> {
  const rows = await view.rows(
    'refusals',
    events.map(({ idempotency_key, event_id }) => [idempotency_key, event_id]),
  )
  const row = rows.find(({ reason }) => reason !== 'TRIGGER_NOT_APPLIED') ?? rows[0]
  return row === undefined ? undefined : { reason: String(row['reason']), detail: row['detail'] }
}
