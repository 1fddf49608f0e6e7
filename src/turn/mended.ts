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
  if (isUnchanged && stoodFor(pass, workspace) > TURN_GAP_MS_MAX) {
    for (const { due } of decisions) if (due?.by === 'rows') note(pass, due.late_as, 1)
  }
  const { wake_at, hold_until } = recorded
  if (wake_at === null || pass.now - wake_at <= TURN_GAP_MS_MAX || pass.outage_ms > 0) return
  // What is on record may be the instant of a retry that waited for room, at which turns have looked without a word: only where
  // nothing has made room since is it known that none has.
  const isLate = (due_at: number | null) => pass.now - Math.max(wake_at, due_at ?? wake_at) > TURN_GAP_MS_MAX
  const isMissed = decisions.some(({ due }) => due?.by === 'time' && (isUnchanged || due.holds_after_folds === true) && isLate(due.at))
  const isHeldNow = pass.hold_until !== null && pass.hold_until !== hold_until
  if (isHeldNow || isMissed) note(pass, 'wake_missed', 1)
}

function note({ mended }: Pass, kind: Mended, count: number): void {
  if (count > 0) mended.set(kind, (mended.get(kind) ?? 0) + count)
}

/** For how long nobody had published when this turn began; 0: nobody ever has. */
function stoodFor({ now }: Pass, { snapshot }: Workspace): number {
  return snapshot === undefined ? 0 : now - instantMs(snapshot.revision.published_at)
}
