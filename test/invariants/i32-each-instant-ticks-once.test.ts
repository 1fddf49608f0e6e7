import { expect, test } from '@jest/globals'
import { HOUR_MS, instantText, MINUTE_MS } from '../../src/core/time.js'
import { createReconcile } from '../../src/turn/controllers.js'
import { NOW, ulidOf } from '../fixtures/say.js'
import { createScenario } from '../fixtures/scenario.js'
import { secondTurnAt } from '../fixtures/second-turn.js'
import { meaningsOf } from '../simulation/schedules/crons.js'
import { simulate } from '../simulation/schedules/simulate.js'
import { checkInstants, readSchedules } from './schedule-checks.js'

const reconcile = createReconcile({ secret: { secret_key_id: 's1', secret: 'servo-golden-secret' } })
const A = ulidOf('schedule a')
const SEEDS = [7, 30]

test.each(SEEDS)(
  'I32 each instant ticks once through edits, pauses, wrong clocks and outages; npm run sim -- --kind schedules --seed %i',
  async (seed) => {
    const { problems, event_count } = await simulate(seed)
    expect(problems).toEqual([])
    expect(event_count).toBeGreaterThan(50)
  },
)

/** What is on record of the instants of one schedule after an edit, an outage, and a second turn at the n-th call of the first. */
async function ticksWith(at: number) {
  const { say, writer, decider, tell, world, defineAssets, rows, expectInvariants } = createScenario({ latency_ms: () => 5 })
  const [first, second] = [decider('first', { reconcile }), decider('second', { reconcile })]
  const isOver = await tell(async () => {
    await defineAssets()
    await writer().append([say.scheduleDefined(A, {}, {}, { at: NOW })])
    await first.turn()
    await world.time.sleep(10 * MINUTE_MS)
    await writer().append([
      say.scheduleDefined(A, { cron_expressions: ['*/2 * * * *'] }, {}, { at: NOW + 7 * MINUTE_MS + 1, request: 'r2' }),
    ])
    const { hasBegun } = secondTurnAt(world, at, 'first', second)
    await first.turn()
    await Promise.all([first.turn(), second.turn()])
    return !hasBegun()
  })
  await expectInvariants()
  const ticks = await rows('schedule_ticks')
  return {
    isOver,
    ticks: ticks.map(({ scheduled_for, status, skipped_count, run_id }) => [scheduled_for, status, skipped_count, run_id]),
    run_count: (await rows('runs')).length,
  }
}

test('I32 two turns at once decide each instant once, wherever the second one comes in between', async () => {
  const alone = await ticksWith(0)
  // Seven minutes were cut off by the edit; the eighth and the tenth are caught up with.
  expect(alone.ticks.map(([, status, count]) => count ?? status)).toEqual([7, 'TRIGGERED', 'TRIGGERED'])
  expect(alone.run_count).toBe(2)
  for (let at = 1; ; at++) {
    const { isOver, ...found } = await ticksWith(at)
    expect({ ...found, isOver: true }).toEqual({ ...alone, isOver: true })
    if (isOver) break
    expect(at).toBeLessThan(100)
  }
})

const definition = {
  cron_expressions: ['* * * * *'],
  timezone: 'UTC',
  default_status: 'ACTIVE',
  catch_up_on_resume: false,
}
const tickAt = (at: number) => ({ scheduled_for: instantText(at), status: 'TRIGGERED' })
const skippedOf = (first: number, last: number, count: number) => ({
  first_scheduled_for: instantText(first),
  last_scheduled_for: instantText(last),
  count,
})
const defined = (at: number, changes: Partial<typeof definition> = {}) => ({
  event_type: 'ScheduleDefined',
  timestamp: instantText(at),
  payload: { schedule_id: A, definition: { ...definition, ...changes } },
})
const ticked = (ticks: readonly object[], skipped?: object) => ({
  event_type: 'ScheduleTicked',
  payload: { schedule_id: A, kind: 'CRON', ticks, ...(skipped === undefined ? {} : { skipped }) },
})
const status = (at: number, to: string) => ({
  event_type: 'ScheduleStatusChanged',
  timestamp: instantText(at),
  payload: { schedule_id: A, to },
})

/** Three minutes are counted, two run. */
const HELD = [
  defined(NOW),
  ticked([tickAt(NOW + 4 * MINUTE_MS), tickAt(NOW + 5 * MINUTE_MS)], skippedOf(NOW + MINUTE_MS, NOW + 3 * MINUTE_MS, 3)),
]

function problemsOf(events: Parameters<typeof readSchedules>[0], now = NOW + 5 * MINUTE_MS): readonly string[] {
  return [...readSchedules(events).values()].flatMap((schedule) => checkInstants(schedule, meaningsOf, undefined, now))
}

test('I32 its check holds for instants that ran, were counted, cut off, paused or not due yet', () => {
  expect(problemsOf(HELD)).toEqual([])
  const cut = [...HELD, defined(NOW + 8 * MINUTE_MS, { cron_expressions: ['*/2 * * * *'] })]
  const owed = ticked([], skippedOf(NOW + 6 * MINUTE_MS, NOW + 8 * MINUTE_MS, 3))
  expect(problemsOf([...cut, owed, ticked([tickAt(NOW + 10 * MINUTE_MS)])], NOW + 11 * MINUTE_MS)).toEqual([])
  expect(problemsOf([...HELD, status(NOW + 5 * MINUTE_MS, 'PAUSED')], NOW + HOUR_MS)).toEqual([])
  const bad = defined(NOW, { cron_expressions: ['61 * * * *'] })
  expect(problemsOf([bad, ticked([{ ...tickAt(NOW + 1_000), status: 'FAILED', error: { code: 'BAD_CRON' } }])])).toEqual([])
})

test.each([
  ['an instant that never ticked', HELD, NOW + 6 * MINUTE_MS, /1 instants never ticked: 2025-01-15T10:06/],
  ['one that ticked twice', [...HELD, ticked([tickAt(NOW + 5 * MINUTE_MS)])], undefined, /1 instants ticked more than once/],
  [
    'one that ran and was counted',
    [...HELD, ticked([], skippedOf(NOW + 4 * MINUTE_MS, NOW + 5 * MINUTE_MS, 2))],
    undefined,
    /2 instants ticked more/,
  ],
  ['what is no instant of it', [...HELD, ticked([tickAt(NOW + 5 * MINUTE_MS + 1_000)])], undefined, /is no instant of it/],
  [
    'a wrong count',
    [defined(NOW), ticked([], skippedOf(NOW + MINUTE_MS, NOW + 5 * MINUTE_MS, 4))],
    undefined,
    /4 are counted .* there were 5/,
  ],
  [
    'what an edit dropped',
    [...HELD, defined(NOW + 8 * MINUTE_MS, { timezone: 'Asia/Kolkata' })],
    NOW + 8 * MINUTE_MS,
    /3 instants never ticked/,
  ],
  [
    'what a resume dropped',
    [...HELD, status(NOW, 'PAUSED'), status(NOW + 8 * MINUTE_MS, 'ACTIVE')],
    NOW + 8 * MINUTE_MS,
    /3 instants never ticked/,
  ],
  ['a cron that nobody could read', [defined(NOW, { timezone: 'Mars/Olympus' })], undefined, /0 ticks say that/],
] as const)('I32 its check notices %s', (_, events, now, problem) => {
  expect(problemsOf(events, now)).toEqual([expect.stringMatching(problem)])
})
