import { describe, expect, it } from '@jest/globals'
import { createStory } from '../../test/fixtures/fold-story.js'
import { told } from '../../test/fixtures/run-story.js'
import { createSpeaker, NOW, ulidOf } from '../../test/fixtures/say.js'
import { OWED_SPANS_KEPT_MAX, OWED_SPANS_MAX } from '../core/limits.js'
import { HOUR_MS, instantText, MINUTE_MS } from '../core/time.js'
import type { LedgerEvent } from '../events/event.js'

const A = ulidOf('schedule a')
const B = ulidOf('schedule b')

function createScheduleStory() {
  const story = createStory()
  const say = createSpeaker()
  let requests = 0
  const fold = (...events: LedgerEvent[]): readonly string[] => {
    const outcomes = story.fold(...events).map(told)
    story.publish()
    return outcomes
  }
  const said = (at: number) => ({ at, request: `r${requests++}` })
  return {
    story,
    say,
    fold,
    said,
    state: (schedule_id: string) => story.row('schedule_state', schedule_id),
    definition: (schedule_id: string) => story.row('schedule_definitions', schedule_id),
    name: (schedule_name: string) => story.row('names', 'SCHEDULE', schedule_name),
    define: (schedule_id: string, changes: Parameters<typeof say.scheduleDefined>[1] = {}, at = NOW, place = {}) =>
      fold(say.scheduleDefined(schedule_id, changes, place, said(at)))[0],
    move: (schedule_id: string, to: 'ACTIVE' | 'PAUSED', at: number, expected?: number) =>
      fold(say.scheduleStatusChanged(schedule_id, to, said(at), expected))[0],
  }
}

const span = (from: number, to: number, cron: string, reason: string) => ({
  from: instantText(from),
  to: instantText(to),
  cron_expressions: [cron],
  timezone: 'UTC',
  reason,
})

describe('a schedule that is new', () => {
  it('does not fire what lies before it', () => {
    const { define, state, definition, name } = createScheduleStory()
    expect(define(A, { tags: { team: 'core' }, description: 'Each minute.' })).toBe('applied')
    expect(definition(A)).toMatchObject({
      definition_version: 1,
      location_name: null,
      priority: 0,
      tags: { team: 'core' },
      partition_mapping: null,
      description: 'Each minute.',
      cron_changed_at: NOW,
      created_at: NOW,
      removed_at: null,
    })
    expect(state(A)).toMatchObject({
      status: 'ACTIVE',
      state_version: 1,
      enabled_at: NOW,
      floor_at: NOW,
      paused_at: null,
      owed: [],
      consecutive_failures: 0,
      last_scheduled_for: null,
    })
    expect(name(`name-${A}`)).toMatchObject({ entity_id: A, taken_at: NOW, released_at: null })
  })

  it('may begin paused, which is nobody’s doing', () => {
    const { define, state } = createScheduleStory()
    define(A, { default_status: 'PAUSED' })
    expect(state(A)).toMatchObject({ status: 'PAUSED', paused_at: NOW, status_changed_by: null })
  })

  it('of a location that nobody deployed is refused', () => {
    const { define, definition } = createScheduleStory()
    expect(define(A, {}, NOW, { location_name: 'main' })).toBe('UNKNOWN_ENTITY')
    expect(definition(A)).toBeUndefined()
  })
})

describe('a schedule that is defined again', () => {
  it('with the same hash changes its description and name alone', () => {
    const { define, state, definition } = createScheduleStory()
    define(A, { description: 'Old.' })
    expect(define(A, { description: 'New.' }, NOW + MINUTE_MS, { schedule_name: 'other' })).toBe('applied')
    expect(definition(A)).toMatchObject({ definition_version: 1, description: 'New.', schedule_name: 'other', cron_changed_at: NOW })
    expect(definition(A)).toMatchObject({ created_at: NOW, updated_at: NOW + MINUTE_MS })
    expect(state(A)).toMatchObject({ schedule_name: 'other', state_version: 2, floor_at: NOW, owed: [] })
  })

  it('with the same times leaves its floor where it was', () => {
    const { define, state, definition } = createScheduleStory()
    define(A, { cron_expressions: ['0 1 * * *', '0 2 * * *'] })
    define(A, { cron_expressions: ['0 2 * * *', '0 1 * * *'], max_catchup_ticks: 9, default_status: 'PAUSED' }, NOW + HOUR_MS)
    expect(definition(A)).toMatchObject({ definition_version: 2, max_catchup_ticks: 9, cron_changed_at: NOW })
    expect(state(A)).toMatchObject({ status: 'ACTIVE', state_version: 2, floor_at: NOW, owed: [] })
  })

  it.each([
    ['another cron', { cron_expressions: ['0 * * * *'] }],
    ['another zone', { timezone: 'Europe/Berlin' }],
  ])('with %s owes what the change cut off, by the cron and zone of then', (_, changes) => {
    const { define, state, definition } = createScheduleStory()
    define(A)
    expect(define(A, changes, NOW + HOUR_MS)).toBe('applied')
    expect(definition(A)).toMatchObject({ ...changes, definition_version: 2, cron_changed_at: NOW + HOUR_MS })
    expect(state(A)).toMatchObject({ floor_at: NOW + HOUR_MS, owed: [span(NOW, NOW + HOUR_MS, '* * * * *', 'SUPERSEDED')] })
  })

  it('by a writer whose clock is behind cuts nothing off, and never lowers the floor', () => {
    const { define, state } = createScheduleStory()
    define(A)
    define(A, { cron_expressions: ['0 * * * *'] }, NOW - HOUR_MS)
    expect(state(A)).toMatchObject({ floor_at: NOW, owed: [] })
  })

  it.each([
    ['a version that somebody else made old', { expected_definition_version: 0 }, 'STALE_BASIS'],
    ['the version that stands', { expected_definition_version: 1 }, 'applied'],
    ['a location that it is not of', { location_name: 'main' }, 'OWNED_ELSEWHERE'],
  ])('for %s', (_, place, outcome) => {
    const { define, fold, say } = createScheduleStory()
    fold(say.locationDeployed('main', 0))
    define(A)
    expect(define(A, { priority: 1 }, NOW, place)).toBe(outcome)
  })
})

describe('names', () => {
  it('are whose they are first, until they are released by a rename or a removal', () => {
    const { define, fold, say, name, said } = createScheduleStory()
    define(A, {}, NOW, { schedule_name: 'x' })
    expect(define(B, {}, NOW, { schedule_name: 'x' })).toBe('NAME_TAKEN')
    expect(define(A, {}, NOW + 1, { schedule_name: 'y' })).toBe('applied')
    expect(name('x')).toMatchObject({ entity_id: A, released_at: NOW + 1 })
    expect(define(B, {}, NOW + 2, { schedule_name: 'x' })).toBe('applied')
    expect(name('x')).toMatchObject({ entity_id: B, taken_at: NOW + 2, released_at: null })
    expect(fold(say.scheduleRemoved(B, said(NOW + 3)))).toEqual(['applied'])
    expect(name('x')).toMatchObject({ entity_id: B, released_at: NOW + 3 })
    expect(define(A, {}, NOW + 4, { schedule_name: 'x' })).toBe('applied')
  })
})

describe('a status', () => {
  it.each([
    ['resumed while it is active', ['ACTIVE'], 'ILLEGAL_TRANSITION'],
    ['paused twice', ['PAUSED', 'PAUSED'], 'ILLEGAL_TRANSITION'],
    ['paused and resumed', ['PAUSED', 'ACTIVE'], 'applied'],
  ] as const)('%s', (_, moves, last) => {
    const { define, move } = createScheduleStory()
    define(A)
    expect(moves.map((to, i) => move(A, to, NOW + i)).at(-1)).toBe(last)
  })

  it('is changed by whoever saw the state that stands', () => {
    const { define, move } = createScheduleStory()
    define(A)
    expect([move(A, 'PAUSED', NOW, 2), move(A, 'PAUSED', NOW, 1), move(B, 'PAUSED', NOW)]).toEqual([
      'STALE_BASIS',
      'applied',
      'UNKNOWN_ENTITY',
    ])
  })

  it('that goes on again owes the pause, and does not run it', () => {
    const { define, move, state } = createScheduleStory()
    define(A)
    move(A, 'PAUSED', NOW + MINUTE_MS)
    expect(state(A)).toMatchObject({ status: 'PAUSED', paused_at: NOW + MINUTE_MS, floor_at: NOW, status_changed_by: 'user:1' })
    move(A, 'ACTIVE', NOW + HOUR_MS)
    expect(state(A)).toMatchObject({ status: 'ACTIVE', paused_at: null, enabled_at: NOW + HOUR_MS, floor_at: NOW + HOUR_MS })
    expect(state(A)?.owed).toEqual([span(NOW, NOW + HOUR_MS, '* * * * *', 'PAUSED')])
  })

  it('that catches up on resume leaves the floor, and owes nothing', () => {
    const { define, move, state } = createScheduleStory()
    define(A, { catch_up_on_resume: true })
    move(A, 'PAUSED', NOW + MINUTE_MS)
    move(A, 'ACTIVE', NOW + HOUR_MS)
    expect(state(A)).toMatchObject({ status: 'ACTIVE', paused_at: null, enabled_at: NOW, floor_at: NOW, owed: [], state_version: 3 })
  })

  it('that is REMOVED is the last, and history stays', () => {
    const { define, move, fold, say, said, state, definition } = createScheduleStory()
    define(A)
    define(A, { cron_expressions: ['0 * * * *'] }, NOW + 1)
    expect(fold(say.scheduleRemoved(A, said(NOW + 2)))).toEqual(['applied'])
    expect(state(A)).toMatchObject({ status: 'REMOVED', owed: [], state_version: 3, status_changed_by: 'user:1' })
    expect(definition(A)).toMatchObject({ removed_at: NOW + 2, definition_version: 2 })
    expect([define(A), move(A, 'PAUSED', NOW), ...fold(say.scheduleRemoved(A, said(NOW)), say.scheduleRemoved(B, said(NOW)))]).toEqual([
      'TERMINAL',
      'TERMINAL',
      'TERMINAL',
      'UNKNOWN_ENTITY',
    ])
  })
})

describe('what is owed', () => {
  it('beyond the usual number joins the oldest neighbours that count alike, and loses no instant', () => {
    const { define, move, state } = createScheduleStory()
    define(A)
    for (let i = 1; i <= OWED_SPANS_MAX + 5; i++) {
      move(A, 'PAUSED', NOW + i * MINUTE_MS)
      move(A, 'ACTIVE', NOW + i * MINUTE_MS + 1)
    }
    const owed = state(A)?.owed ?? []
    expect(owed).toHaveLength(OWED_SPANS_MAX)
    expect(owed[0]).toEqual(span(NOW, NOW + 6 * MINUTE_MS + 1, '* * * * *', 'PAUSED'))
    expect(owed.slice(1).map(({ from }) => from)).toEqual(owed.slice(0, -1).map(({ to }) => to))
    expect(owed.at(-1)?.to).toBe(instantText(NOW + (OWED_SPANS_MAX + 5) * MINUTE_MS + 1))
  })

  it('keeps spans apart that count otherwise, and takes no more changes at its bound', () => {
    const { define, move, state } = createScheduleStory()
    define(A)
    for (let i = 1; i <= OWED_SPANS_KEPT_MAX; i++) {
      expect(define(A, { cron_expressions: [`${i % 60} ${Math.floor(i / 60)} * * *`] }, NOW + i * MINUTE_MS)).toBe('applied')
    }
    const owed = state(A)?.owed ?? []
    expect(owed).toHaveLength(OWED_SPANS_KEPT_MAX)
    expect(new Set(owed.map(({ cron_expressions }) => cron_expressions[0])).size).toBe(OWED_SPANS_KEPT_MAX)
    expect(define(A, {}, NOW + HOUR_MS * 10)).toBe('CAP_REACHED')
    expect([move(A, 'PAUSED', NOW + HOUR_MS * 10), move(A, 'ACTIVE', NOW + HOUR_MS * 11)]).toEqual(['applied', 'CAP_REACHED'])
    expect(state(A)?.owed).toEqual(owed)
  })
})

describe('a deploy with schedules', () => {
  const deploy = (story: ReturnType<typeof createScheduleStory>, version: number, parts: (cause: string) => readonly LedgerEvent[]) => {
    const { say, said, fold } = story
    const location = say.locationDeployed('main', version, {}, said(NOW))
    return fold(location, ...parts(location.event_id))
  }

  it('may give a removed one’s name to another, and swap no two', () => {
    const story = createScheduleStory()
    const { say, said, state, name } = story
    const define = (id: string, schedule_name: string, causation_id: string) =>
      say.scheduleDefined(id, {}, { schedule_name, location_name: 'main' }, { ...said(NOW), causation_id })
    expect(deploy(story, 0, (cause) => [define(A, 'x', cause)])).toEqual(['applied', 'applied'])
    const removed = (cause: string) => say.scheduleRemoved(A, { ...said(NOW), causation_id: cause })
    expect(deploy(story, 1, (cause) => [removed(cause), define(B, 'x', cause)])).toEqual(['applied', 'applied', 'applied'])
    expect(state(A)).toMatchObject({ status: 'REMOVED' })
    expect(name('x')).toMatchObject({ entity_id: B, released_at: null })
  })

  it('is refused whole where one of its names is taken', () => {
    const story = createScheduleStory()
    const { say, said, define, state } = story
    define(B, {}, NOW, { schedule_name: 'taken' })
    const outcomes = deploy(story, 0, (causation_id) => [
      say.assetDefined('a', {}, 'main', { ...said(NOW), causation_id }),
      say.scheduleDefined(A, {}, { schedule_name: 'taken', location_name: 'main' }, { ...said(NOW), causation_id }),
    ])
    expect(outcomes).toEqual(['TRIGGER_NOT_APPLIED', 'TRIGGER_NOT_APPLIED', 'NAME_TAKEN'])
    expect([state(A), story.story.row('code_locations', 'main')]).toEqual([undefined, undefined])
  })
})
