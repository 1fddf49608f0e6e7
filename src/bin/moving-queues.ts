// Serves the task queues on which loops of this workspace still run, until they have moved to its own (ADR 0081). What is under
// way on such a queue ends there, so that the loop comes to the point at which it moves.

import { queuesBeside, type TaskQueues } from '../core/names.js'
import type { Workers } from './workers.js'

export type MovingQueues = {
  /** As `Workers.failed`. */
  readonly failed: Promise<unknown>
  /** Begins to serve queues that are named for the first time, and lets go of those that are named no longer. */
  readonly follow: (queues: readonly string[]) => Promise<void>
  /** As `Workers.stop`. It is not called while `follow` is under way. */
  readonly stop: () => Promise<void>
}

type MovingDeps = { readonly start: (queues: TaskQueues) => Promise<Workers>; readonly log: (message: string) => void }

export function serveMovingQueues({ start, log }: MovingDeps): MovingQueues {
  const served = new Map<string, Workers>()
  const ending = new Set<Promise<unknown>>()
  let fail: (cause: unknown) => void = () => undefined
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve
  })

  async function serve(queue: string): Promise<void> {
    const workers = await start(queuesBeside(queue))
    served.set(queue, workers)
    void workers.failed.then(fail)
    log(`Loops of this workspace run on the task queue ${queue}: it is served until they have moved.`)
  }

  function letGo(queue: string, workers: Workers): void {
    served.delete(queue)
    log(`No loop of this workspace runs on the task queue ${queue} any more.`)
    const end = workers
      .stop()
      .catch((error: unknown) => log(`The workers of the task queue ${queue} did not end in order: ${String(error)}`))
      .finally(() => ending.delete(end))
    ending.add(end)
  }

  return {
    failed,
    async follow(queues) {
      for (const queue of queues) if (!served.has(queue)) await serve(queue)
      for (const [queue, workers] of served) if (!queues.includes(queue)) letGo(queue, workers)
    },
    async stop() {
      await Promise.all([...ending, ...[...served.values()].map((workers) => workers.stop())])
    },
  }
}
