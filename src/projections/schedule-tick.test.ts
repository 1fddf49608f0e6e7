import { describe, expect, it } from '@jest/globals'
import { createStory } from '../../test/fixtures/fold-story.js'
import { told } from '../../test/fixtures/run-story.js'
import { createSpeaker, NOW, runIdOf, tickOf, ulidOf } from '../../test/fixtures/say.js'
import { sha256Hex } from '../core/hash.js'
import { scheduleRunKey, tickId } from '../core/keys.js'
import { DAY_MS, HOUR_MS, instantText, MINUTE_MS } from '../core/time.js'
import type { LedgerEvent } from '../events/event.js'
import { exampleOf, parseEvent } from '../events/event.js'

const A = ulidOf('schedule a')
const EPOCH = NOW / 1_000

/** Fires each minute since an hour before NOW, and was never decided. */
function createTickStory(changes: Parameters<ReturnType<typeof createSpeaker>['scheduleDefined']>[1] = {}) {
  let fold_time = NOW
  const story = createStory({ fold_time: () => fold_time })
  const say = createSpeaker()
  const fold = (...events: LedgerEvent[]): readonly string[] => {
    const outcomes = story.fold(...events).map(told)
    story.publish()
    return outcomes
  }
  fold(say.scheduleDefined(A, changes, {}, { at: NOW - HOUR_MS }))
  return {
    story,
    say,
    fold,
    pass: (ms: number) => {
      fold_time += ms
    },
    state: () => story.row('schedule_state', A),
    tick: (tick_id: string) => story.row('schedule_ticks', A, tick_id),
    ticked: (
      from: number,
      to: number,
      decided: Parameters<typeof say.scheduleTicked>[2] = {},
      expected_state_version = story.row('schedule_state', A)?.state_version ?? 0,
    ) => say.scheduleTicked(A, { from, to, expected_state_version }, decided),
  }
}

const skippedOf = (first: number, last: number, count: number, reason = 'CATCH_UP') => ({
  tick_id: tickId(A, last / 1_000),
  count,
  first_scheduled_for: instantText(first),
  last_scheduled_for: instantText(last),
  reasons: { [reason]: count },
})

/** As a tick asks for it. */
const request = (say: ReturnType<typeof createSpeaker>, at: number, cause: string, fingerprint = 'one', partition?: string) => {
  const run_key = scheduleRunKey(A, at / 1_000, partition)
  const trigger = { type: 'SCHEDULE', schedule_id: A, tick_id: tickId(A, at / 1_000) } as const
  return say.runRequested(run_key, { request_fingerprint: sha256Hex(fingerprint), trigger }, { at, causation_id: cause })
}

describe('a decision of the clock', () => {
  it('leaves a row for each instant that runs or fails, and one for all that do not', () => {
    const { fold, ticked, state, tick } = createTickStory()
    const error = { code: 'BAD_CRON', message: 'It cannot be read.' }
    const decided = ticked(NOW - HOUR_MS, NOW, {
      ticks: [
        tickOf(A, NOW - MINUTE_MS, {
          partitions: { keys: ['2025-01-14'] },
          run_count: 2,
          run_key: 'k1',
          request_fingerprint: sha256Hex('x'),
        }),
        tickOf(A, NOW, { status: 'FAILED', error }),
      ],
      skipped: skippedOf(NOW - 59 * MINUTE_MS, NOW - 2 * MINUTE_MS, 58),
    })
    expect(fold(decided)).toEqual(['applied'])
    expect(tick(tickId(A, EPOCH - 60))).toMatchObject({
      status: 'TRIGGERED',
      schedule_name: `name-${A}`,
      kind: 'CRON',
      scheduled_for: NOW - MINUTE_MS,
      partitions: { keys: ['2025-01-14'] },
      run_count: 2,
      run_key: 'k1',
      run_id: null,
      conflict_count: 0,
      assets: { keys: ['a'] },
      decided_at: NOW,
      expires_at: null,
    })
    expect(tick(tickId(A, EPOCH))).toMatchObject({ status: 'FAILED', error, run_count: 0, expires_at: null })
    expect(tick(tickId(A, EPOCH - 120))).toMatchObject({
      status: 'SKIPPED',
      skipped_count: 58,
      first_scheduled_for: NOW - 59 * MINUTE_MS,
      scheduled_for: NOW - 2 * MINUTE_MS,
      skip_reasons: { CATCH_UP: 58 },
      partitions: null,
    })
    expect(state()).toMatchObject({
      state_version: 2,
      floor_at: NOW,
      last_scheduled_for: NOW,
      last_tick_id: tickId(A, EPOCH),
      last_tick_status: 'FAILED',
      last_run_key: 'k1',
      last_decided_at: NOW,
      consecutive_failures: 1,
    })
  })

  it('counts failures that follow each other; what was skipped counts neither way', () => {
    const { fold, ticked, state } = createTickStory()
    const error = { code: 'BAD_CRON', message: 'It cannot be read.' }
    const counts = (['FAILED', 'FAILED', 'SKIPPED', 'FAILED', 'TRIGGERED', 'FAILED'] as const).map((status, i) => {
      const at = NOW + i * MINUTE_MS
      const tick = tickOf(A, at, status === 'FAILED' ? { status, error } : {})
      fold(ticked(at - MINUTE_MS, at, status === 'SKIPPED' ? { skipped: skippedOf(at, at, 1, 'OVERLAP') } : { ticks: [tick] }))
      return [state()?.consecutive_failures, state()?.last_tick_status]
    })
    expect(counts).toEqual([
      [1, 'FAILED'],
      [2, 'FAILED'],
      [2, 'SKIPPED'],
      [3, 'FAILED'],
      [0, 'TRIGGERED'],
      [1, 'FAILED'],
    ])
  })

  it('on an older state is refused, and leaves its key free', () => {
    const { fold, say, ticked, state, tick } = createTickStory()
    fold(say.scheduleStatusChanged(A, 'PAUSED', { at: NOW - MINUTE_MS }))
    const decided = { ticks: [tickOf(A, NOW)] }
    expect(fold(ticked(NOW - MINUTE_MS, NOW, decided, 1))).toEqual(['STALE_BASIS'])
    expect([state()?.state_version, tick(tickId(A, EPOCH))]).toEqual([2, undefined])
    // What was due before the pause may be decided after it.
    expect(fold(ticked(NOW - MINUTE_MS, NOW, decided, 2))).toEqual(['applied'])
    expect(fold(ticked(NOW - MINUTE_MS, NOW, decided, 3))).toEqual(['duplicate'])
  })

  it('after one that was refused is refused too, though another event made the version that it names', () => {
    const { fold, say, ticked, state } = createTickStory()
    const first = ticked(NOW - 2 * MINUTE_MS, NOW - MINUTE_MS, { ticks: [tickOf(A, NOW - MINUTE_MS)] }, 1)
    const interval = { from: NOW - MINUTE_MS, to: NOW, expected_state_version: 2 }
    const second = say.scheduleTicked(A, { ...interval, state_event_id: first.event_id }, { ticks: [tickOf(A, NOW)] })
    fold(say.scheduleStatusChanged(A, 'PAUSED', { at: NOW - HOUR_MS / 2 }))
    expect(fold(first)).toEqual(['STALE_BASIS'])
    expect([state()?.state_version, fold(second)]).toEqual([2, ['STALE_BASIS']])
    const last_event_id = state()?.last_event_id ?? ''
    expect(fold(say.scheduleTicked(A, { ...interval, state_event_id: last_event_id }, { ticks: [tickOf(A, NOW)] }))).toEqual(['applied'])
  })

  it('over what was decided already is refused, whatever version it names', () => {
    const { fold, ticked, story } = createTickStory()
    fold(ticked(NOW - HOUR_MS, NOW, { ticks: [tickOf(A, NOW)] }))
    expect(fold(ticked(NOW - HOUR_MS, NOW + 1_000, { ticks: [tickOf(A, NOW)] }))).toEqual(['ILLEGAL_TRANSITION'])
    expect(fold(ticked(NOW, NOW + MINUTE_MS, { ticks: [tickOf(A, NOW + MINUTE_MS)] }))).toEqual(['applied'])
    expect(Object.keys(story.everything()['schedule_ticks'] ?? {})).toHaveLength(2)
  })

  it('of no schedule, or of one that is removed, is refused', () => {
    const { fold, say, ticked } = createTickStory()
    const other = say.scheduleTicked(ulidOf('nobody'), { from: NOW - 1, to: NOW, expected_state_version: 1 })
    fold(say.scheduleRemoved(A))
    expect(fold(other, ticked(NOW - 1, NOW))).toEqual(['UNKNOWN_ENTITY', 'TERMINAL'])
  })

  it('without the basis of its kind is refused', () => {
    const { fold, ticked, say } = createTickStory()
    const cron = { ...ticked(NOW - 1, NOW), basis: { definition_version: 1 } }
    const manual = { ...say.scheduleTriggered(A, 'r1', 1, NOW), basis: { expected_state_version: 1 } }
    expect(fold(cron, manual)).toEqual(['BASIS_MISSING', 'BASIS_MISSING'])
  })
})

describe('what is owed', () => {
  function createOwing() {
    const story = createTickStory()
    const { fold, say } = story
    fold(say.scheduleDefined(A, { cron_expressions: ['0 * * * *'] }, {}, { at: NOW - MINUTE_MS, request: 'r2' }))
    return story
  }

  it('is counted by a decision of its own, which clears it', () => {
    const { fold, ticked, state, tick } = createOwing()
    expect(state()?.owed).toHaveLength(1)
    const skipped = skippedOf(NOW - 59 * MINUTE_MS, NOW - MINUTE_MS, 59, 'SUPERSEDED')
    expect(fold(ticked(NOW - HOUR_MS, NOW - MINUTE_MS, { skipped }))).toEqual(['applied'])
    expect(state()).toMatchObject({ owed: [], floor_at: NOW - MINUTE_MS, last_scheduled_for: NOW - MINUTE_MS, last_tick_status: 'SKIPPED' })
    expect(tick(skipped.tick_id)).toMatchObject({ skipped_count: 59 })
  })

  it('never runs', () => {
    const { fold, ticked } = createOwing()
    expect(fold(ticked(NOW - HOUR_MS, NOW - MINUTE_MS, { ticks: [tickOf(A, NOW - MINUTE_MS)] }))).toEqual(['ILLEGAL_TRANSITION'])
  })

  it('and counted in part stays owed for the rest', () => {
    const { fold, ticked, state } = createOwing()
    const to = NOW - 30 * MINUTE_MS
    expect(fold(ticked(NOW - HOUR_MS, to, { skipped: skippedOf(NOW - 59 * MINUTE_MS, to, 30, 'SUPERSEDED') }))).toEqual(['applied'])
    expect(state()?.owed).toMatchObject([{ from: instantText(to), to: instantText(NOW - MINUTE_MS) }])
    expect(state()?.floor_at).toBe(NOW - MINUTE_MS)
  })

  it('and holds no instant goes with the next decision', () => {
    const { fold, ticked, state } = createOwing()
    expect(fold(ticked(NOW - MINUTE_MS, NOW, { ticks: [tickOf(A, NOW)] }))).toEqual(['applied'])
    expect(state()?.owed).toEqual([])
  })
})

describe('a manual tick', () => {
  it('rests on the definition, moves no floor, and makes a decision stale that did not know of it', () => {
    const { fold, say, state, tick, ticked } = createTickStory()
    const before = state()
    const decided = ticked(NOW - MINUTE_MS, NOW, { ticks: [tickOf(A, NOW)] })
    expect(fold(say.scheduleTriggered(A, 'r1', 2, NOW))).toEqual(['STALE_BASIS'])
    expect(fold(say.scheduleTriggered(A, 'r1', 1, NOW))).toEqual(['applied'])
    expect(tick(`${A}:manual:r1`)).toMatchObject({ kind: 'MANUAL', status: 'TRIGGERED', scheduled_for: NOW, requested_by: 'user:1' })
    expect(state()).toMatchObject({ ...before, state_version: 2, row_version: expect.anything(), last_event_id: expect.anything() })
    expect(fold(decided)).toEqual(['STALE_BASIS'])
  })

  it('of a paused schedule is taken, once for a request', () => {
    const { fold, say, pass } = createTickStory({ default_status: 'PAUSED' })
    expect(fold(say.scheduleTriggered(A, 'r1', 1, NOW))).toEqual(['applied'])
    expect(fold(say.scheduleTriggered(A, 'r1', 1, NOW))).toEqual(['duplicate'])
    // The ledger has forgotten the key, and the row is still there.
    pass(8 * DAY_MS)
    expect(fold(say.scheduleTriggered(A, 'r1', 1, NOW))).toEqual(['ILLEGAL_TRANSITION'])
  })
})

describe('the runs of a tick', () => {
  it('name it, and it names the first of them', () => {
    const { fold, say, story, ticked, tick } = createTickStory()
    const decided = ticked(NOW - MINUTE_MS, NOW, { ticks: [tickOf(A, NOW, { run_count: 2 })] })
    const [one, two] = ['eu', 'us'].map((partition) => request(say, NOW, decided.event_id, partition, partition))
    expect(fold(decided, one as LedgerEvent, two as LedgerEvent)).toEqual(['applied', 'applied', 'applied'])
    expect(tick(tickId(A, EPOCH))).toMatchObject({ run_id: runIdOf(scheduleRunKey(A, EPOCH, 'eu')), run_count: 2, conflict_count: 0 })
    expect(story.row('runs', runIdOf(scheduleRunKey(A, EPOCH, 'us')))).toMatchObject({ schedule_id: A, tick_id: tickId(A, EPOCH) })
    expect(story.rows.openRunsOf(A).map(({ run_id }) => run_id)).toHaveLength(2)
    for (const { run_id } of story.rows.openRunsOf(A)) fold(say.runCancelRequested(run_id))
    expect(story.rows.openRunsOf(A)).toEqual([])
    story.restart()
    expect(story.rows.openRunsOf(A)).toEqual([])
  })

  it('fall with it', () => {
    const { fold, say, story, ticked, tick } = createTickStory()
    const decided = ticked(NOW - MINUTE_MS, NOW, { ticks: [tickOf(A, NOW, { run_count: 1 })] }, 9)
    expect(fold(decided, request(say, NOW, decided.event_id))).toEqual(['STALE_BASIS', 'TRIGGER_NOT_APPLIED'])
    expect([tick(tickId(A, EPOCH)), story.row('runs', runIdOf(scheduleRunKey(A, EPOCH)))]).toEqual([undefined, undefined])
    expect(story.row('run_key_index', scheduleRunKey(A, EPOCH))).toBeUndefined()
  })

  it('are one where two controllers saw two definitions of it: a conflict row holds both, and the tick counts it', () => {
    const { fold, say, story, ticked, tick } = createTickStory()
    const ticks = [tickOf(A, NOW, { run_count: 1 })]
    const [mine, other] = [ticked(NOW - MINUTE_MS, NOW, { ticks }), ticked(NOW - MINUTE_MS, NOW, { ticks, definition_version: 0 }, 0)]
    expect(fold(mine, request(say, NOW, mine.event_id, 'mine'))).toEqual(['applied', 'applied'])
    expect(fold(other, request(say, NOW, other.event_id, 'other'))).toEqual(['duplicate', 'RUN_KEY_CONFLICT'])
    const run_key = scheduleRunKey(A, EPOCH)
    expect(story.row('run_key_conflicts', run_key, sha256Hex('other'))).toMatchObject({
      run_id: runIdOf(run_key),
      existing_fingerprint: sha256Hex('mine'),
      conflicting_fingerprint: sha256Hex('other'),
      seen_count: 1,
    })
    expect(tick(tickId(A, EPOCH))).toMatchObject({ run_id: runIdOf(run_key), conflict_count: 1, definition_version: 1 })
    // Said again it is the same conflict.
    expect(fold(other, request(say, NOW, other.event_id, 'other'))).toEqual(['duplicate', 'RUN_KEY_CONFLICT'])
    expect(tick(tickId(A, EPOCH))).toMatchObject({ conflict_count: 1 })
  })
})

it('a tick of whose run keys other requests have all is FAILED, and says so', () => {
  const { fold, say, ticked, tick } = createTickStory()
  const taken = [undefined, 'eu'].map((partition) => request(say, NOW, '', 'other', partition))
  fold(...taken.map(({ causation_id: _, ...event }) => ({ ...event, payload: { ...event.payload, trigger: { type: 'MANUAL' as const } } })))
  const decided = ticked(NOW - HOUR_MS, NOW, { ticks: [tickOf(A, NOW, { run_count: 2 })] })
  expect(fold(decided, request(say, NOW, decided.event_id), request(say, NOW, decided.event_id, 'one', 'eu'))).toEqual([
    'applied',
    'RUN_KEY_CONFLICT',
    'RUN_KEY_CONFLICT',
  ])
  const row = tick(tickId(A, EPOCH))
  expect(row).toMatchObject({ status: 'FAILED', run_id: null, conflict_count: 2, error: { code: 'RUN_KEY_CONFLICT' } })
  expect(row?.error?.message).toMatch(/All run keys of this tick belong to a run/)
})

it('rows of what was skipped expire after thirty days of fold time, and no others', () => {
  const { fold, ticked, story, pass } = createTickStory()
  const skipped = skippedOf(NOW - 2 * MINUTE_MS, NOW - MINUTE_MS, 2)
  fold(ticked(NOW - HOUR_MS, NOW, { ticks: [tickOf(A, NOW)], skipped }))
  pass(0)
  expect(story.row('schedule_ticks', A, skipped.tick_id)?.expires_at).toBe(NOW + 30 * DAY_MS)
  expect(story.row('schedule_ticks', A, tickId(A, EPOCH))?.expires_at).toBeNull()
})

describe('a decision that no schema takes', () => {
  const faultOf = (payload: object): string => {
    const { payload: example, ...envelope } = exampleOf('ScheduleTicked')
    const parsed = parseEvent({ ...envelope, payload: { ...example, ...payload } }, { tenant_id: 'acme', workspace_id: 'prod' })
    return parsed.kind === 'event' ? 'none' : parsed.detail
  }
  const [tick] = exampleOf('ScheduleTicked').payload.ticks

  it.each<readonly [string, object, RegExp]>([
    ['that ends before it begins', { from: '2025-01-15T10:00:01.000Z' }, /payload\.from .*not after to/],
    ['with an instant at its excluded start', { from: '2025-01-15T10:00:00.000Z' }, /ticks\[0\]\.scheduled_for/],
    ['with one instant twice', { ticks: [tick, tick] }, /ticks\[1\]\.tick_id .*no other tick/],
    ['that failed without an error', { ticks: [{ ...tick, status: 'FAILED' }] }, /ticks\[0\]\.error .*requires it/],
    ['by hand of two instants', { kind: 'MANUAL', ticks: [] }, /payload\.ticks .*one tick/],
    [
      'whose reasons do not add up',
      {
        ticks: [],
        skipped: {
          tick_id: 'x',
          count: 3,
          first_scheduled_for: '2025-01-15T09:56:00.000Z',
          last_scheduled_for: '2025-01-15T10:00:00.000Z',
          reasons: { PAUSED: 1, OVERLAP: 1 },
        },
      },
      /skipped\.reasons .*sum/,
    ],
  ])('%s', (_, payload, fault) => {
    expect(faultOf(payload)).toMatch(fault)
  })

  it('but one of whose selection nothing is left', () => {
    expect(faultOf({ assets: { keys: [] } })).toBe('none')
  })
})
