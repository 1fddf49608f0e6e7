// The rule of kept.ts on a chain: which revisions are kept at an instant, and what is nearest to one that is not. It asks
// the chain for as many revisions as it answers, however many were published in between.

import type { History } from './history.js'
import { keptAfter, keptBefore, keptUntil } from './kept.js'
import type { Listed } from './pages.js'

/** Every kept revision, newest first; the first is the current one. */
export async function* keptRevisions(history: History, now: number): AsyncGenerator<Listed> {
  for (let kept: Listed | undefined = history.newest; kept !== undefined; kept = await olderKept(history, kept, now)) yield kept
}

/** The newest kept one before this one. */
export async function olderKept(history: History, { sequence, published_at }: Listed, now: number): Promise<Listed | undefined> {
  const before = keptBefore(published_at, now)
  return before === undefined ? undefined : history.newestBefore(sequence, before)
}

export async function isKept(history: History, { sequence, published_at }: Listed, now: number): Promise<boolean> {
  const replaced_at = sequence === history.newest.sequence ? null : (await history.at(sequence + 1)).published_at
  return now <= keptUntil({ published_at, replaced_at })
}

/** The oldest kept one after one that is not kept. */
export async function newerKept(history: History, listed: Listed, now: number): Promise<Listed> {
  let nearest = history.newest
  for (const instant of keptAfter(listed.published_at, now)) {
    const found = await history.newestBefore(history.newest.sequence + 1, instant)
    const isBetween = found !== undefined && found.sequence > listed.sequence && found.sequence < nearest.sequence
    if (isBetween && (await isKept(history, found, now))) nearest = found
  }
  return nearest
}
