import { describe, expect, it } from '@jest/globals'
import { createRunStory, type RunStory } from '../../../test/fixtures/run-story.js'
import { NOW } from '../../../test/fixtures/say.js'
import { createScheduleStory, SCHEDULE_ID } from '../../../test/fixtures/schedule-story.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.js'
import { OUTCOME_TALLY } from './outcome.js'
import { RUN_TALLY } from './run.js'
import { SCHEDULE_TALLY } from './schedule.js'
import { type Tally, type TallyContext, tallyOf } from './tally.js'
import { TASK_TALLY } from './task.js'

const PUBLISHED_AT = NOW + 250
const context = { published_at: PUBLISHED_AT, publishedAt: (sequence: number) => (sequence === 2 ? NOW + 40 : undefined) }
const TALLIES = [RUN_TALLY, TASK_TALLY, SCHEDULE_TALLY, OUTCOME_TALLY]
const METRICS = TALLIES.flatMap(({ metrics }) => metrics)
type Changes = Parameters<typeof tallyOf>[1]

/** With metrics that are served, and series that are served as 0 before. */
function tallyAt(rows: Changes, at: TallyContext = context): Tally {
  const tally = tallyOf(TALLIES, rows, at)
  for (const [name, by_series] of [...tally.counts, ...tally.durations_ms])
    expect(METRICS.find((metric) => metric.name === name)?.series).toEqual(expect.arrayContaining([...by_series.keys()]))
  return tally
}

const tallied = ({ story }: RunStory): Tally => tallyAt(story.rows)
const countsIn = (name: string, { counts: by_name }: Tally) => Object.fromEntries(by_name.get(name) ?? [])
const counts = (tally: Tally) => countsIn('servo_tasks_total', tally)
const runs = (tally: Tally) => countsIn('servo_runs_total', tally)
const lost = (tally: Tally) => countsIn('servo_attempts_lost_total', tally)
const refused = (tally: Tally) => countsIn('servo_events_refused_total', tally)
const took = (stage: string, { durations_ms }: Tally) => durations_ms.get('servo_dispatch_delay_seconds')?.get(stage)
const retrying = { definition: { retry: { max_attempts: 3, max_infra_losses: 2, backoff_seconds: 0, jitter: 0 } } }

/** What is folded by `tell` after everything before it was published. */
function told(story: RunStory, tell: (story: RunStory) => void): Tally {
  story.story.publish()
  tell(story)
  return tallied(story)
}

describe('a tally', () => {
  it('of nothing is empty', () => {
    expect(tallied(createRunStory({ a: {} }))).toEqual({ counts: new Map(), durations_ms: new Map() })
  })

  it('counts a run that passes through all of its states within one publish in each of them, once', () => {
    const story = createRunStory({ a: {}, b: { needs: ['a'] } })
    const whole = tallyAt({ changesOf: (table) => asNew(story.story.rows, story, table) })
    expect(countsIn('servo_run_requests_total', whole)).toEqual({ MANUAL: 1 })
    expect(runs(whole)).toEqual({ PENDING: 1, PLANNED: 1 })
    expect(counts(whole)).toEqual({ 'READY NONE': 1, 'BLOCKED NONE': 1 })
    const ended = told(story, () => ['a', 'b'].forEach((task_key) => story.complete(task_key)))
    expect(runs(ended)).toEqual({ RUNNING: 1, SUCCEEDED: 1 })
    expect(counts(ended)).toEqual({ 'DISPATCHED NONE': 2, 'RUNNING NONE': 2, 'SUCCEEDED NONE': 2, 'READY NONE': 1 })
    expect(runs(told(story, () => undefined))).toEqual({})
  })

  it('counts an attempt that fails and the one after it, in one publish', () => {
    const story = createRunStory({ a: retrying })
    story.dispatch('a')
    const tally = told(story, () => {
      story.start('a')
      story.finish('a', 'FAILED')
      story.dispatch('a', { at: NOW + 100 })
    })
    expect(counts(tally)).toEqual({ 'RUNNING NONE': 1, 'DISPATCHED NONE': 1, 'RETRY_WAIT ERROR': 1 })
    expect(lost(tally)).toEqual({})
  })

  it.each(['START_DEADLINE', 'HANDOVER_REFUSED'] as const)('counts an attempt lost by %s, whatever comes of its task', (reason) => {
    const story = createRunStory({ a: { definition: { retry: { max_attempts: 1, max_infra_losses: 1, jitter: 0 } } } })
    story.dispatch('a')
    const first = told(story, () => story.lose('a', reason))
    expect([lost(first), counts(first)]).toEqual([{ [reason]: 1 }, { [`RETRY_WAIT ${reason}`]: 1 }])
    const { retry_at } = story.task('a')
    story.dispatch('a', { at: retry_at as number })
    const second = told(story, () => story.lose('a', reason))
    expect([lost(second), counts(second)]).toEqual([{ [reason]: 1 }, { [`FAILED ${reason}`]: 1 }])
    expect(runs(second)).toEqual({ FAILED: 1 })
  })

  it('counts an attempt that its worker gave back, though it counts as no try', () => {
    const story = createRunStory({ a: {} })
    story.dispatch('a')
    story.start('a')
    const tally = told(story, () => {
      story.fold(story.say.attemptLost(story.name('a'), 'HANDOVER_REFUSED', { task_state: 'RUNNING' }, { released: true }))
    })
    expect([lost(tally), counts(tally)]).toEqual([{ RELEASED: 1 }, { 'RETRY_WAIT RELEASED': 1 }])
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
    expect([lost(tally), counts(tally)]).toEqual([{}, { 'RETRY_WAIT WITHDRAWN': 1, 'DISPATCHED NONE': 1 }])
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
    expect([runs(ended), counts(ended)]).toEqual([{ CANCELLING: 1 }, { 'CANCELLED RUN_CANCELLED': 1 }])
  })

  it('counts refusals by reason', () => {
    const story = createRunStory({ a: {} })
    const tally = told(story, () => {
      story.fold(
        story.say.dispatchRequested(story.name('a', 2), { task_state: 'READY', previous_attempt: 0, definition_hash: story.hash('a') }),
      )
      story.fold(story.say.runRequested('user:1', { assets: { keys: ['b'] }, request_fingerprint: 'f'.repeat(64) }))
    })
    expect(refused(tally)).toEqual({ STALE_BASIS: 1, RUN_KEY_CONFLICT: 1 })
    expect(countsIn('servo_run_key_conflicts_total', tally)).toEqual({ '': 1 })
  })

  it('says how long a task waited for its dispatch, and the dispatch for its start, from publish to publish', () => {
    const story = createRunStory({ a: {} })
    expect(
      took(
        'ready_to_dispatched',
        told(story, () => story.dispatch('a')),
      ),
    ).toEqual([250])
    story.story.publish()
    const { row_version } = story.outbox('a') as { readonly row_version: number }
    const publishedAt = (sequence: number) => (sequence === row_version ? NOW + 40 : undefined)
    story.start('a', { at: NOW + 100 })
    const started = (known: TallyContext['publishedAt']) =>
      took('dispatched_to_started', tallyAt(story.story.rows, { published_at: PUBLISHED_AT, publishedAt: known }))
    expect(started(publishedAt)).toEqual([60])
    // Of a revision that nobody remembers, the turn's own time is left.
    expect(started(() => undefined)).toEqual([100])
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
    story.onFolded((rows) => tallies.push(tallyAt(rows, telling)))
    story.decide(MIDNIGHT + SECOND_MS)
    expect(tallies.map((tally) => countsIn('servo_schedule_ticks_total', tally))).toEqual([{ TRIGGERED: 3, SKIPPED: 3 }])
    const delays = (tally: Tally | undefined) => tally?.durations_ms.get('servo_schedule_tick_delay_seconds')?.get('')
    expect(delays(tallies[0])).toEqual([20 * MINUTE_MS, 10 * MINUTE_MS, 0].map((ms) => ms + 2 * SECOND_MS))
    const [tick] = story.ticks().filter(({ run_key }) => run_key !== null)
    const trigger = { type: 'SCHEDULE', schedule_id: SCHEDULE_ID, tick_id: tick?.tick_id ?? '' } as const
    story.fold(story.say.runRequested(tick?.run_key ?? '', { trigger }))
    expect(story.ticks().some(({ conflict_count }) => conflict_count === 1)).toBe(true)
    const [, second] = tallies
    expect([second?.counts.has('servo_schedule_ticks_total'), delays(second)]).toEqual([false, undefined])
  })
})
