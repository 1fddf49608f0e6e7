import { describe, expect, it } from '@jest/globals'
import { eventsAt } from '../../test/fixtures/plan-story.js'
import { createRunStory, type RunStory, told } from '../../test/fixtures/run-story.js'
import { attemptIdOf, NOW } from '../../test/fixtures/say.js'
import { attemptLostKey } from '../core/keys.js'
import { LOSS_LAG_MS_MAX } from '../core/limits.js'
import { MINUTE_MS, SECOND_MS } from '../core/time.js'
import type { ReconcileState } from './decision.js'
import { reconcileLost } from './lost.js'
import { wakeAt } from './wake.js'

const DEFINITION = { start_timeout_seconds: 20, heartbeat_timeout_seconds: 60, timeout_seconds: 70, cancel_grace_seconds: 5 }
const HEARTBEAT_MS = 80 * SECOND_MS

const story = (...task_keys: string[]) =>
  createRunStory(Object.fromEntries(task_keys.map((task_key) => [task_key, { definition: DEFINITION }])))
const at = ({ story: { rows } }: RunStory, now: number, changes: Partial<ReconcileState> = {}) =>
  reconcileLost({ rows, now, lag_ms: 0, hold_until: null, ...changes })
const wake = ({ story: { rows } }: RunStory, now = NOW, hold_until: number | null = null) => wakeAt({ rows, now, hold_until })

/** What has to happen before each deadline is the next one. */
const ROADS = [
  ['START_DEADLINE', 'DISPATCHED', 20 * SECOND_MS, (run: RunStory) => run.dispatch('a')],
  ['CANCEL_GRACE', 'DISPATCHED', 5 * SECOND_MS, (run: RunStory) => [run.dispatch('a'), run.cancel()]],
  ['TIMEOUT', 'RUNNING', 70 * SECOND_MS, (run: RunStory) => [run.dispatch('a'), run.start('a')]],
  [
    'HEARTBEAT',
    'RUNNING',
    HEARTBEAT_MS,
    (run: RunStory) => [
      run.dispatch('a'),
      run.start('a', { at: NOW }),
      run.story.rows.put('tasks', { ...run.task('a'), timeout_at: null }),
    ],
  ],
  ['CANCEL_GRACE', 'RUNNING', 5 * SECOND_MS, (run: RunStory) => [run.dispatch('a'), run.start('a'), run.cancel()]],
] as const

describe('an attempt is lost', () => {
  it.each(ROADS)('by %s while %s, from that instant on', (reason, task_state, delay, prepare) => {
    const run = story('a', 'b')
    prepare(run)
    const deadline_at = NOW + delay
    expect(at(run, deadline_at - 1)).toEqual([])
    const [decision, ...others] = at(run, deadline_at)
    const name = { run_id: run.run_id, task_key: 'a', attempt: 1 }
    expect(others).toEqual([])
    expect(decision?.drafts).toEqual([
      {
        event_type: 'AttemptLost',
        idempotency_key: attemptLostKey(name),
        correlation_id: run.run_id,
        basis: { task_state, deadline_at: new Date(deadline_at).toISOString() },
        payload: { ...name, attempt_id: attemptIdOf(run.run_id, 'a', 1), reason },
      },
    ])
    const outcomes = decision === undefined ? [] : run.story.fold(...eventsAt(decision, deadline_at)).map(told)
    expect(outcomes).toEqual(['applied'])
    expect(at(run, deadline_at)).toEqual([])
  })

  it('by the deadline that passed first, where several have', () => {
    const run = story('a')
    run.dispatch('a')
    run.start('a')
    expect(at(run, NOW + MINUTE_MS * 10)[0]?.drafts[0]?.payload).toMatchObject({ reason: 'TIMEOUT' })
  })

  it('in the order of the deadlines, then by run and number', () => {
    const run = story('a', 'b', 'c')
    run.dispatch('b', { at: NOW - 1 })
    run.dispatch('c')
    run.dispatch('a')
    const keys = at(run, NOW + MINUTE_MS).map(({ drafts }) => drafts[0]?.payload)
    expect(keys).toMatchObject([{ task_key: 'b' }, { task_key: 'a' }, { task_key: 'c' }])
  })

  it('never while facts may lie unread', () => {
    const run = story('a')
    run.dispatch('a')
    expect(at(run, NOW + MINUTE_MS, { lag_ms: LOSS_LAG_MS_MAX + 1 })).toEqual([])
    expect(at(run, NOW + MINUTE_MS, { lag_ms: LOSS_LAG_MS_MAX })).toHaveLength(1)
  })

  it('never while deadlines are held back', () => {
    const run = story('a')
    run.dispatch('a')
    const hold_until = NOW + 2 * MINUTE_MS
    expect(at(run, hold_until - 1, { hold_until })).toEqual([])
    expect(at(run, hold_until, { hold_until })).toHaveLength(1)
  })

  it('when the grace of a cancel is over, also while other deadlines are held back', () => {
    const run = story('a')
    run.dispatch('a')
    run.start('a')
    run.cancel()
    const hold_until = NOW + 10 * MINUTE_MS
    expect(at(run, NOW + 5 * SECOND_MS - 1, { hold_until })).toEqual([])
    expect(at(run, NOW + 5 * SECOND_MS, { hold_until })[0]?.drafts[0]?.payload).toMatchObject({ reason: 'CANCEL_GRACE' })
    // Its other deadlines have passed as well, and one of them before the cancel.
    run.story.rows.put('tasks', { ...run.task('a'), heartbeat_deadline_at: NOW - MINUTE_MS })
    expect(at(run, NOW + MINUTE_MS, { hold_until })[0]?.drafts[0]?.payload).toMatchObject({ reason: 'CANCEL_GRACE' })
    expect(wake(run, NOW, hold_until)).toBe(NOW + 5 * SECOND_MS)
    expect(at(run, NOW + MINUTE_MS, { hold_until, lag_ms: LOSS_LAG_MS_MAX + 1 })).toEqual([])
  })
})

describe('the next turn is due', () => {
  it.each(ROADS)('at %s while %s', (_, __, delay, prepare) => {
    const run = story('a', 'b')
    prepare(run)
    expect(wake(run)).toBe(NOW + delay)
  })

  it('at no instant where everything waits for events', () => {
    const run = story('a')
    expect(wake(run)).toBeNull()
    run.complete('a')
    expect(wake(run)).toBeNull()
  })

  it('at the earliest of all', () => {
    const run = story('a', 'b')
    run.dispatch('a')
    run.dispatch('b', { at: NOW - 3_000 })
    expect(wake(run)).toBe(NOW + 17 * SECOND_MS)
  })

  it('at the end of the hold, for deadlines that are held back, and not before they pass', () => {
    const run = story('a')
    run.dispatch('a')
    expect(wake(run, NOW, NOW + MINUTE_MS)).toBe(NOW + MINUTE_MS)
    expect(wake(run, NOW, NOW + SECOND_MS)).toBe(NOW + 20 * SECOND_MS)
  })

  it('at a retry that is to come, and not for one that waits for room', () => {
    const run = createRunStory({ a: { definition: { retry: { max_attempts: 2, jitter: 0, backoff_seconds: 7 } } } })
    run.complete('a', 'FAILED')
    const retry_at = NOW + 7 * SECOND_MS
    expect(wake(run, retry_at - 1)).toBe(retry_at)
    expect(wake(run, retry_at - 1, NOW + MINUTE_MS)).toBe(retry_at)
    expect(wake(run, retry_at)).toBeNull()
  })
})
