// What follows each end of an attempt, by the asset's policy: whether there is another try, on whose account, and when.

import { describe, expect, test } from '@jest/globals'
import { createRunStory } from '../../test/fixtures/run-story.js'
import { NOW } from '../../test/fixtures/say.js'
import { retryDelayMs } from '../core/retry-delay.js'
import type { AssetDefinition } from '../events/asset.js'

type Retry = NonNullable<AssetDefinition['retry']>
type End = 'FAILED' | 'FOR_GOOD' | 'BUSY' | 'TIMEOUT' | 'HEARTBEAT' | 'START_DEADLINE' | 'HANDOVER_REFUSED' | 'RELEASED'

/** How the attempts ended, one after the other: a word for each end. Each next one is dispatched when it is due. */
function after(retry: Retry | undefined, ends: readonly End[]) {
  const story = createRunStory({ a: { definition: { timeout_seconds: 60, ...(retry === undefined ? {} : { retry }) } } })
  let at = NOW
  const delays: (number | null)[] = []
  for (const end of ends) {
    expect(story.dispatch('a', { at })).toBe('applied')
    if (end !== 'START_DEADLINE' && end !== 'HANDOVER_REFUSED') story.start('a', { at })
    const ended_at = endBy(story, end, at)
    const { retry_at, state } = story.task('a')
    delays.push(state === 'RETRY_WAIT' && retry_at !== null ? retry_at - ended_at : null)
    at = retry_at ?? at
  }
  const { state, failures, infra_losses, attempt, attempt_id } = story.task('a')
  return { state, failures, infra_losses, attempt, delays, attempt_id }
}

function endBy(story: ReturnType<typeof createRunStory>, end: End, at: number): number {
  const error = { code: 'BOOM', message: 'It broke.' }
  switch (end) {
    case 'FAILED':
      story.finish('a', 'FAILED', { error }, { at })
      return at
    case 'FOR_GOOD':
      story.finish('a', 'FAILED', { error: { ...error, retryable: false }, retry_after_seconds: 1 }, { at })
      return at
    case 'BUSY':
      story.finish('a', 'FAILED', { error, retry_after_seconds: 7 }, { at })
      return at
    case 'RELEASED':
      story.fold(
        story.say.attemptLost(
          story.name('a'),
          'HANDOVER_REFUSED',
          { task_state: 'RUNNING', deadline_at: null },
          { released: true },
          { at },
        ),
      )
      return at
    case 'HANDOVER_REFUSED':
      story.lose('a', end, { at })
      return at
    case 'TIMEOUT':
    case 'HEARTBEAT':
    case 'START_DEADLINE': {
      const { timeout_at, heartbeat_deadline_at, start_deadline_at } = story.task('a')
      const deadline_at = { TIMEOUT: timeout_at, HEARTBEAT: heartbeat_deadline_at, START_DEADLINE: start_deadline_at }[end] as number
      story.lose('a', end, { at: deadline_at })
      return deadline_at
    }
  }
}

const PLAIN = { backoff_seconds: 10, jitter: 0 }

describe('another try', () => {
  test.each<[string, Retry | undefined, readonly End[], object]>([
    ['is none where no policy is given', undefined, ['FAILED'], { state: 'FAILED', failures: 1, delays: [null] }],
    ['comes up to max_attempts', { ...PLAIN, max_attempts: 3 }, ['FAILED', 'FAILED'], { state: 'RETRY_WAIT', failures: 2, attempt: 2 }],
    ['and none is more', { ...PLAIN, max_attempts: 3 }, ['FAILED', 'FAILED', 'FAILED'], { state: 'FAILED', failures: 3, attempt: 3 }],
    [
      'comes later each time, by factor, up to max_backoff_seconds',
      { ...PLAIN, max_attempts: 9, factor: 3, max_backoff_seconds: 100 },
      ['FAILED', 'FAILED', 'FAILED', 'FAILED', 'FAILED'],
      { delays: [10_000, 30_000, 90_000, 100_000, 100_000] },
    ],
    ['comes at once without backoff', { max_attempts: 3, backoff_seconds: 0 }, ['FAILED', 'FAILED'], { delays: [0, 0] }],
    [
      'always comes after as long with the factor 1',
      { ...PLAIN, max_attempts: 3, factor: 1 },
      ['FAILED', 'FAILED'],
      { delays: [10_000, 10_000] },
    ],
    ['comes when the worker says', { ...PLAIN, max_attempts: 3 }, ['BUSY'], { state: 'RETRY_WAIT', delays: [7_000] }],
    ['is none after an error that is not retryable', { ...PLAIN, max_attempts: 3 }, ['FOR_GOOD'], { state: 'FAILED', failures: 1 }],
    [
      'counts a time-out as the failure of the code that it is',
      { ...PLAIN, max_attempts: 2 },
      ['TIMEOUT'],
      { failures: 1, infra_losses: 0, delays: [10_000] },
    ],
    ['is none after the last time-out', { ...PLAIN, max_attempts: 1 }, ['TIMEOUT'], { state: 'FAILED', failures: 1 }],
    ...(['START_DEADLINE', 'HANDOVER_REFUSED'] as const).map((end): [string, Retry, readonly End[], object] => [
      `comes soon after ${end}, and counts apart`,
      { max_attempts: 1, max_infra_losses: 3 },
      [end, end, end],
      { state: 'RETRY_WAIT', failures: 0, infra_losses: 3, delays: [5_000, 10_000, 20_000] },
    ]),
    [
      'comes at once after HEARTBEAT, because the silence was as long as the pause would be, and counts apart',
      { max_attempts: 1, max_infra_losses: 3 },
      ['HEARTBEAT', 'HEARTBEAT', 'HEARTBEAT'],
      { state: 'RETRY_WAIT', failures: 0, infra_losses: 3, delays: [0, 0, 0] },
    ],
    [
      'is none after more losses than max_infra_losses',
      { max_infra_losses: 1 },
      ['HEARTBEAT', 'HEARTBEAT'],
      { state: 'FAILED', failures: 0, infra_losses: 2 },
    ],
    [
      'is none after the first loss where none is allowed',
      { max_infra_losses: 0 },
      ['START_DEADLINE'],
      { state: 'FAILED', infra_losses: 1 },
    ],
    [
      'is left to the code after losses, and to losses after failures',
      { ...PLAIN, max_attempts: 2, max_infra_losses: 2 },
      ['HEARTBEAT', 'FAILED', 'HEARTBEAT'],
      { state: 'RETRY_WAIT', failures: 1, infra_losses: 2, delays: [0, 10_000, 0] },
    ],
    [
      'is nobody’s loss where a worker gave the attempt back',
      { max_infra_losses: 0 },
      ['RELEASED', 'RELEASED'],
      { state: 'RETRY_WAIT', failures: 0, infra_losses: 0 },
    ],
  ])('%s', (_, retry, ends, expected) => {
    expect(after(retry, ends)).toMatchObject(expected)
  })

  test('is spread by jitter, drawn from the id of the attempt that failed: the same in every replay, another for every attempt', () => {
    const policy = { max_attempts: 50, backoff_seconds: 100, factor: 1, max_backoff_seconds: 100, jitter: 0.5 }
    const ends = Array.from({ length: 40 }, () => 'FAILED' as const)
    const { delays, attempt_id } = after(policy, ends)
    expect(after(policy, ends).delays).toEqual(delays)
    expect(delays.at(-1)).toBe(retryDelayMs(policy, 40, attempt_id as string))
    for (const delay of delays) {
      expect(delay).toBeGreaterThanOrEqual(75_000)
      expect(delay).toBeLessThan(125_000)
    }
    expect(new Set(delays).size).toBeGreaterThan(35)
    expect(Math.min(...(delays as number[]))).toBeLessThan(80_000)
    expect(Math.max(...(delays as number[]))).toBeGreaterThan(120_000)
  })
})
