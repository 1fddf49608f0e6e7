// Who goes first, over random flows of work: what is more urgent goes before, and nothing waits for ever. The rule is
// written down here a second time, as docs/concepts.md says it: a point of priority is worth a minute of waiting.

import { describe, expect, test } from '@jest/globals'
import { reconcileDispatch } from '../../src/controllers/dispatch.js'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import type { TaskRow } from '../../src/projections/run-table.js'
import { createPlanStory, eventsAt } from '../fixtures/plan-story.js'
import { createRandom } from '../fixtures/random.js'
import { attemptIdOf, NOW } from '../fixtures/say.js'

const SEED = Number(process.env['SERVO_TEST_SEED'] ?? 45_000)
const SEEDS = Array.from({ length: 8 }, (_, index) => SEED + index)
const again = (seed: number) => `SERVO_TEST_SEED=${seed} NODE_OPTIONS=--experimental-vm-modules npx jest test/properties/order.test.ts`

const identity = {
  secret_key_id: 's1',
  attemptIdOf: ({ run_id, task_key, attempt }: { run_id: string; task_key: string; attempt: number }) =>
    attemptIdOf(run_id, task_key, attempt),
}

type Asked = { readonly run_id: string; readonly ready_at: number; readonly priority: number }
/** Which of two that could both start may go first, and how late it may have come. */
const mayPass = (later: Asked, earlier: Asked): boolean =>
  later.ready_at - earlier.ready_at <= (later.priority - earlier.priority) * MINUTE_MS

/** One asset, some slots, and a clock that the test moves: every task is a run of its own. */
function createFlow(slots: number) {
  const retry = { max_attempts: 3, backoff_seconds: 20, jitter: 0 }
  const planned = createPlanStory({ a: { retry } })
  const { story, say, fold } = planned
  fold(say.locationDeployed('main', 1, { slots }))
  const waiting = new Map<string, Asked>()
  const running = new Map<string, { readonly asked: Asked; readonly ends_at: number; readonly attempt: number }>()

  function arrive(priority: number, at: number): Asked {
    const run_id = planned.request({ priority })
    for (const decision of planned.reconcile()) story.fold(...eventsAt(decision, at))
    const asked = { run_id, ready_at: at, priority }
    waiting.set(run_id, asked)
    return asked
  }

  /** Answers what was dispatched now, in its order, and leaves out what waits for a retry. */
  function turn(now: number, serviceMs: () => number): readonly Asked[] {
    const due = [...waiting.values()].filter(({ run_id }) => isDue(story.row('tasks', run_id, 'a'), now))
    const dispatched = reconcileDispatch({ rows: story.rows, now, publish_interval_ms: 0 }, identity).map((decision) => {
      const [event] = eventsAt(decision, now)
      if (event?.event_type !== 'DispatchRequested') throw new Error('A dispatch is one event.')
      expect(story.fold(event)).toEqual([{ kind: 'applied' }])
      const { run_id, attempt } = event.payload
      const asked = waiting.get(run_id) as Asked
      waiting.delete(run_id)
      running.set(run_id, { asked, ends_at: now + serviceMs(), attempt })
      return asked
    })
    for (const left of due.filter(({ run_id }) => waiting.has(run_id))) {
      for (const gone of dispatched) expect({ gone, left, mayPass: mayPass(gone, left) }).toMatchObject({ mayPass: true })
    }
    return dispatched
  }

  function end(now: number, fails: () => boolean): void {
    for (const [run_id, { asked, ends_at, attempt }] of running) {
      if (ends_at > now) continue
      running.delete(run_id)
      story.fold(say.taskFinished({ run_id, task_key: 'a', attempt }, fails() ? 'FAILED' : 'SUCCEEDED', {}, { at: now }))
      if (story.row('tasks', run_id, 'a')?.state === 'RETRY_WAIT') waiting.set(run_id, asked)
    }
    story.publish()
  }

  return { arrive, turn, end, waiting }
}

const isDue = (task: TaskRow | undefined, now: number): boolean =>
  task?.state === 'READY' || (task?.state === 'RETRY_WAIT' && (task.retry_at ?? 0) <= now)

describe('a task of low priority', () => {
  test.each(SEEDS)('is passed by nothing that came later than it is more urgent, in minutes; with seed %i', (seed) => {
    const random = createRandom(`order/${seed}`)
    const slots = 1 + random.below(3)
    const flow = createFlow(slots)
    const points = 2 + random.below(10)
    const serviceMs = () => random.between(20, 90) * SECOND_MS
    // More work than the slots can do: by priority alone it would never start.
    const interval_ms = (55 * SECOND_MS) / slots / random.between(1.1, 1.6)
    for (let backlog = 0; backlog < slots + 2; backlog++) flow.arrive(points, NOW - SECOND_MS)
    const low = flow.arrive(0, NOW)
    let started_at: number | undefined
    let before = 0
    let next = NOW
    for (let now = NOW; started_at === undefined && now < NOW + 6 * points * MINUTE_MS; now += 5 * SECOND_MS) {
      flow.end(now, () => random.isTrue(0.1))
      for (; next <= now; next += interval_ms * random.between(0.5, 1.5)) flow.arrive(points, next)
      for (const asked of flow.turn(now, serviceMs)) {
        if (asked === low) started_at = now
        else if (started_at === undefined && !mayPass(asked, low)) before += 1
      }
    }
    const told = { started: started_at !== undefined, before, again: again(seed) }
    expect(told).toEqual({ started: true, before: 0, again: again(seed) })
  })

  test.each(SEEDS)('starts as soon as what was before it has, once nothing new may pass it; with seed %i', (seed) => {
    const random = createRandom(`bound/${seed}`)
    const flow = createFlow(1)
    const points = 1 + random.below(8)
    const low = flow.arrive(0, NOW)
    // One at a time, a minute each, and one more urgent every 40 seconds.
    const service_ms = MINUTE_MS
    const [arrivals_ms, tick_ms] = [40 * SECOND_MS, 5 * SECOND_MS]
    flow.arrive(points, NOW - SECOND_MS)
    let started_at = 0
    for (let now = NOW; started_at === 0; now += tick_ms) {
      flow.end(now, () => false)
      if ((now - NOW) % arrivals_ms === 0) flow.arrive(points, now)
      if (flow.turn(now, () => service_ms).includes(low)) started_at = now
      if (now > NOW + 10 * points * MINUTE_MS) break
    }
    const passing = 2 + Math.floor((points * MINUTE_MS) / arrivals_ms)
    const bound_ms = passing * (service_ms + tick_ms) + tick_ms
    expect({ ok: started_at > 0 && started_at - NOW <= bound_ms, again: again(seed) }).toEqual({ ok: true, again: again(seed) })
  })
})

describe('a retry', () => {
  test('keeps the age of its task, so it goes before what came since', () => {
    const flow = createFlow(1)
    const first = flow.arrive(0, NOW)
    expect(flow.turn(NOW, () => SECOND_MS)).toEqual([first])
    const others = [flow.arrive(0, NOW + SECOND_MS), flow.arrive(0, NOW + 2 * SECOND_MS)]
    flow.end(NOW + SECOND_MS, () => true)
    // Its back-off lets another one go.
    expect(flow.turn(NOW + 2 * SECOND_MS, () => 30 * SECOND_MS)).toEqual([others[0]])
    flow.end(NOW + 40 * SECOND_MS, () => false)
    expect(flow.turn(NOW + 40 * SECOND_MS, () => SECOND_MS)).toEqual([first])
  })
})
