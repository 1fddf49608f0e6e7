import { describe, expect, it } from '@jest/globals'
import { createRunStory } from '../../test/fixtures/run-story.js'
import { NOW } from '../../test/fixtures/say.js'
import { capOf, poolSourceOf } from './pool.js'

const inPool = { definition: { pools: ['db'] } }

describe('a pool', () => {
  it('that nobody defined is counted from its first use, and has no cap', () => {
    const story = createRunStory({ a: inPool, b: inPool })
    expect(['global', 'pool:db', 'location:main'].map((pool_key) => capOf(poolSourceOf(story.story.rows), pool_key))).toEqual([
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

describe('a tag', () => {
  const tags = { team: 'core', 'a=b': 'c' }

  it('without a cap is not counted at all', () => {
    const story = createRunStory({ a: {} }, 'user:1', { tags })
    story.dispatch('a')
    expect(story.task('a').pool_keys).toEqual(['global', 'location:main'])
    expect(story.pool('tag:team=core')).toBeUndefined()
  })

  it.each(['tag:team=core', 'tag:team'])('with a cap by %s counts its value, and refuses what is too many', (pool_key) => {
    const story = createRunStory({ a: {}, b: {} }, 'user:1', { tags })
    story.fold(story.say.poolDefined(pool_key, 1))
    expect(story.dispatch('a')).toBe('applied')
    expect(story.task('a').pool_keys).toEqual(['global', 'location:main', 'tag:team=core'])
    expect(story.pool('tag:team=core')).toMatchObject({ in_use: 1, expires_at: null })
    expect(story.dispatch('b')).toBe('CAP_REACHED')
    story.finish('a', 'SUCCEEDED')
    expect(story.dispatch('b')).toBe('applied')
  })

  it('whose value has a cap of its own does not mind that of all values', () => {
    const story = createRunStory({ a: {}, b: {} }, 'user:1', { tags })
    story.fold(story.say.poolDefined('tag:team', 0))
    story.fold(story.say.poolDefined('tag:team=core', 2))
    expect([story.dispatch('a'), story.dispatch('b')]).toEqual(['applied', 'applied'])
    expect(story.pool('tag:team')).toMatchObject({ in_use: 0, max_running: 0 })
  })

  it('that gets a cap counts the tasks that are active then, once', () => {
    const story = createRunStory({ a: {}, b: {} }, 'user:1', { tags })
    story.dispatch('a')
    story.fold(story.say.poolDefined('tag:team', 5))
    story.fold(story.say.poolDefined('tag:team=core', 1, { request: 'r2' }))
    expect(story.pool('tag:team=core')).toMatchObject({ in_use: 1, max_running: 1 })
    expect(story.task('a').pool_keys).toEqual(['global', 'location:main', 'tag:team=core'])
    expect(story.dispatch('b')).toBe('CAP_REACHED')
    story.finish('a', 'SUCCEEDED')
    expect(story.pool('tag:team=core')).toMatchObject({ in_use: 0, max_running: 1 })
  })

  it('of a task that is tried again is counted by the caps that there are then', () => {
    const story = createRunStory({ a: { definition: { retry: { max_attempts: 2, backoff_seconds: 0 } } } }, 'user:1', { tags })
    story.fold(story.say.poolDefined('tag:team', 5))
    story.complete('a', 'FAILED')
    story.fold(story.say.poolRemoved('tag:team'))
    expect(story.dispatch('a')).toBe('applied')
    expect(story.task('a').pool_keys).toEqual(['global', 'location:main'])
    story.fold(story.say.poolDefined('tag:team', 5, { request: 'r2' }))
    expect(story.task('a').pool_keys).toEqual(['global', 'location:main', 'tag:team=core'])
    story.finish('a', 'SUCCEEDED')
    expect(story.pool('tag:team=core')?.in_use).toBe(0)
  })

  it('whose value counts nothing and has no cap of its own leaves memory with the next publish', () => {
    const story = createRunStory({ a: {} }, 'user:1', { tags })
    story.fold(story.say.poolDefined('tag:team', 5))
    story.complete('a')
    expect(story.pool('tag:team=core')?.expires_at).not.toBeNull()
    story.story.publish()
    expect(story.pool('tag:team=core')).toBeUndefined()
    expect(story.pool('tag:team')).toMatchObject({ max_running: 5, expires_at: null })
  })

  it('whose value was forgotten begins anew, whether or not a publish came between', () => {
    const [whole, split] = [false, true].map((isSplit) => {
      const story = createRunStory({ a: {}, b: {} }, 'user:1', { tags })
      story.fold(story.say.poolDefined('tag:team', 5))
      story.complete('a')
      if (isSplit) story.story.publish()
      story.dispatch('b', { at: NOW + 5_000 })
      return story.pool('tag:team=core')
    })
    expect(whole).toEqual({ ...split, row_version: whole?.row_version })
    expect(whole?.updated_at).toBe(NOW + 5_000)
  })

  it("whose key has a = is nobody else's value", () => {
    const story = createRunStory({ a: {} }, 'user:1', { tags })
    story.fold(story.say.poolDefined('tag:a=b=c', 0))
    expect(story.dispatch('a')).toBe('applied')
  })
})
