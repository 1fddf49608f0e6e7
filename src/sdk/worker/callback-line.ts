// Callbacks of all attempts of a worker on their way to the API. The first goes at once; those that come while requests are
// under way go together in the next one, so that a full worker asks a few times and nobody waits for company.

import { type Callback, type CallbacksRequest, callbacksResponse, WORKER_PROTOCOL } from '../../api/contract/worker.js'
import { CALLBACKS_PER_REQUEST_MAX, CALLBACKS_REQUEST_BYTES_MAX } from '../../core/limits.js'
import { SECOND_MS } from '../../core/time.js'
import { type CallAnswer, type CallOptions, isWorthRepeating, postJson } from './post-json.js'

export type CallbackLine = {
  /** undefined: the API does not take it this way, and it has to be sent by itself. */
  readonly send: (callback: Callback) => Promise<CallAnswer | undefined>
}

type Waiting = { readonly callback: Callback; readonly size: number; readonly resolve: (answer: CallAnswer | undefined) => void }

/** One that takes its time does not hold up a heartbeat. */
const REQUESTS_AT_ONCE = 2
/** Half of what the API takes, in characters: no character has more than three bytes, and few have more than one. */
const REQUEST_CHARACTERS_MAX = CALLBACKS_REQUEST_BYTES_MAX / 4

export function createCallbackLine(url: string, options: CallOptions): CallbackLine {
  const queue: Waiting[] = []
  let under_way = 0
  let isDue = false

  /** Whatever is said in this moment, as the starts of one dispatch are, goes together. */
  function soon(): void {
    if (isDue) return
    isDue = true
    setImmediate(() => {
      isDue = false
      while (under_way < REQUESTS_AT_ONCE && queue.length > 0) void request(takeGroup())
    })
  }

  function takeGroup(): readonly Waiting[] {
    let size = 0
    const end = queue.findIndex((waiting, index) => {
      size += waiting.size
      return index > 0 && (index >= CALLBACKS_PER_REQUEST_MAX || size > REQUEST_CHARACTERS_MAX)
    })
    return queue.splice(0, end < 0 ? queue.length : end)
  }

  async function request(group: readonly Waiting[]): Promise<void> {
    under_way += 1
    const body: CallbacksRequest = { protocol: WORKER_PROTOCOL, callbacks: group.map(({ callback }) => callback) }
    const answer = await postJson(url, body, {}, options)
    under_way -= 1
    if (queue.length > 0) soon()
    const answers = answersIn(answer, group)
    for (const [index, { resolve }] of group.entries()) resolve(answers === undefined ? undefined : answers[index])
  }

  return {
    send: (callback) =>
      new Promise((resolve) => {
        queue.push({ callback, size: JSON.stringify(callback).length, resolve })
        soon()
      }),
  }
}

/** Nobody's answer is everybody's, and may be another one later. undefined: there is none that could be. */
function answersIn(answer: CallAnswer, group: readonly Waiting[]): readonly CallAnswer[] | undefined {
  if (isWorthRepeating(answer)) return group.map(() => answer)
  const read = callbacksResponse.safeParse(answer.kind === 'answered' && answer.status === 200 ? answer.body : undefined)
  if (!read.success || read.data.answers.length !== group.length) return undefined
  return read.data.answers.map(({ status, body, retry_after_seconds = 0 }) => ({
    kind: 'answered',
    status,
    body,
    retry_after_ms: retry_after_seconds * SECOND_MS,
  }))
}
