import { describe, expect, it } from '@jest/globals'
import { createStory } from '../../test/fixtures/fold-story.js'
import { createSpeaker, NOW } from '../../test/fixtures/say.js'
import { DAY_MS, HOUR_MS } from '../core/time.js'
import { RETENTION } from './retention.js'
import { retentionIn } from './retention-settings.js'

/** NOW is a whole hour. */
function tell() {
  let fold_time = NOW
  const story = createStory({ fold_time: () => fold_time })
  const say = createSpeaker()
  const said = say.poolDefined('pool:x', 1)
  return {
    story,
    say,
    after: (ms: number) => void (fold_time = NOW + ms),
    /** The same request once more. */
    again: () => story.fold({ ...said, event_id: say.poolDefined('pool:x', 1).event_id })[0]?.kind,
    change: (settings: Parameters<typeof say.retentionChanged>[0], request: string) =>
      story.fold(say.retentionChanged(settings, { at: fold_time, request })),
  }
}

describe('the settings of a workspace', () => {
  it('are rows of what somebody changed, with when and by whom; all else is as the version has it', () => {
    const { story, change, after } = tell()
    change({ refusals_days: 14, as_of_hours_days: 3 }, 'r1')
    after(HOUR_MS)
    change({ as_of_hours_days: 60 }, 'r2')
    expect(story.row('retention_settings', 'refusals_days')).toMatchObject({ value: 14, changed_at: NOW, changed_by: 'user:1' })
    expect(story.row('retention_settings', 'as_of_hours_days')).toMatchObject({
      value: 60,
      changed_at: NOW + HOUR_MS,
      gone_before_at: null,
    })
    expect(story.row('retention_settings', 'outbox_days')).toBeUndefined()
    expect(retentionIn(story.rows, RETENTION)).toEqual({ ...RETENTION, refusals_days: 14, as_of_hours_days: 60 })
  })

  it('count from the batch after the one that says them', () => {
    const { again, change, after } = tell()
    expect(again()).toBe('applied')
    change({ idempotency_hours: 336 }, 'r1')
    after(336 * HOUR_MS)
    expect(again()).toBe('duplicate')
    after(337 * HOUR_MS)
    expect(again()).toBe('applied')
  })

  it('that are lowered let go at once', () => {
    const { again, change, after } = tell()
    again()
    change({ idempotency_hours: 336 }, 'r1')
    after(200 * HOUR_MS)
    change({ idempotency_hours: 168 }, 'r2')
    expect(again()).toBe('applied')
  })

  it('that are raised bring nothing back: what had expired stays expired', () => {
    const { story, again, change, after } = tell()
    again()
    after(169 * HOUR_MS)
    change({ idempotency_hours: 336 }, 'r1')
    expect(story.row('retention_settings', 'idempotency_hours')).toMatchObject({ gone_before_at: NOW + HOUR_MS })
    expect(again()).toBe('applied')
    after(2 * 169 * HOUR_MS)
    expect(again()).toBe('duplicate')
  })

  it('that are raised and lowered in one batch let go of what the lower one would', () => {
    const { story, say, after } = tell()
    story.fold(say.retentionChanged({ refusals_days: 60 }, { request: 'r1' }))
    after(100 * DAY_MS)
    const at = NOW + 100 * DAY_MS
    story.fold(
      say.retentionChanged({ refusals_days: 7 }, { at, request: 'r2' }),
      say.retentionChanged({ refusals_days: 90 }, { at, request: 'r3' }),
    )
    const midnight = Math.floor(at / DAY_MS) * DAY_MS
    expect(story.row('retention_settings', 'refusals_days')).toMatchObject({ value: 90, gone_before_at: midnight - 7 * DAY_MS })
  })

  it('give new run keys and skipped ticks their end, and leave those that have one', () => {
    const { story, say, change } = tell()
    const key = (name: string) => `sched:01JZ8M5Q3R7T9V0W2X4Y6ZABCD:${name}`
    story.fold(say.locationDeployed('main', 0), say.assetDefined('a'))
    story.fold(say.runRequested(key('1')))
    change({ idempotency_hours: 336 }, 'r1')
    story.fold(say.runRequested(key('2')))
    expect(['1', '2'].map((name) => story.row('run_key_index', key(name))?.expires_at)).toEqual([NOW + 168 * HOUR_MS, NOW + 336 * HOUR_MS])
  })
})
