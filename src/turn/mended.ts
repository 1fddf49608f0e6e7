// What a turn finds that should have been done before it: it is done as always, since the turn looks at what is, and said
// to whoever counts. Nothing is decided by it, and it looks at nothing that the turn has not read anyway.

import type { Decision } from '../controllers/decision.js'
import type { Recorded } from '../controllers/hold.js'
import { TURN_GAP_MS_MAX } from '../core/limits.js'
import { instantMs, stampMs } from '../core/time.js'
import type { SegmentHead } from '../ledger/read.js'
import type { Pass } from './pass.js'
import type { Mended } from './watch.js'
import type { Workspace } from './workspace.js'

type Queue = { readonly late_only: readonly SegmentHead[]; readonly listed: readonly SegmentHead[] }

/** Before anything is folded. While somebody publishes, what waits is behind other work, and nobody has missed it. */
export function noteWaiting(pass: Pass, workspace: Workspace, { late_only, listed }: Queue): void {
  note(pass, 'late_segment', late_only.length)
  const stood_ms = stoodFor(pass, workspace)
  if (stood_ms <= TURN_GAP_MS_MAX || pass.outage_ms > 0) return
  const waited_ms = listed.reduce((longest, { creation_time }) => Math.max(longest, pass.now - stampMs(creation_time)), 0)
  if (waited_ms > TURN_GAP_MS_MAX) note(pass, 'poke_missed', 1)
}

type FirstRound = { readonly decisions: readonly Decision[]; readonly recorded: Recorded }

/** After the first round of decisions. Where this turn has folded nothing, they follow from the revision that it began on
 *  and from time alone: whoever published it, or came after, could have said what does not depend on time. */
export function noteLeftOver(pass: Pass, workspace: Workspace, { decisions, recorded }: FirstRound): void {
  const isUnchanged = pass.pending.segments.length === 0 && pass.published_count === 0
  const retries = decisions.filter(isRetry).length
  if (isUnchanged && stoodFor(pass, workspace) > TURN_GAP_MS_MAX) {
    note(pass, 'plan_late', decisions.filter(({ said_by }) => said_by === 'plan').length)
    note(pass, 'dispatch_late', decisions.filter(({ said_by }) => said_by === 'dispatch').length - retries)
  }
  const { wake_at, hold_until } = recorded
  if (wake_at === null || pass.now - wake_at <= TURN_GAP_MS_MAX || pass.outage_ms > 0) return
  const isLate = (due_at: number) => pass.now - Math.max(wake_at, due_at) > TURN_GAP_MS_MAX
  // A retry that is due may have waited for room: only where nothing has made room since is it known not to have.
  const isHeldAnew = pass.hold_until !== null && pass.hold_until !== hold_until
  // What is on record may be the instant of such a retry, at which turns have looked without a word.
  const isLost = decisions.some((decision) => decision.said_by === 'lost' && isLate(deadlineOf(decision)))
  const isTicked = decisions.some((decision) => decision.said_by === 'schedules' && isLate(firstInstantOf(decision)))
  const isActedOn = isHeldAnew || isLost || (isUnchanged && (retries > 0 || isTicked))
  if (isActedOn) note(pass, 'wake_missed', 1)
}

function note({ mended }: Pass, kind: Mended, count: number): void {
  if (count > 0) mended.set(kind, (mended.get(kind) ?? 0) + count)
}

/** For how long nobody had published when this turn began; 0: nobody ever has. */
function stoodFor({ now }: Pass, { snapshot }: Workspace): number {
  return snapshot === undefined ? 0 : now - instantMs(snapshot.revision.published_at)
}

function deadlineOf({ drafts }: Decision): number {
  return Math.min(...drafts.flatMap((draft) => (draft.event_type === 'AttemptLost' ? [instantMs(draft.basis.deadline_at ?? '')] : [])))
}

/** Of what is owed it is none: that follows from events, and not from time. */
function firstInstantOf({ drafts }: Decision): number {
  const [first] = drafts
  return first?.event_type === 'ScheduleTicked' && first.payload.ticks.length > 0
    ? instantMs(first.payload.ticks[0]?.scheduled_for ?? '')
    : Number.POSITIVE_INFINITY
}

const isRetry = ({ drafts }: Decision): boolean =>
  drafts.some(({ event_type, basis }) => event_type === 'DispatchRequested' && basis?.task_state === 'RETRY_WAIT')
