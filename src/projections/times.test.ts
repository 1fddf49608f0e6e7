// Times of rows where those who say what happened know the store's clock differently: a column is never before what it
// rests on, and deadlines count from what was said.

import { describe, expect, it } from '@jest/globals'
import { createStory } from '../../test/fixtures/fold-story.js'
import { createRunStory } from '../../test/fixtures/run-story.js'
import { createSpeaker, NOW, ulidOf } from '../../test/fixtures/say.js'
import { sha256Hex } from '../core/hash.js'

/** What a process says whose knowledge of the clock is so much behind. The plan of a story is said at NOW, as its request is. */
const behind = (ms: number) => ({ at: NOW - ms })
const ahead = (ms: number) => ({ at: NOW + ms })

const retrying = { definition: { retry: { max_attempts: 3, max_infra_losses: 2, jitter: 0 } } }

describe('times of a run and its tasks', () => {
  it('are those of the cause where what follows is said to be earlier', () => {
    const story = createRunStory({ a: {}, b: { needs: ['a'] } })
    expect(story.dispatch('a', behind(700))).toBe('applied')
    expect(story.task('a')).toMatchObject({ ready_at: NOW, dispatched_at: NOW, start_deadline_at: NOW - 700 + 600_000 })
    expect(story.fold(story.say.dispatchEnqueued(story.name('a'), ahead(40)))).toBe('applied')
    expect(story.start('a', behind(800))).toBe('applied')
    expect(story.outbox('a')).toMatchObject({ requested_at: NOW, enqueued_at: NOW + 40, closed_at: NOW + 40 })
    // Deadlines count from what the worker's start was said to be.
    expect(story.task('a')).toMatchObject({ started_at: NOW + 40, heartbeat_deadline_at: NOW - 800 + 80_000 })
    expect(story.run()).toMatchObject({ planned_at: NOW, started_at: NOW + 40 })
    expect(story.finish('a', 'SUCCEEDED', {}, behind(858))).toBe('applied')
    expect(story.task('a')).toMatchObject({ finished_at: NOW + 40 })
    expect(story.edge('b', 'a')).toMatchObject({ resolved_at: NOW + 40 })
    expect(story.status('a')).toMatchObject({ last_attempt_at: NOW + 40, last_materialization_at: NOW + 40 })
    expect(story.task('b')).toMatchObject({ ready_at: NOW + 40 })
    story.dispatch('b', ahead(10))
    story.start('b', ahead(20))
    story.finish('b', 'SUCCEEDED', {}, ahead(30))
    expect(story.task('b')).toMatchObject({ dispatched_at: NOW + 40, started_at: NOW + 40, finished_at: NOW + 40 })
    expect(story.run()).toMatchObject({ state: 'SUCCEEDED', finished_at: NOW + 40 })
  })

  it('are those that were said where they are in order', () => {
    const story = createRunStory({ a: {} })
    story.dispatch('a', ahead(10))
    story.start('a', ahead(25))
    story.fold(story.say.taskHeartbeat(story.name('a'), 1, {}, ahead(30)))
    story.finish('a', 'SUCCEEDED', {}, ahead(70))
    expect(story.task('a')).toMatchObject({
      dispatched_at: NOW + 10,
      started_at: NOW + 25,
      last_heartbeat_at: NOW + 30,
      finished_at: NOW + 70,
    })
    expect(story.run()).toMatchObject({ started_at: NOW + 25, finished_at: NOW + 70 })
  })

  it('of a plan are not before its request, whose second the turn had not heard of', () => {
    const say = createSpeaker()
    const story = createStory()
    const defined = say.assetDefined('a')
    const request = say.runRequested('user:1', { assets: { keys: ['a'] } }, ahead(600))
    const { run_id } = request.payload
    story.fold(say.locationDeployed('main', 0), defined)
    story.fold(request)
    const page = { run_id, page: 0, pages: 1, task_offset: 0, task_count: 1 }
    const { asset_key, definition_hash } = defined.payload
    const plan = { ...page, definitions: [{ asset_key, definition_hash }], tasks: [{ k: 'a', d: 0, p: null, n: 1 }] }
    story.fold(say.planPage(plan, request.event_id))
    expect(story.row('runs', run_id)).toMatchObject({ requested_at: NOW + 600, planned_at: NOW + 600 })
    expect(story.row('tasks', run_id, 'a')).toMatchObject({ ready_at: NOW + 600 })
    story.fold(say.runCancelRequested(run_id, ahead(100)))
    expect(story.row('runs', run_id)).toMatchObject({ state: 'CANCELLED', cancel_requested_at: NOW + 600, finished_at: NOW + 600 })
    expect(story.row('tasks', run_id, 'a')).toMatchObject({ finished_at: NOW + 600, cancel_requested_at: NOW + 600 })
  })

  it('of a plan that failed and of a cancel without a plan are not before the request', () => {
    const say = createSpeaker()
    const story = createStory()
    const [first, second] = ['user:1', 'user:2'].map((key) => say.runRequested(key, { assets: { keys: ['a'] } }, ahead(600)))
    if (first === undefined || second === undefined) throw new Error('There are two.')
    story.fold(first, second)
    story.fold(say.planFailed(first.payload.run_id, first.event_id))
    story.fold(say.runCancelRequested(second.payload.run_id))
    for (const { payload } of [first, second]) {
      expect(story.row('runs', payload.run_id)).toMatchObject({ finished_at: NOW + 600 })
    }
  })

  it('of a run are not before the end of any of its tasks', () => {
    const story = createRunStory({ a: {}, b: {} })
    for (const task_key of ['a', 'b']) {
      story.dispatch(task_key)
      story.start(task_key)
    }
    story.finish('a', 'SUCCEEDED', {}, ahead(900))
    story.finish('b', 'SUCCEEDED', {}, ahead(100))
    expect(story.task('b')).toMatchObject({ finished_at: NOW + 100 })
    expect(story.run()).toMatchObject({ finished_at: NOW + 900 })
  })

  it('of a run that is started by the end of its first task are those of that end', () => {
    const story = createRunStory({ a: {} })
    story.dispatch('a', ahead(50))
    story.finish('a', 'SUCCEEDED', {}, behind(10))
    expect(story.run()).toMatchObject({ started_at: NOW + 50, finished_at: NOW + 50 })
    expect(story.outbox('a')).toMatchObject({ closed_at: NOW + 50, close_reason: 'FINISHED' })
  })

  it('of a beat do not go back, and its deadline counts from what was said', () => {
    const story = createRunStory({ a: { definition: { ...retrying.definition, heartbeat_timeout_seconds: 1 } } })
    story.dispatch('a')
    story.start('a', ahead(500))
    story.fold(story.say.taskHeartbeat(story.name('a'), 1, {}, behind(100)))
    expect(story.task('a')).toMatchObject({ last_heartbeat_at: NOW + 500, heartbeat_deadline_at: NOW - 100 + 1_333 })
    // The delay counts from the last beat as it was said: the deadline tells it.
    expect(story.lose('a', 'HEARTBEAT')).toBe('applied')
    expect(story.task('a')).toMatchObject({ state: 'RETRY_WAIT', retry_at: NOW - 100 + 5_000 })
  })

  it('of an attempt that was lost, and of the next one, are not before its start', () => {
    const story = createRunStory({ a: retrying })
    story.dispatch('a')
    story.start('a', ahead(500))
    expect(story.lose('a', 'HANDOVER_REFUSED', behind(200))).toBe('applied')
    expect(story.status('a')).toMatchObject({ last_attempt_at: NOW + 500, failed_since_at: NOW + 500 })
    const { retry_at } = story.task('a')
    expect(retry_at).toBe(NOW - 200 + 5_000)
    expect(story.dispatch('a', { at: NOW + 4_800 })).toBe('applied')
    story.lose('a', 'HANDOVER_REFUSED', ahead(4_000))
    expect(story.outbox('a')).toMatchObject({ requested_at: NOW + 4_800, closed_at: NOW + 4_800 })
    expect(story.status('a')).toMatchObject({ last_attempt_at: NOW + 4_800 })
  })

  it('of a retry are not before the end of the attempt that it follows', () => {
    const story = createRunStory({ a: retrying })
    story.dispatch('a')
    story.start('a')
    const basis = { task_state: 'RUNNING', deadline_at: null } as const
    // The API that is told of it is ahead of the turn, whose time lies before the release that it folds.
    expect(story.fold(story.say.attemptLost(story.name('a'), 'HANDOVER_REFUSED', basis, { released: true }, ahead(700)))).toBe('applied')
    expect(story.dispatch('a', ahead(100))).toBe('applied')
    expect(story.outbox('a')).toMatchObject({ attempt: 2, requested_at: NOW + 700 })
    expect(story.task('a')).toMatchObject({
      dispatched_at: NOW + 700,
      start_deadline_at: NOW + 100 + 600_000,
      attempt_ended_at: null,
    })
  })

  it('of a task that is cancelled while it waits for a retry are not before the end of its attempt', () => {
    const story = createRunStory({ a: retrying })
    story.dispatch('a')
    story.start('a')
    expect(story.finish('a', 'FAILED', {}, ahead(700))).toBe('applied')
    expect(story.task('a')).toMatchObject({ state: 'RETRY_WAIT', attempt_ended_at: NOW + 700, finished_at: null })
    expect(story.cancel(ahead(100))).toBe('applied')
    expect(story.task('a')).toMatchObject({ state: 'CANCELLED', finished_at: NOW + 700 })
  })
})

describe('times of definitions, names and conflicts', () => {
  it('of a definition that ends, and comes back, are in order', () => {
    const say = createSpeaker()
    const story = createStory()
    const [first, second] = [
      say.assetDefined('a', {}, 'main', ahead(500)),
      say.assetDefined('a', { code_version: '2' }, 'main', { ...ahead(200), request: 'r2' }),
    ]
    const again = say.assetDefined('a', {}, 'main', { ...ahead(100), request: 'r3' })
    story.fold(say.locationDeployed('main', 0), first)
    story.fold(second)
    expect(story.row('asset_definitions', 'a', first.payload.definition_hash)).toMatchObject({
      current_since_at: NOW + 500,
      ended_at: NOW + 500,
    })
    story.fold(again)
    expect(story.row('asset_definitions', 'a', first.payload.definition_hash)).toMatchObject({
      defined_at: NOW + 500,
      current_since_at: NOW + 500,
    })
    expect(story.row('asset_definitions', 'a', second.payload.definition_hash)).toMatchObject({
      current_since_at: NOW + 200,
      ended_at: NOW + 200,
    })
  })

  it('of a schedule and its name are in order', () => {
    const say = createSpeaker()
    const story = createStory()
    const defined = say.scheduleDefined(ulidOf('nightly'), {}, {}, ahead(500))
    const { schedule_id, schedule_name } = defined.payload
    story.fold(defined)
    story.fold(say.scheduleRemoved(schedule_id, ahead(100)))
    expect(story.row('schedule_definitions', schedule_id)).toMatchObject({
      created_at: NOW + 500,
      updated_at: NOW + 500,
      removed_at: NOW + 500,
    })
    expect(story.row('names', 'SCHEDULE', schedule_name)).toMatchObject({ taken_at: NOW + 500, released_at: NOW + 500 })
  })

  it('of a conflict are not before the run that it meets', () => {
    const say = createSpeaker()
    const story = createStory()
    const [first, second] = [
      say.runRequested('user:1', { assets: { keys: ['a'] } }, ahead(300)),
      say.runRequested('user:1', { request_fingerprint: sha256Hex('another request') }, { event_id: ulidOf('another') }),
    ]
    story.fold(first)
    story.fold(second)
    expect(story.row('run_key_conflicts', 'user:1', second.payload.request_fingerprint)).toMatchObject({ detected_at: NOW + 300 })
  })
})
