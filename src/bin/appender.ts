// What a process appends with: it knows the store's time from its start on, and keeps its names above what turns have
// closed, by looking at the pointer now and then.

import { isOperatingError, messageOf, unavailable } from '../core/errors.js'
import { type Clock, instantMs, MINUTE_MS, SECOND_MS } from '../core/time.js'
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

/** Between two tries to reach a store that did not answer at the start. */
const OPEN_AGAIN_FIRST_MS = SECOND_MS
const OPEN_AGAIN_LONGEST_MS = 10 * SECOND_MS
/** A process that serves requests listens after this, whatever the store does: until then it could not even say what is wrong. */
const FIRST_LOOK_MS_MAX = 3 * SECOND_MS

type PatientDeps = OpenDeps & {
  /** Its sleep ends when `closed` is aborted. */
  readonly clock: Clock
  readonly closed: AbortSignal
}

/** For a process that has to be there without its store: whatever is asked of it before the store has answered is refused as
 *  `unavailable`, and it goes on asking until the store does. Rejects where waiting does not help. */
export async function openPatientAppender(
  deps: PatientDeps,
  log: (message: string) => void,
  onAppend?: AppenderDeps['onAppend'],
): Promise<Appender> {
  const { clock, closed } = deps
  let opened: Appender | undefined
  let problem: unknown = unavailable('The store has not answered yet. Ask again in a moment.')
  const sayWrong = (error: unknown) => log(`The store answers what cannot be used: ${messageOf(error)}`)
  const first = tryOpen()
  const waiting = new AbortController()
  await Promise.race([first.finally(() => waiting.abort()), clock.sleep(FIRST_LOOK_MS_MAX, waiting.signal)])
  if (opened === undefined) void keepTrying()

  async function tryOpen(): Promise<void> {
    try {
      opened = await openAppender(deps, log, onAppend)
    } catch (error) {
      problem = error
      if (!isOperatingError(error, 'unavailable')) throw error
    }
  }

  async function keepTrying(): Promise<void> {
    await first.catch(sayWrong)
    if (opened !== undefined) return
    log(`The store does not answer, and is asked until it does: ${messageOf(problem)}`)
    for (
      let wait_ms = OPEN_AGAIN_FIRST_MS;
      opened === undefined && !closed.aborted;
      wait_ms = Math.min(2 * wait_ms, OPEN_AGAIN_LONGEST_MS)
    ) {
      await clock.sleep(wait_ms)
      await tryOpen().catch(sayWrong)
    }
    if (opened !== undefined) log('The store answers.')
  }

  function appender(): Appender {
    if (opened === undefined) throw problem
    return opened
  }

  return {
    append: async (batch) => appender().append(batch),
    appendTogether: async (batches) => appender().appendTogether(batches),
    now: () => appender().now(),
  }
}
