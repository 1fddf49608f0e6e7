// The histories that other tests fold are themselves held against the fold, the schemas and the key formulas.

import { describe, expect, test } from '@jest/globals'
import * as keys from '../../src/core/keys.js'
import { EVENT_TYPES, type LedgerEvent, parseEvent } from '../../src/events/event.js'
import { STORY } from '../../src/events/example.js'
import type { BatchEntry } from '../../src/projections/outcome.js'
import { createStory, type Story } from '../fixtures/fold-story.js'
import { createHistory, type HistoryOptions, MIXED_TROUBLE } from '../fixtures/history.js'
import { TROUBLES } from '../fixtures/history-trouble.js'
import type { HistoryBatch } from '../fixtures/history-world.js'
import { createRandom } from '../fixtures/random.js'
import { NOW, TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { grouped, STEADY_EVENTS_PER_RUN, STEADY_TASKS_PER_RUN, steadyDeploy, steadyRuns } from '../fixtures/steady-runs.js'

const SCOPE = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
const SEEDS = Array.from({ length: 8 }, (_, i) => 1_000 + i)

/** A clock that moves a second at every look. */
function ticking(): () => number {
  let at = NOW
  return () => (at += 1_000)
}

const historyOf = (seed: number, options: Partial<HistoryOptions> = {}) =>
  createHistory({ seed, assets: 5, runs: 12, now: ticking(), trouble: MIXED_TROUBLE, changes: 0.05, ...options })

/** As a turn reads them from a segment. */
const entriesOf = ({ events }: HistoryBatch): readonly BatchEntry[] =>
  events.map((event) => {
    const parsed = parseEvent(JSON.parse(JSON.stringify(event)), SCOPE)
    return parsed.kind === 'event' ? parsed : { ...parsed, raw: JSON.stringify(event) }
  })

const isEvent = (event: unknown): event is LedgerEvent => parseEvent(event, SCOPE).kind === 'event'

function foldHistory(story: Story, batch: HistoryBatch, index: number): readonly string[] {
  const segment_name = `segment-${String(index).padStart(6, '0')}`
  return story.foldTogether([{ entries: entriesOf(batch), fold_time: NOW, segment_name }]).map((outcome) => outcome.kind)
}

describe('createHistory', () => {
  test.each(SEEDS)('seed %i: the fold makes of every event what the history says', (seed) => {
    const story = createStory()
    const random = createRandom(`publish/${seed}`)
    const { batches, lists } = historyOf(seed, seed % 2 === 0 ? { habits: { page_tasks: 2, cancels: 0.1, losses: 0.3 } } : {})
    for (const [sha256, values] of lists) story.lists.set(sha256, values)
    let index = 0
    for (const batch of batches) {
      index += 1
      const outcomes = foldHistory(story, batch, index)
      if (JSON.stringify(outcomes) !== JSON.stringify(batch.expected)) {
        throw new Error(`Seed ${seed}, batch ${index} (${batch.intent}): ${JSON.stringify({ outcomes, ...batch }, null, 2)}`)
      }
      if (random.isTrue(0.3)) story.publish()
    }
    const runs = Object.values(story.everything()['runs'] ?? {}) as { readonly state: string }[]
    expect(runs).toHaveLength(12)
    expect(runs.filter(({ state }) => !['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(state))).toEqual([])
  })

  test('the same seed tells the same history, another seed another', () => {
    const told = (seed: number) => JSON.stringify([...historyOf(seed).batches])
    expect(told(7)).toBe(told(7))
    expect(told(7)).not.toBe(told(8))
  })

  test('together they have every event, every ending and every trouble', () => {
    const seen = new Set<string>()
    for (const seed of SEEDS) {
      for (const { intent, events } of historyOf(seed, { habits: { losses: 0.3, cancels: 0.05 } }).batches) {
        seen.add(intent)
        for (const event of events) {
          if (!isEvent(event)) continue
          seen.add(event.event_type)
          if (event.event_type === 'TaskFinished') seen.add(event.payload.outcome)
          if (event.event_type === 'AttemptLost') seen.add(event.payload.reason)
          if (event.event_type === 'DispatchRequested') seen.add(event.basis.task_state)
        }
      }
    }
    const reasons = ['START_DEADLINE', 'HEARTBEAT', 'TIMEOUT', 'HANDOVER_REFUSED', 'CANCEL_GRACE', 'READY', 'RETRY_WAIT']
    const wanted = ['legal', ...TROUBLES, ...EVENT_TYPES, ...reasons, 'SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED']
    expect(wanted.filter((name) => !seen.has(name))).toEqual([])
  })

  test('every key is made by its formula', () => {
    let checked = 0
    for (const seed of SEEDS) {
      for (const { events } of historyOf(seed).batches) {
        for (const event of events) {
          if (!isEvent(event)) continue
          if (event.idempotency_key !== keyByFormula(event)) throw new Error(`Seed ${seed}: ${JSON.stringify(event)}`)
          checked += 1
        }
      }
    }
    expect(checked).toBeGreaterThan(1_000)
  })
})

describe('steadyRuns', () => {
  const partitionOf = (event: LedgerEvent) => (event.event_type === 'RunRequested' ? [JSON.stringify(event.payload.partitions)] : [])

  test.each([
    { runs: 50 },
    { runs: 50, first_run: 950, order: 'scattered', span: 1_000, open_runs: 7 },
    { runs: 10, enqueued: true, heartbeats: 2, open_runs: 3 },
  ] as const)('%j: every event is applied', (options) => {
    const now = ticking()
    const story = createStory()
    story.fold(...steadyDeploy(now))
    const events = [...steadyRuns({ ...options, now })]
    expect(events).toHaveLength(
      options.runs * (STEADY_EVENTS_PER_RUN + ('heartbeats' in options ? STEADY_TASKS_PER_RUN * (1 + options.heartbeats) : 0)),
    )
    for (const segment of grouped(events, 50)) {
      expect(segment.length).toBeLessThanOrEqual(50)
      const entries = segment.map((event) => parseEvent(JSON.parse(JSON.stringify(event)), SCOPE)) as BatchEntry[]
      const batches = entries.map((entry) => ({ entries: [entry], fold_time: NOW, segment_name: 'segment' }))
      expect(story.foldTogether(batches).filter(({ kind }) => kind !== 'applied')).toEqual([])
      story.publish()
    }
    expect(events.filter((event) => event.idempotency_key !== keyByFormula(event))).toEqual([])
    expect(new Set(events.map(({ idempotency_key }) => idempotency_key)).size).toBe(events.length)
    expect(new Set(events.flatMap(partitionOf)).size).toBe(options.runs)
    expect(Object.keys(story.everything()['partition_status'] ?? {})).toHaveLength(options.runs * STEADY_TASKS_PER_RUN)
  })

  test('fifty runs are a thousand events, and parts of them are the same runs', () => {
    const keysFrom = (first_run: number, runs: number) =>
      [...steadyRuns({ first_run, runs, now: () => NOW })].map((event) => event.idempotency_key)
    expect(keysFrom(0, 50)).toHaveLength(1_000)
    expect([...keysFrom(0, 20), ...keysFrom(20, 30)]).toEqual(keysFrom(0, 50))
  })
})

test('the golden examples have the keys of their formulas, and are a story that the fold applies', () => {
  const story = createStory()
  for (const event of STORY) {
    expect(event.idempotency_key).toBe(keyByFormula(event))
    expect(story.fold(event)).toEqual([{ kind: 'applied' }])
  }
})

/** Commands end in a request of the caller's own choice. */
const requestOf = ({ idempotency_key }: LedgerEvent): string => idempotency_key.slice(idempotency_key.lastIndexOf(':') + 1)

function keyByFormula(event: LedgerEvent): string {
  const request = requestOf(event)
  switch (event.event_type) {
    case 'CodeLocationDeployed':
      return keys.deployKey(event.payload, request)
    case 'AssetDefined':
      expect(event.payload.definition_hash).toBe(keys.definitionHash(event.payload.definition))
      return keys.assetDefinedKey(event.payload, request)
    case 'AssetRemoved':
      return keys.assetRemovedKey(event.payload, request)
    case 'PoolDefined':
      return keys.poolDefinedKey(event.payload, request)
    case 'PoolRemoved':
      return keys.poolRemovedKey(event.payload, request)
    case 'RetentionChanged':
      return keys.retentionChangedKey(request)
    case 'ScheduleDefined':
      expect(event.payload.definition_hash).toBe(keys.definitionHash(event.payload.definition))
      return keys.definedKey('schedule', event.payload.schedule_id, request)
    case 'ScheduleRemoved':
      return keys.removedKey('schedule', event.payload.schedule_id, request)
    case 'ScheduleStatusChanged':
      return keys.statusKey('schedule', event.payload.schedule_id, request)
    case 'ScheduleTicked':
      if (event.payload.kind === 'MANUAL') return keys.manualScheduleTickedKey(event.payload.schedule_id, request)
      return keys.scheduleTickedKey(event.payload.schedule_id, Date.parse(event.payload.to) / 1_000)
    case 'RunRequested':
      return keys.runRequestedKey(event.payload)
    case 'RunCancelRequested':
      return keys.runCancelKey(event.payload, request)
    case 'PlanCreated':
      return keys.planKey(event.payload, event.basis.request_event_id)
    case 'PlanFailed':
      return keys.planFailedKey(event.payload, event.basis.request_event_id)
    case 'DispatchRequested':
      expect(event.payload.queue_task_name).toBe(keys.queueTaskName(keys.dispatchId(event.payload)))
      return keys.dispatchId(event.payload)
    case 'DispatchEnqueued':
      return keys.dispatchEnqueuedKey(event.payload)
    case 'TaskStarted':
      return keys.taskStartedKey(event.payload)
    case 'TaskHeartbeat':
      return keys.taskHeartbeatKey(event.payload)
    case 'TaskFinished':
      return keys.taskFinishedKey(event.payload)
    case 'AttemptLost':
      return keys.attemptLostKey(event.payload)
  }
}
