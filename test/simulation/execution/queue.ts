// What carries attempts to workers, behind the port that the hand-over knows. DIRECT is a request that a worker answers;
// CLOUD_TASKS keeps what it was given by name, never takes a name twice, and delivers it until somebody takes it. Both lose,
// double, delay and overtake.

import type { DispatchPort, SendAnswer } from '../../../src/activities/dispatch.js'
import type { Dispatch } from '../../../src/api/contract/worker.js'
import { dispatchId, queueTaskName } from '../../../src/core/keys.js'
import { instantMs, MINUTE_MS, SECOND_MS } from '../../../src/core/time.js'
import type { Process } from '../../fixtures/world.js'
import { LATE_MS_MAX, request, type Site, UNANSWERED } from './site.js'

export type PortKind = DispatchPort['port']

const UNREACHABLE: SendAnswer = { answer: 'UNREACHABLE', problem: 'It did not answer.' }

/** Of one seed: what a queue has outlives the processes that gave it. */
export function createQueue(site: Site, port: PortKind): (process: Process) => DispatchPort {
  const taken = new Set<string>()
  const post = port === 'DIRECT' ? createDirect(site) : createCloudTasks(site, taken)
  return (process) => ({
    port,
    async send(_url, dispatches) {
      for (const dispatch of dispatches) noteHandover(site, dispatch)
      site.overheard.push(...dispatches)
      return post(process, dispatches)
    },
  })
}

/** I22 is about this very moment. */
function noteHandover({ world: { oracle } }: Site, dispatch: Dispatch): void {
  const { attempt_id, sequence } = dispatch
  const newest = oracle.pointers.at(-1)?.pointer.sequence ?? 0
  const dispatch_id = dispatchId(dispatch)
  if (newest < sequence) oracle.problems.push(`I22 ${dispatch_id} was handed over of revision ${sequence}, while ${newest} was the newest.`)
  oracle.handovers.push({ dispatch_id, attempt_id, sequence })
}

type Send = (process: Process, dispatches: readonly Dispatch[]) => Promise<readonly SendAnswer[]>

function createDirect(site: Site): Send {
  const { weather, world } = site
  const deliver = (from: Pick<Process, 'clock'>, dispatches: readonly Dispatch[]) =>
    request(site, from, site.workers, (worker) => worker.take(dispatches))
  return async (process, dispatches) => {
    const all = dispatches.map(() => UNREACHABLE)
    if (weather.happens('delivery_lost')) return all
    if (weather.happens('delivery_late')) {
      void world.time.sleep(weather.random.below(LATE_MS_MAX)).then(() => deliver(world, dispatches))
      return all
    }
    if (weather.happens('delivery_doubled')) void deliver(world, dispatches)
    const answers = await deliver(process, dispatches)
    return answers === UNANSWERED ? all : answers
  }
}

/** Between two deliveries of what nobody took. */
const AGAIN_MS = [1_000, 2_000, 5_000, 10_000] as const

function createCloudTasks(site: Site, taken: Set<string>): Send {
  const { weather, world } = site
  async function deliver(dispatch: Dispatch): Promise<void> {
    const until = instantMs(dispatch.start_deadline_at) + MINUTE_MS
    for (let tries = 0; world.time.now() < until; tries++) {
      await world.time.sleep(weather.random.below(3 * SECOND_MS))
      const answers = await request(site, world, site.workers, (worker) => worker.take([dispatch]))
      if (answers !== UNANSWERED && answers[0]?.answer === 'ACCEPTED') return
      await world.time.sleep(AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)] as number)
    }
  }
  return async (process, dispatches) => {
    await process.clock.sleep(weather.random.below(40))
    if (weather.happens('request_lost')) return dispatches.map(() => UNREACHABLE)
    for (const dispatch of dispatches) {
      const name = queueTaskName(dispatchId(dispatch))
      if (taken.has(name)) continue
      taken.add(name)
      if (weather.happens('delivery_lost')) continue
      const copies = weather.happens('delivery_doubled') ? 2 : 1
      for (let copy = 0; copy < copies; copy++) {
        const wait_ms = weather.happens('delivery_late') ? weather.random.below(LATE_MS_MAX) : 0
        void world.time.sleep(wait_ms).then(() => deliver(dispatch))
      }
    }
    if (weather.happens('answer_lost')) return dispatches.map(() => UNREACHABLE)
    return dispatches.map(() => ({ answer: 'ACCEPTED' }))
  }
}
