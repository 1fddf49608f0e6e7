import { expect, test } from '@jest/globals'
import type { CancelRequest } from '../api/contract/worker.js'
import { CANCELS_PER_REQUEST_MAX } from '../core/limits.js'
import type { CodeLocationRow } from '../projections/asset-table.js'
import type { RunRow, TaskRow } from '../projections/run-table.js'
import { createCancelPush } from './cancel-push.js'

type Task = Pick<TaskRow, 'run_id' | 'state' | 'location_name' | 'attempt_id'>
type Posted = { readonly url: string; readonly attempt_ids: readonly string[] }

const task = (attempt_id: string, more: Partial<Task> = {}): Task => ({
  run_id: 'cancelling',
  state: 'RUNNING',
  location_name: 'main',
  attempt_id,
  ...more,
})

/** Workers that answer with this status; 0: they do not answer. */
function pushing(status: number) {
  const posted: Posted[] = []
  const logged: string[] = []
  const push = createCancelPush({
    async post(url, { attempt_ids }: CancelRequest) {
      posted.push({ url: url.href, attempt_ids })
      if (status === 0) throw new Error('connect ECONNREFUSED')
      return { status, is_taken: status < 300 }
    },
    log: (message) => logged.push(message),
  })
  const runs = [
    { run_id: 'cancelling', state: 'CANCELLING' },
    { run_id: 'wanted', state: 'RUNNING' },
  ] as readonly Partial<RunRow>[]
  async function publish(...tasks: readonly Task[]): Promise<readonly Posted[]> {
    const rows = {
      hotRows: () => runs,
      tasksOf: (run_id: string) => tasks.filter((each) => each.run_id === run_id),
      get: (_table: string, location_name: string): Partial<CodeLocationRow> => ({ worker_url: `http://${location_name}.example.com` }),
    }
    posted.length = 0
    push.onPublish({ rows } as unknown as Parameters<typeof push.onPublish>[0])
    await push.settled()
    return [...posted]
  }
  return { publish, logged }
}

test('workers are told which running attempts of cancelled runs are to stop, each location of its own', async () => {
  const { publish, logged } = pushing(200)
  const told = await publish(
    task('one'),
    task('two', { location_name: 'side' }),
    task('not started', { state: 'DISPATCHED' }),
    task('wanted', { run_id: 'wanted' }),
    task('three'),
  )
  expect(told).toEqual([
    { url: 'http://main.example.com/servo/v1/cancel', attempt_ids: ['one', 'three'] },
    { url: 'http://side.example.com/servo/v1/cancel', attempt_ids: ['two'] },
  ])
  expect(logged).toEqual([])
})

test('each of them once, with the publish that shows it first', async () => {
  const { publish } = pushing(200)
  await publish(task('one'))
  expect(await publish(task('one'), task('two'))).toMatchObject([{ attempt_ids: ['two'] }])
  expect(await publish(task('one'), task('two'))).toEqual([])
})

test('in requests of a bounded size', async () => {
  const tasks = Array.from({ length: CANCELS_PER_REQUEST_MAX + 1 }, (_, index) => task(`attempt ${index}`))
  const sizes = (await pushing(200).publish(...tasks)).map(({ attempt_ids }) => attempt_ids.length)
  expect(sizes).toEqual([CANCELS_PER_REQUEST_MAX, 1])
})

test.each([
  [404, []],
  [405, []],
  [501, []],
  [500, ['main: 1 attempts of cancelled runs are told to stop by their next heartbeats, because the worker answered 500.']],
  [
    0,
    [
      'main: 1 attempts of cancelled runs are told to stop by their next heartbeats, because http://main.example.com did not answer: connect ECONNREFUSED',
    ],
  ],
])('a worker that answers %i is not asked again, and is a fault only where that is one', async (status, expected) => {
  const { publish, logged } = pushing(status)
  await publish(task('one'))
  expect(await publish(task('one'))).toEqual([])
  expect(logged).toEqual(expected)
})
