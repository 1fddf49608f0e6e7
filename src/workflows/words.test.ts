import { describe, expect, test } from '@jest/globals'
import { TURN_REPORT } from '../../test/fixtures/loop-reports.js'
import type { MaintenanceReport } from './contract.js'
import { errorText, maintenanceDetails, statusOf, waitSummary, workspaceDetails } from './words.js'

const REPORT = { ...TURN_REPORT, sequence: 4_213, published_count: 1 }
const MAINTENANCE: MaintenanceReport = { merged_files: 3, collected_files: 12, packed_segments: 40, missed: ['01JHMPFN80G8M4P9V0MMKSSZ7N'] }

describe('what a page of the Temporal UI says', () => {
  test('of a workspace that has not had a turn', () => {
    expect(workspaceDetails('STARTING', undefined, null)).toBe('| | |\n|---|---|\n| status | STARTING |')
  })

  test('of a workspace in which nothing is due', () => {
    expect(workspaceDetails('IDLE', REPORT, null)).toBe(
      [
        '| | |',
        '|---|---|',
        '| status | IDLE |',
        '| open runs | 0 |',
        '| tasks | none |',
        '| next due | nothing: it waits for events |',
        '| revision | 4213 |',
      ].join('\n'),
    )
  })

  test('of a workspace at work', () => {
    const wake_at = '2025-01-15T10:10:00.000Z'
    const report = { ...REPORT, open_runs: 2, running_tasks: 5, waiting_tasks: 12, unstarted: 1, wake_in_ms: 600_000, wake_at }
    expect(workspaceDetails('WORKING', report, null)).toBe(
      [
        '| | |',
        '|---|---|',
        '| status | WORKING |',
        '| open runs | 2 |',
        '| tasks | 5 running, 1 handed over and not started, 12 waiting |',
        '| next due | 2025-01-15T10:10:00.000Z |',
        '| revision | 4213 |',
      ].join('\n'),
    )
    expect(waitSummary(wake_at)).toBe('next due 2025-01-15T10:10:00.000Z')
    expect(waitSummary(null)).toBe('waits for events')
  })

  test('of a workspace whose turn failed, in one line whatever the error says', () => {
    expect(workspaceDetails('ERROR', undefined, 'gs://b | p does\n  not answer')).toBe(
      '| | |\n|---|---|\n| status | ERROR |\n| last error | gs://b \\| p does not answer |',
    )
  })

  test('of maintenance', () => {
    expect(maintenanceDetails('IDLE', MAINTENANCE, null)).toBe(
      '| | |\n|---|---|\n| status | IDLE |\n| files merged | 3 |\n| files removed | 12 |\n| segments packed | 40 |\n| late segments | 1 |',
    )
  })
})

test('a workspace works while a run is open, or while there is more to fold', () => {
  expect(statusOf(REPORT)).toBe('IDLE')
  expect(statusOf({ ...REPORT, open_runs: 1 })).toBe('WORKING')
  expect(statusOf({ ...REPORT, more: true })).toBe('WORKING')
})

test('of an activity that failed the cause is told, and not that an activity failed', () => {
  const cause = new Error('local:/data does not answer')
  expect(errorText(new Error('Activity task failed', { cause: new Error('wrapped', { cause }) }))).toBe('local:/data does not answer')
  expect(errorText('plain')).toBe('plain')
})
