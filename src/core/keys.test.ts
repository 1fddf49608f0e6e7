import { describe, expect, test } from '@jest/globals'
import {
  assetDefinedKey,
  assetRemovedKey,
  attemptLostKey,
  backfillRunKey,
  base32Lower,
  claimName,
  definedKey,
  definitionHash,
  deployKey,
  dispatchEnqueuedKey,
  dispatchId,
  isDerivedRunKey,
  keysSha256,
  listName,
  listSha256,
  locationContentSha256,
  logChunkName,
  logFolder,
  manualScheduleRunKey,
  manualScheduleTickedKey,
  manualTickId,
  planFailedKey,
  planKey,
  poolDefinedKey,
  poolRemovedKey,
  queueTaskName,
  removedKey,
  requestFingerprint,
  rerunRunKey,
  runCancelKey,
  runKeyClaimName,
  runRequestedKey,
  scheduleRunKey,
  scheduleTickedKey,
  segmentMinute,
  segmentNameAt,
  sensorDefaultUserKey,
  sensorMessageRunKey,
  sensorPollKey,
  sensorRunKey,
  startLogName,
  statusKey,
  taskFinishedKey,
  taskHeartbeatKey,
  taskKey,
  taskStartedKey,
  tickId,
  userRunKey,
} from './keys.js'
import { retryDelayMs } from './retry-delay.js'
import { attemptId, runId } from './run-id.js'

// Every value is the one that DATA section 1 prints.
const SECRET = { secret_key_id: 'golden', secret: 'servo-golden-secret' }
const SCOPE = { tenant_id: 'acme', workspace_id: 'prod' }
const SCHEDULE_ID = '01JZ8M5Q3R7T9V0W2X4Y6ZABCD'
const EPOCH = 1736935200
const RUN_KEY = 'sched:01JZ8M5Q3R7T9V0W2X4Y6ZABCD:1736935200'
const RUN_ID = 'run_ywyvhmgqjsi3naar7smdnlfsve'
const ATTEMPT = { run_id: RUN_ID, task_key: 'analytics.daily_summary', attempt: 1 }
const ATTEMPT_ID = '3AYAGXAP8KGYKNN09WMD8HK6EN'
const FINGERPRINT = 'b36fcef5b2a0b877f9744d6610d80e13f7ddee3957da3371d0ff669354fcf943'
const RUN_REQUESTED_KEY = `runreq:${RUN_KEY}:5323629bf0c8b12cf33d47b67966c76f466dcaadb06e523488585561666ac44c`

describe('golden values', () => {
  test('run_id', () => {
    expect(scheduleRunKey(SCHEDULE_ID, EPOCH)).toBe(RUN_KEY)
    expect(runId(SECRET, SCOPE, RUN_KEY)).toBe(RUN_ID)
    expect(runId({ ...SECRET, secret: new TextEncoder().encode(SECRET.secret) }, SCOPE, RUN_KEY)).toBe(RUN_ID)
  })

  test('base32lower', () => {
    expect(base32Lower(new TextEncoder().encode('foobar'))).toBe('mzxw6ytboi')
  })

  test('attempt_id', () => {
    expect(attemptId(SECRET, ATTEMPT)).toBe(ATTEMPT_ID)
  })

  test('queue_task_name', () => {
    expect(dispatchId(ATTEMPT)).toBe(`dispatch:${RUN_ID}:analytics.daily_summary:1`)
    expect(queueTaskName(dispatchId(ATTEMPT))).toBe('d_yo4czk3ou7oxu4nriwye7cm7lt')
  })

  test('definition_hash', () => {
    const definition = { asset_key: 'analytics.daily_summary', deps: [{ asset_key: 'raw.events' }], retry: { max_attempts: 3 } }
    expect(definitionHash(definition)).toBe('31bba02f91cd633fd8310b3ad2b2932e5241a300843712945094b7601ad57f4e')
    expect(definitionHash({ description: 'One row a day.', ...definition })).toBe(definitionHash(definition))
    expect(definitionHash({ ...definition, group: 'core' })).not.toBe(definitionHash(definition))
  })

  test('content_sha256 of a location', () => {
    const [a, b] = [
      { asset_key: 'a', deps: [] },
      { asset_key: 'b', deps: [{ asset_key: 'a' }] },
    ]
    const content = locationContentSha256('analytics', [a, b])
    expect(content).toBe('d7de07c92013e209d4e6212423b1ba9a5e7a634c319c2ddc11ec0a04910ae95a')
    expect(locationContentSha256('analytics', [b, a])).toBe(content)
    expect(locationContentSha256('analytics', [{ ...a, description: 'First.' } as typeof a, b])).not.toBe(content)
  })

  test('request_fingerprint and the key of RunRequested', () => {
    const request_fingerprint = requestFingerprint({
      assets: ['raw.events', 'analytics.daily_summary'],
      partitions: { keys: ['2025-01-14'] },
      tags: { team: 'core' },
    })
    expect(request_fingerprint).toBe(FINGERPRINT)
    expect(runRequestedKey({ run_key: RUN_KEY, request_fingerprint })).toBe(RUN_REQUESTED_KEY)
  })

  test('poll key', () => {
    const digest = 'e497c3e7775e78085ccf1963d52a98d5fe85d768d704599ad7b2d468fa469ca6'
    expect(sensorPollKey('01JZ8M5Q3R7T9V0W2X4Y6ZABCE', 57897840, 'cursor_v1')).toBe(
      `sensor_eval:01JZ8M5Q3R7T9V0W2X4Y6ZABCE:poll:57897840:${digest}`,
    )
    expect(sensorPollKey('s', 1, null)).toBe(sensorPollKey('s', 1, ''))
  })

  test('chunks of logs, in the order of their numbers', () => {
    const attempt = { run_id: RUN_ID, attempt_id: ATTEMPT_ID }
    const folder = `logs/${RUN_ID}/27917d71ba4ffa04a1b4f5d78765f319e8a2cabf97757f8281b2a1b012fa595a/`
    expect(logFolder(attempt)).toBe(folder)
    expect([0, 9, 10, 999_999].map((chunk) => logChunkName(attempt, chunk))).toEqual(
      ['000000', '000009', '000010', '999999'].map((digits) => `${folder}${digits}.ndjson`),
    )
  })

  test('start claim, list and claim', () => {
    const group = { location_name: 'main', dispatched_at: Date.UTC(2025, 0, 15, 10) }
    expect(startLogName(group, 12)).toBe('starts/5cf560ad88b70428f2b5046a3133a69487d5241866670008f554289a2641bab5/000012.json')
    expect(listName(listSha256(['2025-01-01', '2025-01-03']))).toBe(
      'lists/951038a65f82f1dd231dd7c7661b63cd7dc513fcc8534c680a9a6d50eb385e04.json',
    )
    expect(claimName({ client_key: 'k-123', principal: 'user:1', route: 'POST /runs' })).toBe(
      'claims/ec6c515c57f3db909b6b64d1e37b340874badd8207dd4386e2a5b155274206a0.json',
    )
    expect(runKeyClaimName('user:rk4')).toBe('claims/16325560de9b829f51d3d356a62813a695ea8c3ee44a8212fb6b7b566b0029a7.json')
  })

  test('keys_sha256 and segment name', () => {
    expect(scheduleTickedKey(SCHEDULE_ID, EPOCH)).toBe('sched_tick:01JZ8M5Q3R7T9V0W2X4Y6ZABCD:1736935200')
    const tick = { idempotency_key: scheduleTickedKey(SCHEDULE_ID, EPOCH), basis: { expected_state_version: 7 } }
    const request = { idempotency_key: RUN_REQUESTED_KEY }
    const digest = keysSha256(SCOPE, [tick, request])
    expect(digest).toBe('82284b2760a5279cfcf5edad0383b4b1068f76be336380557dae7ffa9ee31e6c')
    expect(segmentNameAt(EPOCH * 1_000, digest)).toBe('01JHMPFN80G8M4P9V0MMKSSZ7N')
    expect(segmentNameAt(EPOCH * 1_000, digest, 1)).toMatch(/^01JHMPFN80(?!G8M4P9V0MMKSSZ7N)/)
    expect(keysSha256(SCOPE, [request, tick])).toBe(digest)
    expect(keysSha256(SCOPE, [request, { ...tick, basis: { expected_state_version: 8 } }])).not.toBe(digest)
    expect(keysSha256({ ...SCOPE, workspace_id: 'test' }, [request, tick])).not.toBe(digest)
  })

  test('retry delay', () => {
    const retry = { backoff_seconds: 30, factor: 2, max_backoff_seconds: 600, jitter: 0.2 }
    expect(retryDelayMs(retry, 1, ATTEMPT_ID)).toBe(27927)
    expect(retryDelayMs({ ...retry, jitter: 0 }, 3, ATTEMPT_ID)).toBe(120_000)
    expect(retryDelayMs({ ...retry, jitter: 0 }, 9, ATTEMPT_ID)).toBe(600_000)
    expect(retryDelayMs({ ...retry, backoff_seconds: 0 }, 5_000, ATTEMPT_ID)).toBe(0)
  })
})

describe('formulas', () => {
  const ids = { ...ATTEMPT, attempt_id: ATTEMPT_ID }

  test.each([
    [scheduleRunKey('S', 5, '2025-01-15|eu'), 'sched:S:5:2025-01-15|eu'],
    [manualScheduleRunKey('S', 'r1'), 'sched:S:manual:r1'],
    [sensorMessageRunKey('N', 'm1'), 'sensor:N:msg:m1'],
    [sensorMessageRunKey('N', 'm1', 'k'), 'sensor:N:msg:m1:k'],
    [sensorRunKey('N', sensorDefaultUserKey('E', 3)), 'sensor:N:key:E-3'],
    [backfillRunKey('B', 0), 'backfill:B:chunk:0'],
    [userRunKey('nightly'), 'user:nightly'],
    [rerunRunKey('run_a', 'FROM_FAILURE'), 'rerun:run_a:FROM_FAILURE'],
    [taskKey('a.b'), 'a.b'],
    [taskKey('a.b', 0), 'a.b#0'],
    [deployKey({ location_name: 'etl' }, 'r1'), 'deploy:etl:r1'],
    [assetDefinedKey({ asset_key: 'a', definition_hash: 'ff' }, 'r1'), 'asset_def:a:ff:r1'],
    [assetRemovedKey({ asset_key: 'a' }, 'r1'), 'asset_def:a:removed:r1'],
    [poolDefinedKey({ pool_key: 'pool:wh' }, 'r1'), 'pool_def:pool:wh:r1'],
    [poolRemovedKey({ pool_key: 'pool:wh' }, 'r1'), 'pool_def:pool:wh:removed:r1'],
    [definedKey('schedule', 'S', 'r1'), 'schedule_def:S:r1'],
    [removedKey('schedule', 'S', 'r1'), 'schedule_removed:S:r1'],
    [statusKey('schedule', 'S', 'r1'), 'schedule_status:S:r1'],
    [scheduleTickedKey('S', 5), 'sched_tick:S:5'],
    [manualScheduleTickedKey('S', 'r1'), 'sched_tick:S:manual:r1'],
    [tickId('S', 5), 'S:5'],
    [manualTickId('S', 'r1'), 'S:manual:r1'],
    [runCancelKey({ run_id: 'run_x' }, 'r1'), 'runcancel:run_x:r1'],
    [planKey({ run_id: 'run_x', page: 2 }, 'E'), 'plan:run_x:E:2'],
    [planFailedKey({ run_id: 'run_x' }, 'E'), 'plan:run_x:E:failed'],
    [dispatchEnqueuedKey(ids), `dispatch:${RUN_ID}:analytics.daily_summary:1:enqueued`],
    [taskStartedKey(ids), `started:${RUN_ID}:analytics.daily_summary:1:${ATTEMPT_ID}`],
    [taskHeartbeatKey({ ...ids, seq: 4 }), `heartbeat:${RUN_ID}:analytics.daily_summary:1:${ATTEMPT_ID}:4`],
    [taskFinishedKey(ids), `finished:${RUN_ID}:analytics.daily_summary:1:${ATTEMPT_ID}`],
    [attemptLostKey(ids), `lost:${RUN_ID}:analytics.daily_summary:1`],
  ])('%s', (made, expected) => {
    expect(made).toBe(expected)
  })

  test('which run keys expire', () => {
    const derived = [scheduleRunKey('S', 5), manualScheduleRunKey('S', 'r'), sensorMessageRunKey('N', 'm:key:1'), backfillRunKey('B', 1)]
    expect(derived.map(isDerivedRunKey)).toEqual([true, true, true, true])
    expect([sensorRunKey('N', 'a:msg:1'), userRunKey('sched:1'), rerunRunKey('run_a', 'ALL')].map(isDerivedRunKey)).toEqual([
      false,
      false,
      false,
    ])
  })

  test('a segment is never named in a minute that is closed', () => {
    const minute = 60_000
    expect(segmentMinute(10 * minute + 1, 3 * minute)).toBe(10 * minute)
    expect(segmentMinute(3 * minute + 59_999, 3 * minute)).toBe(4 * minute)
    expect(segmentMinute(minute, 8 * minute)).toBe(9 * minute)
  })
})
