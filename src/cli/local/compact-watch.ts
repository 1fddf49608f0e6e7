// The loop of `servo ledger compact --watch`: turns as events come, and beside them, at the start and then by the clock,
// what no turn does: late segments, merges, collection. A store that does not answer is waited for.

import type { Collected } from '../../compactor/collect.js'
import type { MergeAnswer } from '../../compactor/merge.js'
import { type Clock, MINUTE_MS } from '../../core/time.js'
import type { TurnAnswer } from '../../turn/turn.js'
import { type CompactReport, nothingSince, reportOf, withMerge } from './compact-report.js'
import type { Troubles } from './troubles.js'

export type WatchDeps = {
  /** Its sleep ends when the watch is stopped. */
  readonly clock: Clock
  readonly isStopped: () => boolean
  readonly turn: (missed: readonly string[]) => Promise<TurnAnswer>
  readonly findMissed: () => Promise<readonly string[]>
  readonly merge: () => Promise<MergeAnswer>
  readonly collect: () => Promise<Collected>
  readonly report: (report: CompactReport) => void
  readonly troubles: Troubles
}

/** Besides what every watch does: turns, late segments, and a merge as soon as a turn says that one is due. */
type WatchRequest = { readonly merge?: boolean | undefined; readonly collect?: boolean | undefined }

/** How often a watching process looks for new segments; the wait doubles while nothing comes. */
const WATCH_FIRST_MS = 100
const WATCH_LONGEST_MS = 2_000
/** A late segment was never acknowledged, so nobody waits for it: a listing of the whole window need not come often. */
const MISSED_EVERY_MS = 10 * MINUTE_MS
const MERGE_EVERY_MS = 10 * MINUTE_MS
const COLLECT_EVERY_MS = 10 * MINUTE_MS

export async function watchWorkspace(deps: WatchDeps, request: WatchRequest): Promise<void> {
  const { clock, isStopped, troubles } = deps
  const missed = new Set<string>()
  const runWhenDue = createTimetable(deps)
  /** No turn and no merge waits for it. */
  let collecting: Promise<void> | undefined
  const failed: unknown[] = []
  let wait_ms = WATCH_FIRST_MS
  let isFirst = true
  while (!isStopped()) {
    let answer: TurnAnswer
    try {
      answer = await deps.turn([...missed])
    } catch (error) {
      // A place that never answered may be mistyped.
      if (isFirst) throw error
      await clock.sleep(troubles.wait(error, 'Folding'))
      continue
    }
    isFirst = false
    troubles.over('Folding')
    missed.clear()
    const report = reportOf(answer)
    if (answer.published_count > 0) deps.report(report)
    await runWhenDue('The look for late segments', MISSED_EVERY_MS, async () => {
      for (const name of await deps.findMissed()) missed.add(name)
    })
    if (request.merge === true || answer.merge_due) {
      await runWhenDue('Merging', answer.merge_due ? 0 : MERGE_EVERY_MS, async () => {
        const merged = await deps.merge()
        if (merged.kind === 'merged') deps.report(withMerge(nothingSince(report), merged))
      })
    }
    if (request.collect === true) {
      collecting ??= runWhenDue('Collecting', COLLECT_EVERY_MS, async () => {
        const collected = await deps.collect()
        if (collected.deleted_count > 0) deps.report({ ...nothingSince(report), collected })
      })
        .catch((error: unknown) => void failed.push(error))
        .finally(() => void (collecting = undefined))
    }
    if (failed.length > 0) throw failed[0]
    wait_ms = answer.published_count > 0 ? WATCH_FIRST_MS : Math.min(wait_ms * 2, WATCH_LONGEST_MS)
    if (!answer.more && missed.size === 0) await clock.sleep(wait_ms)
  }
  await collecting
  if (failed.length > 0) throw failed[0]
}

type Job = (what: string, every_ms: number, work: () => Promise<void>) => Promise<void>

/** Runs a job at first, and then when its time has come; one that the store left without an answer waits for another try. */
function createTimetable({ clock, troubles, isStopped }: WatchDeps): Job {
  const done_at = new Map<string, number>()
  const not_before = new Map<string, number>()
  return async (what, every_ms, work) => {
    const now = clock.elapsed()
    if (isStopped() || now < (not_before.get(what) ?? Number.NEGATIVE_INFINITY)) return
    if (now - (done_at.get(what) ?? Number.NEGATIVE_INFINITY) < every_ms) return
    try {
      await work()
    } catch (error) {
      not_before.set(what, now + troubles.wait(error, what))
      return
    }
    troubles.over(what)
    done_at.set(what, now)
  }
}
