// The fake refuses what Google refuses, and remembers what Google remembers: the client is Google's own.

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { status } from '@grpc/grpc-js'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { openTasksClient, type TasksClient } from '../../../src/activities/cloud-tasks/client.js'
import type { QueueTask } from '../../../src/activities/cloud-tasks/task.js'
import { createRandom } from '../../fixtures/random.js'
import { type FakeCloudTasks, PARENT, QUEUE, startFakeCloudTasks } from './fake.js'
import { backoffMs } from './queue.js'
import { createSigner } from './signer.js'

const START = 1_736_935_200_000
let now = START
let fake: FakeCloudTasks
let client: TasksClient
let server: Server
let answers: (() => number)[] = []
let seen: { readonly path: string; readonly headers: NodeJS.Dict<string | string[]>; readonly body: string }[] = []

beforeEach(async () => {
  now = START
  answers = []
  seen = []
  server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      seen.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts).toString() })
      response.writeHead(answers.shift()?.() ?? 200).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  fake = await startFakeCloudTasks({ now: () => now, signer: await createSigner() })
  client = openTasksClient({ project: PARENT.project, endpoint: fake.endpoint, timeout_ms: 500 })
})
afterEach(async () => {
  await client.close()
  await fake.stop()
  server.close()
  server.closeAllConnections()
})

const urlOf = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
const taskOf = (id: string, request: Partial<QueueTask['httpRequest']> = {}, more: object = {}): QueueTask => ({
  name: `${QUEUE}/tasks/${id}`,
  dispatchDeadline: { seconds: 15 },
  httpRequest: { httpMethod: 'POST', url: urlOf(`/${id}`), headers: { 'x-test': 'yes' }, body: Buffer.from('{}'), ...request },
  ...more,
})
const create = (task: QueueTask, queue = QUEUE) => client.createTask(queue, task)
const codeOf = async (work: Promise<unknown>): Promise<number | undefined> =>
  work.then(
    () => undefined,
    (error: { readonly code?: number }) => error.code,
  )
const passSeconds = async (seconds: number) => {
  for (let second = 0; second < seconds; second++) {
    now += 1_000
    await fake.deliver()
  }
}

describe('names', () => {
  test.each([
    ['a:b', 'a:b'],
    ['a b', 'a b'],
    ['a/b', 'a/b'],
    ['ä', 'ä'],
    ['nothing', ''],
    ['501 letters', 'x'.repeat(501)],
  ])('%s is none', async (_, id) => {
    expect(await codeOf(create(taskOf('x', {}, { name: `${QUEUE}/tasks/${id}` })))).toBe(status.INVALID_ARGUMENT)
  })

  test('of another queue, and a queue that is not there, are refused', async () => {
    const other = QUEUE.replace('attempts', 'other')
    expect(await codeOf(create(taskOf('a'), other))).toBe(status.NOT_FOUND)
    expect(await codeOf(create(taskOf('a', {}, { name: `${other}/tasks/a` })))).toBe(status.INVALID_ARGUMENT)
    expect(await codeOf(create(taskOf('a'), 'projects/p/queues/q'))).toBe(status.INVALID_ARGUMENT)
  })

  test('are used once while a task has them, of many that ask in the same moment', async () => {
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(create(taskOf('same')))))
    expect(codes.filter((code) => code === undefined)).toHaveLength(1)
    expect(codes.filter((code) => code === status.ALREADY_EXISTS)).toHaveLength(19)
  })

  test('are remembered for an hour after the task was delivered or deleted, and are free then', async () => {
    await create(taskOf('a'))
    await fake.deliver()
    now += 3_599_000
    expect(await codeOf(create(taskOf('a')))).toBe(status.ALREADY_EXISTS)
    now += 2_000
    expect(await codeOf(create(taskOf('a')))).toBeUndefined()
    await fake.deliver()
    expect(seen.map(({ path }) => path)).toEqual(['/a', '/a'])
  })
})

describe('a task is refused', () => {
  test.each<[string, () => QueueTask]>([
    ['that is larger than a megabyte', () => taskOf('a', { body: Buffer.alloc(1_024 * 1_024) })],
    ['whose headers are larger than 80 KB', () => taskOf('a', { headers: { 'x-long': 'x'.repeat(81 * 1_024) } })],
    ['whose URL is none', () => taskOf('a', { url: 'worker/dispatch' })],
    ['whose URL is too long', () => taskOf('a', { url: `http://127.0.0.1/${'x'.repeat(2_100)}` })],
    [
      'with a token for an address without TLS',
      () => taskOf('a', { url: 'http://worker.example.com/', oidcToken: { serviceAccountEmail: 'a@b.c', audience: 'x' } }),
    ],
    ['whose deadline is too short', () => taskOf('a', {}, { dispatchDeadline: { seconds: 14 } })],
    ['whose deadline is too long', () => taskOf('a', {}, { dispatchDeadline: { seconds: 1_801 } })],
    ['that is scheduled in more than thirty days', () => taskOf('a', {}, { scheduleTime: { seconds: START / 1_000 + 31 * 86_400 } })],
    [
      'with a body where the method has none',
      () => taskOf('a', {}, { httpRequest: { url: 'http://127.0.0.1', httpMethod: 'GET', body: Buffer.from('x') } }),
    ],
  ])('%s', async (_, task) => {
    expect(await codeOf(create(task()))).toBe(status.INVALID_ARGUMENT)
    expect(fake.queue.names()).toEqual([])
  })
})

describe('a delivery', () => {
  test('has the body, the headers and the token that were asked for', async () => {
    await create(taskOf('a', { body: Buffer.from('{"a":1}'), oidcToken: { serviceAccountEmail: 'q@p.iam', audience: 'me' } }))
    await fake.deliver()
    expect(seen).toMatchObject([
      {
        path: '/a',
        body: '{"a":1}',
        headers: { 'x-test': 'yes', 'x-cloudtasks-taskname': 'a', authorization: expect.stringMatching(/^Bearer ey/) },
      },
    ])
  })

  test('is not made before its time', async () => {
    await create(taskOf('a', {}, { scheduleTime: { seconds: START / 1_000 + 5 } }))
    await passSeconds(4)
    expect(seen).toEqual([])
    await passSeconds(1)
    expect(seen).toHaveLength(1)
  })

  test('is made again after what is not 2xx, later each time, and as often as the queue says', async () => {
    const retryConfig = { ...fake.queue.settings().retryConfig, maxAttempts: 4, maxDoublings: 1, maxBackoff: { seconds: 3 } }
    fake.queue.change({ ...fake.queue.settings(), retryConfig })
    answers = Array.from({ length: 10 }, () => () => 500)
    await create(taskOf('a'))
    await fake.deliver()
    await passSeconds(20)
    expect(fake.deliveries.map(({ at, tries }) => [tries, at - START])).toEqual([
      [1, 0],
      [2, 1_000],
      [3, 3_000],
      [4, 6_000],
    ])
    expect(fake.queue.names()).toEqual([])
    expect(await codeOf(create(taskOf('a')))).toBe(status.ALREADY_EXISTS)
  })

  test('backs off as the documentation has it', () => {
    const retryConfig = {
      maxAttempts: 10,
      maxRetryDuration: { seconds: 0 },
      minBackoff: { seconds: 10 },
      maxBackoff: { seconds: 300 },
      maxDoublings: 3,
    }
    const seconds = Array.from({ length: 8 }, (_, index) => backoffMs(index + 1, { retryConfig }) / 1_000)
    expect(seconds).toEqual([10, 20, 40, 80, 160, 240, 300, 300])
  })

  test('keeps to the rate of the queue, and to how many it makes at once', async () => {
    const { rateLimits, ...rest } = fake.queue.settings()
    fake.queue.change({ ...rest, rateLimits: { ...rateLimits, maxDispatchesPerSecond: 5, maxConcurrentDispatches: 3 } })
    await Promise.all(Array.from({ length: 12 }, (_, index) => create(taskOf(`t${index}`))))
    now += 1_000
    expect(fake.queue.take(now)).toHaveLength(1)
    now += 1_000
    expect(fake.queue.take(now)).toHaveLength(1)
    now += 60_000
    expect(fake.queue.take(now)).toHaveLength(1)
    now += 60_000
    expect(fake.queue.take(now)).toHaveLength(0)
  })

  test('of a queue that is paused is not made', async () => {
    fake.queue.change({ ...fake.queue.settings(), state: 'PAUSED' })
    await create(taskOf('a'))
    await passSeconds(3)
    expect(seen).toEqual([])
  })

  test('is made again at times, and in any order, where that is asked for', async () => {
    fake.setTrouble({ random: createRandom(7), repeats: 0.5, shuffles: true })
    for (let index = 0; index < 20; index++) await create(taskOf(`t${String(index).padStart(2, '0')}`))
    await passSeconds(60)
    const paths = seen.map(({ path }) => path)
    expect(new Set(paths).size).toBe(20)
    expect(paths.length).toBeGreaterThan(20)
    expect(paths.slice(0, 20)).not.toEqual([...paths.slice(0, 20)].sort())
    expect(fake.queue.names()).toEqual([])
  })
})

describe('a call', () => {
  test.each([
    ['before', 0],
    ['after', 1],
  ] as const)('that fails %s it is done leaves %i tasks, and is one call', async (when, count) => {
    fake.faults(() => ({ code: status.UNAVAILABLE, when }))
    expect(await codeOf(create(taskOf('a')))).toBe(status.UNAVAILABLE)
    expect(await codeOf(client.getQueue(QUEUE))).toBe(status.UNAVAILABLE)
    expect(fake.calls).toHaveLength(2)
    expect(fake.queue.names()).toHaveLength(count)
  })

  test('that is never answered ends by its deadline', async () => {
    fake.faults(() => ({ when: 'hang' }))
    expect(await codeOf(create(taskOf('a')))).toBe(status.DEADLINE_EXCEEDED)
  })
})
