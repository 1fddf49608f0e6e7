import { describe, expect, it } from '@jest/globals'
import { createPlanStory, eventsAt, faultIn, pagesOf, tasksIn } from '../../test/fixtures/plan-story.js'
import { NOW } from '../../test/fixtures/say.js'
import { listSha256 } from '../core/keys.js'
import type { AssetDefinition } from '../events/asset.js'
import { planNeeds } from './plan-definitions.js'

const keysFrom = (first: number, count: number) => Array.from({ length: count }, (_, i) => `k${String(first + i).padStart(3, '0')}`)
const split = (count: number, partitions_per_task: number | undefined, ...deps: string[]): Partial<AssetDefinition> => ({
  partitions: { type: 'static', keys: keysFrom(0, count) },
  ...(partitions_per_task === undefined ? {} : { partitions_per_task }),
  deps: deps.map((asset_key) => ({ asset_key })),
})
const needs = (...asset_keys: string[]) => ({ deps: asset_keys.map((asset_key) => ({ asset_key })) })
const ALL = { all: true } as const

type Story = ReturnType<typeof createPlanStory>
type Request = Parameters<Story['request']>[0]

/** Plans the run that waits, and ends its tasks: those that are named fail, what waits for them is skipped. */
function runAndFail(planned: Story, asked: Request, failing: readonly string[], skipping: readonly string[] = []): string {
  const { story, say, fold } = planned
  const run_id = planned.request(asked)
  const [decision] = planned.reconcile()
  if (decision === undefined) throw new Error('There is no decision.')
  for (const list of decision.lists ?? []) story.lists.set(listSha256(list), list)
  planned.foldDecision(decision)
  story.publish()
  const readyOf = () => (story.rows.isRunOpen(run_id) ? story.rows.tasksOf(run_id).filter(({ state }) => state === 'READY') : [])
  for (let ready = readyOf(); ready.length > 0; ready = readyOf()) {
    for (const { task_key, definition_hash } of ready) {
      const name = { run_id, task_key, attempt: 1 }
      fold(say.dispatchRequested(name, { task_state: 'READY', previous_attempt: 0, definition_hash }))
      fold(say.taskStarted(name))
      fold(say.taskFinished(name, failing.includes(task_key) ? 'FAILED' : skipping.includes(task_key) ? 'SKIPPED' : 'SUCCEEDED'))
    }
  }
  return run_id
}

const again = (parent_run_id: string, changes: Request = {}): Request => ({
  rerun_mode: 'FROM_FAILURE',
  parent_run_id,
  trigger: { type: 'RERUN' },
  ...changes,
})
const selected = (decision: Parameters<typeof pagesOf>[0]) =>
  pagesOf(decision).flatMap(({ tasks }) => tasks.map(({ k, p, n }) => [k, p, n]))
const keys = (...of: string[]) => ({ keys: of })

describe('a rerun from failure plans', () => {
  it('of each asset what is left of it, and not the union', () => {
    const story = createPlanStory({ a: split(3, 1), b: split(3, 1, 'a') })
    const parent = runAndFail(story, { partitions: ALL }, ['a#0', 'b#2'])
    const plan = story.plan(again(parent, { partitions: keys('k000', 'k002') }))
    expect(tasksIn(plan)).toEqual(['a#0', 'b#0 after a#0', 'b#1'])
    expect(selected(plan)).toEqual([
      ['a#0', keys('k000'), 1],
      ['b#0', keys('k000'), 1],
      ['b#1', keys('k002'), 1],
    ])
    expect(story.foldDecision(plan)).toEqual(['applied'])
    expect(story.story.row('tasks', pagesOf(plan)[0]?.run_id ?? '', 'b#1')).toMatchObject({ state: 'READY' })
  })

  it.each([
    ['a range', ALL, undefined, ['a#0', 'b after a#0']],
    ['larger parts', ALL, 2, ['a#0', 'b#0 after a#0']],
  ])('edges to assets that have all of %s', (_, partitions, per_task, expected) => {
    const story = createPlanStory({ a: split(3, 1), b: split(3, per_task, 'a') })
    const parent = runAndFail(story, { partitions }, ['a#1'])
    expect(tasksIn(story.plan(again(parent, { partitions })))).toEqual(expected)
  })

  it('only what its direct parent has left', () => {
    const story = createPlanStory({ a: split(3, 1), b: split(3, 1, 'a') })
    const first = runAndFail(story, { partitions: ALL }, ['a#0', 'b#2'])
    const second = runAndFail(story, again(first, { partitions: keys('k000', 'k002') }), ['a#0'])
    // All tasks of a are left, and they are not all partitions of the request.
    expect(selected(story.plan(again(second, { partitions: keys('k000', 'k002') })))).toEqual([
      ['a#0', keys('k000'), 1],
      ['b#0', keys('k000'), 1],
    ])
  })

  it('by the definitions that are current', () => {
    const story = createPlanStory({ a: split(4, 2), b: split(4, undefined, 'a') })
    const parent = runAndFail(story, { partitions: ALL }, ['a#1'])
    story.fold(story.say.assetDefined('a', { ...split(5, 1), code_version: 'v2' }))
    const plan = story.plan(again(parent, { partitions: { range: { start: 'k000', end: 'k003' } } }))
    expect(tasksIn(plan)).toEqual(['a#0', 'a#1', 'b after a#0 a#1'])
    expect(selected(plan).slice(0, 2)).toEqual([
      ['a#0', keys('k002'), 1],
      ['a#1', keys('k003'), 1],
    ])
  })

  it('many partitions by a list of its own', () => {
    const story = createPlanStory({ a: split(300, 150), b: split(300, 300, 'a') })
    const parent = runAndFail(story, { partitions: ALL }, ['a#1'])
    const plan = story.plan(again(parent, { partitions: ALL }))
    const left = keysFrom(150, 150)
    expect(plan.lists).toEqual([left])
    expect(selected(plan)).toEqual([
      ['a#0', { list: { sha256: listSha256(left), count: 150 } }, 150],
      ['b#0', ALL, 300],
    ])
  })

  it('not what its own code skipped, nor what was skipped because of it', () => {
    const story = createPlanStory({ a: split(2, 1), b: split(2, 1, 'a') })
    const parent = runAndFail(story, { partitions: ALL }, ['a#1'], ['a#0'])
    expect(selected(story.plan(again(parent, { partitions: ALL }))).map(([k, p]) => [k, p])).toEqual([
      ['a#0', keys('k001')],
      ['b#0', keys('k001')],
    ])
  })

  it('assets without partitions, where they are left', () => {
    const story = createPlanStory({ a: {}, b: needs('a'), c: needs('a') })
    const parent = runAndFail(story, {}, ['b'])
    expect(tasksIn(story.plan(again(parent)))).toEqual(['b'])
  })

  it('the same in a process that holds the end of the parent, and in one that reads it', () => {
    const story = createPlanStory({ a: split(3, 1), b: split(3, 1, 'a') })
    const parent = runAndFail(story, { partitions: ALL }, ['a#0', 'b#2'])
    story.request(again(parent, { partitions: ALL }))
    const there = story.reconcile()
    story.story.restart()
    expect(planNeeds(story.story.rows)).toEqual({ lists: [], keys: [{ table: 'runs', key: [parent] }], ended: [] })
    expect(story.reconcile()).toEqual(there)
    expect(tasksIn(there[0] as (typeof there)[0])).toEqual(['a#0', 'b#0 after a#0', 'b#1'])
  })
})

describe('a rerun from failure', () => {
  it('is planned when its parent ended in the same turn, and nothing of that is published', () => {
    const { story, say, reconcile, request } = createPlanStory({ a: {}, b: needs('a') })
    const run_id = request()
    for (const draft of reconcile()) story.fold(...eventsAt(draft, NOW))
    story.publish()
    const name = { run_id, task_key: 'a', attempt: 1 }
    const { definition_hash = '' } = story.row('tasks', run_id, 'a') ?? {}
    story.fold(say.dispatchRequested(name, { task_state: 'READY', previous_attempt: 0, definition_hash }))
    story.fold(say.taskStarted(name))
    story.fold(say.taskFinished(name, 'FAILED'))
    story.fold(say.runRequested('user:again', again(run_id, { assets: { keys: ['a', 'b'] } })))
    expect(story.endedRun(run_id).tasks.map(({ state }) => state)).not.toContain('FAILED')
    expect(reconcile().map(tasksIn)).toEqual([['a', 'b after a']])
  })

  it('of a parent that is not there, or has nothing left, is over with a sentence', () => {
    const story = createPlanStory({ a: {}, b: {} })
    expect(faultIn(story.plan(again('run_none')).drafts[0])).toBe(
      'UNKNOWN_ASSET The tasks of the run run_none cannot be read any more. Ask for a new run of what you want.',
    )
    const done = createPlanStory({ a: {} })
    const parent = runAndFail(done, {}, [])
    expect(faultIn(done.plan(again(parent)).drafts[0])).toBe(
      `UNKNOWN_ASSET Nothing of run ${parent} is left to run again of what this run selects.`,
    )
  })

  it('waits for a parent that is not over', () => {
    const story = createPlanStory({ a: {} })
    const parent = story.request()
    story.request(again(parent))
    expect(story.reconcile().map(({ drafts }) => drafts[0]?.correlation_id)).toEqual([parent])
  })

  it('refuses what does not exist by the definition of now', () => {
    const days = (end_offset: number) => ({
      partitions: { type: 'daily', start_date: '2025-01-11', end_offset } as const,
      partitions_per_task: 1,
    })
    const story = createPlanStory({ a: days(0) })
    const parent = runAndFail(story, { partitions: keys('2025-01-13', '2025-01-14') }, ['a#1'])
    expect(selected(story.plan(again(parent, { partitions: keys('2025-01-14') })))).toEqual([['a#0', keys('2025-01-14'), 1]])
    const later = createPlanStory({ a: days(0) })
    const failed = runAndFail(later, { partitions: keys('2025-01-13', '2025-01-14') }, ['a#1'])
    later.fold(later.say.assetDefined('a', days(-1)))
    // The request may name what is left as a part of more: what is left of the asset is looked at by itself.
    expect(faultIn(later.plan(again(failed, { partitions: keys('2025-01-13') })).drafts[0])).toMatch(
      /^BAD_PARTITION a: The partition key "2025-01-14" is none of the days from "2025-01-11" to "2025-01-13"/,
    )
  })

  it('may name what its parent was allowed by an offset, where it inherits that', () => {
    const split = { partitions: { type: 'daily', start_date: '2025-01-11' }, partitions_per_task: 1 } as const
    const ahead = { partitions: keys('2025-01-14', '2025-01-15'), partition_end_offset: 1 }
    const story = createPlanStory({ a: split })
    const parent = runAndFail(story, ahead, ['a#1'])
    expect(selected(story.plan(again(parent, ahead)))).toEqual([['a#0', keys('2025-01-15'), 1]])
    const other = createPlanStory({ a: split })
    const failed = runAndFail(other, ahead, ['a#1'])
    expect(faultIn(other.plan(again(failed, { partitions: keys('2025-01-13', '2025-01-14') })).drafts[0])).toMatch(
      /^BAD_PARTITION a: .*"2025-01-15"/,
    )
  })

  it('refuses what is no partition any more', () => {
    const story = createPlanStory({ a: split(3, 1) })
    const parent = runAndFail(story, { partitions: ALL }, ['a#2'])
    story.fold(story.say.assetDefined('a', { ...split(2, 1), code_version: 'v2' }))
    expect(faultIn(story.plan(again(parent, { partitions: ALL })).drafts[0])).toMatch(/^BAD_PARTITION a: The partition key "k002"/)
  })
})
