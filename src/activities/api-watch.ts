// Asks the API whether it is there, as workers do that want to be heard, while any of them has something to say. A turn that
// would give an attempt up learns from it that nobody could speak. It decides nothing itself.

import { messageOf } from '../core/errors.js'
import { GLOBAL_POOL_KEY } from '../core/ids.js'
import { API_OUTAGE_MS_MAX, API_STEADY_MS } from '../core/limits.js'
import { type Clock, MINUTE_MS, SECOND_MS } from '../core/time.js'
import type { Unheard } from '../turn/outage.js'
import type { Workspace } from '../turn/workspace.js'
import { reasonOf } from './signed-post.js'

type ApiWatchDeps = {
  readonly clock: Clock
  /** Asks the API, where workers find it, whether it is there; what is wrong, in words. */
  readonly ask: () => Promise<string | undefined>
  /** Whether an attempt is with a worker, or on its way to one; undefined: this process does not know at the moment. */
  readonly isNeeded: () => boolean | undefined
  readonly log: (message: string) => void
  readonly stopping: AbortSignal
}

type ApiWatch = {
  /** undefined: as far as this process knows, workers can speak. */
  readonly unheard: () => Unheard | undefined
  readonly ended: Promise<void>
}

const ASK_EVERY_MS = SECOND_MS
/** After the first failure: an attempt that is silent for the shortest time that may be asked for must not be given up meanwhile. */
const ASK_AGAIN_MS = SECOND_MS / 4
const ANSWER_WITHIN_MS = 2 * SECOND_MS
/** One failure may be a connection that was cut; of an API that comes and goes it is the next outage, however short. */
const FAILURES_MIN = 2
const FAILURES_MIN_IN_TROUBLE = 1
/** For as long after an outage a turn that begins is told of it: workers come back one after the other. */
const REMEMBERED_MS = 10 * SECOND_MS

export function watchApi(deps: ApiWatchDeps): ApiWatch {
  const { clock, ask, isNeeded, log, stopping } = deps
  /** One that was never reached from here is no evidence: it may be for workers alone. */
  let wasReached = false
  let failures = 0
  let down_since = 0
  let last: { readonly from: number; readonly until: number } | undefined
  /** When the first of those outages began between which the API was never well for long: together they are one. */
  let trouble_since: number | undefined
  let answering_since = 0

  const isDown = () => failures >= (trouble_since === undefined ? FAILURES_MIN : FAILURES_MIN_IN_TROUBLE)

  function noteAnswer(asked_at: number): void {
    if (isDown()) {
      last = { from: down_since, until: clock.elapsed() }
      answering_since = last.until
      log(`The API answers workers again, after ${Math.round((last.until - last.from) / SECOND_MS)} s.`)
    }
    failures = 0
    down_since = asked_at
    wasReached = true
    if (clock.elapsed() - answering_since >= API_STEADY_MS) trouble_since = undefined
  }

  function noteFailure(asked_at: number, fault: string): void {
    if (!wasReached) return
    if (failures === 0) down_since = asked_at
    const wasDown = isDown()
    failures += 1
    if (isDown() && !wasDown) {
      trouble_since ??= down_since
      log(
        `The API does not answer workers: ${fault}. No attempt is given up until workers can speak again, or ${API_OUTAGE_MS_MAX / MINUTE_MS} minutes have passed.`,
      )
    }
  }

  /** Nobody has anything to say. That it is well is learnt from its answers alone. */
  function forget(): void {
    if (isDown()) {
      const silent_s = Math.round((clock.elapsed() - down_since) / SECOND_MS)
      log(`No attempt waits for the API any more, and nobody asks it: it has not answered workers for ${silent_s} s.`)
    }
    failures = 0
    last = undefined
    answering_since = clock.elapsed()
  }

  async function go(): Promise<void> {
    for (;;) {
      await clock.sleep(failures > 0 && !isDown() ? ASK_AGAIN_MS : ASK_EVERY_MS)
      if (stopping.aborted) return
      // Until it was reached once it is asked by all means: an attempt may begin and the API be gone between two looks.
      if (!wasReached || isNeeded() !== false) {
        const asked_at = clock.elapsed()
        const fault = await ask()
        if (fault === undefined) noteAnswer(asked_at)
        else noteFailure(asked_at, fault)
      } else forget()
    }
  }

  return {
    unheard() {
      const now = clock.elapsed()
      if (trouble_since === undefined) return undefined
      const left_ms = trouble_since + API_OUTAGE_MS_MAX - now
      if (left_ms <= 0) return undefined
      if (isDown()) return { for_ms: now - down_since, over_for_ms: 0, left_ms }
      if (last === undefined || now - last.until > REMEMBERED_MS) return undefined
      return { for_ms: now - last.from, over_for_ms: now - last.until, left_ms }
    },
    ended: go().catch((error: unknown) => log(`Nobody asks any more whether the API is there: ${messageOf(error)}`)),
  }
}

/** Whether an attempt is with a worker, or on its way to one; undefined: nothing was read yet. */
export const isAnyOut = ({ snapshot, rows }: Pick<Workspace, 'snapshot' | 'rows'>): boolean | undefined =>
  snapshot === undefined ? undefined : (rows.get('pools', GLOBAL_POOL_KEY)?.in_use ?? 0) > 0

/** By its health, which says nothing of the store: workers are told of that by the API. */
export const askHealth =
  (api_url: string): ApiWatchDeps['ask'] =>
  async () => {
    try {
      const { status, body } = await fetch(new URL('/healthz', api_url), { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
      // Nobody reads it, and unread it would hold the connection.
      await body?.cancel()
      return status < 500 ? undefined : `${api_url} answers ${status}`
    } catch (error) {
      return `${api_url}: ${reasonOf(error)}`
    }
  }
