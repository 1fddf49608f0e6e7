// Schedules in a turn: what is due is decided, planned and published within it, whatever the number; who decides by another
// definition at the same time is heard, and no second run starts.

import { describe, expect, test } from '@jest/globals'
import { scheduleRunKey, tickId } from '../../src/core/keys.js'
import { runId } from '../../src/core/run-id.js'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import type { LedgerEvent } from '../../src/events/event.js'
import { createReconcile } from '../../src/turn/controllers.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import type { TurnWatch } from '../../src/turn/watch.js'
import { NOW, ulidOf } from '../fixtures/say.js'
import { createScenario, once } from '../fixtures/scenario.js'

const SECRET = { secret_key_id: 's1', secret: 'servo-golden-secret' }
const reconcile = createReconcile({ secret: SECRET })
const A = ulidOf('schedule a')
const NEXT_MINUTE = NOW + MINUTE_MS

function createScheduled(count = 1) {
  const scenario = createScenario()
  const ids = Array.from({ length: count }, (_, index) => (index === 0 ? A : ulidOf(`schedule ${index}`)))
  const { tell, writer, say, defineAssets, world } = scenario
  return {
    ...scenario,
    ids,
    /** As the first turn of a process finds it, half a minute before they are due. */
    begin: (changes: Parameters<typeof say.scheduleDefined>[1] = {}) =>
      tell(async () => {
        await defineAssets()
        const events = ids.map((id) => say.scheduleDefined(id, changes, {}, { at: NOW }))
        for (let at = 0; at < events.length; at += 1_000) await writer().append(events.slice(at, at + 1_000))
        await scenario.decider('fold', { reconcile: foldOnly }).turn()
        await world.time.sleep(NOW + 30 * SECOND_MS - world.time.now())
      }),
    until: (at: number) => world.time.pass(at - world.time.now()),
  }
}

const segmentsOf = (acks: readonly { readonly by: string; readonly events: readonly LedgerEvent[] }[]): number =>
  acks.filter(({ events }) => events.some(({ event_type }) => event_type === 'ScheduleTicked')).length

describe('schedules in a turn', () => {
  test('wake it when they are due, and go from the tick to the dispatch within it', async () => {
    const { begin, until, decider, tell, rows, row, world, expectInvariants } = createScheduled()
    await begin()
    const { turn } = decider('turn', { reconcile })
    const { wake_in_ms, processed_at } = await tell(() => turn())
    expect(processed_at + Number(wake_in_ms)).toBe(NEXT_MINUTE)
    expect(await rows('schedule_ticks')).toEqual([])
    await until(NEXT_MINUTE)
    const answer = await tell(() => turn())
    expect(answer.published_count).toBeGreaterThan(0)
    const run_id = runId(SECRET, world.scope, scheduleRunKey(A, NEXT_MINUTE / 1_000))
    expect(await rows('schedule_ticks')).toMatchObject([{ status: 'TRIGGERED', scheduled_for: NEXT_MINUTE, run_id, run_count: 1 }])
    expect(await row('runs', run_id)).toMatchObject({ trigger_type: 'SCHEDULE', schedule_id: A, tick_id: tickId(A, NEXT_MINUTE / 1_000) })
    expect(await rows('dispatch_outbox')).toMatchObject([{ run_id, task_key: 'a', status: 'PENDING' }])
    expect(answer.processed_at + Number(answer.wake_in_ms)).toBe(NEXT_MINUTE + MINUTE_MS)
    await expectInvariants()
  })

  test('do not wake it while they are paused, and write nothing when nothing is due', async () => {
    const { begin, until, decider, tell, say, writer, world } = createScheduled()
    await begin()
    await tell(() => writer().append([say.scheduleStatusChanged(A, 'PAUSED', { at: NOW + 30 * SECOND_MS })]))
    const { turn } = decider('turn', { reconcile })
    expect(await tell(() => turn())).toMatchObject({ wake_in_ms: null })
    await until(NOW + DAY_MS)
    const [revisions, segments] = [world.oracle.pointers.length, world.oracle.ledger.size]
    expect(await tell(() => turn())).toMatchObject({ wake_in_ms: null, published_count: 0 })
    expect([world.oracle.pointers.length, world.oracle.ledger.size]).toEqual([revisions, segments])
  })

  test('that are due at one instant are decided in one turn, and appended in few segments', async () => {
    const { begin, until, decider, tell, rows, world, ids } = createScheduled(1_000)
    await begin({ asset_selection: ['b'] })
    await until(NEXT_MINUTE)
    await tell(() => decider('turn', { reconcile }).turn())
    const ticks = await rows('schedule_ticks')
    expect(ticks.filter(({ status, run_id }) => status === 'TRIGGERED' && run_id !== null)).toHaveLength(ids.length)
    expect(await rows('runs')).toHaveLength(ids.length)
    expect(segmentsOf(world.oracle.acks)).toBeLessThanOrEqual(2)
  })

  test('that are many and idle cost no write, and little of a turn', async () => {
    const { begin, decider, tell, world } = createScheduled(5_000)
    await begin({ cron_expressions: ['0 0 * * *', '30 12 1-7 * mon'], timezone: 'America/New_York' })
    const { turn, workspace } = decider('turn', { reconcile })
    await tell(() => turn())
    const [revisions, segments] = [world.oracle.pointers.length, world.oracle.ledger.size]
    await tell(() => turn())
    expect([world.oracle.pointers.length, world.oracle.ledger.size]).toEqual([revisions, segments])
    const state = { rows: workspace().rows, scope: world.scope, now: world.time.now(), lag_ms: 0, hold_until: null, publish_interval_ms: 0 }
    const began = performance.now()
    for (let times = 0; times < 10; times++) expect([reconcile.decide(state).length, reconcile.wakeAt(state)]).not.toContain(null)
    const each_ms = (performance.now() - began) / 10
    // 30 ms on two idle cores is the bound; here others may have them.
    expect(each_ms).toBeLessThan(150)
  })

  test('whose runs need long lists have them written before the events that name them', async () => {
    const { begin, until, decider, tell, say, writer, rows, expectInvariants } = createScheduled()
    await begin({ asset_selection: ['*'] })
    const more = Array.from({ length: 120 }, (_, index) => say.assetDefined(`asset-${index}`))
    await tell(() => writer().append([say.locationDeployed('main', 1), ...more]))
    await until(NEXT_MINUTE)
    await tell(() => decider('turn', { reconcile }).turn())
    expect(await rows('schedule_ticks')).toMatchObject([{ status: 'TRIGGERED', assets: { list: { count: 123 } } }])
    expect(await rows('runs')).toMatchObject([{ asset_count: 123, tasks_total: 123 }])
    await expectInvariants()
  })

  test.each(['first', 'second'] as const)(
    'that two turns decide by different definitions start one run, and both requests are on record; the %s appends first',
    async (winner) => {
      const { begin, until, decider, tell, say, writer, rows, world, expectInvariants } = createScheduled()
      await begin()
      await until(NEXT_MINUTE)
      const [first, second] = [decider('first', { reconcile }), decider('second', { reconcile })]
      await tell(async () => {
        let letGo: () => void = () => undefined
        const held = new Promise<void>((resolve) => (letGo = resolve))
        let noteReached: () => void = () => undefined
        const reached = new Promise<void>((resolve) => (noteReached = resolve))
        // The first one has decided, and is on its way to say it, or has just said it.
        once(world, winner === 'first' ? 'after' : 'before', { process: 'first', operation: 'put', name: 'ledger/' }, () => {
          noteReached()
          return held
        })
        const slow = first.turn()
        await reached
        const edited = say.scheduleDefined(A, { asset_selection: ['b'] }, {}, { at: NEXT_MINUTE + 1, request: 'r2' })
        await writer().append([edited])
        await second.turn()
        letGo()
        await slow
        await Promise.all([first.turn(), second.turn()])
      })
      const [run] = await rows('runs')
      expect(await rows('runs')).toHaveLength(1)
      const run_key = scheduleRunKey(A, NEXT_MINUTE / 1_000)
      if (winner === 'second') {
        const [conflict, ...others] = await rows('run_key_conflicts')
        expect(others).toEqual([])
        expect(conflict).toMatchObject({ run_key, run_id: run?.['run_id'], existing_fingerprint: run?.['request_fingerprint'] })
        expect(conflict?.['conflicting_fingerprint']).not.toBe(conflict?.['existing_fingerprint'])
      }
      expect(await rows('schedule_ticks')).toMatchObject([
        {
          status: 'TRIGGERED',
          run_key,
          run_id: run?.['run_id'],
          request_fingerprint: run?.['request_fingerprint'],
          assets: { keys: [winner === 'first' ? 'a' : 'b'] },
          definition_version: winner === 'first' ? 1 : 2,
          conflict_count: winner === 'first' ? 0 : 1,
        },
      ])
      await expectInvariants()
    },
  )

  test('that were missed while nobody was there are caught up with in the first turn', async () => {
    const { begin, until, decider, tell, rows, row, expectInvariants } = createScheduled()
    await begin()
    await until(NOW + 7 * DAY_MS)
    await tell(() => decider('turn', { reconcile }).turn())
    const ticks = (await rows('schedule_ticks')).toSorted((left, right) => Number(left['scheduled_for']) - Number(right['scheduled_for']))
    expect(ticks.map(({ status, skipped_count }) => skipped_count ?? status)).toEqual([
      7 * 1_440 - 3,
      'TRIGGERED',
      'TRIGGERED',
      'TRIGGERED',
    ])
    expect(await row('schedule_state', A)).toMatchObject({ floor_at: NOW + 7 * DAY_MS, last_tick_status: 'TRIGGERED' })
    await expectInvariants()
  })

  test('that a turn finds due long after it was to wake are counted as a wake that was missed, and in time they are not', async () => {
    const { begin, until, decider, tell, rows } = createScheduled()
    const mended: string[] = []
    const watch: TurnWatch = {
      onPublished: () => undefined,
      onLost: () => undefined,
      onEnded: () => undefined,
      onMended: (kind, count) => mended.push(`${kind} ${count}`),
    }
    await begin()
    const { turn } = decider('turn', { reconcile, watch })
    // Who begins cannot know for how long nobody was there.
    await tell(() => turn())
    await until(NEXT_MINUTE + 5 * SECOND_MS)
    await tell(() => turn())
    expect([mended, (await rows('schedule_ticks')).length]).toEqual([[], 1])
    await until(NEXT_MINUTE + MINUTE_MS + 15 * SECOND_MS)
    await tell(() => turn())
    expect(mended).toEqual(['wake_missed 1'])
    expect(await rows('schedule_ticks')).toHaveLength(2)
  })
})
