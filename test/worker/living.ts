// Dispatches of the golden stories, with what only a living test can know: where the receiver is, and what time it is.

import type { Dispatch } from '../../src/api/contract/worker.js'
import { systemRandom } from '../../src/bin/clock.js'
import { newUlid } from '../../src/core/ulid.js'
import type { Receiver } from '../fixtures/callback-receiver.js'

const DEADLINE_MS = 60_000
const random = systemRandom()

export const newAttempt = (): string => newUlid(Date.now(), random)

export const livingDispatch = (receiver: Receiver, dispatch: Dispatch, attempt_id: string): Dispatch => ({
  ...dispatch,
  attempt_id,
  callback_url: receiver.callbackUrl(attempt_id),
  ...(receiver.callbacks_url === undefined ? {} : { callbacks_url: receiver.callbacks_url }),
  task_token: receiver.tokenOf(attempt_id),
  start_deadline_at: new Date(Date.now() + DEADLINE_MS).toISOString(),
})
