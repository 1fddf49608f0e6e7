import { describe, expect, it } from '@jest/globals'
import { retrying, storyIn } from '../../test/fixtures/attempt-story.js'
import { createRunStory, type RunStory } from '../../test/fixtures/run-story.js'
import { NOW, ulidOf } from '../../test/fixtures/say.js'

const later = { at: NOW + 3_600_000 }

describe('a dispatch', () => {
  it('starts an attempt with a deadline, an outbox row and a place in each pool', () => {
    const story = createRunStory({ a: { definition: { pools: ['db'], start_timeout_seconds: 30 } } })
    expect(story.dispatch('a')).toBe('applied')
    expect(story.task('a')).toMatchObject({
      attempt: 1,
      dispatched_at: NOW,
      start_deadline_at: NOW + 30_000,
      pool_keys: ['global', 'pool:db', 'location:main'],
    })
    expect(story.outbox('a')).toMatchObject({ status: 'PENDING', dispatch_id: `dispatch:${story.run_id}:a:1`, requested_at: NOW })
    for (const pool_key of ['global', 'pool:db', 'location:main']) expect(story.pool(pool_key)?.in_use).toBe(1)
  })

  it.each([
    ['another state', { task_state: 'RETRY_WAIT', previous_attempt: 0 }],
    ['another attempt', { task_state: 'READY', previous_attempt: 1 }],
    ['another definition', { task_state: 'READY', previous_attempt: 0, definition_hash: 'f'.repeat(64) }],
  ] as const)('that rests on %s is refused', (_, basis) => {
    const story = createRunStory({ a: {} })
    const event = story.say.dispatchRequested(story.name('a', 1), { definition_hash: story.hash('a'), ...basis })
    expect(story.fold(event)).toBe('STALE_BASIS')
  })

  it('of any other attempt than the next one is refused', () => {
    const story = createRunStory({ a: {} })
    const basis = { task_state: 'READY', previous_attempt: 0, definition_hash: story.hash('a') } as const
    expect(story.fold(story.say.dispatchRequested(story.name('a', 2), basis))).toBe('STALE_BASIS')
  })

  it('of a task or run that nobody knows is refused', () => {
    const story = createRunStory({ a: {} })
    const basis = { task_state: 'READY', previous_attempt: 0, definition_hash: story.hash('a') } as const
    expect(story.fold(story.say.dispatchRequested({ run_id: story.run_id, task_key: 'x', attempt: 1 }, basis))).toBe('UNKNOWN_ENTITY')
    expect(story.fold(story.say.dispatchRequested({ run_id: 'run_x', task_key: 'a', attempt: 1 }, basis))).toBe('UNKNOWN_ENTITY')
  })

  it('while the run is cancelling is refused', () => {
    const story = createRunStory({ a: {}, b: retrying })
    story.dispatch('a')
    story.cancel()
    expect(story.run().state).toBe('CANCELLING')
    expect(story.dispatch('b')).toBe('TERMINAL')
  })

  it('comes no earlier than the retry is due', () => {
    const story = storyIn('RETRY_WAIT')
    const { retry_at } = story.task('a')
    expect(retry_at).toBe(NOW + 30_000)
    expect(story.dispatch('a', { at: NOW + 29_999 })).toBe('ILLEGAL_TRANSITION')
    expect(story.dispatch('a', { at: NOW + 30_000 })).toBe('applied')
    expect(story.task('a')).toMatchObject({ attempt: 2, retry_at: null, execution_id: null, worker_id: null, started_at: null })
  })

  it('counts where it goes, when its asset has moved to another location', () => {
    const story = createRunStory({ a: {} })
    story.story.fold(story.say.locationDeployed('other', 0))
    const basis = { task_state: 'READY', previous_attempt: 0, definition_hash: story.hash('a') } as const
    story.fold(story.say.dispatchRequested(story.name('a', 1), basis, { location_name: 'other', worker_queue: 'fast' }))
    expect(story.task('a')).toMatchObject({ location_name: 'other', worker_queue: 'fast', pool_keys: ['global', 'location:other'] })
    expect([story.pool('location:main')?.in_use, story.pool('location:other')?.in_use]).toEqual([0, 1])
  })
})

describe('the outbox row', () => {
  it.each([
    [
      'DispatchEnqueued',
      (story: RunStory) => story.fold(story.say.dispatchEnqueued(story.name('a'))),
      { status: 'ACKED', port: 'DIRECT', closed_at: null },
    ],
    ['TaskStarted', (story: RunStory) => story.start('a'), { status: 'CLOSED', close_reason: 'STARTED', closed_at: NOW }],
    ['TaskFinished', (story: RunStory) => story.finish('a', 'SUCCEEDED'), { status: 'CLOSED', close_reason: 'FINISHED', closed_at: NOW }],
    ['AttemptLost', (story: RunStory) => story.lose('a', 'START_DEADLINE'), { status: 'CLOSED', close_reason: 'START_DEADLINE' }],
    [
      'AttemptLost HANDOVER_REFUSED',
      (story: RunStory) => story.lose('a', 'HANDOVER_REFUSED'),
      { status: 'FAILED', close_reason: 'HANDOVER_REFUSED' },
    ],
  ])('by %s', (_, say, expected) => {
    for (const enqueued of [false, true]) {
      const story = storyIn('DISPATCHED')
      if (enqueued) story.fold({ ...story.say.dispatchEnqueued(story.name('a')), idempotency_key: 'another' })
      story.story.publish()
      const outcome = say(story)
      if (enqueued && expected.status === 'ACKED') expect(outcome).toBe('ILLEGAL_TRANSITION')
      else expect(story.outbox('a')).toMatchObject(expected)
    }
  })

  it('is not looked up once the attempt has started', () => {
    const story = storyIn('RUNNING')
    const { keys } = story.story.asked
    story.story.fold(story.say.taskHeartbeat(story.name('a'), 1))
    expect(story.story.asked.keys - keys).toBe(1)
  })
})

describe('facts', () => {
  it('of an attempt are answered in a fixed order: newer, older, over, another execution', () => {
    const story = storyIn('RUNNING')
    const other = { execution_id: ulidOf('another execution') }
    expect(story.fold(story.say.taskFinished(story.name('a', 2), 'SUCCEEDED', other))).toBe('BASIS_MISSING')
    expect(story.fold(story.say.taskFinished(story.name('a'), 'SUCCEEDED', { ...other, attempt_id: ulidOf('x') }))).toBe('STALE_ATTEMPT')
    expect(story.fold(story.say.taskFinished(story.name('a'), 'SUCCEEDED', other))).toBe('OTHER_EXECUTION')
    story.finish('a', 'FAILED')
    expect(story.fold(story.say.taskHeartbeat(story.name('a'), 9, other))).toBe('ATTEMPT_OVER')
    story.dispatch('a', later)
    expect(story.fold(story.say.taskHeartbeat(story.name('a', 1), 9, other))).toBe('STALE_ATTEMPT')
  })

  it('about a task that is not there lack their basis', () => {
    const story = createRunStory({ a: {} })
    const name = { run_id: 'run_x', task_key: 'a', attempt: 1 }
    for (const event of [
      story.say.dispatchEnqueued(name),
      story.say.taskStarted(name),
      story.say.taskHeartbeat(name, 1),
      story.say.taskFinished(name, 'SKIPPED'),
    ]) {
      expect(story.fold(event)).toBe('BASIS_MISSING')
    }
    expect(story.fold(story.say.attemptLost(name, 'TIMEOUT', { task_state: 'RUNNING', deadline_at: NOW }))).toBe('UNKNOWN_ENTITY')
  })

  it('of a start arm the deadlines of a running attempt', () => {
    const story = createRunStory({ a: { definition: { heartbeat_timeout_seconds: 10, timeout_seconds: 100 } } })
    story.dispatch('a')
    story.fold(story.say.taskStarted(story.name('a'), { code_version: 'v2' }))
    expect(story.task('a')).toMatchObject({
      started_at: NOW,
      start_deadline_at: null,
      heartbeat_deadline_at: NOW + 13_333,
      timeout_at: NOW + 100_000,
      code_version: 'v2',
      worker_id: 'worker-1',
    })
    expect(story.run()).toMatchObject({ state: 'RUNNING', started_at: NOW })
  })

  it('of a beat move its deadline, unless a later beat came before it', () => {
    const story = storyIn('RUNNING')
    const beat = (seq: number, at: number, done: number) =>
      story.fold(story.say.taskHeartbeat(story.name('a'), seq, { progress: { done } }, { at }))
    expect(beat(2, NOW + 20_000, 5)).toBe('applied')
    expect(beat(1, NOW + 30_000, 3)).toBe('applied')
    expect(story.task('a')).toMatchObject({
      last_heartbeat_at: NOW + 20_000,
      heartbeat_seq: 2,
      heartbeat_deadline_at: NOW + 100_000,
      progress: { done: 5 },
      timeout_at: NOW + 3_600_000,
    })
  })

  it('of a finish that overtakes the start carry who ran it', () => {
    const story = storyIn('DISPATCHED')
    expect(story.finish('a', 'SUCCEEDED')).toBe('applied')
    expect(story.task('a')).toMatchObject({ execution_id: ulidOf('execution'), started_at: null, state: 'SUCCEEDED' })
    expect(story.run()).toMatchObject({ state: 'RUNNING', started_at: NOW })
    expect(story.start('a')).toBe('ATTEMPT_OVER')
  })
})

it('an attempt that is taken back ends without the error of the one before it', () => {
  const story = storyIn('RUNNING')
  story.finish('a', 'FAILED')
  story.dispatch('a', later)
  story.cancel(later)
  story.finish('a', 'CANCELLED', { withdrawn: true }, later)
  expect(story.task('a')).toMatchObject({ state: 'CANCELLED', attempt: 2, outcome_reason: 'RUN_CANCELLED', error: null })
})

describe('an attempt that ends', () => {
  it('leaves its pools and its deadlines', () => {
    for (const end of [(story: RunStory) => story.finish('a', 'FAILED'), (story: RunStory) => story.lose('a', 'HEARTBEAT')]) {
      const story = storyIn('RUNNING')
      expect(end(story)).toBe('applied')
      expect(story.task('a')).toMatchObject({
        start_deadline_at: null,
        heartbeat_deadline_at: null,
        timeout_at: null,
        cancel_deadline_at: null,
      })
      expect(story.pool('global')?.in_use).toBe(0)
      expect(story.pool('location:main')?.in_use).toBe(0)
    }
  })

  it.each([
    ['a failure that may be tried again', { error: { code: 'BOOM', message: '' } }, 'RETRY_WAIT', NOW + 30_000],
    ['a failure that must not', { error: { code: 'BOOM', message: '', retryable: false } }, 'FAILED', null],
    [
      'a worker that says how long to wait',
      { error: { code: 'BUSY', message: '' }, retry_after_seconds: 1.2345 },
      'RETRY_WAIT',
      NOW + 1_234,
    ],
  ] as const)('with %s', (_, changes, state, retry_at) => {
    const story = storyIn('RUNNING')
    story.finish('a', 'FAILED', changes)
    expect(story.task('a')).toMatchObject({ state, retry_at, failures: 1, infra_losses: 0, error: changes.error, outcome_reason: 'ERROR' })
  })

  it('fails for good with its last attempt', () => {
    const story = createRunStory({ a: { definition: { retry: { max_attempts: 2, jitter: 0 } } } })
    story.complete('a', 'FAILED')
    expect(story.dispatch('a', { at: NOW + 30_000 })).toBe('applied')
    story.start('a', { at: NOW + 40_000 })
    story.finish('a', 'FAILED', {}, { at: NOW + 50_000 })
    expect(story.task('a')).toMatchObject({ state: 'FAILED', failures: 2, attempt: 2, retry_at: null, finished_at: NOW + 50_000 })
    expect(story.run()).toMatchObject({ state: 'FAILED', tasks_failed: 1, tasks_open: 0, finished_at: NOW + 50_000 })
  })

  it('by a timeout counts as a failure', () => {
    const story = storyIn('RUNNING')
    story.lose('a', 'TIMEOUT')
    expect(story.task('a')).toMatchObject({
      state: 'RETRY_WAIT',
      failures: 1,
      infra_losses: 0,
      retry_at: NOW + 3_630_000,
      outcome_reason: 'TIMEOUT',
    })
  })

  it.each(['START_DEADLINE', 'HANDOVER_REFUSED'] as const)('by %s counts apart, up to a bound of its own', (reason) => {
    const story = storyIn('DISPATCHED')
    story.lose('a', reason, { at: NOW })
    expect(story.task('a')).toMatchObject({ state: 'RETRY_WAIT', failures: 0, infra_losses: 1, retry_at: NOW + 5_000 })
    story.dispatch('a', { at: NOW + 5_000 })
    story.lose('a', reason, { at: NOW + 6_000 })
    expect(story.task('a')).toMatchObject({ state: 'FAILED', failures: 0, infra_losses: 2 })
    expect(story.status('a')).toMatchObject({ last_attempt_outcome: 'FAILED', last_attempt_error_code: reason })
  })

  it('by its silence is tried again at once, where it was silent for longer than the delay', () => {
    const story = createRunStory({ a: { definition: { heartbeat_timeout_seconds: 6, retry: { max_infra_losses: 9 } } } })
    const beat = (at: number) => story.fold(story.say.taskHeartbeat(story.name('a'), 1, {}, { at }))
    story.dispatch('a')
    story.start('a')
    expect(beat(NOW + 2_000)).toBe('applied')
    // It was last heard 8 s before.
    expect(story.lose('a', 'HEARTBEAT')).toBe('applied')
    expect(story.task('a')).toMatchObject({ state: 'RETRY_WAIT', infra_losses: 1, failures: 0, retry_at: NOW + 10_000 })
    story.dispatch('a', { at: NOW + 10_000 })
    story.start('a', { at: NOW + 11_000 })
    // Never after its start, and the second delay is 10 s.
    expect(story.lose('a', 'HEARTBEAT')).toBe('applied')
    expect(story.task('a')).toMatchObject({ state: 'RETRY_WAIT', infra_losses: 2, retry_at: NOW + 21_000 })
  })

  it('given back by its worker is tried again at once, and is no loss until it was given back twenty times', () => {
    const story = storyIn('RUNNING')
    const release = (at: number) =>
      story.fold(
        story.say.attemptLost(
          story.name('a'),
          'HANDOVER_REFUSED',
          { task_state: 'RUNNING', deadline_at: null },
          { released: true },
          { at },
        ),
      )
    expect(release(NOW + 1_900)).toBe('applied')
    expect(story.task('a')).toMatchObject({ state: 'RETRY_WAIT', releases: 1, infra_losses: 0, failures: 0, retry_at: NOW + 1_000 })
    expect(story.status('a')).toMatchObject({ last_attempt_error_code: 'RELEASED' })
    for (let count = 2; count <= 20; count++) {
      expect([story.dispatch('a', { at: NOW + 2_000 }), story.start('a'), release(NOW + 2_000)]).toEqual(['applied', 'applied', 'applied'])
      expect(story.task('a')).toMatchObject({ state: 'RETRY_WAIT', releases: count, infra_losses: 0 })
    }
    expect([story.dispatch('a', { at: NOW + 2_000 }), story.start('a'), release(NOW + 2_000)]).toEqual(['applied', 'applied', 'applied'])
    expect(story.task('a')).toMatchObject({ state: 'RETRY_WAIT', releases: 20, infra_losses: 1, retry_at: NOW + 7_000 })
  })

  it('given back while its run is cancelled is not tried again', () => {
    const story = storyIn('RUNNING')
    story.cancel()
    const lost = story.say.attemptLost(
      story.name('a'),
      'HANDOVER_REFUSED',
      { task_state: 'RUNNING', deadline_at: null },
      { released: true },
    )
    expect([story.fold(lost), story.task('a').state, story.run().state]).toEqual(['applied', 'CANCELLED', 'CANCELLED'])
  })

  it('lost on a deadline that a beat has moved since is refused', () => {
    const story = storyIn('RUNNING')
    const { heartbeat_deadline_at } = story.task('a')
    const lost = story.say.attemptLost(
      story.name('a'),
      'HEARTBEAT',
      { task_state: 'RUNNING', deadline_at: heartbeat_deadline_at },
      {},
      { at: NOW + 90_000 },
    )
    story.fold(story.say.taskHeartbeat(story.name('a'), 1, {}, { at: NOW + 79_000 }))
    expect(story.fold(lost)).toBe('STALE_BASIS')
  })

  it('while the run cancels ends its task, whatever it was', () => {
    for (const end of [
      (story: RunStory) => story.finish('a', 'FAILED'),
      (story: RunStory) => story.lose('a', 'TIMEOUT'),
      (story: RunStory) => story.lose('a', 'HEARTBEAT'),
      (story: RunStory) => story.lose('a', 'CANCEL_GRACE'),
    ]) {
      const story = storyIn('RUNNING')
      story.cancel({ at: NOW + 1_000 })
      expect(story.task('a').cancel_deadline_at).toBe(NOW + 31_000)
      expect(end(story)).toBe('applied')
      expect(story.task('a')).toMatchObject({ state: 'CANCELLED', retry_at: null, cancel_deadline_at: null })
      expect(story.run()).toMatchObject({ state: 'CANCELLED', tasks_cancelled: 2, tasks_open: 0 })
    }
  })

  it('with a success stands, though the run cancels', () => {
    const story = storyIn('RUNNING')
    story.cancel()
    story.finish('a', 'SUCCEEDED')
    expect(story.states()).toEqual({ a: 'SUCCEEDED', b: 'CANCELLED' })
    expect(story.run()).toMatchObject({ state: 'CANCELLED', tasks_succeeded: 1, tasks_cancelled: 1 })
  })
})
