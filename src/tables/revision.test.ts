import { describe, expect, it } from '@jest/globals'
import { RETENTION } from '../projections/retention.js'
import { encodeRevision, parseRevision, type Revision } from './revision.js'

const AT = '2025-01-15T10:00:00.000Z'

const REVISION: Revision = {
  schema: 'servo-revision-v1',
  revision: '01JHMPFP400000000000000000',
  sequence: 1,
  previous: null,
  checkpoint: '01JHMPA2C80000000000000000',
  fold_version: 4,
  fold_time: AT,
  turn_id: '01JHMPFNZZ0000000000000000',
  published_at: AT,
  segments: [],
  files_added: [],
  files_removed: [],
  retention: RETENTION,
  listing_window_ms: 1,
  watermarks: {
    last_processed_at: AT,
    closed_through: AT,
    events_processed_through: AT,
    max_event_id_seen: null,
    wake_at: null,
    hold_until: null,
  },
  counts: { applied: 0, duplicate: 0, refused: 0, quarantined: 0 },
  applied_total: 0,
  set_sum: '0',
}

const stored = (revision: Revision) => JSON.parse(new TextDecoder().decode(encodeRevision(revision))) as { readonly retention: object }

describe('a revision', () => {
  it('says instants of what is gone as text, and is read as it was', () => {
    const retention = { ...RETENTION, refusals_days: 60, gone_before: { refusals_days: Date.parse(AT) } }
    const revision = { ...REVISION, retention, retention_defaults: RETENTION }
    expect(stored(revision).retention).toMatchObject({ refusals_days: 60, gone_before: { refusals_days: AT } })
    expect(parseRevision('a name', encodeRevision(revision))).toEqual(revision)
    expect(stored(REVISION)).not.toHaveProperty('retention_defaults')
  })

  it('of a version without settings kept a day and 30 days', () => {
    const { as_of_minutes_hours: _minutes, as_of_hours_days: _days, ...before } = RETENTION
    const bytes = new TextEncoder().encode(JSON.stringify({ ...stored(REVISION), retention: before }))
    expect(parseRevision('a name', bytes).retention).toEqual({ ...before, as_of_minutes_hours: 24, as_of_hours_days: 30 })
  })
})
