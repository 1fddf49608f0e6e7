// Hands attempts over to a queue of Google Cloud Tasks, which delivers them to their worker: one task for each attempt. The
// queue tries again by itself for as long as a worker is away or busy; what it has is not sent to it again.

import type { Dispatch } from '../../api/contract/worker.js'
import type { Clock } from '../../core/time.js'
import { createCircuitBreaker, type ProbeResult } from '../circuit-breaker.js'
import type { DispatchPort, SendAnswer } from '../dispatch.js'
import type { TasksClient } from './client.js'
import { meaningOf, type StatusClass } from './errors.js'
import { createRoom } from './room.js'
import { type TaskSettings, taskOf } from './task.js'

type CloudTasksDeps = TaskSettings & {
  readonly clock: Pick<Clock, 'now' | 'elapsed'>
  readonly client: Pick<TasksClient, 'createTask'>
}

/** Creating a named task takes tens of milliseconds: so many keep up with any turn, and flood no connection. */
const CREATES_AT_ONCE = 32

const TARGET_OF: { readonly [Class in StatusClass]: ProbeResult<SendAnswer>['target'] } = {
  DONE: 'well',
  BACK_OFF: 'broken',
  BLOCKED: 'broken',
  RETRY: 'unknown',
  REFUSED: 'unknown',
}

export function createCloudTasksPort(deps: CloudTasksDeps): DispatchPort {
  const { clock, queue } = deps
  const room = createRoom(CREATES_AT_ONCE)
  /** Of the queue, which is everybody's. */
  const breaker = createCircuitBreaker<SendAnswer>(clock)

  const create = (worker_url: string, dispatch: Dispatch, queue_task_name: string): Promise<SendAnswer> =>
    breaker.run(async () => {
      const made = taskOf(deps, worker_url, dispatch, queue_task_name, clock.now())
      if ('answer' in made) return { target: 'unknown', answer: made.answer }
      try {
        await deps.client.createTask(queue, made.task)
        return { target: 'well', answer: { answer: 'ACCEPTED' } }
      } catch (error) {
        const { status_class, answer } = meaningOf(error, queue)
        return { target: TARGET_OF[status_class], answer }
      }
    })

  return {
    port: 'CLOUD_TASKS',
    send: (worker_url, dispatches, queue_task_names) =>
      Promise.all(
        dispatches.map((dispatch, index) => room(() => create(worker_url, dispatch, queue_task_names[index] as string)).catch(unforeseen)),
      ),
  }
}

/** A URL that is none, a clock that throws: whatever it is, the attempt is swept. */
const unforeseen = (error: unknown): SendAnswer => ({
  answer: 'UNREACHABLE',
  problem: `The attempt could not be put into a task: ${String(error)}`,
})
