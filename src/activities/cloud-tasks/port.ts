// Hands attempts over to a queue of Google Cloud Tasks, which delivers them to their worker: one task for each attempt. The
// queue tries again by itself for as long as a worker is away or busy; what it has is not sent to it again.

import type { Dispatch } from '../../api/contract/worker.js'
import { type Clock, MINUTE_MS, SECOND_MS } from '../../core/time.js'
import type { DispatchPort, SendAnswer } from '../dispatch.js'
import type { TasksClient } from './client.js'
import { meaningOf } from './errors.js'
import { createRoom } from './room.js'
import { taskOf, type TaskSettings } from './task.js'

export type CloudTasksDeps = TaskSettings & {
  readonly clock: Pick<Clock, 'now' | 'elapsed'>
  readonly client: Pick<TasksClient, 'createTask'>
}

/** Creating a named task takes tens of milliseconds: so many keep up with any turn, and flood no connection. */
const CREATES_AT_ONCE = 32
/** Until it is asked again after it said that there is too much, or that it is not set up. */
const QUIET_FIRST_MS = SECOND_MS
const QUIET_LONGEST_MS = MINUTE_MS

/** What everything that comes meanwhile is answered with. */
type Quiet = { readonly until: number; readonly length_ms: number; readonly answer: SendAnswer }

export function createCloudTasksPort(deps: CloudTasksDeps): DispatchPort {
  const { clock, queue } = deps
  const room = createRoom(CREATES_AT_ONCE)
  let quiet: Quiet | undefined

  /** Longer each time, until one is taken: whatever is wrong is everybody's. */
  function beQuiet(answer: SendAnswer): void {
    const now = clock.elapsed()
    if (quiet !== undefined && now < quiet.until) return
    const length_ms = quiet === undefined ? QUIET_FIRST_MS : Math.min(quiet.length_ms * 2, QUIET_LONGEST_MS)
    quiet = { until: now + length_ms, length_ms, answer }
  }

  async function create(worker_url: string, dispatch: Dispatch, queue_task_name: string): Promise<SendAnswer> {
    if (quiet !== undefined && clock.elapsed() < quiet.until) return quiet.answer
    const made = taskOf(deps, worker_url, dispatch, queue_task_name, clock.now())
    if ('answer' in made) return made.answer
    try {
      await deps.client.createTask(queue, made.task)
      quiet = undefined
      return { answer: 'ACCEPTED' }
    } catch (error) {
      const { status_class, answer } = meaningOf(error, queue)
      if (status_class === 'BACK_OFF' || status_class === 'BLOCKED') beQuiet(answer)
      if (status_class === 'DONE') quiet = undefined
      return answer
    }
  }

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
