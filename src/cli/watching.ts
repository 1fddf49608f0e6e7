// For commands that look again and again: until they are interrupted, and through moments in which the API does not answer.

import { setTimeout as sleep } from 'node:timers/promises'
import { isOperatingError, messageOf } from '../core/errors.js'
import { ApiError, isNotTakenUp } from './client.js'
import { note } from './local/print.js'
import { onSignal } from './local/until-signal.js'

export type Interruptible = {
  readonly signal: AbortSignal
  /** Resolves with the interruption. */
  readonly aborted: Promise<undefined>
  readonly sleep: (duration_ms: number) => Promise<void>
}

/** Does the work, and listens for signals no longer than that: a process may run many commands. */
export async function untilInterrupted<T>(work: (until: Interruptible) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const forget = onSignal(() => controller.abort())
  try {
    return await work({
      signal,
      aborted: new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true })),
      sleep: (duration_ms) => sleep(duration_ms, undefined, { signal }).catch(() => undefined),
    })
  } finally {
    forget()
  }
}

type Patience = {
  /** undefined: not now. Unless the API has answered before, the first try has to succeed: a wrong address does not pass. */
  readonly tried: <T>(look: () => Promise<T | undefined>) => Promise<T | undefined>
}

type PatienceOptions = {
  readonly hasAnswered?: boolean
  /** Called each time that the API answers that no turn has taken up yet what is looked for; left out: it is noted once. */
  readonly onNotTakenUp?: (error: ApiError) => void
}

export function createPatience(options: PatienceOptions = {}): Patience {
  const { onNotTakenUp = noteOnce() } = options
  let { hasAnswered = false } = options
  let isLost = false
  function noteAnswered(): void {
    if (isLost) note('The API answers again.')
    hasAnswered = true
    isLost = false
  }
  return {
    async tried(look) {
      try {
        const seen = await look()
        noteAnswered()
        return seen
      } catch (error) {
        if (isNotTakenUp(error)) {
          noteAnswered()
          onNotTakenUp(error)
          return undefined
        }
        if (!hasAnswered || !isPassing(error)) throw error
        if (!isLost) note(`${messageOf(error)}\nIt is asked again until it answers.`)
        isLost = true
        return undefined
      }
    },
  }
}

function noteOnce(): (error: Error) => void {
  let isNoted = false
  return (error) => {
    if (!isNoted) note(messageOf(error))
    isNoted = true
  }
}

/** The same may be answered a moment later. */
export const isPassing = (error: unknown): boolean =>
  isOperatingError(error, 'unavailable') || (error instanceof ApiError && [429, 503].includes(error.problem.status))
