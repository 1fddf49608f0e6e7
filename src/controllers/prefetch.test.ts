import { describe, expect, it, test } from '@jest/globals'
import { createRunStory } from '../../test/fixtures/run-story.js'
import { attemptIdOf, NOW } from '../../test/fixtures/say.js'
import { reconcileDispatch } from './dispatch.js'
import { prefetchCount } from './prefetch.js'

const identity = {
  secret_key_id: 's1',
  attemptIdOf: ({ run_id, task_key, attempt }: { readonly run_id: string; readonly task_key: string; readonly attempt: number }) =>
    attemptIdOf(run_id, task_key, attempt),
}

test.each([
  ['four slots of 100 ms, for three publishes', {}, 120],
  ['what workers say that they keep', { kept_max: 32 }, 32],
  ['nothing that is not known to be short', { attempt_ms_mean: null }, 0],
  ['nothing that takes longer than the publishes', { attempt_ms_mean: 12_001 }, 0],
  ['one that just fits', { attempt_ms_mean: 12_000 }, 1],
  ['attempts that take no time at all', { attempt_ms_mean: 0, kept_max: 1_000 }, 1_000],
  ['slots that move', { stale_count: 3 }, 30],
  ['none, where all slots are stuck and others wait', { stale_count: 9 }, 0],
  ['none, where a store takes a publish as soon as it comes', { publish_interval_ms: 0 }, 0],
])('a location is given %s', (_, changes, expected) => {
  const pace = { slots: 4, kept_max: 256, stale_count: 0, attempt_ms_mean: 100, publish_interval_ms: 1_000 }
  expect(prefetchCount({ ...pace, ...changes })).toBe(expected)
})

/** Tasks of a location with one slot, after an attempt that had it for 750 ms: room for four more. */
function storyOf(tasks: Parameters<typeof createRunStory>[0]) {
  const story = createRunStory({ first: {}, ...tasks })
  const { say } = story
  story.fold(say.locationDeployed('main', 1, { slots: 1, prefetch: 32 }))
  story.dispatch('first')
  story.start('first')
  story.finish('first', 'SUCCEEDED', {}, { at: NOW + 750 })
  const { rows } = story.story
  const dispatch = (now = NOW, publish_interval_ms = 1_000): readonly unknown[] =>
    reconcileDispatch({ rows, now, publish_interval_ms }, identity).map(({ drafts: [draft] }) =>
      draft?.event_type === 'DispatchRequested' ? draft.payload.task_key : undefined,
    )
  return { ...story, dispatchAll: dispatch }
}

describe('dispatched ahead', () => {
  it('is what the slots get through in three publishes, in the order of all', () => {
    const tasks = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => [key, {}]))
    const story = storyOf(tasks)
    expect(story.dispatchAll()).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(story.dispatchAll(NOW, 0)).toEqual(['a'])
    for (const key of ['a', 'b', 'c']) story.dispatch(key)
    // What is out already counts.
    expect(story.dispatchAll()).toEqual(['d', 'e'])
  })

  it('is nothing behind slots that are stuck, or attempts that nobody starts', () => {
    const story = storyOf({ a: {}, b: {}, c: {} })
    story.dispatch('a')
    expect(story.dispatchAll(NOW + 5_000)).toEqual(['b', 'c'])
    expect(story.dispatchAll(NOW + 5_001)).toEqual([])
    story.start('a', { at: NOW + 5_000 })
    expect(story.dispatchAll(NOW + 10_000)).toEqual(['b', 'c'])
    expect(story.dispatchAll(NOW + 10_001)).toEqual([])
  })

  it('goes behind those that a slot is free for, where both need a place in a pool', () => {
    const db = { definition: { pools: ['db'] } }
    const story = storyOf({ a: db, b: db, elsewhere: db, c: {} })
    const { say, fold, hash } = story
    fold(say.poolDefined('pool:db', 2))
    fold(say.assetRemoved('elsewhere', hash('elsewhere')))
    fold(say.locationDeployed('other', 0, { slots: 1 }))
    fold(say.assetDefined('elsewhere', { pools: ['db'] }, 'other', { request: 'r2' }))
    // `b` is before it, and would hold the last place while it waits for a slot.
    expect(story.dispatchAll()).toEqual(['a', 'elsewhere', 'c'])
  })

  it('is nothing beyond a cap that somebody set on the location', () => {
    const story = storyOf({ a: {}, b: {}, c: {} })
    story.fold(story.say.poolDefined('location:main', 2))
    expect(story.dispatchAll()).toEqual(['a', 'b'])
  })
})
