import { describe, expect, test } from '@jest/globals'
import { SCHEDULE_REPORT, TURN_REPORT } from '../../test/fixtures/loop-reports.js'
import type { MaintenanceReport } from './contract.js'
import {
  entityDetails,
  entityTimer,
  errorText,
  handOverSummary,
  type LookCause,
  lookSummary,
  maintenanceDetails,
  statusOf,
  timerSummary,
  turnSummary,
  workspaceDetails,
} from './words.js'

const NOW = Date.UTC(2025, 0, 15, 9)
const REPORT = { ...TURN_REPORT, sequence: 4_213, published_count: 1 }
const MAINTENANCE: MaintenanceReport = { merged_files: 3, collected_files: 12, packed_segments: 40, missed: ['01JHMPFN80G8M4P9V0MMKSSZ7N'] }
const WELL = { last_error: null, unknown: null }

describe('the page of the loop of a workspace', () => {
  const page = (...args: [Parameters<typeof workspaceDetails>[0], Parameters<typeof workspaceDetails>[1], object?]) =>
    workspaceDetails(args[0], args[1], { ...WELL, ...args[2] }, NOW).split('\n')

  test('before its first turn has its status', () => {
    expect(page('STARTING', undefined)).toEqual(['**STARTING**'])
  })

  test('says that nothing is due', () => {
    expect(page('IDLE', REPORT)).toEqual([
      '**IDLE** · 0 open runs',
      '',
      '- tasks: none',
      '- next due: nothing, it waits for events',
      '- revision 4213',
    ])
  })

  test('says what is open, what is due and why, which runs failed, and which schedules are in ERROR', () => {
    const wake_at = '2025-01-15T10:10:00.000Z'
    const lines = { due: 'tick of daily', failed_runs: ['01RUN (user:1)'], failing_schedules: ['hourly', 'and 2 more'] }
    const report = { ...REPORT, open_runs: 1, running_tasks: 5, waiting_tasks: 12, unstarted: 1, wake_in_ms: 600_000, wake_at, page: lines }
    expect(page('WORKING', report)).toEqual([
      '**WORKING** · 1 open run',
      '',
      '- tasks: 5 running, 1 handed over and not started, 12 waiting',
      '- next due: 15 Jan 10:10 UTC, tick of daily',
      '- failed run: 01RUN (user:1)',
      '- schedule in ERROR: hourly',
      '- schedule in ERROR: and 2 more',
      '- revision 4213',
    ])
  })

  test('has an error in one line in which nothing is a link or emphasis, and a signal that is not known', () => {
    const troubles = { last_error: 'gs://b *p* [does](x)\n  not answer', unknown: 'unknown signal Poke; known: poke' }
    expect(page('ERROR', undefined, troubles)).toEqual([
      '**ERROR**',
      '',
      '- unknown signal Poke; known: poke',
      '- last error: gs://b \\*p\\* \\[does](x) not answer',
    ])
  })
})

test('the page of maintenance says what its last calls did', () => {
  expect(maintenanceDetails('IDLE', MAINTENANCE, null).split('\n')).toEqual([
    '**IDLE**',
    '',
    '- files merged: 3',
    '- files removed: 12',
    '- segments packed: 40',
    '- late segments: 1',
  ])
})

describe('the page of the loop of an entity', () => {
  const { page } = SCHEDULE_REPORT
  const troubles = { last_command: null, last_error: null, hint: 'Send pause.' }

  test('has the lines of its kind, the last command, and what an operator may get wrong', () => {
    expect(entityDetails('ACTIVE', page ?? undefined, { ...troubles, last_command: 'pause by ana, done' }).split('\n')).toEqual([
      '**ACTIVE** · next fire 15 Jan 10:00 Europe/Berlin',
      '',
      '- schedule `daily`',
      '- last command: pause by ana, done',
      '- Send pause.',
    ])
  })

  test('says why the loop failed rather than why the entity did', () => {
    const failing = { headline: 'x', lines: [], last_error: 'The asset a is not defined.' }
    expect(entityDetails('ERROR', failing, troubles)).toContain('\n- last error: The asset a is not defined.\n')
    expect(entityDetails('ERROR', failing, { ...troubles, last_error: 'No turn came' })).toContain('\n- last error: No turn came\n')
  })

  test('has the timer of its kind, also where an older activity names none', () => {
    const { timer, ...older } = SCHEDULE_REPORT
    expect([entityTimer(SCHEDULE_REPORT), entityTimer(older), entityTimer(undefined)]).toEqual([timer, 'looks again', 'tries again'])
  })
})

describe('what a call is for', () => {
  const cause = (by: LookCause['by'], pokes = 0): LookCause => ({ by, pokes })
  const due = { wake_at: '2025-01-15T10:00:00.000Z', is_backstop: false }

  test('of a turn', () => {
    const said = (each: LookCause, timer = due) => turnSummary(each, timer, NOW)
    expect(said(cause('start'))).toBe('turn: start of a run')
    expect(said(cause('signal', 1))).toBe('turn: 1 poke')
    expect(said(cause('timer', 3))).toBe('turn: 3 pokes')
    expect(said(cause('timer'))).toBe('turn: due 15 Jan 10:00 UTC')
    expect(said(cause('timer'), { ...due, is_backstop: true })).toBe('turn: backstop')
    expect(said(cause('failure'))).toBe('turn: again after a failure')
  })

  test('of a look', () => {
    expect(lookSummary(cause('timer'), [])).toBe('look: timer')
    expect(lookSummary(cause('signal', 2), [])).toBe('look: 2 pokes')
    const commands = ['pause', 'resume', 'pause'].map((kind) => ({ kind, request_id: kind }))
    expect(lookSummary(cause('signal', 3), commands)).toBe('pause, resume')
  })

  test('of a hand-over', () => {
    expect([1, 3].map(handOverSummary)).toEqual(['hand-over: 1 attempt has not started', 'hand-over: 3 attempts have not started'])
  })

  test('and what the timer of a workspace waits for', () => {
    expect(timerSummary(due, NOW)).toBe('next due 15 Jan 10:00 UTC')
    expect(timerSummary({ ...due, is_backstop: true }, NOW)).toBe('backstop: next due 15 Jan 10:00 UTC')
    expect(timerSummary({ wake_at: null, is_backstop: true }, NOW)).toBe('backstop: waits for events')
  })
})

test('a workspace works while a run is open, or while there is more to fold', () => {
  expect(statusOf(REPORT)).toBe('IDLE')
  expect(statusOf({ ...REPORT, open_runs: 1 })).toBe('WORKING')
  expect(statusOf({ ...REPORT, more: true })).toBe('WORKING')
})

test('the error of an activity is that of its cause', () => {
  const cause = new Error('local:/data does not answer')
  expect(errorText(new Error('Activity task failed', { cause: new Error('wrapped', { cause }) }))).toBe('local:/data does not answer')
  expect(errorText('plain')).toBe('plain')
})
