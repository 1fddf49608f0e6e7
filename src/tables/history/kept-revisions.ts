// The rule of kept.ts on a chain: which revisions are kept at an instant, and what is nearest to one that is not. It asks
// the chain for as many revisions as it answers, however many were published in between.

import type { RetentionPolicy } from '../../projections/retention.js'
import type { History } from './history.js'
import { keptAfter, keptBefore, keptUntil } from './kept.js'
import type { Listed } from './pages.js'

/** When, and by which settings: those of the newest revision, unless somebody asks what others would keep. */
export type KeptAt = { readonly now: number; readonly retention: RetentionPolicy }

/** Every kept revision, newest first; the first is the current one. */
export async function* keptRevisions(history: History, at: KeptAt): AsyncGenerator<Listed> {
  for (let kept: Listed | undefined = history.newest; kept !== undefined; kept = await olderKept(history, kept, at)) yield kept
}

/** The newest kept one before this one. */
export async function olderKept(
  history: History,
  { sequence, published_at }: Listed,
  { now, retention }: KeptAt,
): Promise<Listed | undefined> {
  const before = keptBefore(published_at, now, retention)
  return before === undefined ? undefined : history.newestBefore(sequence, before)
}

export async function isKept(history: History, { sequence, published_at }: Listed, { now, retention }: KeptAt): Promise<boolean> {
  const replaced_at = sequence === history.newest.sequence ? null : (await history.at(sequence + 1)).published_at
  return now <= keptUntil({ published_at, replaced_at }, retention)
}

/** The oldest kept one after one that is not kept. */
export async function newerKept(history: History, listed: Listed, at: KeptAt): Promise<Listed> {
  let nearest = history.newest
  for (const instant of keptAfter(listed.published_at, at.now, at.retention)) {
    const found = await history.newestBefore(history.newest.sequence + 1, instant)
    const isBetween = found !== undefined && found.sequence > listed.sequence && found.sequence < nearest.sequence
    if (isBetween && (await isKept(history, found, at))) nearest = found
  }
  return nearest
}

/** What could be opened at an instant that is past: by the settings that stood then. None of it has come back since. */
export async function keptThen(history: History, then: number): Promise<KeptAt> {
  const { newest } = history
  const stood = newest.published_at <= then ? newest : await history.newestBefore(newest.sequence, then + 1)
  return { now: then, retention: await history.retentionOf(stood ?? newest) }
}
