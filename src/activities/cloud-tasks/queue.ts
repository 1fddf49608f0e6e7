// The queue itself: whether it is there, and whether its limits are those that an operator asked for. What nobody asked
// for is neither compared nor changed.

import type { Queue, TasksClient } from './client.js'
import { meaningOf } from './errors.js'

/** undefined: it is the queue's own affair. */
export type QueueSettings = {
  readonly per_second?: number | undefined
  readonly at_once?: number | undefined
  readonly tries?: number | undefined
  readonly retry_seconds?: number | undefined
  readonly backoff_min_seconds?: number | undefined
  readonly backoff_max_seconds?: number | undefined
  readonly doublings?: number | undefined
}

type Difference = {
  readonly setting: keyof QueueSettings
  readonly path: string
  readonly is: number | null
  readonly wanted: number
}

export type QueueReport =
  | { readonly kind: 'unknown'; readonly problem: string }
  | { readonly kind: 'known'; readonly state: string; readonly differences: readonly Difference[]; readonly applied: boolean }

type Duration = { readonly seconds?: number | string | object | null; readonly nanos?: number | null } | null | undefined
const secondsOf = (duration: Duration): number | null =>
  duration === null || duration === undefined ? null : Number(String(duration.seconds ?? 0)) + (duration.nanos ?? 0) / 1e9

/** Where each is in the queue, how it is read there, and how it is written. */
const PLACES: {
  readonly [Name in keyof Required<QueueSettings>]: { path: string; read: (queue: Queue) => number | null; write: (value: number) => Queue }
} = {
  per_second: {
    path: 'rate_limits.max_dispatches_per_second',
    read: ({ rateLimits }) => rateLimits?.maxDispatchesPerSecond ?? null,
    write: (value) => ({ rateLimits: { maxDispatchesPerSecond: value } }),
  },
  at_once: {
    path: 'rate_limits.max_concurrent_dispatches',
    read: ({ rateLimits }) => rateLimits?.maxConcurrentDispatches ?? null,
    write: (value) => ({ rateLimits: { maxConcurrentDispatches: value } }),
  },
  tries: {
    path: 'retry_config.max_attempts',
    read: ({ retryConfig }) => retryConfig?.maxAttempts ?? null,
    write: (value) => ({ retryConfig: { maxAttempts: value } }),
  },
  retry_seconds: {
    path: 'retry_config.max_retry_duration',
    read: ({ retryConfig }) => secondsOf(retryConfig?.maxRetryDuration as Duration),
    write: (value) => ({ retryConfig: { maxRetryDuration: { seconds: value } } }),
  },
  backoff_min_seconds: {
    path: 'retry_config.min_backoff',
    read: ({ retryConfig }) => secondsOf(retryConfig?.minBackoff as Duration),
    write: (value) => ({ retryConfig: { minBackoff: { seconds: value } } }),
  },
  backoff_max_seconds: {
    path: 'retry_config.max_backoff',
    read: ({ retryConfig }) => secondsOf(retryConfig?.maxBackoff as Duration),
    write: (value) => ({ retryConfig: { maxBackoff: { seconds: value } } }),
  },
  doublings: {
    path: 'retry_config.max_doublings',
    read: ({ retryConfig }) => retryConfig?.maxDoublings ?? null,
    write: (value) => ({ retryConfig: { maxDoublings: value } }),
  },
}

/** Never throws: a queue that cannot be asked is told of, and attempts wait for it by themselves. */
export async function examineQueue(
  client: Pick<TasksClient, 'getQueue' | 'updateQueue'>,
  name: string,
  wanted: QueueSettings,
  mode: 'compare' | 'apply',
): Promise<QueueReport> {
  try {
    const queue = await client.getQueue(name)
    const differences = differencesOf(queue, wanted)
    const isApplied = mode === 'apply' && differences.length > 0
    if (isApplied) {
      const changed = differences.reduce<Queue>((all, { setting, wanted: value }) => merged(all, PLACES[setting].write(value)), { name })
      await client.updateQueue(
        changed,
        differences.map(({ path }) => path),
      )
    }
    return { kind: 'known', state: String(queue.state), differences, applied: isApplied }
  } catch (error) {
    const { answer } = meaningOf(error, name)
    return {
      kind: 'unknown',
      problem: 'problem' in answer ? answer.problem : 'error' in answer ? answer.error.message : `${name} has too much to do.`,
    }
  }
}

const merged = (left: Queue, right: Queue): Queue => ({
  ...left,
  ...(right.rateLimits == null ? {} : { rateLimits: { ...left.rateLimits, ...right.rateLimits } }),
  ...(right.retryConfig == null ? {} : { retryConfig: { ...left.retryConfig, ...right.retryConfig } }),
})

const differencesOf = (queue: Queue, wanted: QueueSettings): Difference[] =>
  (Object.keys(PLACES) as (keyof QueueSettings)[]).flatMap((setting) => {
    const value = wanted[setting]
    const { path, read } = PLACES[setting]
    const is = read(queue)
    return value === undefined || is === value ? [] : [{ setting, path, is, wanted: value }]
  })

/** What an operator has to hear of it; nothing where all is as it should be. */
export function sentencesOf(name: string, report: QueueReport): readonly string[] {
  if (report.kind === 'unknown') return [report.problem]
  const state = report.state === 'RUNNING' ? [] : [`${name} is ${report.state}: it takes attempts, and delivers none. Resume it.`]
  return [
    ...state,
    ...report.differences.map(({ path, is, wanted }) =>
      report.applied
        ? `${name}: ${path} was ${is ?? 'not set'}, and is ${wanted} now.`
        : `${name}: ${path} is ${is ?? 'not set'}, and should be ${wanted}. Change it, or set SERVO_CLOUD_TASKS_SETTINGS=apply.`,
    ),
  ]
}
