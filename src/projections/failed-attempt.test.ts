import { describe, expect, it, test } from '@jest/globals'
import { storyIn } from '../../test/fixtures/attempt-story.js'
import { createRunStory, type RunStory } from '../../test/fixtures/run-story.js'
import { attemptIdOf, NOW, ulidOf } from '../../test/fixtures/say.js'
import { ERROR_CODE_CHARACTERS_MAX, ERROR_STACK_CHARACTERS_MAX, SHORT_TEXT_CHARACTERS_MAX } from '../core/limits.js'

const error = { code: 'BOOM', message: 'It broke.', stack: 'Error: It broke.\n    at a.ts:1:1' }
const rowOf = (story: RunStory, attempt = 1) => story.story.row('failed_attempts', story.run_id, 'a', attempt)
const release = (story: RunStory) =>
  story.fold(
    story.say.attemptLost(story.name('a'), 'HANDOVER_REFUSED', { task_state: 'RUNNING', deadline_at: null }, { released: true, error }),
  )
const withdraw = (story: RunStory) => {
  story.cancel()
  return story.finish('a', 'CANCELLED', { withdrawn: true })
}
const cancelGrace = (story: RunStory) => {
  story.cancel()
  return story.lose('a', 'CANCEL_GRACE')
}

describe('an attempt that did not succeed has a row', () => {
  test.each<[string, 'DISPATCHED' | 'RUNNING', (story: RunStory) => string, object]>([
    ['failed', 'RUNNING', (story) => story.finish('a', 'FAILED', { error }), { outcome: 'FAILED', reason: null, error }],
    ['skipped', 'RUNNING', (story) => story.finish('a', 'SKIPPED', { skip_reason: 'Empty.' }), { outcome: 'SKIPPED', reason: 'Empty.' }],
    ['cancelled by its worker', 'RUNNING', (story) => story.finish('a', 'CANCELLED'), { outcome: 'CANCELLED', reason: 'WORKER_CANCELLED' }],
    ['taken back', 'DISPATCHED', withdraw, { outcome: 'CANCELLED', reason: 'RUN_CANCELLED', execution_id: null, error: null }],
    ['never started', 'DISPATCHED', (story) => story.lose('a', 'START_DEADLINE'), { outcome: 'LOST', reason: 'START_DEADLINE' }],
    ['silent', 'RUNNING', (story) => story.lose('a', 'HEARTBEAT'), { outcome: 'LOST', reason: 'HEARTBEAT', error: null }],
    ['too long', 'RUNNING', (story) => story.lose('a', 'TIMEOUT'), { outcome: 'LOST', reason: 'TIMEOUT' }],
    ['deaf to a cancel', 'RUNNING', cancelGrace, { outcome: 'LOST', reason: 'CANCEL_GRACE' }],
    ['refused', 'DISPATCHED', (story) => story.lose('a', 'HANDOVER_REFUSED'), { outcome: 'LOST', reason: 'HANDOVER_REFUSED' }],
    ['given back', 'RUNNING', release, { outcome: 'LOST', reason: 'RELEASED', error }],
  ])('%s', (_, state, end, expected) => {
    const story = storyIn(state)
    expect(end(story)).toBe('applied')
    expect(rowOf(story)).toMatchObject({ attempt: 1, attempt_id: attemptIdOf(story.run_id, 'a', 1), dispatched_at: NOW, ...expected })
    const isStarted = state === 'RUNNING'
    expect(rowOf(story)).toMatchObject({ worker_id: isStarted ? 'worker-1' : null, started_at: isStarted ? NOW : null })
  })

  it('that stays when a later attempt succeeds, with its own times', () => {
    const story = storyIn('RUNNING')
    story.finish('a', 'FAILED', { error }, { at: NOW + 5_000 })
    story.dispatch('a', { at: NOW + 60_000 })
    story.start('a', { at: NOW + 61_000 })
    story.finish('a', 'SUCCEEDED', {}, { at: NOW + 62_000 })
    story.story.publish()
    expect(story.task('a')).toMatchObject({ state: 'SUCCEEDED', attempt: 2, error: null })
    expect(rowOf(story)).toMatchObject({ outcome: 'FAILED', error, dispatched_at: NOW, started_at: NOW, finished_at: NOW + 5_000 })
    expect(rowOf(story, 2)).toBeUndefined()
  })

  it('and each has its own', () => {
    const story = createRunStory({ a: { definition: { retry: { max_attempts: 2, jitter: 0 } } } })
    story.complete('a', 'FAILED', { error })
    story.dispatch('a', { at: NOW + 30_000 })
    story.start('a', { at: NOW + 40_000 })
    story.finish('a', 'FAILED', { error: { ...error, message: 'Again.' } }, { at: NOW + 50_000 })
    expect([rowOf(story)?.error?.message, rowOf(story, 2)?.error?.message]).toEqual(['It broke.', 'Again.'])
  })
})

it('an attempt that succeeded has none', () => {
  const story = storyIn('RUNNING')
  story.finish('a', 'SUCCEEDED')
  expect(rowOf(story)).toBeUndefined()
})

it('a finish that overtakes its start says who ran it, and ends no earlier than it was dispatched', () => {
  const story = storyIn('DISPATCHED')
  story.finish('a', 'FAILED', {}, { at: NOW - 10 })
  expect(rowOf(story)).toMatchObject({ execution_id: ulidOf('execution'), started_at: null, finished_at: NOW })
})

it('what a worker sends is kept up to a limit, in the row and in that of the task', () => {
  const story = storyIn('RUNNING')
  const large = { code: 'C'.repeat(5_000), message: 'It broke.', stack: 's'.repeat(100_000), retryable: false }
  story.finish('a', 'FAILED', { error: large })
  const kept = { ...large, code: 'C'.repeat(ERROR_CODE_CHARACTERS_MAX), stack: 's'.repeat(ERROR_STACK_CHARACTERS_MAX) }
  expect([rowOf(story)?.error, story.task('a').error]).toEqual([kept, kept])
  expect(story.status('a')?.last_attempt_error_code).toBe(kept.code)

  const skipping = storyIn('RUNNING')
  skipping.finish('a', 'SKIPPED', { skip_reason: 'r'.repeat(100_000) })
  expect(rowOf(skipping)?.reason).toHaveLength(SHORT_TEXT_CHARACTERS_MAX)
})
