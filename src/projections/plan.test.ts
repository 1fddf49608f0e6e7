import { beforeEach, describe, expect, it } from '@jest/globals'
import { createStory, type Story } from '../../test/fixtures/fold-story.js'
import { told } from '../../test/fixtures/run-story.js'
import { createSpeaker, NOW, type Said, type Speaker } from '../../test/fixtures/say.js'
import type { EventOf } from '../events/event.js'

type Page = EventOf<'PlanCreated'>['payload']

let say: Speaker
let story: Story
let request: ReturnType<Speaker['runRequested']>
let definitions: Page['definitions']

beforeEach(() => {
  say = createSpeaker()
  story = createStory()
  const defined = [
    say.assetDefined('a'),
    say.assetDefined('b', {
      deps: [{ asset_key: 'a' }],
      code_version: 'v7',
      retry: { max_attempts: 4, max_infra_losses: 9, backoff_seconds: 1, factor: 3, max_backoff_seconds: 2, jitter: 0 },
      start_timeout_seconds: 1.5,
      heartbeat_timeout_seconds: 10,
      timeout_seconds: 20,
      cancel_grace_seconds: 0,
      pools: ['db', 'db'],
      priority: 60,
    }),
  ]
  request = say.runRequested('user:1', { priority: 50 })
  definitions = defined.map(({ payload: { asset_key, definition_hash } }) => ({ asset_key, definition_hash }))
  story.fold(say.locationDeployed('main', 0), ...defined)
  story.fold(request)
  story.publish()
})

const page = (changes: Partial<Page>): Page => ({
  run_id: request.payload.run_id,
  page: 0,
  pages: 1,
  task_offset: 0,
  task_count: changes.tasks?.length ?? 1,
  definitions,
  tasks: [{ k: 'a', d: 0, p: null, n: 1 }],
  ...changes,
})
const fold = (...pages: Page[]) => foldSaid({}, ...pages)
const foldSaid = (said: Said, ...pages: Page[]) =>
  story.fold(...pages.map((payload) => say.planPage(payload, request.event_id, said))).map(told)
const run = () => story.row('runs', request.payload.run_id)
const task = (task_key: string) => story.row('tasks', request.payload.run_id, task_key)

const twoPages = (): [Page, Page] => [
  page({
    pages: 2,
    task_count: 3,
    tasks: [
      { k: 'a#0', d: 0, p: null, n: 1 },
      { k: 'a#1', d: 0, p: null, n: 1 },
    ],
  }),
  page({ page: 1, pages: 2, task_offset: 2, task_count: 3, tasks: [{ k: 'b', d: 1, p: null, n: 1, w: [0, 1, 1] }] }),
]

describe('a plan', () => {
  it('makes tasks with the policy of their definitions, and edges; the last page makes them ready or blocked', () => {
    const pages = twoPages()
    expect(fold(...pages)).toEqual(['applied', 'applied'])
    expect(run()).toMatchObject({ state: 'PLANNED', planned_at: NOW, tasks_total: 3, tasks_open: 3 })
    expect(task('a#1')).toMatchObject({
      task_index: 1,
      state: 'READY',
      ready_at: NOW,
      asset_key: 'a',
      deps_total: 0,
      priority: 50,
      attempt: 0,
    })
    expect(task('a#0')).toMatchObject({
      max_attempts: 1,
      max_infra_losses: 5,
      retry: { backoff_seconds: 30, factor: 2, max_backoff_seconds: 600, jitter: 0.2 },
      start_timeout_ms: 600_000,
      heartbeat_timeout_ms: 60_000,
      timeout_ms: null,
      cancel_grace_ms: 30_000,
      pool_keys: ['global', 'location:main'],
      code_version: null,
      location_name: 'main',
      worker_queue: 'default',
    })
    expect(task('b')).toMatchObject({
      task_index: 2,
      state: 'BLOCKED',
      ready_at: null,
      definition_hash: definitions[1]?.definition_hash,
      deps_total: 2,
      deps_satisfied_count: 0,
      max_attempts: 4,
      max_infra_losses: 9,
      retry: { backoff_seconds: 1, factor: 3, max_backoff_seconds: 2, jitter: 0 },
      start_timeout_ms: 1_500,
      heartbeat_timeout_ms: 10_000,
      timeout_ms: 20_000,
      cancel_grace_ms: 0,
      pool_keys: ['global', 'pool:db', 'location:main'],
      code_version: 'v7',
      // 50 and 60 are more than the most.
      priority: 100,
    })
    expect(story.row('dep_satisfaction', request.payload.run_id, 'b', 'a#1')).toMatchObject({ satisfied: false, resolution: null })
  })

  it('said twice is a duplicate, page by page', () => {
    fold(...twoPages())
    expect(fold(...twoPages())).toEqual(['duplicate', 'duplicate'])
  })

  it.each<[string, (pages: [Page, Page]) => Page[]]>([
    ['a page is missing', ([, second]) => [second]],
    ['the last page is missing', ([first]) => [first]],
    ['pages are out of order', ([first, second]) => [second, first]],
    ['a page begins elsewhere', ([first, second]) => [first, { ...second, task_offset: 3 }]],
    ['pages count differently', ([first, second]) => [first, { ...second, task_count: 4 }]],
    [
      'there are fewer tasks than it says',
      ([first, second]) => [
        { ...first, task_count: 9 },
        { ...second, task_count: 9 },
      ],
    ],
    ['a task is there twice', ([first, second]) => [first, { ...second, tasks: [{ k: 'a#0', d: 0, p: null, n: 1 }] }]],
    ['a task waits for itself', ([first, second]) => [first, { ...second, tasks: [{ k: 'b', d: 1, p: null, n: 1, w: [2] }] }]],
    ['a definition is not on its page', ([first, second]) => [first, { ...second, tasks: [{ k: 'b', d: 5, p: null, n: 1 }] }]],
  ])('is refused whole when %s', (_, change) => {
    const pages = change(twoPages())
    expect(new Set(fold(...pages))).toEqual(new Set(['ILLEGAL_TRANSITION']))
    expect(run()?.state).toBe('PENDING')
    expect(task('a#0')).toBeUndefined()
    expect(fold(...twoPages())).toEqual(['applied', 'applied'])
  })

  it('is refused whole when a page of it cannot be applied for sure', () => {
    const [first, second] = twoPages()
    const [one, two] = [say.planPage(first, request.event_id), say.planPage(second, request.event_id)]
    const lost = say.runCancelRequested('run_x')
    const elsewhere = { ...two, causation_id: lost.event_id }
    expect(story.fold(lost, one, elsewhere).map(told)).toEqual(['UNKNOWN_ENTITY', 'ILLEGAL_TRANSITION', 'ILLEGAL_TRANSITION'])
    expect(story.fold(one, { ...two, idempotency_key: one.idempotency_key }).map(told)).toEqual([
      'ILLEGAL_TRANSITION',
      'ILLEGAL_TRANSITION',
    ])
    const otherBasis = { ...two, basis: { ...two.basis, request_event_id: one.event_id } }
    expect(story.fold(one, otherBasis).map(told)).toEqual(['ILLEGAL_TRANSITION', 'ILLEGAL_TRANSITION'])
    const list = { sha256: 'c'.repeat(64), count: 1 }
    const unlisted = say.planPage({ ...second, tasks: [{ k: 'b', d: 1, p: { list }, n: 1 }] }, request.event_id)
    expect(story.fold(one, unlisted).map(told)).toEqual(['ILLEGAL_TRANSITION', 'LIST_MISSING'])
    expect(task('a#0')).toBeUndefined()
  })

  it('with one cause is applied or refused with it', () => {
    const lost = say.runCancelRequested('run_x')
    const pages = twoPages().map((payload) => say.planPage(payload, request.event_id, { causation_id: lost.event_id }))
    expect(story.fold(lost, ...pages).map(told)).toEqual(['UNKNOWN_ENTITY', 'TRIGGER_NOT_APPLIED', 'TRIGGER_NOT_APPLIED'])
    const [first, second] = twoPages()
    const head = say.planPage(first, request.event_id)
    expect(story.fold(head, say.planPage(second, request.event_id, { causation_id: head.event_id })).map(told)).toEqual([
      'applied',
      'applied',
    ])
  })

  it('for another request, or a run that does not wait, is stale', () => {
    const payload = page({})
    expect(story.fold(say.planPage(payload, say.runRequested('x').event_id)).map(told)).toEqual(['STALE_BASIS'])
    expect(story.fold(say.planPage({ ...payload, run_id: 'run_x' }, request.event_id)).map(told)).toEqual(['UNKNOWN_ENTITY'])
    story.fold(say.runCancelRequested(request.payload.run_id))
    expect(fold(payload)).toEqual(['STALE_BASIS'])
  })

  it('of definitions that nobody knows is refused', () => {
    expect(fold(page({ definitions: [{ asset_key: 'a', definition_hash: '0'.repeat(64) }] }))).toEqual(['UNKNOWN_ENTITY'])
  })

  it('may pin what is not current any more', () => {
    story.fold(say.assetDefined('a', { group: 'new' }))
    story.publish()
    expect(fold(page({}))).toEqual(['applied'])
    expect(task('a')?.definition_hash).toBe(definitions[0]?.definition_hash)
  })
})

describe('a plan that failed', () => {
  it('fails the run with the error', () => {
    expect(story.fold(say.planFailed(request.payload.run_id, request.event_id)).map(told)).toEqual(['applied'])
    expect(run()).toMatchObject({ state: 'FAILED', error: { code: 'CYCLE' }, finished_at: NOW, tasks_total: 0 })
  })

  it('is stale once the run is planned', () => {
    fold(page({}))
    expect(story.fold(say.planFailed(request.payload.run_id, request.event_id)).map(told)).toEqual(['STALE_BASIS'])
    expect(story.fold(say.planFailed('run_x', request.event_id)).map(told)).toEqual(['UNKNOWN_ENTITY'])
  })
})
