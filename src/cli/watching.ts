// For commands that look again and again: until they are interrupted, and through moments in which the API does not answer.

import { setTimeout as sleep } from 'node:timers/promises'
import { isOperatingError, messageOf } from '../core/errors.js'
import { ApiError } from './client.js'
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

export function createPatience(given: { readonly hasAnswered: boolean } = { hasAnswered: false }): Patience {
  let { hasAnswered } = given
  let isLost = false
  return {
    async tried(look) {
      try {
        const seen = await look()
        if (isLost) note('The API answers again.')
        hasAnswered = true
        isLost = false
        return seen
      } catch (error) {
        if (!hasAnswered || !isPassing(error)) throw error
        if (!isLost) note(`${messageOf(error)}\nIt is asked again until it answers.`)
        isLost = true
        return undefined
      }
    },
  }
}

/** The same may be answered a moment later. */
export const isPassing = (error: unknown): boolean =>
  isOperatingError(error, 'unavailable') || (error instanceof ApiError && [429, 503].includes(error.problem.status))
