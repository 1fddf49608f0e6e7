// Keeps an automation at work. It opens a session (connection, workers, and what they need), waits until that ends by itself,
// closes it whole, and opens the next one, with exponential back-off and jitter while something is missing. It never gives
// up; only a setting that a server refuses, and workers that do not end, end the process.

import { beforeAbort } from '../activities/aborts.js'
import {
  SESSION_CLOSE_MS_MAX,
  SESSION_RETRY_FIRST_MS,
  SESSION_RETRY_LONGEST_MS,
  SESSION_WELL_AFTER_MS,
  WRONG_SETTING_AFTER_MS,
} from '../core/loop-limits.js'
import { type Clock, SECOND_MS } from '../core/time.js'
import type { Health } from '../telemetry/health.js'
import { ConfigError } from './config.js'
import { isSameTrouble, type SessionTrouble, troubleOf } from './troubles.js'

export type Session = {
  /** Why it ended by itself. It is not resolved by `close`, and never rejects. */
  readonly ended: Promise<SessionTrouble>
  /** Ends everything that it has. Resolves when nothing of it is left; rejects when something did not end in order. */
  readonly close: () => Promise<void>
}

export type SupervisorDeps = {
  /** Leaves nothing behind when it rejects. */
  readonly open: () => Promise<Session>
  readonly clock: Clock
  /** A number from 0 to below 1. */
  readonly random: () => number
  readonly stopping: AbortSignal
  readonly health: Health
  readonly log: (message: string) => void
  /** Called with each session that works. */
  readonly onWorking: () => void
  /** Called with each session that worked and ended by itself. */
  readonly onLost: (trouble: SessionTrouble) => void
}

/** Where the health report has it from that no session is open. */
const SOURCE = 'session'

/** Resolves when `stopping` is aborted and nothing is left. Rejects when the process has to end: with a ConfigError, or because
 *  a session did not end in order. */
export async function supervise(deps: SupervisorDeps): Promise<void> {
  const { open, clock, random, stopping, health, log, onWorking, onLost } = deps
  let has_worked = false
  let refused_since: number | undefined
  /** Sessions in a row that could not be opened, or ended soon. */
  let failures = 0
  /** What the log said last of what is missing. */
  let logged: SessionTrouble | undefined

  /** Why the session is over; undefined: it was stopped. */
  async function runSession(): Promise<SessionTrouble | undefined> {
    const opening = open()
    let session: Session | undefined
    try {
      session = await beforeAbort(stopping, opening)
    } catch (error) {
      return noteRefusal(troubleOf(error))
    }
    if (session === undefined) {
      await endInTime(opening.then(({ close }) => close(), nothing))
      return undefined
    }
    const opened_at = noteWorking()
    const trouble = await beforeAbort(stopping, session.ended)
    if (trouble === undefined) {
      health.enter('stopping')
      await endInTime(session.close())
      return undefined
    }
    noteLoss(trouble)
    if (clock.elapsed() - opened_at >= SESSION_WELL_AFTER_MS) failures = 0
    await endInTime(session.close().catch((error: unknown) => log(`What was left of the workers did not end in order: ${String(error)}`)))
    return trouble
  }

  /** What hangs would share this process with the next session, and both would call themselves the only one. */
  async function endInTime(closing: Promise<void>): Promise<void> {
    let isClosed = false
    const waiting = new AbortController()
    const closed = closing.finally(() => {
      isClosed = true
      waiting.abort()
    })
    await Promise.race([closed, clock.sleep(SESSION_CLOSE_MS_MAX, waiting.signal)])
    if (isClosed) return closed
    closed.catch(nothing)
    throw new StuckError()
  }

  function noteWorking(): number {
    has_worked = true
    refused_since = undefined
    logged = undefined
    health.report(SOURCE, undefined)
    health.enter('working')
    onWorking()
    return clock.elapsed()
  }

  function noteRefusal(trouble: SessionTrouble): SessionTrouble {
    if (!trouble.is_setting) refused_since = undefined
    else refused_since ??= clock.elapsed()
    const isLogged = logged !== undefined && isSameTrouble(logged, trouble)
    if (!isLogged) log(`It cannot work now, and tries again until it can: ${trouble.problem}`)
    logged = trouble
    health.report(SOURCE, trouble)
    health.enter('waiting')
    return trouble
  }

  function noteLoss(trouble: SessionTrouble): void {
    log(`The workers ended, and are started again: ${trouble.problem}`)
    logged = trouble
    health.report(SOURCE, trouble)
    health.enter('waiting')
    onLost(trouble)
  }

  while (!stopping.aborted) {
    const trouble = await runSession()
    if (trouble === undefined) break
    const isRefused = refused_since !== undefined && clock.elapsed() - refused_since >= WRONG_SETTING_AFTER_MS
    // One that has worked had the right settings: the server may be the one that is wrong now.
    if (isRefused && !has_worked) throw new ConfigError([trouble.problem])
    await clock.sleep(pauseMs(failures, random()), stopping)
    failures += 1
  }
  health.enter('stopping')
}

class StuckError extends Error {
  constructor() {
    super(`The workers did not end within ${SESSION_CLOSE_MS_MAX / SECOND_MS} s, and the process ends without them. Start it again.`)
    this.name = 'StuckError'
  }
}

/** Half of it is drawn at random: two automations that lost the same server do not come back in step. */
const pauseMs = (failures: number, drawn: number): number =>
  Math.min(SESSION_RETRY_LONGEST_MS, SESSION_RETRY_FIRST_MS * 2 ** failures) * (0.5 + drawn / 2)

const nothing = (): void => undefined
