// One attempt as a task of Cloud Tasks: its name, where it is delivered, with which token, and the same signed envelope
// that goes to a worker directly.

import {
  DELIVERY_BY_QUEUE,
  DELIVERY_HEADER,
  DISPATCH_PATH,
  type Dispatch,
  type DispatchRequest,
  WORKER_PROTOCOL,
} from '../../api/contract/worker.js'
import { isLoopback } from '../../core/host.js'
import { QUEUE_TASK_BYTES_MAX } from '../../core/limits.js'
import { DAY_MS, instantMs } from '../../core/time.js'
import { signQueuedBody } from '../../core/token.js'
import type { SendAnswer } from '../dispatch.js'
import { signatureHeaders, type WorkerSecrets } from '../signature-headers.js'

export type TaskSettings = {
  /** `projects/…/locations/…/queues/…` */
  readonly queue: string
  /** Whose OIDC token each delivery carries; undefined: none. */
  readonly service_account: string | undefined
  /** Whom the token is for; undefined: the URL that the location was deployed with. */
  readonly audience: string | undefined
  /** How long one delivery may take. */
  readonly deadline_seconds: number
  readonly worker_secrets: WorkerSecrets
}

/** As the client takes it. */
export type QueueTask = {
  readonly name: string
  readonly dispatchDeadline: { readonly seconds: number }
  readonly httpRequest: {
    readonly httpMethod: 'POST'
    readonly url: string
    readonly headers: { readonly [name: string]: string }
    readonly body: Uint8Array
    readonly oidcToken?: { readonly serviceAccountEmail: string; readonly audience: string }
  }
}

/** A delivery that comes after the start deadline is asked about once, and is over; one that comes a day after it comes
 *  from a queue that was forgotten. */
const SIGNATURE_KEPT_MS = DAY_MS

export function taskOf(
  settings: TaskSettings,
  worker_url: string,
  dispatch: Dispatch,
  queue_task_name: string,
  now: number,
): { readonly task: QueueTask } | { readonly answer: SendAnswer } {
  const { service_account, worker_secrets } = settings
  const url = new URL(DISPATCH_PATH, worker_url)
  if (service_account !== undefined && url.protocol !== 'https:' && !isLoopback(url.hostname)) {
    return { answer: { answer: 'BLOCKED', code: 'WORKER_WITHOUT_TLS', problem: plainProblem(worker_url, dispatch) } }
  }
  const text = JSON.stringify({ protocol: WORKER_PROTOCOL, dispatches: [dispatch] } satisfies DispatchRequest)
  const expires_at = instantMs(dispatch.start_deadline_at) + SIGNATURE_KEPT_MS
  const signature = signatureHeaders(worker_secrets, dispatch, (secrets) => signQueuedBody(secrets, text, now, expires_at))
  const task: QueueTask = {
    name: `${settings.queue}/tasks/${queue_task_name}`,
    dispatchDeadline: { seconds: settings.deadline_seconds },
    httpRequest: {
      httpMethod: 'POST',
      url: url.href,
      headers: { 'content-type': 'application/json', [DELIVERY_HEADER]: DELIVERY_BY_QUEUE, ...signature },
      body: Buffer.from(text),
      ...(service_account === undefined
        ? {}
        : { oidcToken: { serviceAccountEmail: service_account, audience: settings.audience ?? worker_url } }),
    },
  }
  const bytes = bytesOf(task)
  if (bytes <= QUEUE_TASK_BYTES_MAX) return { task }
  const message = `The dispatch of ${dispatch.task_key} is a task of ${bytes} bytes, and Cloud Tasks takes ${QUEUE_TASK_BYTES_MAX} at most. Give ${dispatch.asset_key} fewer partitions a task (partitions_per_task), or hand attempts over directly (SERVO_DISPATCH=direct).`
  return { answer: { answer: 'REFUSED', error: { code: 'TASK_TOO_LARGE', message, retryable: false } } }
}

/** Of the parts that can be large; the rest is some hundred bytes of framing. */
const bytesOf = ({ name, httpRequest: { url, headers, body } }: QueueTask): number =>
  body.length +
  Buffer.byteLength(name + url) +
  Object.entries(headers).reduce((sum, [key, value]) => sum + Buffer.byteLength(key + value), 0) +
  FRAMING_BYTES

const FRAMING_BYTES = 1_024

const plainProblem = (worker_url: string, { location_name }: Dispatch): string =>
  `Cloud Tasks sends a token to https:// alone, and ${location_name} was deployed with ${worker_url}. Deploy it with an https URL, or leave SERVO_CLOUD_TASKS_SERVICE_ACCOUNT out.`
