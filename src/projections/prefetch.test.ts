import { describe, expect, it } from '@jest/globals'
import { createRunStory } from '../../test/fixtures/run-story.js'
import { NOW } from '../../test/fixtures/say.js'
import { PREFETCH_WAIT_MS_MAX } from '../core/limits.js'

const SECOND = 1_000
const START_TIMEOUT_MS = 60 * SECOND
const definition = { start_timeout_seconds: START_TIMEOUT_MS / SECOND }

/** Three tasks of a location that has one slot. */
function storyOf(location: { readonly prefetch?: number }, pools: readonly string[] = []) {
  const asset = { definition: { ...definition, pools: [...pools] } }
  const story = createRunStory({ a: asset, b: asset, c: asset })
  story.fold(story.say.locationDeployed('main', 1, { slots: 1, ...location }))
  const withdraw = (task_key: string, at = NOW + PREFETCH_WAIT_MS_MAX): string =>
    story.fold(story.say.attemptLost(story.name(task_key), 'HANDOVER_REFUSED', { task_state: 'DISPATCHED' }, { withdrawn: true }, { at }))
  const mean = () => story.pool('location:main')?.attempt_ms_mean
  return { ...story, withdraw, mean }
}

describe('a location', () => {
  it('takes as many attempts beyond its slots as its deploy says, and none where it says nothing', () => {
    const [none, one] = [storyOf({}), storyOf({ prefetch: 1 })]
    expect(['a', 'b'].map((key) => none.dispatch(key))).toEqual(['applied', 'CAP_REACHED'])
    expect(['a', 'b', 'c'].map((key) => one.dispatch(key))).toEqual(['applied', 'applied', 'CAP_REACHED'])
    expect(['a', 'b'].map((key) => one.outbox(key)?.prefetched)).toEqual([false, true])
    expect(one.pool('location:main')?.in_use).toBe(2)
  })

  it.each([
    ['a cap of its own', 'location:main'],
    ['a pool that the asset names', 'pool:db'],
    ['the workspace', 'global'],
  ])('takes no more than %s allows', (_, pool_key) => {
    const story = storyOf({ prefetch: 9 }, ['db'])
    story.fold(story.say.poolDefined(pool_key, 1))
    expect([story.dispatch('a'), story.dispatch('b')]).toEqual(['applied', 'CAP_REACHED'])
  })

  it('without slots takes nothing, whatever its workers would keep', () => {
    const story = storyOf({})
    story.fold(story.say.locationDeployed('main', 2, { slots: 0, prefetch: 9 }))
    expect(story.dispatch('a')).toBe('CAP_REACHED')
  })

  it('has a moving average of how long attempts had a slot, in which the first one is all that is known', () => {
    const story = storyOf({})
    expect(story.mean()).toBeNull()
    story.dispatch('a')
    story.start('a', { at: NOW + 700 })
    story.finish('a', 'SUCCEEDED', {}, { at: NOW + 1_500 })
    expect(story.mean()).toBe(800)
    story.dispatch('b')
    story.start('b', { at: NOW + 2_000 })
    story.finish('b', 'FAILED', { error: { code: 'BOOM', message: 'It broke.' } }, { at: NOW + 18_000 })
    expect(story.mean()).toBe(800 + (16_000 - 800) / 8)
  })

  it('believes a worker that measured how long its slot was taken', () => {
    const story = storyOf({})
    story.dispatch('a')
    story.start('a', { at: NOW + 700 })
    story.finish('a', 'SUCCEEDED', { slot_ms: 1_300 }, { at: NOW + 1_500 })
    expect(story.mean()).toBe(1_300)
  })

  it('learns nothing of attempts that were never said to have begun, or ended before they began by another clock', () => {
    const story = storyOf({ prefetch: 9 })
    story.dispatch('a')
    story.lose('a', 'HANDOVER_REFUSED')
    expect(story.mean()).toBeNull()
    story.dispatch('b')
    story.start('b', { at: NOW + 700 })
    story.finish('b', 'SUCCEEDED', {}, { at: NOW + 500 })
    expect(story.mean()).toBe(0)
  })
})

describe('a prefetched attempt', () => {
  it('has the time that it may wait beyond what it may take to start', () => {
    const story = storyOf({ prefetch: 1 })
    story.dispatch('a')
    story.dispatch('b')
    expect(['a', 'b'].map((key) => (story.task(key).start_deadline_at ?? 0) - NOW)).toEqual([
      START_TIMEOUT_MS,
      START_TIMEOUT_MS + PREFETCH_WAIT_MS_MAX,
    ])
  })

  it('that is taken back counts as no try, gives its places back, and may be dispatched at once', () => {
    const story = storyOf({ prefetch: 1 }, ['db'])
    story.dispatch('a')
    story.dispatch('b')
    const at = NOW + PREFETCH_WAIT_MS_MAX + 300
    expect(story.withdraw('b', at)).toBe('applied')
    expect(story.task('b')).toMatchObject({
      state: 'RETRY_WAIT',
      outcome_reason: 'WITHDRAWN',
      failures: 0,
      infra_losses: 0,
      releases: 0,
      retry_at: NOW + PREFETCH_WAIT_MS_MAX,
      start_deadline_at: null,
    })
    expect(story.outbox('b')).toMatchObject({ status: 'CLOSED', close_reason: 'WITHDRAWN' })
    expect(['location:main', 'pool:db', 'global'].map((pool_key) => story.pool(pool_key)?.in_use)).toEqual([1, 1, 1])
    // Nobody began it, so nothing is known of what it was to make.
    expect(story.status('b')).toBeUndefined()
    expect(story.dispatch('b', { at })).toBe('applied')
  })

  it('that is taken back says that the location is slow, until short attempts outweigh it', () => {
    const story = storyOf({ prefetch: 1 })
    story.dispatch('a')
    story.start('a')
    story.finish('a', 'SUCCEEDED', {}, { at: NOW + 80 })
    story.dispatch('b')
    story.withdraw('b')
    expect(story.mean()).toBe(80 + (PREFETCH_WAIT_MS_MAX - 80) / 8)
  })

  it('that has started is taken back no more, and one of a cancelled run ends with it', () => {
    const story = storyOf({ prefetch: 2 })
    story.dispatch('a')
    story.dispatch('b')
    story.dispatch('c')
    story.start('b')
    expect(story.withdraw('b')).toBe('STALE_BASIS')
    story.cancel()
    expect([story.withdraw('c'), story.task('c').state]).toEqual(['applied', 'CANCELLED'])
  })
})
