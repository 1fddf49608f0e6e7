import { describe, expect, it } from '@jest/globals'
import { createStory } from '../../test/fixtures/fold-story.js'
import { createRunStory, told } from '../../test/fixtures/run-story.js'
import { createSpeaker, NOW } from '../../test/fixtures/say.js'
import { listSha256 } from '../core/keys.js'
import { DAY_MS, HOUR_MS } from '../core/time.js'
import type { BatchEntry } from './outcome.js'

const BROKEN = {
  kind: 'quarantine',
  reason: 'BAD_SCHEMA',
  raw: '{"event_id": 1}',
  detail: 'event_id is 1.',
  event_type: 'PoolDefined',
} as const

/** Folds entries as they are, in a segment of that name. */
function given(fold_time = NOW) {
  const say = createSpeaker()
  const clock = { now: fold_time }
  const story = createStory({ fold_time: () => clock.now })
  const foldEntries = (...entries: BatchEntry[]) => story.foldTogether([{ entries, fold_time: clock.now, segment_name: 'seg' }]).map(told)
  const fold = (...events: Parameters<typeof story.fold>) => story.fold(...events).map(told)
  return { say, story, clock, fold, foldEntries }
}

describe('what cannot become an event', () => {
  it('is quarantined where it stood, and stops nothing', () => {
    const { say, story, foldEntries } = given()
    const pool = { kind: 'event', event: say.poolDefined('pool:p', 1) } as const
    expect(foldEntries(pool, BROKEN)).toEqual(['applied', 'BAD_SCHEMA'])
    expect(story.row('quarantine', 'seg', 0, 1)).toEqual({
      segment_name: 'seg',
      batch_index: 0,
      event_index: 1,
      reason: 'BAD_SCHEMA',
      event_type: 'PoolDefined',
      event_version: null,
      event_id: null,
      raw: '{"event_id": 1}',
      detail: 'event_id is 1.',
      folded_at: NOW,
      row_version: 0,
      last_event_id: '',
    })
    expect(story.rows.appliedTotal()).toBe(1)
  })

  it('as a whole has the index that says so', () => {
    const { story, foldEntries } = given()
    foldEntries({ ...BROKEN, event_index: -1 })
    expect(story.row('quarantine', 'seg', 0, -1)?.reason).toBe('BAD_SCHEMA')
  })

  it('is no cause either', () => {
    const { say, foldEntries } = given()
    const lost = say.poolDefined('pool:p', 1)
    const entry = { ...BROKEN, event_id: lost.event_id }
    expect(foldEntries(entry, { kind: 'event', event: say.poolDefined('pool:q', 1, { causation_id: lost.event_id }) })).toEqual([
      'BAD_SCHEMA',
      'TRIGGER_NOT_APPLIED',
    ])
  })
})

describe('an event that names a list', () => {
  const values = ['a', 'b']
  const list = { sha256: listSha256(values), count: 2 }

  it.each([
    ['its assets', { assets: { list } }],
    ['its partitions', { partitions: { list } }],
    ['its pins', { definition_pins: { list } }],
  ])('with %s is quarantined while the list is missing or too short, with its own text', (_, changes) => {
    const { say, story, fold } = given()
    const request = say.runRequested('user:1', changes)
    expect(fold(request)).toEqual(['LIST_MISSING'])
    expect(story.row('quarantine', 'segment-000001', 0, 0)).toMatchObject({
      raw: JSON.stringify(request),
      event_id: request.event_id,
      event_type: 'RunRequested',
      event_version: 1,
      detail: { sha256: list.sha256 },
      last_event_id: request.event_id,
    })
    story.publish()
    story.lists.set(list.sha256, ['a'])
    expect(fold(request)).toEqual(['LIST_MISSING'])
    story.publish()
    story.lists.set(list.sha256, values)
    expect(fold(request)).toEqual(['applied'])
  })
})

describe('a duplicate', () => {
  it('is an event whose key was applied, in the batch or before, and changes nothing', () => {
    const { say, story, fold } = given()
    expect(fold(say.poolDefined('pool:p', 1, { request: 'r' }), say.poolDefined('pool:p', 2, { request: 'r' }))).toEqual([
      'applied',
      'duplicate',
    ])
    story.publish()
    const before = story.everything()
    expect(fold(say.poolDefined('pool:p', 3, { request: 'r' }))).toEqual(['duplicate'])
    expect(story.everything()).toEqual(before)
    expect(story.rows.appliedTotal()).toBe(1)
  })

  it('is known for seven days of fold time', () => {
    const { say, story, clock, fold } = given(NOW + 10 * 60_000)
    const event = say.poolDefined('pool:p', 1)
    fold(event)
    expect(story.row('idempotency_keys', event.idempotency_key)).toMatchObject({
      event_id: event.event_id,
      event_type: 'PoolDefined',
      folded_hour_at: NOW,
    })
    story.publish()
    clock.now = NOW + 7 * DAY_MS + HOUR_MS - 1
    expect(fold(event)).toEqual(['duplicate'])
    clock.now += 1
    expect(fold(event)).toEqual(['applied'])
    expect(story.row('idempotency_keys', event.idempotency_key)?.folded_hour_at).toBe(clock.now)
  })

  it('by a run key or an index entry is no cause for the rest of its batch', () => {
    const { say, fold } = given()
    const trigger = say.poolDefined('pool:p', 1)
    fold(trigger)
    const said = { causation_id: trigger.event_id }
    expect(fold(trigger, say.runRequested('user:1', {}, said))).toEqual(['duplicate', 'TRIGGER_NOT_APPLIED'])
  })
})

describe('a refusal', () => {
  it('leaves a row and the key free', () => {
    const { say, story, fold } = given()
    const event = say.runCancelRequested('run_x', { at: NOW - 5_000 })
    expect(fold(event)).toEqual(['UNKNOWN_ENTITY'])
    expect(story.row('refusals', event.idempotency_key, event.event_id)).toEqual({
      idempotency_key: event.idempotency_key,
      event_id: event.event_id,
      event_type: 'RunCancelRequested',
      reason: 'UNKNOWN_ENTITY',
      detail: { run_id: 'run_x' },
      entity_kind: 'RUN',
      entity_id: 'run_x',
      batch_id: 'batch',
      causation_id: null,
      segment_name: 'segment-000001',
      refused_at: NOW - 5_000,
      folded_at: NOW,
      row_version: 0,
      last_event_id: event.event_id,
    })
    expect(story.row('idempotency_keys', event.idempotency_key)).toBeUndefined()
    expect(story.rows.appliedTotal()).toBe(0)
  })

  it('said again on a basis that holds is applied', () => {
    const { say, fold } = given()
    const early = say.locationDeployed('main', 1)
    expect(fold(early)).toEqual(['STALE_LOCATION'])
    expect(fold(say.locationDeployed('main', 0, {}, { request: 'first' }))).toEqual(['applied'])
    expect(fold(early)).toEqual(['applied'])
  })

  it('of a beat is counted only', () => {
    const { say, story, fold } = given()
    expect(fold(say.taskHeartbeat({ run_id: 'run_x', task_key: 'a', attempt: 1 }, 1))).toEqual(['BASIS_MISSING'])
    expect(story.everything()['refusals']).toEqual({})
  })

  it('takes along what it caused in its batch, and what that caused', () => {
    const { say, fold } = given()
    const trigger = say.runCancelRequested('run_x')
    const caused = say.runRequested('user:1', {}, { causation_id: trigger.event_id })
    const further = say.poolDefined('pool:p', 1, { causation_id: caused.event_id })
    const apart = say.poolDefined('pool:q', 1, { causation_id: say.poolDefined('x', 1).event_id })
    expect(fold(trigger, caused, further, apart)).toEqual(['UNKNOWN_ENTITY', 'TRIGGER_NOT_APPLIED', 'TRIGGER_NOT_APPLIED', 'applied'])
  })

  it('of the trigger still shows a run key conflict, and a known request as a duplicate', () => {
    const { say, story, fold } = given()
    fold(say.runRequested('user:1'), say.runRequested('user:2'))
    const trigger = say.runCancelRequested('run_x')
    const said = { causation_id: trigger.event_id }
    const other = { request_fingerprint: 'f'.repeat(64) }
    const events = [trigger, say.runRequested('user:1', other, said), say.runRequested('user:2', {}, said)]
    expect(fold(...events)).toEqual(['UNKNOWN_ENTITY', 'RUN_KEY_CONFLICT', 'duplicate'])
    expect(story.row('run_key_conflicts', 'user:1', other.request_fingerprint)?.seen_count).toBe(1)
  })

  it('of a later event is no reason to refuse an earlier one', () => {
    const { say, fold } = given()
    const later = say.runCancelRequested('run_x')
    expect(fold(say.poolDefined('pool:p', 1, { causation_id: later.event_id }), later)).toEqual(['applied', 'UNKNOWN_ENTITY'])
  })
})

describe('a lost turn', () => {
  it('folds again to the same rows', () => {
    const story = createRunStory({ a: { definition: { retry: { max_attempts: 2, jitter: 0 } } }, b: { needs: ['a'] }, c: {} })
    const { say } = story
    story.dispatch('c')
    story.story.publish()
    const before = story.story.everything()
    const dispatch = say.dispatchRequested(story.name('a', 1), {
      task_state: 'READY',
      previous_attempt: 0,
      definition_hash: story.hash('a'),
    })
    const events = [
      [dispatch],
      [say.taskFinished(story.name('a', 1), 'SUCCEEDED')],
      [say.taskStarted(story.name('c', 1)), say.taskFinished(story.name('c', 1), 'FAILED')],
      [say.runCancelRequested(story.run_id), say.runRequested('user:2')],
      [say.locationDeployed('main', 1), say.assetDefined('a', { group: 'new' }), say.assetRemoved('c', story.hash('c'))],
    ]
    const first = events.map((batch) => story.story.fold(...batch))
    expect(story.run().state).toBe('CANCELLED')
    const rows = story.story.everything()
    story.story.rows.discard()
    expect(story.story.everything()).toEqual(before)
    expect(events.map((batch) => story.story.fold(...batch))).toEqual(first)
    expect(story.story.everything()).toEqual(rows)
  })
})
