import { describe, expect, it } from '@jest/globals'
import { createRunStory, type RunStory } from '../../test/fixtures/run-story.js'
import { NOW } from '../../test/fixtures/say.js'
import { createScheduleStory, SCHEDULE_ID } from '../../test/fixtures/schedule-story.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.js'
import { TALLIED, type Tally, tallyOf } from './tally.js'

const PUBLISHED_AT = NOW + 250
const context = { published_at: PUBLISHED_AT, publishedAt: (sequence: number) => (sequence === 2 ? NOW + 40 : undefined) }
const tallied = ({ story }: RunStory): Tally => tallyOf(story.rows, context)
const counts = ({ tasks }: Tally) => Object.fromEntries(tasks.map(({ state, reason, count }) => [`${state} ${reason}`, count]))
const retrying = { definition: { retry: { max_attempts: 3, max_infra_losses: 2, backoff_seconds: 0, jitter: 0 } } }

/** What is folded by `tell` after everything before it was published. */
function told(story: RunStory, tell: (story: RunStory) => void): Tally {
  story.story.publish()
  tell(story)
  return tallied(story)
}

describe('a tally', () => {
  it('of nothing is empty', () => {
    const { tasks, ...rest } = tallied(createRunStory({ a: {} }))
    expect(tasks).toEqual([])
    for (const part of Object.values(rest)) expect('size' in part ? part.size : part.length).toBe(0)
  })

  it('counts a run that passes through all of its states within one publish in each of them, once', () => {
    const story = createRunStory({ a: {}, b: { needs: ['a'] } })
    const whole = tallyOf({ changesOf: (table) => asNew(story.story.rows, story, table) }, context)
    expect([...whole.run_requests]).toEqual([['MANUAL', 1]])
    expect([...whole.runs]).toEqual([
      ['PENDING', 1],
      ['PLANNED', 1],
    ])
    expect(counts(whole)).toEqual({ 'READY NONE': 1, 'BLOCKED NONE': 1 })
    const ended = told(story, () => ['a', 'b'].forEach((task_key) => story.complete(task_key)))
    expect([...ended.runs]).toEqual([
      ['RUNNING', 1],
      ['SUCCEEDED', 1],
    ])
    expect(counts(ended)).toEqual({ 'DISPATCHED NONE': 2, 'RUNNING NONE': 2, 'SUCCEEDED NONE': 2, 'READY NONE': 1 })
    expect(told(story, () => undefined).runs.size).toBe(0)
  })

  it('counts an attempt that fails and the one after it, in one publish', () => {
    const story = createRunStory({ a: retrying })
    story.dispatch('a')
    const { ready_to_dispatched_ms, ...tally } = told(story, () => {
      story.start('a')
      story.finish('a', 'FAILED')
      story.dispatch('a', { at: NOW + 100 })
    })
    expect(counts({ ready_to_dispatched_ms, ...tally })).toEqual({ 'RUNNING NONE': 1, 'DISPATCHED NONE': 1, 'RETRY_WAIT ERROR': 1 })
    expect(tally.attempts_lost.size).toBe(0)
  })

  it.each(['START_DEADLINE', 'HANDOVER_REFUSED'] as const)('counts an attempt lost by %s, whatever comes of its task', (reason) => {
    const story = createRunStory({ a: { definition: { retry: { max_attempts: 1, max_infra_losses: 1, jitter: 0 } } } })
    story.dispatch('a')
    const first = told(story, () => story.lose('a', reason))
    expect([[...first.attempts_lost], counts(first)]).toEqual([[[reason, 1]], { [`RETRY_WAIT ${reason}`]: 1 }])
    const { retry_at } = story.task('a')
    story.dispatch('a', { at: retry_at as number })
    const second = told(story, () => story.lose('a', reason))
    expect([[...second.attempts_lost], counts(second)]).toEqual([[[reason, 1]], { [`FAILED ${reason}`]: 1 }])
    expect([...second.runs]).toEqual([['FAILED', 1]])
  })

  it('counts an attempt that its worker gave back, though it is held against nobody', () => {
    const story = createRunStory({ a: {} })
    story.dispatch('a')
    story.start('a')
    const tally = told(story, () => {
      story.fold(story.say.attemptLost(story.name('a'), 'HANDOVER_REFUSED', { task_state: 'RUNNING' }, { released: true }))
    })
    expect([[...tally.attempts_lost], counts(tally)]).toEqual([[['RELEASED', 1]], { 'RETRY_WAIT RELEASED': 1 }])
    expect(TALLIED.tasks).toContainEqual({ state: 'RETRY_WAIT', reason: 'RELEASED' })
  })

  it('counts an attempt that was taken back before it began, also where its task is dispatched again in the same publish', () => {
    const story = createRunStory({ a: {}, b: {} })
    story.fold(story.say.locationDeployed('main', 1, { slots: 1, prefetch: 1 }))
    story.dispatch('a')
    story.dispatch('b')
    const tally = told(story, () => {
      story.fold(story.say.attemptLost(story.name('b'), 'HANDOVER_REFUSED', { task_state: 'DISPATCHED' }, { withdrawn: true }))
      story.dispatch('b')
    })
    expect([[...tally.attempts_lost], counts(tally)]).toEqual([[], { 'RETRY_WAIT WITHDRAWN': 1, 'DISPATCHED NONE': 1 }])
    expect(TALLIED.tasks).toContainEqual({ state: 'RETRY_WAIT', reason: 'WITHDRAWN' })
  })

  it('counts what a failure and a cancel end, and why', () => {
    const failed = createRunStory({ a: {}, b: { needs: ['a'] }, c: { needs: ['b'] } })
    failed.dispatch('a')
    const tally = told(failed, () => {
      failed.start('a')
      failed.finish('a', 'FAILED', { error: { code: 'BOOM', message: '', retryable: false } })
    })
    expect(counts(tally)).toEqual({
      'RUNNING NONE': 1,
      'FAILED ERROR': 1,
      'SKIPPED UPSTREAM_FAILED': 1,
      'SKIPPED UPSTREAM_SKIPPED': 1,
    })
    const cancelled = createRunStory({ a: {}, b: {} })
    cancelled.dispatch('a')
    cancelled.start('a')
    const ended = told(cancelled, () => cancelled.cancel())
    expect([[...ended.runs], counts(ended)]).toEqual([[['CANCELLING', 1]], { 'CANCELLED RUN_CANCELLED': 1 }])
  })

  it('counts refusals by reason', () => {
    const story = createRunStory({ a: {} })
    const tally = told(story, () => {
      story.fold(
        story.say.dispatchRequested(story.name('a', 2), { task_state: 'READY', previous_attempt: 0, definition_hash: story.hash('a') }),
      )
      story.fold(story.say.runRequested('user:1', { assets: { keys: ['b'] }, request_fingerprint: 'f'.repeat(64) }))
    })
    expect([...tally.refusals]).toEqual([
      ['STALE_BASIS', 1],
      ['RUN_KEY_CONFLICT', 1],
    ])
    for (const reason of tally.refusals.keys()) expect(TALLIED.refusal_reasons).toContain(reason)
  })

  it('says how long a task waited for its dispatch, and the dispatch for its start, from publish to publish', () => {
    const story = createRunStory({ a: {} })
    expect(told(story, () => story.dispatch('a')).ready_to_dispatched_ms).toEqual([250])
    story.story.publish()
    const { row_version } = story.outbox('a') as { readonly row_version: number }
    const publishedAt = (sequence: number) => (sequence === row_version ? NOW + 40 : undefined)
    story.start('a', { at: NOW + 100 })
    expect(tallyOf(story.story.rows, { published_at: PUBLISHED_AT, publishedAt }).dispatched_to_started_ms).toEqual([60])
    // Of a revision that nobody remembers, the turn's own time is left.
    expect(tallyOf(story.story.rows, { published_at: PUBLISHED_AT, publishedAt: () => undefined }).dispatched_to_started_ms).toEqual([100])
  })
})

/** The rows that there are, as if all of them had just been made. */
function asNew(rows: RunStory['story']['rows'], { run_id }: RunStory, table: string): never[] {
  const all: readonly unknown[] = table === 'runs' ? rows.hotRows('runs') : table === 'tasks' ? rows.tasksOf(run_id) : []
  return all.map((after) => ({ before: undefined, after })) as never[]
}

describe('a tally of ticks', () => {
  const MIDNIGHT = Date.parse('2025-01-15T00:00:00Z')

  it('counts those that ran and were skipped, each with its delay, and none a second time', () => {
    const story = createScheduleStory()
    story.define(MIDNIGHT - HOUR_MS, { cron_expressions: ['*/10 * * * *'] })
    const tallies: Tally[] = []
    const telling = { ...context, published_at: MIDNIGHT + 2 * SECOND_MS }
    story.onFolded((rows) => tallies.push(tallyOf(rows, telling)))
    story.decide(MIDNIGHT + SECOND_MS)
    expect(tallies.map(({ schedule_ticks }) => Object.fromEntries(schedule_ticks))).toEqual([{ TRIGGERED: 3, SKIPPED: 3 }])
    expect(tallies[0]?.tick_delays_ms).toEqual([20 * MINUTE_MS, 10 * MINUTE_MS, 0].map((ms) => ms + 2 * SECOND_MS))
    const [tick] = story.ticks().filter(({ run_key }) => run_key !== null)
    const trigger = { type: 'SCHEDULE', schedule_id: SCHEDULE_ID, tick_id: tick?.tick_id ?? '' } as const
    story.fold(story.say.runRequested(tick?.run_key ?? '', { trigger }))
    expect(story.ticks().some(({ conflict_count }) => conflict_count === 1)).toBe(true)
    expect([tallies[1]?.schedule_ticks.size, tallies[1]?.tick_delays_ms]).toEqual([0, []])
  })
})
