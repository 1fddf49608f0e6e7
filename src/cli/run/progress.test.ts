import { describe, expect, test } from '@jest/globals'
import type { Run, Task } from '../answers.js'
import { assetProgress, bar, changeLine, endLine, progressLines, taskChanges } from './progress.js'

const NOW = Date.parse('2025-01-15T10:00:00.000Z')
const at = (seconds: number): string => new Date(NOW + seconds * 1_000).toISOString()
const PLAIN = { hasColour: false, columns: () => 80, rows: () => 24 }

let index = 0
const task = (task_key: string, state: string, more: Partial<Task> = {}): Task =>
  ({
    task_key,
    asset_key: task_key.split('#')[0] as string,
    task_index: index++,
    state,
    attempt: state === 'BLOCKED' || state === 'READY' ? 0 : 1,
    started_at: null,
    finished_at: null,
    dispatched_at: null,
    error: null,
    ...more,
  }) as Task

const run = (more: Partial<Run>): Run =>
  ({
    run_id: 'run_1',
    state: 'RUNNING',
    requested_at: at(-65),
    finished_at: null,
    error: null,
    tasks_total: 4,
    tasks_open: 2,
    tasks_succeeded: 1,
    tasks_failed: 1,
    tasks_skipped: 0,
    tasks_cancelled: 0,
    ...more,
  }) as Run

const error = { code: 'E', message: 'no disk\n  at line 1' }

describe('a bar', () => {
  test.each([
    [0, 0, '░░░░'],
    [0, 9, '░░░░'],
    [1, 1_000, '█░░░'],
    [2, 4, '██░░'],
    [999, 1_000, '███░'],
    [5, 5, '████'],
  ])('of %d of %d', (done, total, drawn) => {
    expect(bar(done, total, 4)).toBe(drawn)
  })
})

describe('the progress of an asset', () => {
  test('is that of what is under way, over all its tasks', () => {
    const tasks = [
      task('a#0', 'SUCCEEDED', { started_at: at(-50), finished_at: at(-40) }),
      task('a#1', 'RUNNING', { started_at: at(-30), attempt: 2, progress: { done: 9, total: 60 } }),
      task('a#2', 'BLOCKED'),
      task('b', 'BLOCKED'),
    ]
    const [a, b] = assetProgress(tasks, NOW)
    expect(a).toEqual({
      asset_key: 'a',
      state: 'RUNNING',
      attempt: 2,
      tasks_total: 3,
      tasks_over: 1,
      elapsed_ms: 50_000,
      progress: '9/60',
      error: undefined,
    })
    expect(b).toMatchObject({ state: 'BLOCKED', attempt: 0, tasks_over: 0, elapsed_ms: undefined, progress: '', error: undefined })
  })

  test('is not hidden by the error of the attempt before, nor does it hide what another task failed of', () => {
    const again = { started_at: at(-30), attempt: 2, progress: { done: 9, total: 60, message: 'reading' }, error }
    expect(assetProgress([task('a#0', 'RUNNING', again)], NOW)).toMatchObject([{ progress: '9/60 reading', error: undefined }])
    expect(assetProgress([task('a#0', 'DISPATCHED', { attempt: 2, error })], NOW)).toMatchObject([{ progress: '', error: undefined }])
    expect(assetProgress([task('a#0', 'RETRY_WAIT', { error })], NOW)).toMatchObject([{ error: error.message }])
    const other = task('a#1', 'FAILED', { finished_at: at(-5), error: { code: 'E', message: 'no room' } })
    expect(assetProgress([task('a#0', 'RUNNING', again), other], NOW)).toMatchObject([{ progress: '9/60 reading', error: 'no room' }])
    const lines = progressLines({ run: run({}), tasks: [task('a', 'RUNNING', again)], now: NOW }, PLAIN)
    expect(lines[1]).toBe('  a  RUNNING     ░░░░░░░░░░░░░░░░░░░░ 0/1  attempt 2  30 s  9/60 reading')
  })

  test('ends with its last task, and failed where one of them did', () => {
    const tasks = [
      task('a#0', 'FAILED', { started_at: at(-50), finished_at: at(-20), error }),
      task('a#1', 'SUCCEEDED', { started_at: at(-50), finished_at: at(-10) }),
    ]
    expect(assetProgress(tasks, NOW)).toMatchObject([{ state: 'FAILED', elapsed_ms: 40_000, tasks_over: 2 }])
  })
})

describe('the lines on a terminal', () => {
  const tasks = [
    task('raw', 'SUCCEEDED', { started_at: at(-60), finished_at: at(-58) }),
    task('clean', 'FAILED', { started_at: at(-50), finished_at: at(-45), attempt: 3, error }),
    task('daily_summary', 'RUNNING', { started_at: at(-40) }),
    task('report', 'BLOCKED'),
  ]

  test('have the run first, and one for each asset', () => {
    expect(progressLines({ run: run({}), tasks, now: NOW }, PLAIN)).toEqual([
      'run_1  RUNNING  ██████████░░░░░░░░░░ 2/4  1 min 5 s',
      '  raw            SUCCEEDED   ████████████████████ 1/1  2.0 s',
      '  clean          FAILED      ████████████████████ 1/1  attempt 3  5.0 s  no disk',
      '  daily_summary  RUNNING     ░░░░░░░░░░░░░░░░░░░░ 0/1  40 s',
      '  report         BLOCKED     ░░░░░░░░░░░░░░░░░░░░ 0/1',
    ])
  })

  test('show what moves or failed where not all fit, in the order of the plan', () => {
    const lines = progressLines({ run: run({}), tasks, now: NOW }, { ...PLAIN, rows: () => 5 })
    expect(lines.map((line) => line.trim().split(' ')[0])).toEqual(['run_1', 'clean', 'daily_summary', '…'])
    expect(lines.at(-1)).toBe('  … and 2 more assets')
  })

  test('say that nothing is planned yet', () => {
    const nothing = run({ state: 'PENDING', tasks_total: 0, tasks_open: 0 })
    expect(progressLines({ run: nothing, tasks: [], now: NOW }, PLAIN)).toEqual(['run_1  PENDING  no tasks yet  1 min 5 s'])
  })
})

describe('what changed', () => {
  test('is told once, with when it happened', () => {
    const before = [task('a', 'RUNNING', { started_at: at(-5) }), task('b', 'BLOCKED')]
    const known = new Map(before.map((each) => [each.task_key, each]))
    expect(taskChanges(known, before, NOW)).toEqual([])
    const after = [task('a', 'SUCCEEDED', { finished_at: at(-1) }), task('b', 'READY')]
    expect(taskChanges(known, after, NOW)).toEqual([
      { at: at(-1), task_key: 'a', state: 'SUCCEEDED', attempt: 1 },
      { at: at(0), task_key: 'b', state: 'READY', attempt: 0 },
    ])
  })

  test('another attempt is a change, and its line says what became of the one before', () => {
    const known = new Map([['a', task('a', 'RUNNING')]])
    const [change] = taskChanges(known, [task('a', 'RUNNING', { attempt: 2, started_at: at(0), error })], NOW)
    expect(change).toEqual({ at: at(0), task_key: 'a', state: 'RUNNING', attempt: 2, earlier_error: error })
    expect(change === undefined ? '' : changeLine(change)).toMatch(/^\d\d:\d\d:\d\d a RUNNING, attempt 2 \(attempt 1: no disk\)$/)
    const [failed] = taskChanges(known, [task('a', 'FAILED', { attempt: 2, finished_at: at(0), error })], NOW)
    expect(failed === undefined ? '' : changeLine(failed)).toMatch(/^\d\d:\d\d:\d\d a FAILED, attempt 2: no disk$/)
  })
})

test('the end of a run counts what came of its tasks', () => {
  expect(endLine(run({ state: 'FAILED', finished_at: at(0), tasks_open: 0, tasks_skipped: 2 }))).toBe(
    'Run run_1 FAILED in 1 min 5 s. 4 tasks: 1 succeeded, 1 failed, 2 skipped.',
  )
  expect(endLine(run({ state: 'FAILED', finished_at: at(-64), tasks_total: 0, error: { code: 'P', message: 'No plan.' } }))).toBe(
    'Run run_1 FAILED in 1.0 s. No plan.',
  )
})
