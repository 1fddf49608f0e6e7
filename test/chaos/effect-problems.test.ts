// Each check that chaos ends with has to be able to fail: a small story that is as it should be, and what each check says
// when one thing of it is another.

import { expect, test } from '@jest/globals'
import type { LedgerEvent } from '../../src/events/event.js'
import type { LooseRow } from '../../src/projections/tables.js'
import { effectProblems } from '../system/effect-problems.js'
import type { Asked, Effect, Told } from '../system/side-effects.js'

const RUN = 'run_a'
const ASKED: readonly Asked[] = [{ run_key: 'key', run_id: RUN, tasks: 2 }]

const event = (event_type: string, asset: string, payload: object = {}): LedgerEvent =>
  ({
    event_type,
    event_id: `${event_type} ${asset}`,
    payload: { run_id: RUN, task_key: asset, attempt_id: `${asset}-1`, ...payload },
  }) as unknown as LedgerEvent
const task = (asset: string, columns: object = {}): LooseRow =>
  ({
    run_id: RUN,
    task_key: asset,
    state: 'SUCCEEDED',
    attempt: 1,
    attempt_id: `${asset}-1`,
    failures: 0,
    max_attempts: 2,
    error: null,
    ...columns,
  }) as unknown as LooseRow
const effect = (what: Effect['what'], asset: string, attempt_id = `${asset}-1`): Effect => ({
  ...{ what, run_id: RUN, asset_key: asset, attempt: 1, attempt_id, pid: 1, at: 0 },
})
const row = (columns: object): LooseRow => columns as unknown as LooseRow

const EVENTS = ['up', 'down'].flatMap((asset) => [event('TaskStarted', asset), event('TaskFinished', asset, { outcome: 'SUCCEEDED' })])
const TOLD: Told = {
  sequence: 9,
  runs: [row({ run_id: RUN, run_key: 'key', state: 'SUCCEEDED' })],
  tasks: [task('up'), task('down')],
  edges: [row({ run_id: RUN, downstream_task_key: 'down', upstream_task_key: 'up' })],
  outbox: [row({ run_id: RUN, task_key: 'up', status: 'CLOSED' })],
  pools: [row({ pool_key: 'global', in_use: 0 })],
  refusals: [],
  conflicts: [],
  quarantine: [],
  events: EVENTS,
  applied: new Set(EVENTS.map(({ event_id }) => event_id)),
}
const EFFECTS = [effect('start', 'up'), effect('end', 'up'), effect('start', 'down'), effect('end', 'down')]

const withEvents = (...more: readonly LedgerEvent[]): Told => ({
  ...TOLD,
  events: [...EVENTS, ...more],
  applied: new Set([...TOLD.applied, ...more.map(({ event_id }) => event_id)]),
})
const withDown = (columns: object): Told => ({ ...TOLD, tasks: [task('up'), task('down', columns)] })
const withoutSuccess = (told: Told): Told => ({ ...told, applied: new Set([...told.applied].filter((id) => id !== 'TaskFinished down')) })

test('what is as it should be has no problem', () => {
  expect(effectProblems(ASKED, TOLD, EFFECTS)).toEqual([])
})

const WRONG: readonly (readonly [what: string, told: Told, effects: readonly Effect[], says: string])[] = [
  ['an attempt whose code started twice', TOLD, [...EFFECTS, effect('start', 'up')], 'The code of attempt up-1 started twice'],
  ['code that nobody allowed', TOLD, [...EFFECTS, effect('start', 'up', 'up-2')], 'up-2 ran, and never said that it starts'],
  ['a success without its effect', TOLD, EFFECTS.slice(0, 3), 'succeeded by attempt down-1, whose code never came to its end'],
  [
    'two successes that were accepted',
    withEvents({ ...event('TaskFinished', 'down', { outcome: 'SUCCEEDED', attempt_id: 'down-2' }), event_id: 'second' }),
    [...EFFECTS, effect('end', 'down', 'down-2')],
    '2 successes of it were accepted',
  ],
  ['a success that nothing in the ledger says', withoutSuccess(TOLD), EFFECTS, 'is SUCCEEDED, and 0 successes of it were accepted'],
  ['another attempt in the row', withDown({ attempt_id: 'down-2' }), EFFECTS, 'names attempt down-2, and down-1 was accepted'],
  [
    'an attempt that started and was forgotten',
    withEvents(event('TaskStarted', 'lost')),
    EFFECTS,
    'lost-1 started, never ran, and was not lost',
  ],
  ['a task that is not over', withoutSuccess(withDown({ state: 'RUNNING' })), EFFECTS, 'is RUNNING, which is not over'],
  [
    'a failure that is not the fault of the code',
    withoutSuccess(withDown({ state: 'FAILED', failures: 1 })),
    EFFECTS,
    'is FAILED after 1 failures',
  ],
  ['a cancel that nobody asked for', withoutSuccess(withDown({ state: 'CANCELLED' })), EFFECTS, 'nobody asked for that'],
  [
    'code of a task that was never dispatched',
    withoutSuccess(withDown({ state: 'SKIPPED', attempt: 0 })),
    EFFECTS,
    'was never dispatched, and its code ran',
  ],
  [
    'a successor before its predecessor',
    TOLD,
    [EFFECTS[2], EFFECTS[0], EFFECTS[1], EFFECTS[3]] as Effect[],
    'down of run_a started before up had succeeded',
  ],
  ['a run that is gone', { ...TOLD, runs: [] }, EFFECTS, 'was accepted as run_a, and is not there'],
  [
    'a run that nobody asked for',
    { ...TOLD, runs: [...TOLD.runs, row({ run_id: 'run_b', run_key: 'b' })] },
    EFFECTS,
    'runs that nobody asked for',
  ],
  [
    'a run that ended otherwise',
    { ...TOLD, runs: [row({ run_id: RUN, run_key: 'key', state: 'FAILED' })] },
    EFFECTS,
    'is FAILED, and not SUCCEEDED',
  ],
  ['a task too few', { ...TOLD, tasks: [task('up')] }, EFFECTS, 'has 1 tasks, and not 2'],
  [
    'a place in a pool that leaked',
    { ...TOLD, pools: [row({ pool_key: 'global', in_use: 1 })] },
    EFFECTS,
    'Pool global has 1 places taken',
  ],
  ['a dispatch that is open', { ...TOLD, outbox: [row({ run_id: RUN, task_key: 'up', status: 'ACKED' })] }, EFFECTS, 'is ACKED still'],
  [
    'what could not be read',
    { ...TOLD, quarantine: [row({ segment_name: 's', reason: 'BAD_JSON' })] },
    EFFECTS,
    'could not be read: BAD_JSON',
  ],
]

test.each(WRONG)('%s is found', (_, told, effects, says) => {
  expect(effectProblems(ASKED, told, effects).join('\n')).toContain(says)
})

test('a cancel that was accepted, and is not in the ledger, is found', () => {
  const asked = ASKED.map((each) => ({ ...each, is_cancel_accepted: true }))
  expect(effectProblems(asked, TOLD, EFFECTS).join()).toContain('The cancel of key was accepted, and is not in the ledger')
})
