// The way to the workers that the configuration names. What the queue needs is loaded only where there is one.

import type { QueueReport } from '../activities/cloud-tasks/queue.js'
import { createDirectPort } from '../activities/direct.js'
import type { DispatchPort } from '../activities/dispatch.js'
import type { Clock } from '../core/time.js'
import type { Secrets } from '../core/token.js'
import type { CloudTasksConfig, DispatchConfig } from './dispatch-config.js'

export type Dispatching = { readonly port: DispatchPort; readonly close: () => Promise<void> }

type Deps = { readonly clock: Clock; readonly worker_secrets: Secrets | undefined; readonly log: (message: string) => void }

export async function openDispatch(config: DispatchConfig, { clock, worker_secrets, log }: Deps): Promise<Dispatching> {
  if (config.kind === 'direct') return { port: createDirectPort({ clock, worker_secrets }), close: () => Promise.resolve() }
  const [{ openTasksClient, queuePath }, { createCloudTasksPort }, { examineQueue, sentencesOf }] = await Promise.all([
    import('../activities/cloud-tasks/client.js'),
    import('../activities/cloud-tasks/port.js'),
    import('../activities/cloud-tasks/queue.js'),
  ])
  const client = openTasksClient({ project: config.queue.project, endpoint: config.endpoint })
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
  const [{ openTasksClient, queuePath }, { examineQueue, sentencesOf }] = await Promise.all([
    import('../activities/cloud-tasks/client.js'),
    import('../activities/cloud-tasks/queue.js'),
  ])
  const client = openTasksClient({ project: config.queue.project, endpoint: config.endpoint })
  const queue = queuePath(config.queue)
  try {
    const report = await examineQueue(client, queue, config.settings_mode === 'leave' ? {} : config.settings, 'compare')
    return { queue, report, sentences: sentencesOf(queue, report) }
  } finally {
    await client.close()
  }
}
