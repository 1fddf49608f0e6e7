import { expect, test } from '@jest/globals'
import { createStallWatch } from './stall.js'

const task = (task_key: string, state: string, attempt = 1) => ({ task_key, state, attempt })
const DISPATCHED = [task('a', 'DISPATCHED'), task('b', 'BLOCKED', 0)]

function watch(worker_problem: string | null = null) {
  const asked: string[] = []
  let seconds = 0
  const look = createStallWatch({
    ask: async (task_key) => {
      asked.push(task_key)
      return { code: 'NOT_HANDED_OVER', sentence: `Nobody took it by ${seconds} s.`, worker_problem }
    },
    elapsed: () => seconds * 1_000,
  })
  const at = (second: number, tasks: Parameters<typeof look>[0]) => {
    seconds = second
    return look(tasks)
  }
  return { at, asked }
}

test('a standstill is asked about after five seconds, and again every ten', async () => {
  const { at, asked } = watch()
  expect(await at(0, DISPATCHED)).toBeUndefined()
  expect(await at(4.9, DISPATCHED)).toBeUndefined()
  const first = { kind: 'a NOT_HANDED_OVER ', sentence: 'Nobody took it by 5 s.' }
  expect(await at(5, DISPATCHED)).toEqual(first)
  // Shown on, and not asked again.
  expect(await at(14, DISPATCHED)).toEqual(first)
  expect(await at(15, DISPATCHED)).toEqual({ ...first, sentence: 'Nobody took it by 15 s.' })
  expect(asked).toEqual(['a', 'a'])
})

test('what moves ends it, and begins another wait', async () => {
  const { at, asked } = watch()
  await at(0, DISPATCHED)
  await at(5, DISPATCHED)
  const again = [task('a', 'DISPATCHED', 2), task('b', 'BLOCKED', 0)]
  expect(await at(16, again)).toBeUndefined()
  expect(await at(20.9, again)).toBeUndefined()
  expect(await at(21, again)).toMatchObject({ sentence: 'Nobody took it by 21 s.' })
  expect(asked).toHaveLength(2)
})

test('of code that runs only a problem of its worker is told', async () => {
  const running = [task('b', 'DISPATCHED'), task('a', 'RUNNING')]
  const well = watch()
  await well.at(0, running)
  expect(await well.at(5, running)).toBeUndefined()
  expect(well.asked).toEqual(['a'])
  const older = watch('It runs older code.')
  await older.at(0, running)
  expect(await older.at(5, running)).toEqual({ kind: 'a NOT_HANDED_OVER It runs older code.', sentence: 'It runs older code.' })
})

test.each([
  ['the one that is dispatched', [task('a', 'BLOCKED'), task('b', 'READY'), task('c', 'RETRY_WAIT'), task('d', 'DISPATCHED')], 'd'],
  ['one that waits for its next try', [task('b', 'READY'), task('c', 'RETRY_WAIT')], 'c'],
  ['one that waits for room', [task('a', 'BLOCKED'), task('b', 'READY'), task('c', 'SUCCEEDED')], 'b'],
  ['none that waits for others alone', [task('a', 'BLOCKED'), task('c', 'SUCCEEDED')], undefined],
  ['none where there are none', [], undefined],
])('it asks for %s', async (_, tasks, wanted) => {
  const { at, asked } = watch()
  await at(0, tasks)
  await at(60, tasks)
  expect(asked).toEqual(wanted === undefined ? [] : [wanted])
})
