// What each answer of Cloud Tasks means for an attempt: the only place that knows it. A fault that would hit every attempt
// alike must cost none of them, if it is mended before their start deadlines; one that is this attempt's own must not be
// tried for ever.

import { messageOf } from '../../core/errors.js'
import { ERROR_MESSAGE_BYTES_MAX } from '../../core/limits.js'
import { cutText } from '../../core/text.js'
import type { SendAnswer } from '../dispatch.js'

/** In the order of their numbers. */
const STATUS_NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const
export type StatusName = (typeof STATUS_NAMES)[number]

/** DONE: the queue has it. RETRY: nothing is known of it, the sweep asks again. BACK_OFF: the same, and everything waits a
 *  while. BLOCKED: somebody has to mend the set-up, and no attempt is lost over it before its start deadline. REFUSED: this
 *  attempt is wrong. */
export type StatusClass = 'DONE' | 'RETRY' | 'BACK_OFF' | 'BLOCKED' | 'REFUSED'

export const CLASS_OF: { readonly [Name in StatusName]: StatusClass } = {
  OK: 'DONE',
  // A name is used for one attempt only, so whoever has it is this attempt, created before.
  ALREADY_EXISTS: 'DONE',
  CANCELLED: 'RETRY',
  UNKNOWN: 'RETRY',
  DEADLINE_EXCEEDED: 'RETRY',
  ABORTED: 'RETRY',
  INTERNAL: 'RETRY',
  UNAVAILABLE: 'RETRY',
  DATA_LOSS: 'RETRY',
  RESOURCE_EXHAUSTED: 'BACK_OFF',
  // A queue that is not there, or slept for thirty days; a permission that is missing; an API that is not switched on.
  NOT_FOUND: 'BLOCKED',
  PERMISSION_DENIED: 'BLOCKED',
  UNAUTHENTICATED: 'BLOCKED',
  FAILED_PRECONDITION: 'BLOCKED',
  UNIMPLEMENTED: 'BLOCKED',
  INVALID_ARGUMENT: 'REFUSED',
  OUT_OF_RANGE: 'REFUSED',
}

const WHAT_TO_DO: { readonly [Name in StatusName]?: string } = {
  NOT_FOUND: 'Make the queue, or name another: SERVO_CLOUD_TASKS_PROJECT, _LOCATION, _QUEUE.',
  PERMISSION_DENIED:
    'Give the automation roles/cloudtasks.enqueuer on the queue, and roles/iam.serviceAccountUser on SERVO_CLOUD_TASKS_SERVICE_ACCOUNT.',
  UNAUTHENTICATED: 'Give the automation credentials of Google Cloud that are valid.',
  FAILED_PRECONDITION: 'Look at the state of the queue, and whether the Cloud Tasks API is switched on in its project.',
  UNIMPLEMENTED: 'Look at SERVO_CLOUD_TASKS_ENDPOINT: what answers there is not Cloud Tasks.',
}

export const statusNameOf = (error: unknown): StatusName | undefined => {
  const code = (error as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'number' ? STATUS_NAMES[code] : undefined
}

type Meaning = { readonly status_class: StatusClass; readonly answer: SendAnswer }

/** `queue` is named in sentences. What has no status never reached the queue: the client could not even ask. */
export function meaningOf(error: unknown, queue: string): Meaning {
  const status = statusNameOf(error)
  const words = `${queue} answered ${status ?? 'nothing'}: ${cutText(messageOf(error), ERROR_MESSAGE_BYTES_MAX / 8)}`
  const status_class = status === undefined ? 'RETRY' : CLASS_OF[status]
  return { status_class, answer: answerOf(status_class, status ?? 'UNKNOWN', words) }
}

function answerOf(status_class: StatusClass, status: StatusName, words: string): SendAnswer {
  switch (status_class) {
    case 'DONE':
      return { answer: 'ACCEPTED', was_there: true }
    case 'RETRY':
      return { answer: 'UNREACHABLE', problem: words }
    case 'BACK_OFF':
      return { answer: 'BUSY' }
    case 'BLOCKED':
      return { answer: 'BLOCKED', code: `QUEUE_${status}`, problem: `${words} ${WHAT_TO_DO[status] ?? ''}`.trimEnd() }
    case 'REFUSED':
      return { answer: 'REFUSED', error: { code: `QUEUE_${status}`, message: words } }
  }
}
