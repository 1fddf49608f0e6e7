import { describe, expect, test } from '@jest/globals'
import { type TimelineRows, timelineOf } from './run-timeline.js'

const NOTHING = {
  planned_at: null,
  finished_at: null,
  error: null,
  requested_by: null,
  cancel_requested_at: null,
  cancel_requested_by: null,
}
const RUN = { ...NOTHING, run_id: 'run_x', requested_at: 1_300, asset_count: 1, tasks_total: 1 }
const TASK = {
  task_key: 'a',
  task_index: 0,
  attempt: 1,
  state: 'RUNNING',
  ready_at: null,
  started_at: null,
  last_heartbeat_at: null,
  finished_at: null,
  outcome_reason: null,
  error: null,
  progress: null,
}
const OUTBOX = { task_key: 'a', attempt: 1, requested_at: 1_300, enqueued_at: null, port: null, closed_at: null, close_reason: null }

const FAILURE = {
  task_key: 'a',
  attempt: 1,
  outcome: 'FAILED',
  reason: null,
  error: { code: 'BOOM', message: 'It broke.' },
  started_at: 2_000,
  finished_at: 5_700,
}

type Told = {
  readonly run?: object
  readonly tasks?: readonly object[]
  readonly outbox?: readonly object[]
  readonly failures?: readonly object[]
  readonly refusals?: readonly object[]
}

const told = (rows: Told) => {
  const { run = {}, tasks = [], outbox = [], failures = [], refusals = [] } = rows
  const whole = {
    run: { ...RUN, ...run },
    tasks: tasks.map((task) => ({ ...TASK, ...task })),
    outbox: outbox.map((row) => ({ ...OUTBOX, ...row })),
    failures: failures.map((row) => ({ ...FAILURE, ...row })),
    refusals,
  }
  return timelineOf(whole as unknown as TimelineRows)
}
const names = (rows: Parameters<typeof told>[0]) => told(rows).map(({ event_type, attempt }) => `${event_type}${attempt ?? ''}`)

describe('the timeline of a run', () => {
  test('has a request alone, and who made it', () => {
    expect(told({ run: { requested_by: 'ada' } })).toEqual([
      { event_type: 'RunRequested', at: 1_300, detail: { asset_count: 1, requested_by: 'ada' } },
    ])
  })

  test('has decisions after what they answer to, and facts after those, all in one millisecond', () => {
    const rows = {
      run: { planned_at: 1_300, cancel_requested_at: 1_300 },
      tasks: [{ started_at: 1_300, ready_at: 1_300, last_heartbeat_at: 1_300, finished_at: 1_300 }],
      outbox: [{ enqueued_at: 1_300, closed_at: 1_300, close_reason: 'STARTED' }],
    }
    const ofAttempt = ['DispatchRequested1', 'DispatchEnqueued1', 'TaskStarted1', 'TaskHeartbeat1', 'TaskFinished1']
    expect(names(rows)).toEqual(['RunRequested', 'PlanCreated', ...ofAttempt, 'RunCancelRequested'])
  })

  test('has the dispatch of a task after the end of the one that it needed, in the same millisecond too', () => {
    const rows = {
      run: { planned_at: 1_300 },
      tasks: [
        { task_key: 'z', finished_at: 1_700, state: 'SUCCEEDED' },
        { task_key: 'b', task_index: 1, ready_at: 1_700 },
      ],
      outbox: [{ task_key: 'z' }, { task_key: 'b', requested_at: 1_700 }],
    }
    expect(told(rows).map(({ event_type, task_key = '' }) => `${event_type} ${task_key}`)).toEqual([
      'RunRequested ',
      'PlanCreated ',
      'DispatchRequested z',
      'TaskFinished z',
      'DispatchRequested b',
    ])
  })

  test.each([
    ['a plan that failed', { run: { finished_at: 1_500, error: { code: 'CYCLE', message: 'm' } } }, ['RunRequested', 'PlanFailed']],
    ['a cancel', { run: { planned_at: 1_300, cancel_requested_at: 1_600 } }, ['RunRequested', 'PlanCreated', 'RunCancelRequested']],
    ['a task that was never tried', { tasks: [{ attempt: 0 }] }, ['RunRequested']],
    [
      'an attempt that was handed over and finished',
      {
        tasks: [{ started_at: 2_000, last_heartbeat_at: 2_500, finished_at: 3_000, state: 'SUCCEEDED' }],
        outbox: [{ enqueued_at: 1_900, port: 'DIRECT', closed_at: 2_000, close_reason: 'STARTED' }],
      },
      ['RunRequested', 'DispatchRequested1', 'DispatchEnqueued1', 'TaskStarted1', 'TaskHeartbeat1', 'TaskFinished1'],
    ],
    [
      'an attempt that never started, and the next one',
      {
        tasks: [{ attempt: 2 }],
        outbox: [
          { closed_at: 5_000, close_reason: 'START_DEADLINE' },
          { attempt: 2, requested_at: 6_000 },
        ],
      },
      ['RunRequested', 'DispatchRequested1', 'AttemptLost1', 'DispatchRequested2'],
    ],
    [
      'an attempt that fell silent and was the last',
      { tasks: [{ started_at: 2_000, finished_at: 9_000, state: 'FAILED', outcome_reason: 'HEARTBEAT' }] },
      ['RunRequested', 'TaskStarted1', 'AttemptLost1'],
    ],
  ])('has %s', (_what, rows, expected) => {
    expect(names(rows)).toEqual(expected)
  })

  test.each([
    [
      'that failed, before the next one, in the same millisecond too',
      {
        tasks: [{ attempt: 2, started_at: 7_000, last_heartbeat_at: 8_000, finished_at: 9_000, state: 'SUCCEEDED' }],
        outbox: [
          { closed_at: 2_000, close_reason: 'STARTED' },
          { attempt: 2, requested_at: 5_700, closed_at: 7_000, close_reason: 'STARTED' },
        ],
        failures: [{}],
      },
      'RunRequested DispatchRequested1 TaskStarted1 TaskFinished1 DispatchRequested2 TaskStarted2 TaskHeartbeat2 TaskFinished2',
    ],
    [
      'that was lost, once, though its outbox says so too',
      {
        tasks: [{ attempt: 1, state: 'RETRY_WAIT', outcome_reason: 'START_DEADLINE' }],
        outbox: [{ closed_at: 5_000, close_reason: 'START_DEADLINE' }],
        failures: [{ outcome: 'LOST', reason: 'START_DEADLINE', error: null, started_at: null, finished_at: 5_000 }],
      },
      'RunRequested DispatchRequested1 AttemptLost1',
    ],
    [
      'that was the last of its task, once',
      {
        tasks: [{ started_at: 2_000, last_heartbeat_at: 3_000, finished_at: 5_700, state: 'FAILED', outcome_reason: 'ERROR' }],
        failures: [{}],
      },
      'RunRequested TaskStarted1 TaskHeartbeat1 TaskFinished1',
    ],
  ])('has the end of an attempt %s', (_what, rows, expected) => {
    expect(names(rows).join(' ')).toBe(expected)
  })

  test('has the error of an attempt, and the reason of a loss', () => {
    const failures = [{}, { attempt: 2, outcome: 'LOST', reason: 'HEARTBEAT', error: null, finished_at: 9_000 }]
    const [failed, lost] = told({ failures }).filter(({ event_type }) => event_type === 'TaskFinished' || event_type === 'AttemptLost')
    expect(failed?.detail).toEqual({ state: 'FAILED', error: { code: 'BOOM', message: 'It broke.' } })
    expect(lost?.detail).toEqual({ reason: 'HEARTBEAT' })
  })

  test('has what was refused, with the reason', () => {
    const refusal = {
      event_type: 'TaskFinished',
      refused_at: 4_000,
      reason: 'ATTEMPT_OVER',
      detail: null,
      entity_kind: 'TASK',
      entity_id: 'run_x/a',
    }
    expect(told({ refusals: [refusal] })[1]).toEqual({
      event_type: 'TaskFinished',
      at: 4_000,
      task_key: 'a',
      detail: { refused: 'ATTEMPT_OVER' },
    })
  })
})
