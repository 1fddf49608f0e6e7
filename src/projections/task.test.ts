import { describe, expect, it } from '@jest/globals'
import { createRunStory, type RunStory } from '../../test/fixtures/run-story.js'
import { NOW } from '../../test/fixtures/say.js'

const resolutions = (story: RunStory, edges: readonly (readonly [string, string])[]) =>
  edges.map(([downstream, upstream]) => story.edge(downstream, upstream)?.resolution)

describe('edges', () => {
  it('satisfied one by one make a task ready with the last', () => {
    const story = createRunStory({ a: {}, b: {}, c: { needs: ['a', 'b'] } })
    expect(story.states()).toEqual({ a: 'READY', b: 'READY', c: 'BLOCKED' })
    story.complete('a')
    expect(story.task('c')).toMatchObject({ state: 'BLOCKED', deps_total: 2, deps_satisfied_count: 1, ready_at: null })
    expect(story.edge('c', 'a')).toMatchObject({ satisfied: true, resolution: 'SUCCESS', resolved_at: NOW, satisfying_attempt: 1 })
    expect(story.edge('c', 'b')).toMatchObject({ satisfied: false, resolution: null, resolved_at: null, satisfying_attempt: null })
    story.complete('b')
    expect(story.task('c')).toMatchObject({ state: 'READY', deps_satisfied_count: 2, ready_at: NOW })
  })

  it('name the attempt that satisfied them', () => {
    const story = createRunStory({ a: { definition: { retry: { max_attempts: 2, backoff_seconds: 0 } } }, b: { needs: ['a'] } })
    story.complete('a', 'FAILED')
    expect(story.edge('b', 'a')?.resolution).toBeNull()
    story.complete('a')
    expect(story.edge('b', 'a')).toMatchObject({ satisfied: true, satisfying_attempt: 2 })
  })

  it.each([
    ['FAILED', 'SKIPPED', 'UPSTREAM_FAILED', 'UPSTREAM_SKIPPED', 'FAILED'],
    ['SKIPPED', 'SKIPPED', 'UPSTREAM_SKIPPED', 'UPSTREAM_SKIPPED', 'SUCCEEDED'],
    ['CANCELLED', 'CANCELLED', 'UPSTREAM_CANCELLED', 'UPSTREAM_CANCELLED', 'CANCELLED'],
  ] as const)('a task that is %s makes all after it %s, at once', (outcome, state, first, further, run_state) => {
    const story = createRunStory({ a: {}, b: { needs: ['a'] }, c: { needs: ['b'] }, d: { needs: ['a', 'c'] }, e: {} })
    story.complete('e')
    story.complete('a', outcome)
    expect(story.states()).toEqual({ a: outcome, b: state, c: state, d: state, e: 'SUCCEEDED' })
    expect(['b', 'c', 'd'].map((task_key) => story.task(task_key).outcome_reason)).toEqual([first, further, first])
    expect(story.task('c')).toMatchObject({ finished_at: NOW, skip_reason: state === 'SKIPPED' ? further : null, attempt: 0 })
    expect(
      resolutions(story, [
        ['b', 'a'],
        ['c', 'b'],
        ['d', 'a'],
        ['d', 'c'],
      ]),
    ).toEqual([outcome, state, outcome, state])
    expect(story.run()).toMatchObject({ state: run_state, tasks_open: 0, tasks_total: 5 })
  })

  it('of what is over already still resolve, once', () => {
    const story = createRunStory({ a: {}, b: {}, c: { needs: ['a', 'b'] } })
    story.complete('a', 'FAILED')
    expect(story.task('c').state).toBe('SKIPPED')
    story.complete('b')
    expect(story.task('c')).toMatchObject({ state: 'SKIPPED', deps_satisfied_count: 1 })
    expect(
      resolutions(story, [
        ['c', 'a'],
        ['c', 'b'],
      ]),
    ).toEqual(['FAILED', 'SUCCESS'])
  })

  it('of 10,000 tasks in a row resolve without recursion', () => {
    const chain = Array.from({ length: 10_000 }, (_, i) => [`t${i}`, i === 0 ? {} : { needs: [`t${i - 1}`] }] as const)
    const story = createRunStory(Object.fromEntries(chain))
    story.complete('t0', 'FAILED')
    expect(story.run()).toMatchObject({ state: 'FAILED', tasks_failed: 1, tasks_skipped: 9_999, tasks_open: 0 })
    expect(story.task('t9999')).toMatchObject({ state: 'SKIPPED', outcome_reason: 'UPSTREAM_SKIPPED' })
  })
})

describe('a cancelled run', () => {
  it('ends what has not been handed over, and gives the others a deadline', () => {
    const story = createRunStory({
      a: {},
      b: { definition: { cancel_grace_seconds: 5 } },
      c: { needs: ['b'] },
      d: {},
      e: { definition: { retry: { max_attempts: 2 } } },
      f: {},
    })
    story.complete('a')
    story.dispatch('b')
    story.dispatch('f')
    story.start('f')
    story.complete('e', 'FAILED')
    expect(story.states()).toEqual({ a: 'SUCCEEDED', b: 'DISPATCHED', c: 'BLOCKED', d: 'READY', e: 'RETRY_WAIT', f: 'RUNNING' })
    story.cancel({ at: NOW + 1_000 })
    expect(story.states()).toEqual({ a: 'SUCCEEDED', b: 'DISPATCHED', c: 'CANCELLED', d: 'CANCELLED', e: 'CANCELLED', f: 'RUNNING' })
    expect(story.run()).toMatchObject({
      state: 'CANCELLING',
      tasks_open: 2,
      tasks_cancelled: 3,
      cancel_requested_at: NOW + 1_000,
      cancel_requested_by: 'user:1',
    })
    expect(story.task('b')).toMatchObject({ cancel_requested_at: NOW + 1_000, cancel_deadline_at: NOW + 6_000 })
    expect(story.task('f')).toMatchObject({ cancel_requested_at: NOW + 1_000, cancel_deadline_at: NOW + 31_000 })
    expect(story.task('d')).toMatchObject({ cancel_requested_at: NOW + 1_000, cancel_deadline_at: null, outcome_reason: 'RUN_CANCELLED' })
    expect(story.task('e')).toMatchObject({ retry_at: null, finished_at: NOW + 1_000 })
    expect(story.task('a').cancel_requested_at).toBeNull()
    expect(story.status('d')).toBeUndefined()
  })
})
