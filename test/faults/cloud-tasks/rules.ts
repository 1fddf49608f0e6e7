// What Google refuses, as its documentation and its answers say: names, sizes, times, methods. The fake is no easier.

import { status } from '@grpc/grpc-js'
import { isLoopback } from '../../../src/core/host.js'
import { StatusError, type Timestamp, type WireTask } from './wire.js'

export const TASK_BYTES_MAX = 1_024 * 1_024
const HEADER_BYTES_MAX = 80 * 1_024
const URL_CHARACTERS_MAX = 2_083
const SCHEDULE_MS_MAX = 30 * 86_400_000
const DEADLINE_MS = { min: 15_000, max: 30 * 60_000 }

export const QUEUE_NAME = /^projects\/[A-Za-z0-9.:-]+\/locations\/[a-z0-9-]+\/queues\/[A-Za-z0-9-]{1,100}$/
const TASK_ID = /^[A-Za-z0-9_-]{1,500}$/

export const millisecondsOf = ({ seconds, nanos = 0 }: Timestamp): number => seconds * 1_000 + nanos / 1e6

const invalid = (details: string): StatusError => new StatusError(status.INVALID_ARGUMENT, details)

/** undefined: it is a task of this queue. The words are Google's where they are known. */
export function taskFault(parent: string, task: WireTask | undefined, now: number): StatusError | undefined {
  if (task === undefined) return invalid('Task is required.')
  const [queue, id = ''] = task.name.split('/tasks/')
  if (task.name !== '' && (queue !== parent || !TASK_ID.test(id))) {
    return invalid(`Task name must be formatted: "${parent}/tasks/<TASK_ID>", TASK_ID of letters, numbers, hyphens or underscores.`)
  }
  return requestFault(task) ?? timeFault(task, now)
}

function requestFault({ name, httpRequest }: WireTask): StatusError | undefined {
  if (httpRequest === undefined) return invalid('One of the message types has to be set.')
  const { url, httpMethod, headers = {}, body = Buffer.alloc(0), oidcToken } = httpRequest
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) return invalid("HttpRequest.url must start with 'http://' or 'https://'.")
  if (url.length > URL_CHARACTERS_MAX) return invalid('HttpRequest.url is too long.')
  if (body.length > 0 && !['POST', 'PUT', 'PATCH'].includes(httpMethod)) return invalid('HttpRequest.body is not allowed with this method.')
  const header_bytes = Object.entries(headers).reduce((sum, [key, value]) => sum + key.length + Buffer.byteLength(value), 0)
  if (header_bytes > HEADER_BYTES_MAX) return invalid('The headers are too large.')
  if (name.length + url.length + header_bytes + body.length > TASK_BYTES_MAX) return invalid('Task size too large')
  if (oidcToken === undefined) return undefined
  if (!oidcToken.serviceAccountEmail.includes('@')) return invalid('OidcToken.service_account_email is not valid.')
  // There is no certificate for this machine's own address, which stands for one that has.
  if (url.startsWith('http://') && !isLoopback(new URL(url).hostname)) {
    return invalid("HttpRequest.url must start with 'https://' for request with HttpRequest.authorization_header")
  }
  return undefined
}

function timeFault({ scheduleTime, dispatchDeadline }: WireTask, now: number): StatusError | undefined {
  if (scheduleTime !== undefined && millisecondsOf(scheduleTime) > now + SCHEDULE_MS_MAX)
    return invalid('Task.schedule_time is too far in the future.')
  if (dispatchDeadline === undefined) return undefined
  const deadline_ms = millisecondsOf(dispatchDeadline)
  if (deadline_ms < DEADLINE_MS.min || deadline_ms > DEADLINE_MS.max) return invalid('Task.dispatchDeadline must be between [15s, 30m].')
  return undefined
}
