import { describe, expect, it } from '@jest/globals'
import { createStory } from '../../test/fixtures/fold-story.js'
import { createRunStory, told } from '../../test/fixtures/run-story.js'
import { createSpeaker, NOW } from '../../test/fixtures/say.js'
import { traceparentNumber } from '../../test/fixtures/told-spans.js'
import { DAY_MS } from '../core/time.js'

const other = { request_fingerprint: 'f'.repeat(64) }
const WEEK_MS = 7 * DAY_MS

/** A fold whose time a test moves on. */
function timed() {
  const clock = { now: NOW }
  const story = createStory({ fold_time: () => clock.now })
  const say = createSpeaker()
  const fold = (...events: Parameters<typeof story.fold>) => {
    const outcomes = story.fold(...events).map(told)
    story.publish()
    return outcomes
  }
  return { clock, story, say, fold }
}

describe('a request', () => {
  it('makes a run that waits for its plan, and takes the run key', () => {
    const { story, say, fold } = timed()
    const request = say.runRequested('sched:s:1', {
      assets: { keys: ['a', 'b'] },
      partitions: { keys: ['2025-01-14'] },
      tags: { team: 'core' },
      priority: 7,
      trigger: { type: 'SCHEDULE', schedule_id: 's', tick_id: 's:1' },
      requested_by: 'user:1',
    })
    expect(fold(request)).toEqual(['applied'])
    const { run_id, request_fingerprint } = request.payload
    expect(story.row('runs', run_id)).toMatchObject({
      run_key: 'sched:s:1',
      state: 'PENDING',
      trigger_type: 'SCHEDULE',
      schedule_id: 's',
      tick_id: 's:1',
      sensor_id: null,
      request_event_id: request.event_id,
      asset_count: 2,
      partitions: { keys: ['2025-01-14'] },
      tags: { team: 'core' },
      priority: 7,
      requested_by: 'user:1',
      requested_at: NOW,
      tasks_total: 0,
    })
    expect(story.row('run_key_index', 'sched:s:1')).toMatchObject({
      run_id,
      request_fingerprint,
      request_event_id: request.event_id,
      created_at: NOW,
      expires_at: NOW + WEEK_MS,
    })
  })

  it.each([
    ['sched:s:1', true],
    ['sched:s:manual:r', true],
    ['backfill:b:chunk:3', true],
    ['sensor:s:msg:42:k', true],
    ['sensor:s:key:x:msg:y', false],
    ['user:sched:1', false],
  ])('with the run key %s: does the key expire? %s', (run_key, expires) => {
    const { story, say, fold } = timed()
    fold(say.runRequested(run_key))
    expect(story.row('run_key_index', run_key)?.expires_at).toBe(expires ? NOW + WEEK_MS : null)
  })

  it('keeps where in a trace it was said, if anywhere, and is refused for nothing that it says of it', () => {
    const { story, say, fold } = timed()
    const traceparent = traceparentNumber(1, 2)
    const given = [traceparent, undefined, 'nonsense', 'x'.repeat(10_000)]
    const requests = given.map((each, i) => ({
      ...say.runRequested(`user:${i}`),
      ...(each === undefined ? {} : { traceparent: each }),
    }))
    expect(fold(...requests)).toEqual(given.map(() => 'applied'))
    expect(requests.map(({ payload }) => story.row('runs', payload.run_id)?.traceparent)).toEqual([traceparent, null, null, null])
  })

  it('said again is a duplicate, also when only the run key remembers it', () => {
    const { clock, say, fold } = timed()
    expect(fold(say.runRequested('user:1'))).toEqual(['applied'])
    expect(fold(say.runRequested('user:1'))).toEqual(['duplicate'])
    clock.now += 2 * WEEK_MS
    expect(fold(say.runRequested('user:1'))).toEqual(['duplicate'])
  })

  it('for a key that another request has is a conflict: the first run stands', () => {
    const { story, say, fold } = timed()
    const first = say.runRequested('user:1')
    const second = say.runRequested('user:1', { ...other, tags: { by: 'b' } })
    expect(fold(first, second)).toEqual(['applied', 'RUN_KEY_CONFLICT'])
    expect(story.row('runs', first.payload.run_id)).toMatchObject({ request_fingerprint: first.payload.request_fingerprint, tags: {} })
    expect(story.row('run_key_conflicts', 'user:1', other.request_fingerprint)).toMatchObject({
      run_id: first.payload.run_id,
      existing_fingerprint: first.payload.request_fingerprint,
      conflicting_event_id: second.event_id,
      trigger: { type: 'MANUAL' },
      tags: { by: 'b' },
      seen_count: 1,
      detected_at: NOW,
    })
    expect(story.row('refusals', second.idempotency_key, second.event_id)?.reason).toBe('RUN_KEY_CONFLICT')
    expect(story.row('idempotency_keys', second.idempotency_key)).toBeUndefined()
  })

  it('in conflict again is counted, and the same event is not', () => {
    const { story, say, fold } = timed()
    fold(say.runRequested('user:1'))
    const second = say.runRequested('user:1', other)
    const third = say.runRequested('user:1', other)
    expect(fold(second)).toEqual(['RUN_KEY_CONFLICT'])
    expect(fold(second)).toEqual(['RUN_KEY_CONFLICT'])
    expect(story.row('run_key_conflicts', 'user:1', other.request_fingerprint)?.seen_count).toBe(1)
    expect(fold(third)).toEqual(['RUN_KEY_CONFLICT'])
    expect(story.row('run_key_conflicts', 'user:1', other.request_fingerprint)).toMatchObject({
      seen_count: 2,
      conflicting_event_id: second.event_id,
      last_event_id: third.event_id,
    })
  })

  it('never overwrites history: a run stays, though its derived key has expired', () => {
    const { clock, story, say, fold } = timed()
    const request = say.runRequested('sched:s:1')
    fold(request)
    clock.now += WEEK_MS + DAY_MS
    expect(fold(say.runRequested('sched:s:1', other))).toEqual(['ILLEGAL_TRANSITION'])
    expect(fold(say.runRequested('sched:s:1'))).toEqual(['ILLEGAL_TRANSITION'])
    fold(say.runCancelRequested(request.payload.run_id))
    expect(fold(say.runRequested('sched:s:1'))).toEqual(['TERMINAL'])
    expect(story.row('runs', request.payload.run_id)).toMatchObject({ state: 'CANCELLED', request_event_id: request.event_id })
    expect(story.row('run_key_conflicts', 'sched:s:1', other.request_fingerprint)).toBeUndefined()
  })

  it('for another key whose old conflict is still on disk finds it', () => {
    const { clock, story, say, fold } = timed()
    const elsewhere = (n: number) => ({ run_id: `run_${n}` })
    fold(say.runRequested('sched:s:1', elsewhere(1)), say.runRequested('sched:s:1', { ...other, ...elsewhere(1) }))
    clock.now += WEEK_MS + DAY_MS
    expect(fold(say.runRequested('sched:s:1', elsewhere(2)), say.runRequested('sched:s:1', { ...other, ...elsewhere(2) }))).toEqual([
      'applied',
      'RUN_KEY_CONFLICT',
    ])
    expect(story.row('run_key_conflicts', 'sched:s:1', other.request_fingerprint)?.seen_count).toBe(2)
  })
})

describe('a cancel', () => {
  it('of a run that waits for its plan ends it', () => {
    const { story, say, fold } = timed()
    const request = say.runRequested('user:1')
    fold(request)
    expect(fold(say.runCancelRequested(request.payload.run_id))).toEqual(['applied'])
    expect(story.row('runs', request.payload.run_id)).toMatchObject({
      state: 'CANCELLED',
      finished_at: NOW,
      cancel_requested_at: NOW,
      cancel_requested_by: 'user:1',
    })
  })

  it('of a run without a task left to end it ends it too', () => {
    const story = createRunStory({ a: {}, b: { needs: ['a'] } })
    expect(story.cancel()).toBe('applied')
    expect(story.run()).toMatchObject({ state: 'CANCELLED', tasks_cancelled: 2, tasks_open: 0, finished_at: NOW })
  })

  it('said by a second person is applied and changes nothing', () => {
    const story = createRunStory({ a: {} })
    story.dispatch('a')
    story.cancel()
    const [run, task] = [story.run(), story.task('a')]
    expect(story.cancel({ request: 'r2', at: NOW + 5_000 })).toBe('applied')
    expect([story.run(), story.task('a')]).toEqual([run, task])
  })

  it('of what is over, or of nothing, is refused', () => {
    const story = createRunStory({ a: {} })
    story.complete('a')
    story.story.publish()
    expect(story.cancel()).toBe('TERMINAL')
    expect(story.fold(story.say.runCancelRequested('run_x'))).toBe('UNKNOWN_ENTITY')
  })
})

describe("a run's outcome", () => {
  it.each([
    ['all succeed', {}, 'SUCCEEDED'],
    ['one is skipped by its worker', { b: 'SKIPPED' }, 'SUCCEEDED'],
    ['one fails', { b: 'FAILED' }, 'FAILED'],
    ['one is cancelled by its worker', { b: 'CANCELLED' }, 'CANCELLED'],
    ['one fails and one is cancelled', { a: 'CANCELLED', b: 'FAILED' }, 'FAILED'],
  ] as const)('when %s', (_, outcomes: Readonly<Record<string, 'SKIPPED' | 'FAILED' | 'CANCELLED'>>, state) => {
    const story = createRunStory({ a: {}, b: {}, c: {} })
    for (const task_key of ['a', 'b', 'c']) story.complete(task_key, outcomes[task_key] ?? 'SUCCEEDED')
    expect(story.run()).toMatchObject({ state, tasks_open: 0, tasks_total: 3, finished_at: NOW })
  })

  it('is CANCELLED when it was asked to cancel and something was, even beside a failure', () => {
    const story = createRunStory({ a: {}, b: {} })
    story.complete('a', 'FAILED')
    story.cancel()
    expect(story.run()).toMatchObject({ state: 'CANCELLED', tasks_failed: 1, tasks_cancelled: 1 })
  })

  it('is what its tasks came to when the cancel found nothing to stop', () => {
    const story = createRunStory({ a: {} })
    story.dispatch('a')
    story.cancel()
    story.finish('a', 'SUCCEEDED')
    expect(story.run().state).toBe('SUCCEEDED')
  })
})
