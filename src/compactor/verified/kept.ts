// Which revisions are kept for `as_of`, found out on the way along the chain. It holds those alone, however long the chain is.

import { instantMs } from '../../core/time.js'
import { keptUntil } from '../../tables/history/kept.js'
import type { KeptAt } from '../../tables/history/kept-revisions.js'
import type { Listed } from '../../tables/history/pages.js'
import type { Pointer, Revision } from '../../tables/revision.js'

export type KeptRevisions = {
  /** Those that readers may open; the first is that of the pointer. */
  readonly newest_first: readonly Listed[]
  /** By the names of their checkpoints the sequence of the first revision that could be read and goes by it. */
  readonly named_since: ReadonlyMap<string, number>
}

export type KeptOnTheWay = {
  /** Each revision that can be read, oldest first. Of one whose successor cannot be read nobody can say when it was replaced,
   *  and so not whether it is kept: it is left out. */
  readonly pass: (revision: Revision) => void
  readonly all: () => KeptRevisions
}

type Passed = Listed & { readonly named_since: number }

export function createKept(pointer: Pointer, { now, retention }: KeptAt): KeptOnTheWay {
  const kept: Listed[] = []
  const named_since = new Map<string, number>()
  const newest: Listed = { ...pointer, published_at: instantMs(pointer.published_at), checkpoint: pointer.checkpoint.name }
  let before: Passed | undefined
  /** Of the pointer's checkpoint. */
  let newest_since: number | undefined

  function keepBefore({ sequence, published_at }: Listed): void {
    if (before === undefined || before.sequence !== sequence - 1) return
    if (now > keptUntil({ ...before, replaced_at: published_at }, retention)) return
    kept.push(before)
    named_since.set(before.checkpoint, before.named_since)
  }

  return {
    pass({ sequence, revision, published_at, checkpoint }) {
      const since = before?.checkpoint === checkpoint ? before.named_since : sequence
      if (checkpoint === newest.checkpoint) newest_since ??= since
      if (sequence >= newest.sequence) return
      const next = { sequence, revision, published_at: instantMs(published_at), checkpoint, named_since: since }
      keepBefore(next)
      before = next
    },
    all() {
      keepBefore(newest)
      if (newest_since !== undefined) named_since.set(newest.checkpoint, newest_since)
      return { newest_first: [newest, ...kept.toReversed()], named_since }
    },
  }
}
