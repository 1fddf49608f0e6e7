// How attempts reach workers: straight, or by a queue of Google Cloud Tasks with limits of its own.

import type { QueueName } from '../activities/cloud-tasks/client.js'
import type { QueueSettings } from '../activities/cloud-tasks/queue.js'
import { emailAddress, type Read } from './oidc-config.js'

export type DispatchConfig = { readonly kind: 'direct' } | CloudTasksConfig

export type CloudTasksConfig = {
  readonly kind: 'cloud_tasks'
  readonly queue: QueueName
  readonly service_account: string | undefined
  readonly audience: string | undefined
  readonly deadline_seconds: number
  /** `leave`: the queue's limits are nobody's business here. */
  readonly settings_mode: 'leave' | 'compare' | 'apply'
  readonly settings: QueueSettings
  /** Host and port of another server than Google's. */
  readonly endpoint: string | undefined
}

type Fault = { readonly fault: string }

export function readDispatch(read: Read, faults: string[]): DispatchConfig {
  const kind = read('SERVO_DISPATCH', 'direct', oneOf(['direct', 'cloud_tasks']))
  const cloud_tasks = readCloudTasks(read)
  if (kind !== 'cloud_tasks') return { kind: 'direct' }
  const { queue } = cloud_tasks
  const missing = [
    ...(queue.project === undefined ? ['SERVO_CLOUD_TASKS_PROJECT'] : []),
    ...(queue.location === undefined ? ['SERVO_CLOUD_TASKS_LOCATION'] : []),
    ...(queue.queue === undefined ? ['SERVO_CLOUD_TASKS_QUEUE'] : []),
  ].filter((name) => !faults.some((fault) => fault.startsWith(`${name} is`)))
  if (missing.length > 0)
    faults.push(
      `SERVO_DISPATCH is "cloud_tasks", and ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set. Name the queue.`,
    )
  return cloud_tasks as CloudTasksConfig
}

/** Read whatever SERVO_DISPATCH says: a setting that is wrong is told before it counts. */
const readCloudTasks = (read: Read) => ({
  kind: 'cloud_tasks' as const,
  queue: {
    project: read(
      'SERVO_CLOUD_TASKS_PROJECT',
      undefined,
      fitting(/^[A-Za-z0-9.:-]{1,100}$/, 'letters, digits, hyphens, colons and periods'),
    ),
    location: read(
      'SERVO_CLOUD_TASKS_LOCATION',
      undefined,
      fitting(/^[a-z0-9-]{1,63}$/, 'small letters, digits and hyphens, such as europe-west1'),
    ),
    queue: read('SERVO_CLOUD_TASKS_QUEUE', undefined, fitting(/^[A-Za-z0-9-]{1,100}$/, 'letters, digits and hyphens, 100 at most')),
  },
  service_account: read('SERVO_CLOUD_TASKS_SERVICE_ACCOUNT', undefined, emailAddress),
  audience: read('SERVO_CLOUD_TASKS_AUDIENCE', undefined, (text) => text),
  deadline_seconds: read('SERVO_CLOUD_TASKS_DEADLINE_SECONDS', '30', from(15, 1_800)) ?? 0,
  endpoint: read('SERVO_CLOUD_TASKS_ENDPOINT', undefined, fitting(/^[^\s:/]+:\d{1,5}$/, 'host and port, such as 127.0.0.1:8123')),
  settings_mode: read('SERVO_CLOUD_TASKS_SETTINGS', 'leave', oneOf(['leave', 'compare', 'apply'])) ?? ('leave' as const),
  settings: {
    per_second: read('SERVO_CLOUD_TASKS_PER_SECOND', undefined, from(1, 500)),
    at_once: read('SERVO_CLOUD_TASKS_AT_ONCE', undefined, from(1, 5_000)),
    tries: read('SERVO_CLOUD_TASKS_TRIES', '100', from(-1, 1_000_000)),
    retry_seconds: read('SERVO_CLOUD_TASKS_RETRY_SECONDS', '3600', from(0, 31 * 86_400)),
    backoff_min_seconds: read('SERVO_CLOUD_TASKS_BACKOFF_MIN_SECONDS', '1', from(1, 3_600)),
    backoff_max_seconds: read('SERVO_CLOUD_TASKS_BACKOFF_MAX_SECONDS', '10', from(1, 3_600)),
    doublings: read('SERVO_CLOUD_TASKS_DOUBLINGS', '4', from(0, 16)),
  },
})

const fitting =
  (pattern: RegExp, what: string) =>
  (text: string): string | Fault =>
    pattern.test(text) ? text : { fault: `Use ${what}.` }

const from =
  (min: number, max: number) =>
  (text: string): number | Fault => {
    const number = Number(text)
    return /^-?\d{1,9}$/.test(text) && number >= min && number <= max ? number : { fault: `Give it a whole number from ${min} to ${max}.` }
  }

const oneOf =
  <Value extends string>(values: readonly Value[]) =>
  (text: string): Value | Fault =>
    (values as readonly string[]).includes(text) ? (text as Value) : { fault: `Give it one of ${values.join(', ')}.` }
