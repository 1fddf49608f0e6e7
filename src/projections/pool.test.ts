import { describe, expect, it } from '@jest/globals'
import { createRunStory } from '../../test/fixtures/run-story.js'
import { NOW } from '../../test/fixtures/say.js'
import { capOf } from './pool.js'

const inPool = { definition: { pools: ['db'] } }

describe('a pool', () => {
  it('that nobody defined is counted from its first use, and has no cap', () => {
    const story = createRunStory({ a: inPool, b: inPool })
    expect([capOf(story.story.rows, 'global'), capOf(story.story.rows, 'pool:db'), capOf(story.story.rows, 'location:main')]).toEqual([
      1_000,
      null,
      64,
    ])
    expect(story.dispatch('a')).toBe('applied')
    expect(story.pool('global')).toMatchObject({ max_running: 1_000, in_use: 1 })
    expect(story.pool('pool:db')).toMatchObject({ max_running: null, in_use: 1, updated_by: null, updated_at: NOW })
  })

  it.each([['pool:db'], ['global'], ['location:main']])('%s that is full refuses a dispatch', (pool_key) => {
    const story = createRunStory({ a: inPool, b: inPool })
    story.fold(story.say.poolDefined(pool_key, 1))
    expect(story.dispatch('a')).toBe('applied')
    const before = [story.pool('global'), story.task('b')]
    const [refused] = story.story.fold(
      story.say.dispatchRequested(story.name('b', 1), { task_state: 'READY', previous_attempt: 0, definition_hash: story.hash('b') }),
    )
    expect(refused).toEqual({ kind: 'refused', reason: 'CAP_REACHED', detail: { pool_key, max_running: 1, in_use: 1 } })
    expect([story.pool('global'), story.task('b')]).toEqual(before)
    story.finish('a', 'SUCCEEDED')
    expect(story.dispatch('b')).toBe('applied')
  })

  it("has its location's slots for a cap, until it gets one of its own", () => {
    const story = createRunStory({ a: {}, b: {} })
    story.fold(story.say.locationDeployed('main', 1, { slots: 0 }))
    expect(story.dispatch('a')).toBe('CAP_REACHED')
    story.fold(story.say.poolDefined('location:main', 1))
    expect(story.dispatch('a')).toBe('applied')
    expect(story.dispatch('b')).toBe('CAP_REACHED')
  })

  it('defined while tasks run counts them, and stops new ones alone', () => {
    const story = createRunStory({ a: inPool, b: inPool, c: inPool })
    story.dispatch('a')
    story.dispatch('b')
    expect(story.fold(story.say.poolDefined('pool:db', 1))).toBe('applied')
    expect(story.pool('pool:db')).toMatchObject({ max_running: 1, in_use: 2, updated_by: 'user:1' })
    expect(story.task('b').state).toBe('DISPATCHED')
    story.finish('a', 'SUCCEEDED')
    expect(story.dispatch('c')).toBe('CAP_REACHED')
  })

  it('removed goes on counting, without a cap of its own', () => {
    const story = createRunStory({ a: inPool, b: inPool })
    story.fold(story.say.poolDefined('pool:db', 1))
    story.dispatch('a')
    expect(story.fold(story.say.poolRemoved('pool:db', { at: NOW + 1_000 }))).toBe('applied')
    expect(story.pool('pool:db')).toMatchObject({ max_running: null, in_use: 1, removed_at: NOW + 1_000, updated_by: 'user:2' })
    expect(story.dispatch('b')).toBe('applied')
    expect(story.fold(story.say.poolDefined('pool:db', 5))).toBe('applied')
    expect(story.pool('pool:db')).toMatchObject({ max_running: 5, in_use: 2, removed_at: null })
  })

  it.each([
    ['global', 'ILLEGAL_TRANSITION'],
    ['pool:nobody', 'UNKNOWN_ENTITY'],
    ['location:main', 'UNKNOWN_ENTITY'],
  ])('%s without a cap of its own cannot be removed: %s', (pool_key, reason) => {
    const story = createRunStory({ a: {} })
    expect(story.fold(story.say.poolRemoved(pool_key))).toBe(reason)
  })
})
