// Each event on a task in each state: what follows, or why it is refused.

import { describe, expect, test } from '@jest/globals'
import { type State, storyIn } from '../../test/fixtures/attempt-story.js'
import type { RunStory } from '../../test/fixtures/run-story.js'
import { NOW } from '../../test/fixtures/say.js'

/** What each event does to the task in each state: the state that follows, or why it is refused. */
const later = { at: NOW + 3_600_000 }
const EVENTS: readonly (readonly [string, (story: RunStory) => string, Readonly<Record<State, string>>])[] = [
  [
    'DispatchRequested',
    (story) => story.dispatch('a', later),
    {
      BLOCKED: 'STALE_BASIS',
      READY: 'DISPATCHED',
      DISPATCHED: 'STALE_BASIS',
      RUNNING: 'STALE_BASIS',
      RETRY_WAIT: 'DISPATCHED',
      SUCCEEDED: 'STALE_BASIS',
      FAILED: 'TERMINAL',
      SKIPPED: 'TERMINAL',
      CANCELLED: 'TERMINAL',
    },
  ],
  [
    'DispatchEnqueued',
    (story) => story.fold(story.say.dispatchEnqueued(active(story))),
    facts({ DISPATCHED: 'DISPATCHED', RUNNING: 'ILLEGAL_TRANSITION' }),
  ],
  [
    'TaskStarted, said again after its key expired',
    (story) => story.fold({ ...story.say.taskStarted(active(story)), idempotency_key: 'started again' }),
    facts({ DISPATCHED: 'RUNNING', RUNNING: 'ILLEGAL_TRANSITION' }),
  ],
  [
    'TaskHeartbeat',
    (story) => story.fold(story.say.taskHeartbeat(active(story), 1)),
    facts({ DISPATCHED: 'ILLEGAL_TRANSITION', RUNNING: 'RUNNING' }),
  ],
  ...(['SUCCEEDED', 'SKIPPED', 'CANCELLED'] as const).map(
    (outcome) =>
      [
        `TaskFinished ${outcome}`,
        (story: RunStory) => story.fold({ ...story.say.taskFinished(active(story), outcome), idempotency_key: 'finished again' }),
        facts({ DISPATCHED: outcome, RUNNING: outcome }),
      ] as const,
  ),
  [
    'TaskFinished CANCELLED, of an attempt that was taken back',
    (story) =>
      story.fold({ ...story.say.taskFinished(active(story), 'CANCELLED', { withdrawn: true }), idempotency_key: 'finished again' }),
    facts({ DISPATCHED: 'CANCELLED', RUNNING: 'CANCELLED' }),
  ],
  [
    'TaskFinished FAILED',
    (story) => story.fold({ ...story.say.taskFinished(active(story), 'FAILED'), idempotency_key: 'finished again' }),
    facts({ DISPATCHED: 'RETRY_WAIT', RUNNING: 'RETRY_WAIT' }),
  ],
  [
    'AttemptLost START_DEADLINE',
    (story) => story.lose('a', 'START_DEADLINE'),
    losses({ DISPATCHED: 'RETRY_WAIT', RUNNING: 'STALE_BASIS' }),
  ],
  ['AttemptLost HEARTBEAT', (story) => story.lose('a', 'HEARTBEAT'), losses({ DISPATCHED: 'STALE_BASIS', RUNNING: 'RETRY_WAIT' })],
  ['AttemptLost TIMEOUT', (story) => story.lose('a', 'TIMEOUT'), losses({ DISPATCHED: 'STALE_BASIS', RUNNING: 'RETRY_WAIT' })],
  [
    'AttemptLost HANDOVER_REFUSED',
    (story) => story.lose('a', 'HANDOVER_REFUSED'),
    losses({ DISPATCHED: 'RETRY_WAIT', RUNNING: 'RETRY_WAIT' }),
  ],
  ['AttemptLost CANCEL_GRACE', (story) => story.lose('a', 'CANCEL_GRACE'), losses({ DISPATCHED: 'STALE_BASIS', RUNNING: 'STALE_BASIS' })],
  [
    'RunCancelRequested',
    (story) => story.cancel(),
    {
      BLOCKED: 'CANCELLED',
      READY: 'CANCELLED',
      DISPATCHED: 'DISPATCHED',
      RUNNING: 'RUNNING',
      RETRY_WAIT: 'CANCELLED',
      SUCCEEDED: 'SUCCEEDED',
      FAILED: 'TERMINAL',
      SKIPPED: 'TERMINAL',
      CANCELLED: 'TERMINAL',
    },
  ],
]

/** Facts of attempt 1, whether or not there has been one. */
function active(story: RunStory) {
  return story.name('a', Math.max(1, story.task('a').attempt))
}

function facts(active: { readonly DISPATCHED: string; readonly RUNNING: string }): Readonly<Record<State, string>> {
  const over = {
    RETRY_WAIT: 'ATTEMPT_OVER',
    SUCCEEDED: 'ATTEMPT_OVER',
    FAILED: 'ATTEMPT_OVER',
    SKIPPED: 'ATTEMPT_OVER',
    CANCELLED: 'ATTEMPT_OVER',
  }
  return { BLOCKED: 'BASIS_MISSING', READY: 'BASIS_MISSING', ...over, ...active }
}

/** A loss is the turn's own decision: one that nobody was handed rests on nothing. */
function losses(active: { readonly DISPATCHED: string; readonly RUNNING: string }): Readonly<Record<State, string>> {
  return { ...facts(active), BLOCKED: 'STALE_BASIS', READY: 'STALE_BASIS' }
}

describe.each(EVENTS)('%s', (_, say, expected) => {
  test.each(Object.entries(expected) as [State, string][])('on a task that is %s: %s', (state, result) => {
    const story = storyIn(state)
    const before = story.task('a')
    const outcome = say(story)
    if (outcome === 'applied') {
      expect(story.task('a').state).toBe(result)
    } else {
      expect(outcome).toBe(result)
      expect(story.task('a')).toEqual(before)
    }
  })
})
