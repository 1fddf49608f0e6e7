// Events that parse and make no sense: in any order, with keys, causes, bases and ids mixed up. The fold has an answer for
// each of them, and the same one whether its rows were loaded on demand or all at hand.

import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { sha256Hex } from '../../src/core/hash.js'
import { listSha256 } from '../../src/core/keys.js'
import { HOUR_MS } from '../../src/core/time.js'
import { type LedgerEvent, parseEvent } from '../../src/events/event.js'
import type { BatchEntry, EventOutcome } from '../../src/projections/outcome.js'
import type { TaskRow } from '../../src/projections/run-table.js'
import { createStory, type Story } from '../fixtures/fold-story.js'
import { createRandom, type Random } from '../fixtures/random.js'
import { type AttemptName, createSpeaker, NOW, type Said, type Speaker, TENANT_ID, ulidOf, WORKSPACE_ID } from '../fixtures/say.js'

const SEED = Number(process.env['SERVO_TEST_SEED'] ?? 20_250_115)
const EVENTS = 300
const SCOPE = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }

const LOCATIONS = ['main', 'other']
const ASSETS = ['a', 'b', 'c']
const RUN_KEYS = Array.from({ length: 12 }, (_, i) => (i % 3 === 0 ? `sched:s:${i}` : `user:${i}`))
const RUN_IDS = RUN_KEYS.map((_, i) => `run_${i}`)
const LIST = ['2025-01-01', '2025-01-02', '2025-01-04']
const EXECUTIONS = [ulidOf('execution'), ulidOf('another')]

const PARTITIONS = [undefined, { type: 'daily', start_date: '2025-01-01' }, { type: 'static', keys: ['x', 'y'] }] as const
const SELECTORS = [
  null,
  { keys: ['2025-01-01'] },
  { range: { start: '2025-01-01', end: '2025-01-03' } },
  { all: true },
  { keys: ['x'] },
] as const

type Chaos = { readonly random: Random; readonly say: Speaker; readonly story: Story; readonly said: LedgerEvent[]; at: number }

function definitionChanges({ pick }: Random) {
  const partitions = pick(PARTITIONS)
  const retry = pick([{ max_attempts: 1 }, { max_attempts: 3, max_infra_losses: 0, backoff_seconds: 0 }])
  const pools = pick([[], ['p'], ['p', 'q']])
  return { retry, pools, ...(partitions === undefined ? {} : { partitions }) }
}

const selectorOf = ({ pick, isTrue }: Random) =>
  isTrue(0.1)
    ? { list: { sha256: pick([listSha256(LIST), sha256Hex('no list')]), count: pick([1, 3, 4]), offset: pick([0, 1]) } }
    : pick(SELECTORS)

const MAKERS: readonly ((chaos: Chaos, said: Said) => LedgerEvent)[] = [
  ({ random, say }, said) => say.locationDeployed(random.pick(LOCATIONS), random.below(3), { slots: random.pick([1, 64]) }, said),
  ({ random, say }, said) => say.assetDefined(random.pick(ASSETS), definitionChanges(random), random.pick(LOCATIONS), said),
  ({ random, say, story }, said) => {
    const asset_key = random.pick(ASSETS)
    const hash = story.rows.currentDefinition(asset_key)?.definition_hash ?? sha256Hex('none')
    return say.assetRemoved(asset_key, hash, random.pick(LOCATIONS), said)
  },
  ({ random, say }, said) => say.poolDefined(random.pick(['global', 'pool:p', 'location:main']), random.below(4), said),
  ({ random, say }, said) => say.poolRemoved(random.pick(['global', 'pool:p', 'location:main']), said),
  ({ random, say }, said) => {
    const request_fingerprint = sha256Hex(random.pick(['one', 'two']))
    const partitions = selectorOf(random)
    return say.runRequested(random.pick(RUN_KEYS), { run_id: random.pick(RUN_IDS), request_fingerprint, partitions }, said)
  },
  ({ random, say }, said) => say.runCancelRequested(random.pick(RUN_IDS), said),
  ({ random, say, story }, said) => {
    const run_id = random.pick(RUN_IDS)
    return say.planFailed(run_id, story.row('runs', run_id)?.request_event_id ?? ulidOf('none'), said)
  },
  planPage,
  planPage,
  planPage,
  (chaos, said) => {
    const basis = {
      task_state: chaos.random.pick(['READY', 'RETRY_WAIT'] as const),
      previous_attempt: chaos.random.below(2),
      definition_hash: sha256Hex('none'),
    }
    return chaos.say.dispatchRequested(attemptIn(chaos), basis, {}, said)
  },
  (chaos, said) => chaos.say.dispatchEnqueued(attemptIn(chaos), said),
  (chaos, said) => chaos.say.taskStarted(attemptIn(chaos), { execution_id: chaos.random.pick(EXECUTIONS) }, said),
  (chaos, said) => chaos.say.taskHeartbeat(attemptIn(chaos), chaos.random.below(5), { execution_id: chaos.random.pick(EXECUTIONS) }, said),
  (chaos, said) =>
    chaos.say.taskFinished(
      attemptIn(chaos),
      chaos.random.pick(['SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED'] as const),
      { execution_id: chaos.random.pick(EXECUTIONS) },
      said,
    ),
  (chaos, said) => {
    const reason = chaos.random.pick(['START_DEADLINE', 'HEARTBEAT', 'TIMEOUT', 'HANDOVER_REFUSED', 'CANCEL_GRACE'] as const)
    return chaos.say.attemptLost(
      attemptIn(chaos),
      reason,
      { task_state: chaos.random.pick(['DISPATCHED', 'RUNNING'] as const), deadline_at: NOW },
      {},
      said,
    )
  },
]

/** Often one that is there, or was. */
function attemptIn({ random, story }: Chaos): AttemptName {
  const tasks = story.rows.hotRows('tasks')
  if (tasks.length === 0 || random.isTrue(0.3))
    return { run_id: random.pick(RUN_IDS), task_key: random.pick(ASSETS), attempt: 1 + random.below(2) }
  const { run_id, task_key, attempt } = random.pick(tasks)
  return { run_id, task_key, attempt: Math.max(1, attempt + random.pick([-1, 0, 0, 0, 1])) }
}

/** Often a plan that could be one, of what is there; often not. */
function planPage({ random, say, story }: Chaos, said: Said): LedgerEvent {
  const waiting = story.rows.hotRows('runs').filter(({ state }) => state === 'PENDING')
  const run_id = waiting.length === 0 || random.isTrue(0.2) ? random.pick(RUN_IDS) : random.pick(waiting).run_id
  const definitions = ASSETS.map((asset_key) => {
    const definition_hash = story.rows.currentDefinition(asset_key)?.definition_hash
    return { asset_key, definition_hash: definition_hash ?? sha256Hex('none') }
  })
  const known = definitions.filter(({ asset_key }) => story.rows.currentDefinition(asset_key) !== undefined)
  const named = known.length === 0 || random.isTrue(0.1) ? definitions : known
  const tasks = named.map(({ asset_key }, d) => ({
    k: random.isTrue(0.05) ? 'a' : asset_key,
    d: random.isTrue(0.05) ? 7 : d,
    p: selectorOf(random),
    n: 1,
    ...(d > 0 && random.isTrue(0.5) ? { w: [random.below(d)] } : {}),
  }))
  const sense = !random.isTrue(0.2)
  const page = {
    page: sense ? 0 : 1,
    pages: sense ? 1 : 2,
    task_offset: sense ? 0 : random.below(3),
    task_count: tasks.length + (sense ? 0 : 1),
  }
  return say.planPage({ run_id, ...page, definitions: named, tasks }, story.row('runs', run_id)?.request_event_id ?? ulidOf('none'), said)
}

/** What could well happen next to this task. */
function likely({ random, say }: Chaos, task: TaskRow, said: Said): LedgerEvent | undefined {
  const { run_id, task_key, attempt, definition_hash, state } = task
  const name = { run_id, task_key, attempt }
  const execution_id = task.execution_id ?? (EXECUTIONS[0] as string)
  if (state === 'READY' || state === 'RETRY_WAIT') {
    const basis = { task_state: state, previous_attempt: attempt, definition_hash }
    return say.dispatchRequested({ ...name, attempt: attempt + 1 }, basis, { location_name: random.pick(LOCATIONS) }, said)
  }
  if (state !== 'DISPATCHED' && state !== 'RUNNING') return undefined
  return random.pick([
    () => say.taskStarted(name, { execution_id }, said),
    () => say.taskFinished(name, random.pick(['SUCCEEDED', 'FAILED', 'SKIPPED'] as const), { execution_id }, said),
    () => say.attemptLost(name, 'START_DEADLINE', { task_state: state, deadline_at: task.start_deadline_at }, {}, said),
    () => say.attemptLost(name, 'HANDOVER_REFUSED', { task_state: state }, {}, said),
  ])()
}

function nextEvent(chaos: Chaos): LedgerEvent {
  const { random, story, said } = chaos
  chaos.at += 1_000
  const earlier = said.slice(-8)
  const cause = random.isTrue(0.15) && earlier.length > 0 ? { causation_id: random.pick(earlier).event_id } : {}
  const how = { at: chaos.at, request: `r${random.below(40)}`, ...cause }
  const tasks = story.rows.hotRows('tasks')
  const event =
    (random.isTrue(0.6) && tasks.length > 0 ? likely(chaos, random.pick(tasks), how) : undefined) ?? random.pick(MAKERS)(chaos, how)
  const mixed = random.isTrue(0.05) && earlier.length > 0 ? { ...event, idempotency_key: random.pick(earlier).idempotency_key } : event
  said.push(mixed)
  return random.isTrue(0.03) ? random.pick(said) : mixed
}

test('events that make no sense are answered, one by one, however their rows were loaded', () => {
  const answers = new Map<string, number>()
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100_000 }), (seed) => {
      const random = createRandom(`garbage/${seed}`)
      const [onDemand, atHand] = [createStory(), createStory()]
      for (const story of [onDemand, atHand]) story.lists.set(listSha256(LIST), LIST)
      const say = createSpeaker()
      const start = [say.locationDeployed('main', 0), ...ASSETS.map((asset_key) => say.assetDefined(asset_key, definitionChanges(random)))]
      for (const story of [onDemand, atHand]) story.fold(...start)
      const chaos: Chaos = { random, say, story: atHand, said: [], at: NOW }
      for (let count = 0; count < EVENTS; ) {
        const slice = Array.from({ length: 1 + random.below(3) }, (_, i) => {
          const events = Array.from({ length: 1 + random.below(4) }, () => nextEvent(chaos))
          count += events.length
          return { entries: events.map(entryOf), fold_time: NOW + count * HOUR_MS, segment_name: `segment-${count}-${i}` }
        })
        const outcomes = atHand.foldTogether(slice)
        expect(onDemand.foldTogether(slice)).toEqual(outcomes)
        for (const outcome of outcomes) answers.set(nameOf(outcome), (answers.get(nameOf(outcome)) ?? 0) + 1)
        if (random.isTrue(0.3)) onDemand.publish()
        if (random.isTrue(0.1)) {
          onDemand.publish()
          onDemand.restart()
        }
      }
      expect(onDemand.everything()).toEqual(atHand.everything())
    }),
    { seed: SEED, numRuns: 20 },
  )
  const wanted = ['applied', 'duplicate', 'LIST_MISSING', ...REASONS]
  expect(wanted.filter((answer) => !answers.has(answer))).toEqual([])
})

const REASONS = [
  'STALE_BASIS',
  'STALE_ATTEMPT',
  'ATTEMPT_OVER',
  'OTHER_EXECUTION',
  'BASIS_MISSING',
  'CAP_REACHED',
  'ILLEGAL_TRANSITION',
  'TERMINAL',
  'UNKNOWN_ENTITY',
  'OWNED_ELSEWHERE',
  'STALE_LOCATION',
  'TRIGGER_NOT_APPLIED',
  'RUN_KEY_CONFLICT',
]

function entryOf(event: LedgerEvent): BatchEntry {
  const parsed = parseEvent(event, SCOPE)
  return parsed.kind === 'event' ? parsed : { ...parsed, raw: JSON.stringify(event) }
}

const nameOf = (outcome: EventOutcome): string => ('reason' in outcome ? outcome.reason : outcome.kind)
