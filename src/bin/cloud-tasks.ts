// The queue of Cloud Tasks that the configuration names. Loaded only where there is one: Google's library is large.

import { openTasksClient, queuePath } from '../activities/cloud-tasks/client.js'
import { createCloudTasksPort } from '../activities/cloud-tasks/port.js'
import { examineQueue, type QueueReport, sentencesOf } from '../activities/cloud-tasks/queue.js'
import type { DispatchPort } from '../activities/dispatch.js'
import type { Clock } from '../core/time.js'
import type { Secrets } from '../core/token.js'
import type { CloudTasksConfig } from './dispatch-config.js'

export type Dispatching = { readonly port: DispatchPort; readonly close: () => Promise<void> }

export type DispatchDeps = {
  readonly clock: Clock
  readonly worker_secrets: Secrets | undefined
  readonly log: (message: string) => void
}

const openClient = ({ queue, endpoint }: CloudTasksConfig) => openTasksClient({ project: queue.project, endpoint })

export function openCloudTasks(config: CloudTasksConfig, { clock, worker_secrets, log }: DispatchDeps): Dispatching {
  const client = openClient(config)
  const queue = queuePath(config.queue)
  const { settings_mode, settings } = config
  // Nobody waits for it: a queue that is not there yet is found by the attempts, too.
  if (settings_mode !== 'leave') {
    void examineQueue(client, queue, settings, settings_mode).then((report) => {
      for (const sentence of sentencesOf(queue, report)) log(sentence)
    })
  }
  return { port: createCloudTasksPort({ ...config, queue, clock, worker_secrets, client }), close: client.close }
}

export type QueueFound = { readonly queue: string; readonly report: QueueReport; readonly sentences: readonly string[] }

/** For people: how the queue is, compared with what was asked for, and nothing changed. */
export async function lookAtQueue(config: CloudTasksConfig): Promise<QueueFound> {
  const client = openClient(config)
  const queue = queuePath(config.queue)
  try {
    const report = await examineQueue(client, queue, config.settings_mode === 'leave' ? {} : config.settings, 'compare')
    return { queue, report, sentences: sentencesOf(queue, report) }
  } finally {
    await client.close()
  }
}
