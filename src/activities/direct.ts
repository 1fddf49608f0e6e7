// Hands attempts over by HTTP, straight to the worker: one signed POST for several.

import { DISPATCH_PATH, type Dispatch, type DispatchRequest, dispatchResponse, WORKER_PROTOCOL } from '../api/contract/worker.js'
import { parseJson } from '../core/json.js'
import { ERROR_MESSAGE_BYTES_MAX } from '../core/limits.js'
import { cutText } from '../core/text.js'
import type { ErrorValue } from '../events/value.js'
import type { DispatchPort, SendAnswer } from './dispatch.js'
import { postSigned, reasonOf, type SignedPostDeps } from './signed-post.js'

/** These say "later", and nothing about the request. */
const LATER = new Set([408, 425, 429])

const WHO_ASKS =
  'Give the worker the SERVO_WORKER_SECRETS of the automation, look whether the clocks of both are right, and whether something before the worker wants a login.'
const WHERE_TO =
  'Look whether the worker is what answers there, and not something before it or in its place; deploy with its right URL if it is another.'
/** What every request would hear, and what to look at: no attempt is wrong, and somebody has to mend the set-up. */
const SET_UP_WRONGLY: Readonly<Record<number, string>> = { 401: WHO_ASKS, 403: WHO_ASKS, 404: WHERE_TO, 405: WHERE_TO }

export const createDirectPort = (deps: SignedPostDeps): DispatchPort => ({
  port: 'DIRECT',
  async send(worker_url, dispatches) {
    const all = (answer: SendAnswer) => dispatches.map(() => answer)
    try {
      const request: DispatchRequest = { protocol: WORKER_PROTOCOL, dispatches: [...dispatches] }
      const { status, is_taken, text } = await postSigned(deps, new URL(DISPATCH_PATH, worker_url), request)
      return is_taken ? answersIn(text, dispatches) : all(answerOfStatus(worker_url, status, text))
    } catch (error) {
      return all({ answer: 'UNREACHABLE', problem: `${worker_url} did not answer: ${reasonOf(error)}` })
    }
  },
})

function answerOfStatus(worker_url: string, status: number, text: string): SendAnswer {
  if (LATER.has(status)) return { answer: 'BUSY' }
  const words = cutText(text, ERROR_MESSAGE_BYTES_MAX / 8) || 'nothing more.'
  const what_to_do = SET_UP_WRONGLY[status]
  if (what_to_do !== undefined) return { answer: 'BLOCKED', problem: `${worker_url} answered ${status}: ${words} ${what_to_do}` }
  const said = `The worker answered ${status}: ${words}`
  if (status >= 400 && status < 500) return { answer: 'REFUSED', error: { code: `HTTP_${status}`, message: said } }
  return { answer: 'UNREACHABLE', problem: said }
}

function answersIn(text: string, dispatches: readonly Dispatch[]): readonly SendAnswer[] {
  const parsed = dispatchResponse.safeParse(parseJson(text))
  const unclear: SendAnswer = { answer: 'UNREACHABLE', problem: 'The worker answered something that is no answer of the worker protocol.' }
  const byAttempt = new Map(parsed.success ? parsed.data.answers.map((each) => [each.attempt_id, each] as const) : [])
  return dispatches.map(({ attempt_id }): SendAnswer => {
    const said = byAttempt.get(attempt_id)
    if (said === undefined) return unclear
    if (said.answer !== 'REFUSED') return { answer: said.answer }
    return { answer: 'REFUSED', error: (said.error as ErrorValue | undefined) ?? NO_REASON }
  })
}

const NO_REASON: ErrorValue = { code: 'REFUSED', message: 'The worker refused the attempt, and did not say why.' }
