// Asks the controllers and appends what they say, again and again until they say nothing that is new. What was said is
// folded from its stored bytes: another turn may have said it first, and then its words stand.

import type { Decision } from '../controllers/decision.js'
import { holdUntil, type Recorded } from '../controllers/hold.js'
import { crc32cHex } from '../core/hash.js'
import { listSha256 } from '../core/keys.js'
import { PUBLISH_AFTER_MS, RECONCILE_PASSES_MAX, SEGMENT_BYTES_MAX } from '../core/limits.js'
import { instantMs } from '../core/time.js'
import { stampDrafts } from '../events/draft.js'
import type { LedgerEvent } from '../events/event.js'
import { type AppendAnswer, GROUP_SHARE } from '../ledger/append.js'
import { writeList } from '../ledger/lists.js'
import { readSegment } from '../ledger/read.js'
import { packBatch, segmentName } from '../ledger/segment.js'
import { isAmong } from '../tables/folded-names.js'
import { foldSegments, type StoredSegment } from './fold-segments.js'
import { loadNeeds, type NeedSources } from './load-needs.js'
import { noteLeftOver } from './mended.js'
import type { Pass, TurnDeps } from './pass.js'
import type { Workspace } from './workspace.js'

/** `speaking`: there is more to say, after what was said is published. `cut_off`: somebody repeats himself without end. */
type Spoken = 'quiet' | 'speaking' | 'cut_off'

export async function decide(
  deps: TurnDeps,
  workspace: Workspace,
  pass: Pass,
  { lookup, endedRun }: Omit<NeedSources, 'store'>,
): Promise<Spoken> {
  for (;;) {
    await loadNeeds({ store: deps.store, lookup, endedRun }, workspace.rows)
    const recorded = { ...recordedIn(workspace), outage_ms: pass.outage_ms, unheard_hold_ms: pass.unheard_hold_ms }
    pass.hold_until = holdUntil(workspace.rows, pass.now, recorded)
    const { lag_ms, hold_until } = pass
    const decisions = deps.reconcile.decide({
      rows: workspace.rows,
      scope: deps.scope,
      now: pass.now,
      lag_ms,
      hold_until,
      publish_interval_ms: deps.store.same_name_interval_ms,
    })
    if (pass.reconcile_count === 0) noteLeftOver(pass, workspace, { decisions, recorded })
    if (decisions.length === 0) return 'quiet'
    if (++pass.reconcile_count > RECONCILE_PASSES_MAX) {
      const speakers = [...new Set(decisions.map(({ said_by }) => said_by))].join(', ')
      deps.log?.(
        `A turn was cut off after ${RECONCILE_PASSES_MAX} rounds of decisions; ${speakers} spoke last. It goes on in the next turn.`,
      )
      return 'cut_off'
    }
    const stored = await appendDecisions(deps, workspace, pass, decisions)
    // Everything that was said is folded already, and was refused: saying it once more on the same basis changes nothing.
    if (stored.length === 0) return 'quiet'
    pass.pending.first_folded_at ??= deps.clock.elapsed()
    await foldSegments(deps, workspace.rows, lookup, pass.pending, stored)
    const isPublishDue = deps.clock.elapsed() - pass.pending.first_folded_at >= PUBLISH_AFTER_MS
    if (pass.pending.has_dispatch || isPublishDue) return 'speaking'
  }
}

/** A hold that this turn recorded already counts as any other. */
function recordedIn({ snapshot }: Workspace): Pick<Recorded, 'wake_at' | 'hold_until'> {
  if (snapshot === undefined) return { wake_at: null, hold_until: null }
  const { wake_at, hold_until } = snapshot.revision.watermarks
  return { wake_at: atOf(wake_at), hold_until: atOf(hold_until) }
}

const atOf = (text: string | null): number | null => (text === null ? null : instantMs(text))

async function appendDecisions(deps: TurnDeps, workspace: Workspace, pass: Pass, decisions: readonly Decision[]): Promise<StoredSegment[]> {
  const stamp = { ...deps.scope, now: pass.now, random: deps.random, source: 'servo/turn' } as const
  await writeLists(deps, decisions)
  const stored: StoredSegment[] = []
  for (const batches of inSegments(
    decisions.map(({ drafts }) => stampDrafts(drafts, stamp)),
    deps.scope,
  )) {
    const answer = await deps.appender.appendTogether(batches)
    const segment_name = segmentName(answer.head.name)
    const isFolded = isAmong(workspace.folded, segment_name) || pass.pending.segments.some(({ name }) => name === segment_name)
    if (!isFolded && !stored.some(({ head }) => head.segment_name === segment_name)) {
      stored.push({ head: { ...answer.head, segment_name }, bytes: await storedBytes(deps, answer) })
    }
  }
  return stored
}

/** What many name is written once. */
async function writeLists(deps: TurnDeps, decisions: readonly Decision[]): Promise<void> {
  const lists = new Map(decisions.flatMap(({ lists: named = [] }) => named.map((list) => [listSha256(list), list] as const)))
  for (const list of lists.values()) await writeList(deps, list)
}

/** Batches that fit one segment; a batch is never divided. */
function inSegments(batches: readonly (readonly LedgerEvent[])[], scope: TurnDeps['scope']): (readonly LedgerEvent[])[][] {
  const segments: (readonly LedgerEvent[])[][] = []
  let bytes = SEGMENT_BYTES_MAX
  for (const batch of batches) {
    const size = packBatch(batch, scope).bytes
    if (bytes + size > SEGMENT_BYTES_MAX * GROUP_SHARE) {
      segments.push([])
      bytes = 0
    }
    segments.at(-1)?.push(batch)
    bytes += size
  }
  return segments
}

const storedBytes = async ({ store }: TurnDeps, { head, bytes }: AppendAnswer): Promise<Uint8Array> =>
  bytes !== undefined && crc32cHex(bytes) === head.crc32c ? bytes : readSegment(store, head.name, head.crc32c)
