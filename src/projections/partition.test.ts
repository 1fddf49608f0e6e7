import { describe, expect, it } from '@jest/globals'
import { createRunStory, type RunStory } from '../../test/fixtures/run-story.js'
import { NOW, ulidOf } from '../../test/fixtures/say.js'
import { listSha256 } from '../core/keys.js'

const daily = { partitions: { type: 'daily', start_date: '2025-01-01', timezone: 'Europe/Berlin' } } as const

const NEVER = {
  last_materialization_id: null,
  last_materialization_run_id: null,
  last_materialization_at: null,
  last_materialization_ordinal: null,
  last_materialization_code_version: null,
  last_materialization_definition_hash: null,
  last_materialization_source: null,
  data_version: null,
}

describe('a success', () => {
  it('sets the last attempt and the last materialization', () => {
    const story = createRunStory({ a: { definition: { code_version: 'defined' } } })
    story.complete('a', 'SUCCEEDED', { data_version: 'd1', materialization_id: ulidOf('m') })
    expect(story.status('a')).toMatchObject({
      asset_key: 'a',
      sort_key: '',
      partition_key: '',
      last_materialization_id: ulidOf('m'),
      last_materialization_run_id: story.run_id,
      last_materialization_at: NOW,
      // Location, asset, request, plan, dispatch, start: it is the seventh applied event.
      last_materialization_ordinal: 7,
      last_materialization_code_version: 'defined',
      last_materialization_definition_hash: story.hash('a'),
      last_materialization_source: 'RUN',
      data_version: 'd1',
      last_attempt_run_id: story.run_id,
      last_attempt_id: story.task('a').attempt_id,
      last_attempt_at: NOW,
      last_attempt_outcome: 'SUCCEEDED',
      last_attempt_error_code: null,
      failed_since_at: null,
    })
  })

  it('has the code version that its worker says, the later the better', () => {
    const story = createRunStory({ a: { definition: { code_version: 'defined' } }, b: { definition: { code_version: 'defined' } } })
    for (const task_key of ['a', 'b']) {
      story.dispatch(task_key)
      story.fold(story.say.taskStarted(story.name(task_key), { code_version: 'started' }))
    }
    story.finish('a', 'SUCCEEDED', { code_version: 'finished' })
    story.finish('b', 'SUCCEEDED')
    expect(story.status('a')?.last_materialization_code_version).toBe('finished')
    expect(story.status('b')?.last_materialization_code_version).toBe('started')
  })
})

describe('an attempt that came to nothing', () => {
  it.each([
    [
      'a failure',
      (story: RunStory) => story.finish('a', 'FAILED'),
      { last_attempt_outcome: 'FAILED', last_attempt_error_code: 'BOOM', failed_since_at: NOW },
    ],
    [
      'a skip',
      (story: RunStory) => story.finish('a', 'SKIPPED'),
      { last_attempt_outcome: 'SKIPPED', last_attempt_error_code: null, failed_since_at: null },
    ],
    ['a cancel', (story: RunStory) => story.finish('a', 'CANCELLED'), { last_attempt_outcome: 'CANCELLED', failed_since_at: null }],
    [
      'a loss',
      (story: RunStory) => story.lose('a', 'HEARTBEAT', { at: NOW }),
      { last_attempt_outcome: 'FAILED', last_attempt_error_code: 'HEARTBEAT', failed_since_at: NOW },
    ],
    [
      'a cancel that it did not hear',
      (story: RunStory) => {
        story.cancel()
        return story.lose('a', 'CANCEL_GRACE', { at: NOW })
      },
      { last_attempt_outcome: 'CANCELLED', last_attempt_error_code: 'CANCEL_GRACE', failed_since_at: null },
    ],
  ] as const)('by %s touches no materialization', (_, end, expected) => {
    const story = createRunStory({ a: {} })
    story.dispatch('a')
    story.start('a')
    expect(end(story)).toBe('applied')
    expect(story.status('a')).toMatchObject({ ...NEVER, ...expected, last_attempt_run_id: story.run_id, last_attempt_at: NOW })
  })

  it('keeps what was materialized before, and since when it fails', () => {
    const retry = { retry: { max_attempts: 9, backoff_seconds: 0 } }
    const story = createRunStory({ a: { definition: retry } })
    const attempt = (outcome: 'FAILED' | 'SKIPPED' | 'SUCCEEDED', at: number) => {
      story.dispatch('a', { at })
      story.finish('a', outcome, {}, { at })
    }
    attempt('FAILED', NOW + 1_000)
    attempt('FAILED', NOW + 2_000)
    expect(story.status('a')).toMatchObject({ failed_since_at: NOW + 1_000, last_attempt_at: NOW + 2_000 })
    attempt('SUCCEEDED', NOW + 3_000)
    const { last_materialization_id } = story.status('a') ?? {}
    expect(story.status('a')).toMatchObject({ failed_since_at: null, last_attempt_outcome: 'SUCCEEDED' })

    const next = rerun(story)
    next('FAILED', NOW + 4_000)
    expect(story.status('a')).toMatchObject({
      failed_since_at: NOW + 4_000,
      last_attempt_at: NOW + 4_000,
      last_materialization_at: NOW + 3_000,
      last_materialization_id,
    })
    next('SKIPPED', NOW + 5_000)
    expect(story.status('a')).toMatchObject({ failed_since_at: NOW + 4_000, last_attempt_outcome: 'SKIPPED', last_materialization_id })
  })
})

/** Another run of the same asset; each call is its next attempt. */
function rerun(story: RunStory) {
  const { say } = story
  const request = say.runRequested('user:again')
  const { run_id } = request.payload
  const [definition_hash, tasks] = [story.hash('a'), [{ k: 'a', d: 0, p: null, n: 1 }]]
  story.fold(request)
  const page = { run_id, page: 0, pages: 1, task_offset: 0, task_count: 1, definitions: [{ asset_key: 'a', definition_hash }], tasks }
  story.fold(say.planPage(page, request.event_id))
  let attempt = 0
  return (outcome: 'FAILED' | 'SKIPPED', at: number) => {
    const task_state = attempt === 0 ? 'READY' : 'RETRY_WAIT'
    attempt += 1
    const name = { run_id, task_key: 'a', attempt }
    expect(story.fold(say.dispatchRequested(name, { task_state, previous_attempt: attempt - 1, definition_hash }, {}, { at }))).toBe(
      'applied',
    )
    expect(story.fold(say.taskFinished(name, outcome, {}, { at }))).toBe('applied')
    story.story.publish()
  }
}

describe('the partitions of a task', () => {
  it('are a row each, sorted by the start of their window', () => {
    const story = createRunStory({ a: { definition: daily, partitions: { range: { start: '2025-01-14', end: '2025-01-16' } } } })
    story.complete('a')
    const keys = Object.values(story.story.everything()['partition_status'] ?? {}).map((row) => {
      const { sort_key, partition_key } = row as { sort_key: string; partition_key: string }
      return [sort_key, partition_key]
    })
    expect(keys.map(([, partition_key]) => partition_key)).toEqual(['2025-01-14', '2025-01-15', '2025-01-16'])
    expect(keys[0]?.[0]).toContain('2025-01-13T23:00')
  })

  it('are those of the pinned definition, though another is current by now', () => {
    const story = createRunStory({ a: { definition: daily, partitions: { keys: ['2025-01-14'] } } })
    story.dispatch('a')
    story.fold(story.say.assetDefined('a', { partitions: { type: 'static', keys: ['x'] } }))
    story.story.publish()
    expect(story.finish('a', 'SUCCEEDED')).toBe('applied')
    expect(Object.keys(story.story.everything()['partition_status'] ?? {})).toHaveLength(1)
  })

  it('may be a slice of a list', () => {
    const values = ['p1', 'p2', 'p3']
    const sha256 = listSha256(values)
    const story = createRunStory({ a: { definition: { partitions: { type: 'static', keys: values } } } }, 'user:1')
    const request = story.say.runRequested('user:2', { partitions: { list: { sha256, count: 2, offset: 1 } } })
    expect(story.fold(request)).toBe('LIST_MISSING')
    story.story.lists.set(sha256, values)
    story.story.publish()
    expect(story.fold(request)).toBe('applied')
    const { run_id } = request.payload
    const definitions = [{ asset_key: 'a', definition_hash: story.hash('a') }]
    const tasks = [{ k: 'a', d: 0, p: request.payload.partitions, n: 2 }]
    story.fold(story.say.planPage({ run_id, page: 0, pages: 1, task_offset: 0, task_count: 1, definitions, tasks }, request.event_id))
    story.story.publish()
    const name = { run_id, task_key: 'a', attempt: 1 }
    const basis = { task_state: 'READY', previous_attempt: 0, definition_hash: story.hash('a') } as const
    expect(story.fold(story.say.dispatchRequested(name, basis))).toBe('applied')
    expect(story.fold(story.say.taskFinished(name, 'SUCCEEDED'))).toBe('applied')
    expect(
      [story.status('a', 'p1'), story.status('a', 'p2')?.last_attempt_run_id, story.status('a', 'p3')?.last_attempt_run_id].slice(1),
    ).toEqual([run_id, run_id])
    expect(story.status('a', 'p1')).toBeUndefined()
  })

  it('that cannot be told have no row, and the fact stands', () => {
    const story = createRunStory({ a: { definition: daily, partitions: { keys: ['not-a-day'] } } })
    story.dispatch('a')
    expect(story.finish('a', 'SUCCEEDED')).toBe('applied')
    expect(story.story.everything()['partition_status']).toEqual({})
    expect(story.run().state).toBe('SUCCEEDED')
  })
})
