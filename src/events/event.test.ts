import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { canonicalJson } from '../core/canonical.js'
import { EVENT_BYTES_MAX } from '../core/limits.js'
import { ULID_PATTERN, ulidTime } from '../core/ulid.js'
import { EVENT_TYPES, type EventType, exampleOf, type LedgerEvent, parseEvent, type QuarantineReason } from './event.js'
import { STORY } from './example.js'

const SCOPE = { tenant_id: 'acme', workspace_id: 'prod' }
const GOLDEN = new URL('../../test/golden/events/', import.meta.url)

type Loose = { [name: string]: unknown; payload: { [name: string]: unknown } }
const copyOf = (event_type: EventType): Loose => structuredClone(exampleOf(event_type)) as unknown as Loose
/** The example of a type with members of its payload changed; undefined takes one out. */
function changed(event_type: EventType, payload: object, envelope: object = {}): unknown {
  const example = copyOf(event_type)
  const event = { ...example, ...envelope, payload: { ...example.payload, ...payload } }
  return JSON.parse(JSON.stringify(event))
}
const faultOf = (raw: unknown): string => {
  const parsed = parseEvent(raw, SCOPE)
  return parsed.kind === 'event' ? 'none' : `${parsed.reason}: ${parsed.detail}`
}

describe('golden examples', () => {
  // A change of a shape that is in ledgers already needs a new version: the files are never edited (DATA section 7).
  test.each(EVENT_TYPES)('%s is what was frozen', (event_type) => {
    const golden: unknown = JSON.parse(readFileSync(new URL(`${event_type}.v1.json`, GOLDEN), 'utf8'))
    expect(exampleOf(event_type)).toEqual(golden)
    expect(parseEvent(golden, SCOPE)).toEqual({ kind: 'event', event: golden })
  })

  test('there is one file for each type and version', () => {
    expect(readdirSync(GOLDEN).sort()).toEqual(EVENT_TYPES.map((event_type) => `${event_type}.v1.json`).sort())
  })

  test('ids are ULIDs of their instants, and the story is in order', () => {
    for (const event_type of EVENT_TYPES) {
      const { event_id, timestamp } = exampleOf(event_type)
      expect(event_id).toMatch(ULID_PATTERN)
      expect(ulidTime(event_id)).toBe(Date.parse(timestamp))
    }
    const instants = STORY.map(({ timestamp }) => timestamp)
    expect(instants).toEqual([...instants].sort())
  })
})

describe('parseEvent', () => {
  test('keeps the object that it was given, unknown members included', () => {
    const raw = changed('RunRequested', { added_later: { deep: [1] } }, { trace: 'x' })
    const before = canonicalJson(raw)
    const parsed = parseEvent(raw, SCOPE)
    expect(parsed.kind === 'event' && parsed.event).toBe(raw)
    expect(canonicalJson(raw)).toBe(before)
  })

  test.each([null, 7, 'text', [], [exampleOf('PoolDefined')]])('quarantines %j', (raw) => {
    expect(faultOf(raw)).toBe('BAD_SCHEMA: An event is a JSON object. Give it one.')
  })

  const QUARANTINED: readonly (readonly [string, unknown, QuarantineReason, RegExp])[] = [
    ['a later delivery', { ...copyOf('PoolDefined'), event_type: 'SensorEvaluated' }, 'UNKNOWN_TYPE', /"SensorEvaluated" are not known/],
    ['a name of Object', { ...copyOf('PoolDefined'), event_type: 'constructor' }, 'UNKNOWN_TYPE', /"constructor"/],
    ['no type', { ...copyOf('PoolDefined'), event_type: 3 }, 'BAD_SCHEMA', /^event_type is missing or no text/],
    ['a later version', { ...copyOf('PoolDefined'), event_version: 2 }, 'UNKNOWN_VERSION', /^Version 2 of PoolDefined/],
    ['no version', { ...copyOf('PoolDefined'), event_version: '1' }, 'BAD_SCHEMA', /^event_version is missing/],
    ['another tenant', { ...copyOf('PoolDefined'), tenant_id: 'other' }, 'WRONG_WORKSPACE', /tenant other, workspace prod; .* tenant acme/],
    ['another workspace', { ...copyOf('PoolDefined'), workspace_id: 'test' }, 'WRONG_WORKSPACE', /Append it to its own/],
    [
      'a number that is none',
      JSON.parse(`{"x":1e999,${JSON.stringify(copyOf('PoolDefined')).slice(1)}`),
      'BAD_SCHEMA',
      /canonical JSON cannot say/,
    ],
    ['half a character', { ...copyOf('PoolDefined'), note: '\ud800' }, 'BAD_SCHEMA', /half a surrogate pair/],
    ['deep nesting', { ...copyOf('PoolDefined'), note: JSON.parse('['.repeat(100) + ']'.repeat(100)) }, 'BAD_SCHEMA', /more than 64 deep/],
  ]

  test.each(QUARANTINED)('quarantines %s', (_name, raw, reason, detail) => {
    const parsed = parseEvent(raw, SCOPE)
    expect(parsed).toMatchObject({ kind: 'quarantine', reason, event_id: copyOf('PoolDefined')['event_id'] })
    expect(parsed.kind === 'quarantine' && parsed.detail).toMatch(detail)
  })

  test('an event may have 256 KB of canonical JSON, not a byte more', () => {
    const empty = Buffer.byteLength(canonicalJson(changed('PoolDefined', { note: '' })))
    const fits = changed('PoolDefined', { note: 'x'.repeat(EVENT_BYTES_MAX - empty) })
    expect(Buffer.byteLength(canonicalJson(fits))).toBe(EVENT_BYTES_MAX)
    expect(faultOf(fits)).toBe('none')
    expect(faultOf(changed('PoolDefined', { note: 'x'.repeat(EVENT_BYTES_MAX - empty + 1) }))).toMatch(
      /^TOO_LARGE: The event has 262145 bytes in canonical JSON, 262144 are the limit\./,
    )
  })

  test('metadata and definitions have limits of their own', () => {
    expect(faultOf(changed('TaskFinished', { metadata: 'x'.repeat(16 * 1_024 - 2) }))).toBe('none')
    expect(faultOf(changed('TaskFinished', { metadata: 'é'.repeat(8 * 1_024) }))).toMatch(/^TOO_LARGE: payload\.metadata has 16386 bytes/)
    const { definition } = copyOf('AssetDefined').payload
    const long = { ...(definition as object), description: 'x'.repeat(64 * 1_024) }
    expect(faultOf(changed('AssetDefined', { definition: long }))).toMatch(/^TOO_LARGE: payload\.definition has \d+ bytes/)
  })

  test('what a row shows of a quarantined event is bounded and whole text', () => {
    const parsed = parseEvent({ event_type: `${'x'.repeat(500)}`, event_id: 'y\ud800', event_version: 1.5 }, SCOPE)
    expect(parsed).toMatchObject({ event_type: 'x'.repeat(200), event_id: 'y\ufffd' })
    expect(parsed).not.toHaveProperty('event_version')
  })
})

describe('required members', () => {
  const OPTIONAL = new Set(['correlation_id', 'causation_id', 'payload.requested_by', 'payload.code_version', 'payload.sdk'])
  const optionalOf: { readonly [Type in EventType]?: readonly string[] } = {
    CodeLocationDeployed: ['payload.slots'],
    AssetRemoved: ['payload.reason'],
    PoolDefined: ['payload.reason'],
    RetentionChanged: ['payload.reason'],
    ScheduleDefined: ['basis', 'payload.location_name'],
    ScheduleStatusChanged: ['basis', 'payload.reason'],
    RunCancelRequested: ['payload.reason'],
    TaskStarted: ['payload.worker_started_at'],
    TaskHeartbeat: ['payload.progress'],
    TaskFinished: ['payload.data_version', 'payload.metadata', 'payload.worker_finished_at'],
    AttemptLost: ['basis.deadline_at'],
  }

  test.each(EVENT_TYPES)('%s does not parse without one, and the message names it', (event_type) => {
    const example = copyOf(event_type)
    const paths = Object.keys(example).flatMap((name) =>
      name === 'payload' || name === 'basis'
        ? [name, ...Object.keys(example[name] as object).map((member) => `${name}.${member}`)]
        : [name],
    )
    const kept: string[] = []
    for (const path of paths) {
      const event = copyOf(event_type)
      const [outer, member] = path.split('.') as [string, string | undefined]
      if (member === undefined) delete event[outer]
      else delete (event[outer] as { [name: string]: unknown })[member]
      const fault = faultOf(event)
      if (fault === 'none') kept.push(path)
      // Where one of several bases is wanted, the message names all of them.
      else expect(fault).toContain(outer === 'basis' ? (member ?? outer) : path)
    }
    const optional = paths.filter((path) => OPTIONAL.has(path) || optionalOf[event_type]?.includes(path))
    expect(kept).toEqual(optional)
  })
})

describe('messages', () => {
  const list = { sha256: 'f'.repeat(64), count: 3 }
  const page = copyOf('PlanCreated').payload
  const [task] = page['tasks'] as readonly object[]

  const FAULTS: readonly (readonly [EventType, object, string])[] = [
    ['RunRequested', { priority: 101 }, 'payload.priority is 101. Give it a whole number from -100 to 100.'],
    ['RunRequested', { run_key: 'a\tb' }, 'payload.run_key is "a\\tb". Give it text without control characters, not empty.'],
    ['RunRequested', { tags: { team: 5 } }, 'payload.tags.team is 5. Give it text.'],
    ['RunRequested', { tags: { team: 'x'.repeat(257) } }, 'payload.tags.team is "'],
    ['RunRequested', { tags: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`t${i}`, ''])) }, 'Give it at most 50 tags of'],
    ['RunRequested', { tags: { ['k'.repeat(129)]: '' } }, 'Name its members with at most 50 tags of 128 and 256 characters.'],
    ['RunRequested', { assets: { keys: [] } }, 'payload.assets.keys is a list of 0. Give it 1 to 100 asset keys; more of them are a list.'],
    ['RunRequested', { assets: ['a'] }, 'payload.assets is a list of 1. Give it {"keys": [1 to 100 asset keys]}'],
    ['RunRequested', { partitions: { keys: ['b', 'a'] } }, 'Give it 1 to 100 keys, each once, sorted by code unit'],
    ['RunRequested', { partitions: { keys: ['a', 'a'] } }, 'Give it 1 to 100 keys, each once'],
    [
      'RunRequested',
      { partitions: { range: { start: 'a', end: 'a' } } },
      'Give it two different ends; a range of one key is {"keys": [key]}.',
    ],
    ['RunRequested', { partitions: { dims: { date: { keys: ['a|b'] } } } }, 'payload.partitions.dims.date.keys[0] is "a|b".'],
    [
      'RunRequested',
      { partitions: { list: { ...list, sha256: 'F' } } },
      'payload.partitions.list.sha256 is "F". Give it 64 lower-case hex digits.',
    ],
    ['RunRequested', { partitions: {} }, 'payload.partitions is an object with no members. Give it null, {"keys": […]}'],
    [
      'RunRequested',
      { trigger: { type: 'CRON' } },
      'payload.trigger.type is "CRON". Give it one of SCHEDULE, SENSOR, BACKFILL, MANUAL, RERUN.',
    ],
    ['RunRequested', { definition_pins: { a: 'x' } }, 'payload.definition_pins.a is "x". Give it 64 lower-case hex digits.'],
    [
      'PoolDefined',
      { pool_key: 'team' },
      'Give it "global", "pool:" and a name, "location:" and a name, "tag:key=value", or "tag:key" for each',
    ],
    ['PoolDefined', { reason: 'x'.repeat(501) }, 'Give it at most 500 characters.'],
    [
      'AssetDefined',
      { asset_key: 'other' },
      'payload.definition.asset_key is "analytics.daily_summary". Give it the asset_key of the payload.',
    ],
    ['TaskFinished', { materialization_id: undefined }, 'payload.materialization_id is missing. Give it the ULID of what was materialized'],
    ['TaskFinished', { outcome: 'FAILED' }, 'payload.error is missing. Give it {"code", "message"}: outcome FAILED requires it.'],
    ['TaskFinished', { outcome: 'DONE' }, 'payload.outcome is "DONE". Give it one of SUCCEEDED, FAILED, SKIPPED, CANCELLED.'],
    ['TaskFinished', { error: { code: 'X', message: 'é'.repeat(1_025) } }, 'payload.error.message is "'],
    ['TaskFinished', { worker_finished_at: '2025-02-29T00:00:00.000Z' }, 'Give it an instant of RFC 3339'],
    ['TaskHeartbeat', { progress: { message: 'x'.repeat(201) } }, 'Give it at most 200 characters.'],
    ['TaskStarted', { attempt: 0 }, 'payload.attempt is 0. Give it a whole number from 1 to 2147483647.'],
    ['TaskStarted', { execution_id: 'exec-1' }, 'payload.execution_id is "exec-1". Give it a ULID'],
    ['PlanFailed', { error: { code: 'OTHER', message: '' } }, 'payload.error.code is "OTHER". Give it one of CYCLE, UNKNOWN_ASSET'],
    ['PlanCreated', { page: 1 }, 'payload.page is 1. Give it less than pages, which is 1.'],
    ['PlanCreated', { task_offset: 1 }, 'payload.task_count is 1. Give it the number of tasks of the run'],
    ['PlanCreated', { tasks: [{ ...task, d: 1 }] }, 'payload.tasks[0].d is 1. Give it less than the number of definitions, 1.'],
    ['PlanCreated', { tasks: [{ ...task, w: [0] }] }, 'payload.tasks[0].w[0] is 0. Give it the number of an earlier task, below 0.'],
    ['PlanCreated', { tasks: [task, task], task_count: 2 }, 'Give it a key that no other task of the run has.'],
    [
      'PlanCreated',
      { tasks: [task, { ...task, k: 'b', w: [0, 0] }], task_count: 2 },
      'payload.tasks[1].w is a list of 2. Give it each upstream task once.',
    ],
    ['PlanCreated', { tasks: [{ ...task, n: 10_001 }] }, 'payload.tasks[0].n is 10001. Give it a whole number from 0 to 10000.'],
    ['PlanCreated', { tasks: [{ ...task, k: 'a#01' }] }, 'Give it an asset key, or one with # and a number.'],
  ]

  test.each(FAULTS)('%s %j', (event_type, payload, message) => {
    expect(faultOf(changed(event_type, payload))).toContain(message)
    expect(faultOf(changed(event_type, payload))).toMatch(/^BAD_SCHEMA: /)
  })

  test('a basis that is not the one of its kind', () => {
    expect(
      faultOf(changed('PlanCreated', {}, { basis: { request_event_id: exampleOf('RunRequested').event_id, run_state: 'PLANNED' } })),
    ).toBe('BAD_SCHEMA: basis.run_state is "PLANNED". Give it "PENDING".')
    expect(faultOf(changed('PoolDefined', {}, { basis: 'x' }))).toBe('BAD_SCHEMA: basis is "x". Give it an object.')
    expect(faultOf(changed('PoolDefined', {}, { basis: { after_refusal: 'x' } }))).toBe('none')
  })

  test('an instant may have any precision and offset, and has to be one', () => {
    const at = (timestamp: string) => faultOf(changed('PoolDefined', {}, { timestamp }))
    for (const good of ['2025-01-15T10:00:00Z', '2024-02-29T23:59:59.123456789Z', '2025-01-15T10:00:00.5+05:30'])
      expect(at(good)).toBe('none')
    for (const bad of ['2025-01-15', '2025-01-15T10:00:00', '2025-01-15T24:00:00Z', '2025-04-31T00:00:00Z', '2025-13-01T00:00:00Z', '']) {
      expect(at(bad)).toContain('Give it an instant of RFC 3339')
    }
  })
})

describe('partitions of a definition', () => {
  const define = (partitions: unknown) =>
    faultOf(changed('AssetDefined', { definition: { asset_key: 'analytics.daily_summary', deps: [], partitions } }))

  test('daily and static are known', () => {
    expect(define({ type: 'daily', start_date: '2025-01-01', end_offset: -1, hour_offset: 3, exclusions: ['2025-12-25'] })).toBe('none')
    expect(define({ type: 'static', keys: ['eu', 'us'] })).toBe('none')
    expect(define(undefined)).toBe('none')
  })

  test('anything else says so', () => {
    for (const partitions of [
      { type: 'hourly', start_date: '2025-01-01', minute_offset: 15 },
      { type: 'weekly', start_date: '2025-01-01', day_offset: 1 },
      { type: 'monthly', start_date: '2025-01-01', day_offset: 31 },
      { type: 'cron', start: '2025-01-01', cron_schedule: '0 6 * * 1-5', exclusions: ['0 6 * * 3'] },
      { type: 'multi', dimensions: { date: { type: 'daily', start_date: '2025-01-01' }, region: { type: 'static', keys: ['us'] } } },
    ]) {
      expect(define(partitions)).toBe('none')
    }
    const kinds = '"hourly", "daily", "weekly", "monthly", "cron" or "static"'
    expect(define({ type: 'dynamic', name: 'customers' })).toBe(
      `BAD_SCHEMA: payload.definition.partitions.type is "dynamic". Give it ${kinds}, or "multi" for several dimensions; other types need a later version of Servo.`,
    )
    expect(define({ type: 'multi', dimensions: { a: { type: 'multi', dimensions: {} } } })).toContain(
      `payload.definition.partitions.dimensions.a.type is "multi". Give it ${kinds}; a dimension has no other type`,
    )
    expect(define('daily')).toContain('payload.definition.partitions is "daily". Give it')
    expect(define({ type: 'daily' })).toContain('payload.definition.partitions.start_date is missing. Give it text.')
    expect(define({ type: 'daily', start_date: '2025-01-01', timezone: 'Mars/Base' })).toContain('IANA time zone')
    expect(define({ type: 'static', keys: ['...'] })).toContain('payload.definition.partitions.keys[0] is "..."')
  })
})

test('every event of the union has an example of its type', () => {
  const events: readonly LedgerEvent[] = EVENT_TYPES.map((event_type) => exampleOf(event_type))
  expect(events.map(({ event_type }) => event_type)).toEqual(EVENT_TYPES)
})
