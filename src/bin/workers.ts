// The Temporal workers of an automation: one for each task queue, so that work which waits never holds the place of what it
// waits for.

import { fileURLToPath } from 'node:url'
import { type NativeConnection, TransportError, Worker, type WorkerOptions } from '@temporalio/worker'
import type { Activities } from '../activities/index.js'
import { cachedLoops, ENTITY_CALLS_AT_ONCE } from '../core/loop-limits.js'
import type { TaskQueues } from '../core/names.js'

/** The workflows, bundled ahead: a path, or the code itself in tests. */
export type Workflows = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>

export type WorkerParts = {
  readonly connection: NativeConnection
  readonly namespace: string
  /** Of the process and its store, as Temporal shows it. */
  readonly identity: string
  readonly queues: TaskQueues
  /** Loops of the workspace, as far as is known. */
  readonly loop_count: number
  readonly activities: Activities
  readonly workflows: Workflows | undefined
}

export type Workers = {
  /** Why the first of them ended by itself. It is not resolved by `stop`, and never rejects. */
  readonly failed: Promise<unknown>
  /** Resolves when all of them have ended, so that the connection may be closed; rejects when one did not end in order. */
  readonly stop: () => Promise<void>
}

const BUNDLE: Workflows = { workflowBundle: { codePath: fileURLToPath(new URL('../workflow-bundle.cjs', import.meta.url)) } }

/** An activity is over within seconds; one that takes longer is cut off, and done again by the next process. */
const SHUTDOWN_GRACE_MS = 10_000
/** Just below SESSION_CLOSE_MS_MAX. By then the SDK finalizes its core while calls to it are under way, and fails with that instead of
 *  the cause; on a machine that is busy with other work the polls alone were seen to take more than 15 s to end. */
const SHUTDOWN_FORCE_MS = 25_000
/** How long a step of a loop waits for the process that has the loop in its memory. That one may be dead, and another can
 *  read the loop's history within a moment. */
const STICKY_WAIT_MS = 3_000

/** Leaves nothing behind when it rejects. */
export async function startWorkers(parts: WorkerParts): Promise<Workers> {
  const created = await Promise.allSettled(optionsOf(parts).map((options) => Worker.create(options)))
  const workers = created.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const refused = created.find(({ status }) => status === 'rejected')
  if (refused?.status === 'rejected') {
    // One that never ran holds the connection all the same.
    await Promise.allSettled(workers.map((worker) => worker.runUntil(async () => undefined)))
    throw refused.reason
  }
  return running(workers)
}

function running(workers: readonly Worker[]): Workers {
  let isStopping = false
  let fail: (cause: unknown) => void = () => undefined
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve
  })
  const runs = workers.map(async (worker) => {
    drainAfterFault(worker, (cause) => fail(cause))
    try {
      await worker.run()
      if (!isStopping) fail(new Error('a worker ended without an error'))
    } catch (error) {
      if (!isStopping) fail(error)
      throw error
    }
  })
  const ended = Promise.allSettled(runs)
  return {
    failed,
    async stop() {
      isStopping = true
      // One that has ended by itself throws where it is told to.
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
      const wrong = (await ended).find(({ status }) => status === 'rejected')
      if (wrong?.status === 'rejected') throw wrong.reason
    },
  }
}

/** A poll that fails for good (the namespace is missing for a minute, the key has expired) ends a worker of the SDK, which then
 *  waits for ever for its core, and the core waits for a poll that nobody makes any more. Here the worker is told to shut down
 *  instead, and polls on until its core says that nothing is left. */
function drainAfterFault(worker: Worker, onFault: (cause: unknown) => void): void {
  const { nativeWorker } = worker as unknown as { readonly nativeWorker: { pollActivityTask: () => Promise<unknown> } }
  const poll = nativeWorker.pollActivityTask
  nativeWorker.pollActivityTask = async () => {
    for (;;) {
      try {
        return await poll()
      } catch (error) {
        if (!(error instanceof TransportError)) throw error
        onFault(error)
        if (worker.getState() === 'RUNNING') worker.shutdown()
      }
    }
  }
}

function optionsOf({ connection, namespace, identity, queues, loop_count, activities, workflows = BUNDLE }: WorkerParts): WorkerOptions[] {
  const { turn, handOver, maintain, ...entity_calls } = activities
  const common = { connection, namespace, identity, shutdownGraceTime: SHUTDOWN_GRACE_MS, shutdownForceTime: SHUTDOWN_FORCE_MS }
  return [
    {
      ...common,
      taskQueue: queues.loops,
      maxCachedWorkflows: cachedLoops(loop_count),
      stickyQueueScheduleToStartTimeout: STICKY_WAIT_MS,
      ...workflows,
    },
    // One turn at a time is all that a workspace has use for; the second slot is for one that was given up.
    { ...common, taskQueue: queues.turn, activities: { turn }, maxConcurrentActivityTaskExecutions: 2 },
    // They wait for turns, and hold nothing meanwhile.
    {
      ...common,
      taskQueue: queues.calls,
      activities: entity_calls,
      maxConcurrentActivityTaskExecutions: ENTITY_CALLS_AT_ONCE,
    },
    { ...common, taskQueue: queues.work, activities: { handOver, maintain }, maxConcurrentActivityTaskExecutions: 10 },
  ]
}
