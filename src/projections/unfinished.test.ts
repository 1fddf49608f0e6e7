import { describe, expect, test } from '@jest/globals'
import { unfinishedTasks } from './unfinished.js'

/** `a` FAILED reads "a: FAILED"; a reason may follow. Edges read "a>b". */
const tasks = (...texts: readonly string[]) =>
  texts.map((text, task_index) => {
    const [, task_key = '', state = '', outcome_reason = null] = /^(\S+): (\S+)(?: (\S+))?$/.exec(text) ?? []
    return { task_key, task_index, state: state as 'FAILED', outcome_reason }
  })
const edges = (...texts: readonly string[]) =>
  texts.map((text) => {
    const [upstream_task_key = '', downstream_task_key = ''] = text.split('>')
    return { upstream_task_key, downstream_task_key }
  })

describe('what is left of a run', () => {
  test.each([
    ['nothing, where all succeeded', tasks('a: SUCCEEDED', 'b: SUCCEEDED'), edges('a>b'), []],
    [
      'what failed, and what was skipped because of it, however far',
      tasks('a: SUCCEEDED', 'b: FAILED ERROR', 'c: SKIPPED UPSTREAM_FAILED', 'd: SKIPPED UPSTREAM_SKIPPED', 'e: SUCCEEDED'),
      edges('a>b', 'b>c', 'c>d', 'a>e'),
      ['b', 'c', 'd'],
    ],
    ['what was cancelled', tasks('a: CANCELLED RUN_CANCELLED', 'b: CANCELLED UPSTREAM_CANCELLED'), edges('a>b'), ['a', 'b']],
    [
      'not what its code left out, nor what was skipped because of that',
      tasks('a: SKIPPED WORKER_SKIPPED', 'b: SKIPPED UPSTREAM_SKIPPED', 'c: SKIPPED UPSTREAM_SKIPPED', 'd: FAILED ERROR'),
      edges('a>b', 'b>c'),
      ['d'],
    ],
    [
      'not what waits for both a failure and for what was left out',
      tasks('a: SKIPPED WORKER_SKIPPED', 'b: FAILED ERROR', 'c: SKIPPED UPSTREAM_FAILED'),
      edges('a>c', 'b>c'),
      ['b'],
    ],
  ])('is %s', (_, rows, between, left) => {
    expect(unfinishedTasks(rows, between).map(({ task_key }) => task_key)).toEqual(left)
    expect(unfinishedTasks(rows.toReversed(), between).map(({ task_key }) => task_key)).toEqual(left)
  })
})
