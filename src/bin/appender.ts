// What a process appends with: it keeps its names above what turns have closed, by looking at the pointer now and then.

import { instantMs, MINUTE_MS } from '../core/time.js'
import { type Appender, type AppenderDeps, createAppender } from '../ledger/append.js'
import { readPointer, readRevision } from '../tables/snapshot.js'

type OpenDeps = Pick<AppenderDeps, 'store' | 'scope' | 'clock' | 'random' | 'tracing'>

export async function openAppender(
  deps: OpenDeps,
  log?: (message: string) => void,
  onAppend?: AppenderDeps['onAppend'],
): Promise<Appender> {
  let closed_through = 0
  let looked_at = Number.NEGATIVE_INFINITY
  const look = async () => {
    looked_at = deps.clock.elapsed()
    const { published } = await readPointer(deps.store)
    if (published === undefined) return
    const revision = await readRevision(deps.store, published.pointer.sequence, published.pointer.revision)
    closed_through = instantMs(revision.watermarks.closed_through)
  }
  await look()
  return createAppender({
    ...deps,
    ...(log === undefined ? {} : { log }),
    ...(onAppend === undefined ? {} : { onAppend }),
    closedThrough() {
      // An old answer is safe, because the creation check stands behind it: the next look is not waited for.
      if (deps.clock.elapsed() - looked_at > MINUTE_MS) void look().catch(() => undefined)
      return closed_through
    },
  })
}
