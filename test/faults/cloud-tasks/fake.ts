// Cloud Tasks for tests, as strict as Google's: gRPC on one side, deliveries over real HTTP on the other, faults where they
// are asked for. It has whatever time it is given: nothing is delivered but by `deliver`, or by itself once `goOn` is called.

import { status } from '@grpc/grpc-js'
import { createFakeQueue, type FakeQueue, type Trouble, type Waiting } from './queue.js'
import { millisecondsOf, QUEUE_NAME, taskFault } from './rules.js'
import type { Signer } from './signer.js'
import { type Handlers, StatusError, serve, type WireQueue } from './wire.js'

/** `before`: nothing is done. `after`: it is done, and its answer is this fault. `hang`: no answer at all. */
export type CallFault = { readonly code: number; readonly when: 'before' | 'after' } | { readonly when: 'hang' }

export type Delivery = { readonly name: string; readonly status: number; readonly tries: number; readonly at: number }

export type FakeOptions = {
  readonly now: () => number
  readonly signer: Signer
  readonly trouble?: Trouble
}

export type FakeCloudTasks = Awaited<ReturnType<typeof startFakeCloudTasks>>

export const PARENT = { project: 'my-project', location: 'europe-west1', queue: 'attempts' }
export const QUEUE = `projects/${PARENT.project}/locations/${PARENT.location}/queues/${PARENT.queue}`
const SETTINGS: WireQueue = {
  name: QUEUE,
  state: 'RUNNING',
  rateLimits: { maxDispatchesPerSecond: 500, maxConcurrentDispatches: 1_000 },
  retryConfig: {
    maxAttempts: 100,
    maxRetryDuration: { seconds: 0 },
    minBackoff: { seconds: 1 },
    maxBackoff: { seconds: 10 },
    maxDoublings: 4,
  },
}
const DEADLINE_MS = 600_000

export async function startFakeCloudTasks({ now, signer, trouble: initial }: FakeOptions) {
  let trouble = initial
  let fault: (method: string, name: string) => CallFault | undefined = () => undefined
  const queues = new Map<string, FakeQueue>([[QUEUE, createFakeQueue(SETTINGS, () => trouble)]])
  const calls: { readonly method: string; readonly name: string }[] = []
  const deliveries: Delivery[] = []
  const under_way = new Set<Promise<void>>()

  const queueOf = (name: string): FakeQueue => {
    const queue = queues.get(name)
    if (queue !== undefined) return queue
    if (!QUEUE_NAME.test(name)) throw new StatusError(status.INVALID_ARGUMENT, `"${name}" is not a queue name.`)
    throw new StatusError(status.NOT_FOUND, 'Requested entity was not found.')
  }

  /** A fault before the work, or instead of its answer. */
  async function faulty(method: string, name: string, work: () => object): Promise<object> {
    calls.push({ method, name })
    const chosen = fault(method, name)
    if (chosen?.when === 'hang') return new Promise(() => undefined)
    if (chosen?.when === 'before') throw new StatusError(chosen.code, 'A fault that was asked for, before anything was done.')
    const answer = work()
    if (chosen?.when === 'after') throw new StatusError(chosen.code, 'A fault that was asked for, after it was done.')
    return answer
  }

  function createTask({ parent, task }: Parameters<Handlers['CreateTask']>[0]): object {
    const queue = queueOf(parent)
    const wrong = taskFault(parent, task, now())
    if (wrong !== undefined) throw wrong
    const named = task as NonNullable<typeof task>
    if (!queue.add(named, now())) {
      throw new StatusError(status.ALREADY_EXISTS, 'The task cannot be created because a task with this name existed too recently.')
    }
    // The basic view has no body.
    return { ...named, httpRequest: { ...named.httpRequest, body: undefined } }
  }

  function updateQueue({ queue, updateMask }: Parameters<Handlers['UpdateQueue']>[0]): object {
    const found = queueOf(queue.name)
    const changed = structuredClone(found.settings()) as unknown as Record<string, Record<string, unknown>>
    for (const path of updateMask?.paths ?? []) {
      const [group = '', member = ''] = path
        .split('.')
        .map((name) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
      const value = (queue as unknown as Record<string, Record<string, unknown> | undefined>)[group]?.[member]
      if (changed[group] === undefined || !(member in changed[group]))
        throw new StatusError(status.INVALID_ARGUMENT, `There is no ${path}.`)
      changed[group][member] = value
    }
    found.change(changed as unknown as WireQueue)
    return found.settings()
  }

  async function deliverOne(queue: FakeQueue, each: Waiting): Promise<void> {
    const { httpRequest, dispatchDeadline, name } = each.task
    const { url = '', headers = {}, body = Buffer.alloc(0), oidcToken } = httpRequest ?? {}
    const token =
      oidcToken === undefined
        ? undefined
        : await signer.sign({ aud: oidcToken.audience || url, email: oidcToken.serviceAccountEmail }, now())
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const told = {
      'user-agent': 'Google-Cloud-Tasks',
      'x-cloudtasks-taskname': name.split('/').at(-1) as string,
      'x-cloudtasks-taskretrycount': String(each.tries - 1),
    }
    let code = 0
    let retry_after_ms = 0
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, ...authorization, ...told },
        body: new Uint8Array(body),
        signal: AbortSignal.timeout(dispatchDeadline === undefined ? DEADLINE_MS : millisecondsOf(dispatchDeadline)),
      })
      await response.arrayBuffer()
      code = response.status
      retry_after_ms = Number(response.headers.get('retry-after') ?? 0) * 1_000
    } catch {
      // Nobody there, or no answer in time: 0.
    }
    deliveries.push({ name, status: code, tries: each.tries, at: now() })
    queue.ended(each, code >= 200 && code < 300, retry_after_ms, now())
  }

  /** Sends what is due now. Resolves when all of it has been answered. */
  async function deliver(): Promise<void> {
    for (const queue of queues.values()) {
      for (const each of queue.take(now())) {
        const work = deliverOne(queue, each).finally(() => under_way.delete(work))
        under_way.add(work)
      }
    }
    await Promise.all(under_way)
  }

  const wire = await serve({
    CreateTask: (request) => faulty('CreateTask', request.task?.name ?? '', () => createTask(request)),
    GetQueue: ({ name }) => faulty('GetQueue', name, () => queueOf(name).settings()),
    UpdateQueue: (request) => faulty('UpdateQueue', request.queue.name, () => updateQueue(request)),
    DeleteTask: ({ name }) =>
      faulty('DeleteTask', name, () => {
        const queue = queueOf(name.split('/tasks/')[0] as string)
        if (!queue.remove(name, now())) throw new StatusError(status.NOT_FOUND, 'Requested entity was not found.')
        return {}
      }),
  })
  let timer: NodeJS.Timeout | undefined

  return {
    endpoint: `127.0.0.1:${wire.port}`,
    queue: queues.get(QUEUE) as FakeQueue,
    calls,
    deliveries,
    deliver,
    /** Of every call, by its method and what it names. */
    faults: (choose: typeof fault) => {
      fault = choose
    },
    setTrouble: (next: Trouble | undefined) => {
      trouble = next
    },
    /** From now on it delivers by itself, in real time. */
    goOn: () => {
      // The fake is the one that acts on time here, as the real queue does.
      timer ??= setInterval(() => void deliver(), 20)
    },
    async stop() {
      clearInterval(timer)
      wire.stop()
      await Promise.allSettled([...under_way])
    },
  }
}
