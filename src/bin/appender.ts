// What a process appends with: it knows the store's time from its start on, and keeps its names above what turns have
// closed, by looking at the pointer now and then.

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
  const look = async (): Promise<number> => {
    looked_at = deps.clock.elapsed()
    const { published, server_time } = await readPointer(deps.store)
    const heard_at = deps.clock.elapsed()
    if (published !== undefined) {
      const revision = await readRevision(deps.store, published.pointer.sequence, published.pointer.revision)
      closed_through = instantMs(revision.watermarks.closed_through)
    }
    return server_time + (deps.clock.elapsed() - heard_at)
  }
  return createAppender({
    ...deps,
    server_time: await look(),
    ...(log === undefined ? {} : { log }),
    ...(onAppend === undefined ? {} : { onAppend }),
    closedThrough() {
      // An old answer is safe, because the creation check stands behind it: the next look is not waited for.
      if (deps.clock.elapsed() - looked_at > MINUTE_MS) void look().catch(() => undefined)
      return closed_through
    },
  })
}
