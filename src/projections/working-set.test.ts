import { describe, expect, it } from '@jest/globals'
import { createRunStory } from '../../test/fixtures/run-story.js'
import { NOW } from '../../test/fixtures/say.js'
import type { AssetDefinitionRow, PoolRow } from './asset-table.js'
import type { DepSatisfactionRow, DispatchOutboxRow, RunRow, TaskRow } from './run-table.js'
import type { AnyRow, RowKey, TableName } from './tables.js'
import { createWorkingSet, missingKeys, type WorkingSet } from './working-set.js'

const stamp = { row_version: 0, last_event_id: 'e' }
const run = (run_id: string, state: RunRow['state'] = 'PLANNED') => ({ run_id, state, ...stamp }) as RunRow
const task = (run_id: string, task_key: string, state: TaskRow['state'] = 'READY') => ({ run_id, task_key, state, ...stamp }) as TaskRow
const edge = (run_id: string, downstream_task_key: string, upstream_task_key: string) =>
  ({ run_id, downstream_task_key, upstream_task_key, satisfied: false, ...stamp }) as DepSatisfactionRow
const pool = (pool_key: string, in_use: number) => ({ pool_key, in_use, expires_at: null, ...stamp }) as PoolRow
const outbox = (attempt: number, status: DispatchOutboxRow['status']) =>
  ({ run_id: 'r', task_key: 'a', attempt, status, ...stamp }) as DispatchOutboxRow
const definition = (definition_hash: string, state: AssetDefinitionRow['state']) =>
  ({ asset_key: 'x', definition_hash, state, ...stamp }) as AssetDefinitionRow

/** An open run with two tasks and an edge, published. */
function withRun(): WorkingSet {
  const rows = createWorkingSet(5)
  rows.put('runs', run('r'))
  rows.put('tasks', task('r', 'a'))
  rows.put('tasks', task('r', 'b', 'BLOCKED'))
  rows.put('dep_satisfaction', edge('r', 'b', 'a'))
  rows.put('pools', pool('global', 1))
  publish(rows, 1)
  return rows
}

function publish(rows: WorkingSet, sequence: number): void {
  rows.stamp(sequence)
  rows.settle()
}

const taskKeys = (rows: WorkingSet, run_id: string) =>
  rows
    .tasksOf(run_id)
    .map(({ task_key }) => task_key)
    .sort()

describe('rows that leave memory', () => {
  const leaving = (rows: WorkingSet) =>
    [...rows.leavingRows()].flatMap(([table, ofTable]) => [...ofTable.keys()].map((text) => `${table} ${text}`)).sort()

  it('are those that are not hot any more, changed since the last settle or not', () => {
    const rows = withRun()
    rows.load('idempotency_keys', [['known'], ['absent']], [])
    rows.put('tasks', task('r', 'a', 'SUCCEEDED'))
    rows.stamp(2)
    expect(leaving(rows)).toEqual([])
    rows.settle()
    rows.put('runs', run('r', 'SUCCEEDED'))
    rows.put('pools', pool('global', 0))
    rows.stamp(3)
    expect(leaving(rows)).toEqual(['dep_satisfaction r\0b\0a', 'runs r', 'tasks r\0a', 'tasks r\0b'])
    rows.settle()
    expect(leaving(rows)).toEqual([])
  })

  it('are not those that were looked up and stayed as they were', () => {
    const rows = withRun()
    rows.load('tasks', [['old', 'a']], [task('old', 'a', 'SUCCEEDED')])
    rows.load('runs', [['old']], [run('old', 'SUCCEEDED')])
    expect(leaving(rows)).toEqual([])
  })
})

describe('a key', () => {
  it.each<[TableName, RowKey]>([
    ['runs', ['x']],
    ['tasks', ['x', 'a']],
    ['dep_satisfaction', ['x', 'a', 'b']],
    ['dispatch_outbox', ['r', 'a', 1]],
    ['asset_definitions', ['a', 'h']],
    ['partition_status', ['a', '', '']],
    ['run_key_index', ['user:1']],
    ['idempotency_keys', ['k']],
  ])('of %s that nobody loaded fails, and never reads as absent', (table, key) => {
    const rows = withRun()
    expect(() => rows.get(table, ...key)).toThrow(/keysOf did not name/)
    expect(missingKeys(rows, [{ table, key }])).toEqual([{ table, key }])
    rows.load(table, [key], [])
    expect(rows.get(table, ...key)).toBeUndefined()
    publish(rows, 2)
    expect(() => rows.get(table, ...key)).toThrow(/keysOf did not name/)
  })

  it('of what is wholly in memory, or of an open run, needs no look-up', () => {
    const rows = withRun()
    const known = [
      { table: 'pools', key: ['pool:p'] },
      { table: 'code_locations', key: ['main'] },
      { table: 'tasks', key: ['r', 'x'] },
      { table: 'dep_satisfaction', key: ['r', 'x', 'y'] },
    ] as const
    expect(missingKeys(rows, known)).toEqual([])
    expect(rows.get('tasks', 'r', 'x')).toBeUndefined()
  })

  it('keeps apart what only looks alike', () => {
    const rows = createWorkingSet(0)
    rows.load(
      'partition_status',
      [
        ['a', 'b', ''],
        ['a', '', 'b'],
      ],
      [{ asset_key: 'a', sort_key: 'b', partition_key: '', ...stamp } as never],
    )
    expect(rows.get('partition_status', 'a', 'b', '')).toBeDefined()
    expect(rows.get('partition_status', 'a', '', 'b')).toBeUndefined()
  })
})

describe('a loaded row', () => {
  it('never replaces what is known', () => {
    const rows = withRun()
    rows.load('tasks', [['r', 'a']], [task('r', 'a', 'FAILED')])
    expect(rows.get('tasks', 'r', 'a')?.state).toBe('READY')
    rows.load('runs', [['old']], [run('old', 'FAILED')])
    rows.put('runs', { ...run('old', 'FAILED'), tasks_total: 7 })
    rows.load('runs', [['old']], [run('old', 'FAILED')])
    expect(rows.get('runs', 'old')?.tasks_total).toBe(7)
  })

  it('that is open and was not in memory is a bug: the memory is not the revision', () => {
    const rows = withRun()
    expect(() => rows.load('runs', [['x']], [run('x')])).toThrow(/was on disk and not in memory/)
  })
})

describe('a run that is over', () => {
  it('takes its tasks and edges out of memory with the next publish', () => {
    const rows = withRun()
    rows.put('runs', run('r', 'FAILED'))
    expect(rows.get('tasks', 'r', 'a')).toBeDefined()
    // All of an open run was in memory: what was not there is nowhere.
    expect(rows.get('tasks', 'r', 'x')).toBeUndefined()
    expect(rows.hotRows('tasks')).toEqual([])
    expect(() => rows.tasksOf('r')).toThrow(/not open/)
    publish(rows, 2)
    for (const task_key of ['a', 'x']) expect(() => rows.get('tasks', 'r', task_key)).toThrow(/keysOf did not name/)
    expect([rows.hotRows('runs'), rows.hotRows('dep_satisfaction')]).toEqual([[], []])
  })

  it('comes back whole when the publish was lost, also where a row of it was written last', () => {
    const rows = withRun()
    rows.put('tasks', task('r', 'a', 'FAILED'))
    rows.put('runs', run('r', 'FAILED'))
    rows.put('tasks', task('r', 'b', 'SKIPPED'))
    rows.discard()
    expect(taskKeys(rows, 'r')).toEqual(['a', 'b'])
    expect(
      rows
        .tasksOf('r')
        .map(({ state }) => state)
        .sort(),
    ).toEqual(['BLOCKED', 'READY'])
    expect(rows.edgesFrom('r', 'a')).toHaveLength(1)
    expect(rows.get('runs', 'r')?.state).toBe('PLANNED')
  })
})

describe('a discard', () => {
  it('leaves nothing of what was folded', () => {
    const rows = withRun()
    rows.put('runs', run('new'))
    rows.put('tasks', task('new', 'a'))
    rows.put('dep_satisfaction', edge('new', 'b', 'a'))
    rows.put('tasks', task('r', 'c'))
    rows.put('pools', pool('global', 2))
    rows.put('pools', pool('pool:p', 1))
    rows.put('dispatch_outbox', outbox(1, 'PENDING'))
    rows.countApplied()
    rows.discard()
    expect([rows.hotRows('runs'), rows.hotRows('dispatch_outbox')].map((some) => some.length)).toEqual([1, 0])
    expect(taskKeys(rows, 'r')).toEqual(['a', 'b'])
    expect(rows.get('pools', 'global')?.in_use).toBe(1)
    expect(rows.get('pools', 'pool:p')).toBeUndefined()
    expect([rows.appliedTotal(), rows.dirtyCount(), rows.dirtyRows().size]).toEqual([5, 0, 0])
    expect(() => rows.tasksOf('new')).toThrow(/not open/)
    expect(() => rows.get('dispatch_outbox', 'r', 'a', 1)).toThrow(/keysOf did not name/)
  })

  it('keeps the tasks of a run of which only the run was changed', () => {
    const rows = withRun()
    rows.put('runs', run('r', 'RUNNING'))
    rows.discard()
    expect(taskKeys(rows, 'r')).toEqual(['a', 'b'])
    expect(rows.get('runs', 'r')?.state).toBe('PLANNED')
  })

  it.each([
    [
      'superseded',
      [
        ['h1', 'SUPERSEDED'],
        ['h2', 'CURRENT'],
      ],
    ],
    ['removed', [['h1', 'REMOVED']]],
  ] as const)('makes the definition current again that was %s', (_, changes) => {
    const rows = createWorkingSet(0)
    rows.put('asset_definitions', definition('h1', 'CURRENT'))
    publish(rows, 1)
    rows.load('asset_definitions', [['x', 'h2']], [definition('h2', 'SUPERSEDED')])
    for (const [definition_hash, state] of changes) rows.put('asset_definitions', definition(definition_hash, state))
    rows.discard()
    expect(rows.currentDefinition('x')).toMatchObject({ definition_hash: 'h1', state: 'CURRENT' })
    expect(rows.hotRows('asset_definitions')).toHaveLength(1)
    expect(() => rows.get('asset_definitions', 'x', 'h2')).toThrow(/keysOf did not name/)
  })
})

describe('dirty rows', () => {
  it('are what changed since the last publish, each once, as it is last', () => {
    const rows = withRun()
    rows.put('tasks', task('r', 'a', 'DISPATCHED'))
    rows.put('tasks', task('r', 'a', 'RUNNING'))
    rows.put('dispatch_outbox', outbox(1, 'PENDING'))
    rows.put('dispatch_outbox', outbox(1, 'CLOSED'))
    expect(rows.dirtyCount()).toBe(2)
    expect(() => rows.dirtyRows()).toThrow(/carry no revision/)
    rows.stamp(7)
    rows.put('tasks', task('r', 'b', 'SKIPPED'))
    rows.stamp(7)
    const dirty = rows.dirtyRows()
    expect([...(dirty.get('tasks')?.values() ?? [])].map((row) => [row['task_key'], row['state'], row.row_version])).toEqual([
      ['a', 'RUNNING', 7],
      ['b', 'SKIPPED', 7],
    ])
    expect([...(dirty.get('dispatch_outbox')?.values() ?? [])]).toMatchObject([{ status: 'CLOSED', row_version: 7 }])
    rows.settle()
    expect([rows.dirtyCount(), rows.dirtyRows().size]).toEqual([0, 0])
    expect(rows.get('tasks', 'r', 'a')?.row_version).toBe(7)
  })

  it('include rows that are cold by now, and no row that merely left with its run', () => {
    const rows = withRun()
    rows.put('tasks', task('r', 'a', 'FAILED'))
    rows.put('runs', run('r', 'FAILED'))
    rows.stamp(2)
    expect(rows.dirtyRows().get('tasks')?.size).toBe(1)
    expect(rows.dirtyRows().has('dep_satisfaction')).toBe(false)
  })
})

describe('a set that follows another turn', () => {
  it('has the same rows as the one that it follows', () => {
    const story = createRunStory({ a: {}, b: { needs: ['a'] }, c: {} })
    const follower = createWorkingSet(0)
    const follow = () => {
      story.story.rows.stamp(9)
      for (const [table, changed] of story.story.rows.dirtyRows())
        follower.follow(table, [...changed.values()] as unknown as readonly AnyRow[])
      follower.followTotal(story.story.rows.appliedTotal())
      story.story.rows.settle()
    }
    const steps: (() => unknown)[] = [
      () => story.fold(story.say.runRequested('user:2')),
      () => story.dispatch('c'),
      () => story.complete('a'),
      () => story.fold(story.say.assetDefined('c', { group: 'new' })),
      () => story.dispatch('b', { at: NOW }),
      () => story.cancel(),
      () => [story.finish('b', 'SUCCEEDED'), story.finish('c', 'CANCELLED')],
    ]
    for (const table of ['runs', 'tasks', 'dep_satisfaction', 'pools', 'asset_definitions', 'code_locations'] as const) {
      follower.follow(table, story.story.rows.hotRows(table))
    }
    for (const step of steps) {
      step()
      follow()
      for (const table of ['runs', 'tasks', 'dep_satisfaction', 'dispatch_outbox', 'pools', 'asset_definitions'] as const) {
        const sorted = (rows: WorkingSet) =>
          rows
            .hotRows(table)
            .map((row) => JSON.stringify(row))
            .sort()
        expect(sorted(follower)).toEqual(sorted(story.story.rows))
      }
      expect(follower.currentDefinition('c')).toEqual(story.story.rows.currentDefinition('c'))
      expect(follower.appliedTotal()).toBe(story.story.rows.appliedTotal())
    }
    expect(follower.hotRows('tasks')).toEqual([])
  })

  it('forgets what it looked up, and refuses to while it has rows of its own', () => {
    const rows = withRun()
    rows.load('idempotency_keys', [['k']], [])
    rows.follow('pools', [pool('global', 3)])
    expect(() => rows.get('idempotency_keys', 'k')).toThrow(/keysOf did not name/)
    rows.put('pools', pool('global', 4))
    expect(() => rows.follow('pools', [pool('global', 5)])).toThrow(/unpublished rows/)
  })

  it('takes runs that end in with their tasks out', () => {
    const rows = withRun()
    rows.follow('runs', [run('r', 'FAILED'), run('s')])
    rows.follow('tasks', [task('r', 'a', 'FAILED'), task('s', 'a')])
    expect(rows.hotRows('tasks')).toMatchObject([{ run_id: 's' }])
    rows.discard()
    expect(rows.hotRows('tasks')).toMatchObject([{ run_id: 's' }])
    expect(taskKeys(rows, 's')).toEqual(['a'])
  })
})
