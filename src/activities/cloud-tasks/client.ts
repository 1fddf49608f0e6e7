// The client of Google's library, told to do nothing by itself: a call is one request, and whoever made it tries again.

import { CloudTasksClient, type protos } from '@google-cloud/tasks'
import { credentials } from '@grpc/grpc-js'
import { statusNameOf } from './errors.js'
import type { QueueTask } from './task.js'

export type QueueName = { readonly project: string; readonly location: string; readonly queue: string }

export const queuePath = ({ project, location, queue }: QueueName): string => `projects/${project}/locations/${location}/queues/${queue}`

export type Queue = protos.google.cloud.tasks.v2.IQueue

/** What is asked of Cloud Tasks; each is one request, and rejects with the status that was answered. */
export type TasksClient = {
  readonly createTask: (queue: string, task: QueueTask) => Promise<unknown>
  readonly getQueue: (queue: string) => Promise<Queue>
  readonly updateQueue: (queue: Queue, paths: readonly string[]) => Promise<unknown>
  readonly close: () => Promise<void>
}

type TasksClientOptions = {
  readonly project: string
  /** Host and port of another server than Google's, without TLS and credentials: for tests. */
  readonly endpoint?: string | undefined
  readonly timeout_ms?: number
}

const TIMEOUT_MS = 10_000

export function openTasksClient({ project, endpoint, timeout_ms = TIMEOUT_MS }: TasksClientOptions): TasksClient {
  // With retries of its own, what is counted and how long a call takes would be the library's affair.
  const options = { timeout: timeout_ms, retry: { retryCodes: [] } }
  const open = (): CloudTasksClient =>
    new CloudTasksClient({ projectId: project, 'grpc.enable_retries': 0, ...(endpoint === undefined ? {} : placeOf(endpoint)) })
  let client: CloudTasksClient | undefined

  async function call<T>(ask: (client: CloudTasksClient) => Promise<T>): Promise<T> {
    client ??= open()
    const used = client
    try {
      // Waited for here, because a call of the library's own leaves a rejected promise that nobody hears, and with it the
      // process would end.
      await used.initialize()
      return await ask(used)
    } catch (error) {
      // The library keeps for ever that it found no credentials, as it does where the machine's own server for them was
      // busy: another one looks again.
      if (statusNameOf(error) === undefined && client === used) {
        client = undefined
        // What else is under way with it is asked again; without credentials there is no connection to close, and that is
        // what this rejects with. Nobody waits for either.
        void used.close().catch(() => undefined)
      }
      throw error
    }
  }

  return {
    createTask: (queue, task) => call((each) => each.createTask({ parent: queue, task }, options)),
    getQueue: (name) => call(async (each) => (await each.getQueue({ name }, options))[0]),
    updateQueue: (queue, paths) => call((each) => each.updateQueue({ queue, updateMask: { paths: [...paths] } }, options)),
    async close() {
      await client?.close()
      client = undefined
    },
  }
}

function placeOf(endpoint: string) {
  const [apiEndpoint = '', port] = endpoint.split(':')
  // Nothing is asked of this machine about credentials, which nobody there wants to see.
  const auth = { getUniverseDomain: () => Promise.resolve('googleapis.com') } as never
  return { apiEndpoint, port: Number(port), sslCreds: credentials.createInsecure(), auth }
}
