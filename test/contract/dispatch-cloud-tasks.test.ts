// By a queue: the contract of every way, and what only a queue does.

import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createLocalJWKSet } from 'jose'
import { openTasksClient, type TasksClient } from '../../src/activities/cloud-tasks/client.js'
import { createCloudTasksPort } from '../../src/activities/cloud-tasks/port.js'
import { examineQueue, sentencesOf } from '../../src/activities/cloud-tasks/queue.js'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { systemClock } from '../../src/bin/clock.js'
import { QUEUE_TASK_BYTES_MAX } from '../../src/core/limits.js'
import { createOidcVerifier } from '../../src/oidc/verifier.js'
import { type FakeCloudTasks, PARENT, QUEUE, startFakeCloudTasks } from '../faults/cloud-tasks/fake.js'
import { ACCOUNT, createSigner, ISSUER } from '../faults/cloud-tasks/signer.js'
import { readStory } from '../worker/stories.js'
import { dispatchSuite, WORKER_SECRETS } from './dispatch.js'

const AUDIENCE = 'https://worker.example.com'
const settings = { queue: QUEUE, service_account: ACCOUNT, audience: AUDIENCE, deadline_seconds: 15, worker_secrets: WORKER_SECRETS }

dispatchSuite('a queue of Cloud Tasks', async () => {
  const signer = await createSigner()
  // The queue's own time: it passes when the queue is asked to deliver, so that nothing waits for a back-off.
  let passed_ms = 0
  const fake = await startFakeCloudTasks({ now: () => systemClock.now() + passed_ms, signer })
  const client = openTasksClient({ project: PARENT.project, endpoint: fake.endpoint })
  const expected = { audience: AUDIENCE, issuer: ISSUER, email: ACCOUNT }
  return {
    port: createCloudTasksPort({ ...settings, clock: systemClock, client }),
    kind: 'queue',
    setUpWrongly: {
      port: createCloudTasksPort({ ...settings, queue: QUEUE.replace('attempts', 'missing'), clock: systemClock, client }),
      says: /queues\/missing answered NOT_FOUND.* Make the queue, or name another/,
    },
    async deliver() {
      passed_ms += 11_000
      await fake.deliver()
    },
    workerOptions: { proof: createOidcVerifier(expected, createLocalJWKSet(signer.key_set), () => systemClock.now() + passed_ms) },
    async close() {
      await client.close()
      await fake.stop()
    },
  }
})

describe('the port of Cloud Tasks', () => {
  const template = readStory('skip').request.dispatches[0] as Dispatch
  let fake: FakeCloudTasks
  let client: TasksClient
  let elapsed = 0
  let number = 0

  beforeAll(async () => {
    fake = await startFakeCloudTasks({ now: systemClock.now, signer: await createSigner() })
  })
  afterAll(async () => {
    await fake.stop()
  })
  beforeEach(async () => {
    elapsed = 0
    fake.faults(() => undefined)
    fake.calls.length = 0
    await client?.close()
    client = openTasksClient({ project: PARENT.project, endpoint: fake.endpoint })
  })
  afterAll(() => client.close())

  const openPort = (more: object = {}) =>
    createCloudTasksPort({ ...settings, clock: { now: systemClock.now, elapsed: () => elapsed }, client, ...more })
  const some = (count: number, more: Partial<Dispatch> = {}) => {
    const dispatches = Array.from({ length: count }, () => ({ ...template, task_key: `t${(number += 1)}`, ...more }))
    return { dispatches, names: dispatches.map(({ task_key }) => `d_${task_key}`) }
  }
  const URL_OF_WORKER = 'https://worker.example.com/'
  const send = async (port: ReturnType<typeof openPort>, count = 1, more: Partial<Dispatch> = {}, url = URL_OF_WORKER) => {
    const { dispatches, names } = some(count, more)
    return port.send(url, dispatches, names, 1)
  }

  test('INV-4 the same dispatch enqueued twice, and by two processes at once, is one task in the queue', async () => {
    const { dispatches, names } = some(3)
    const ports = [openPort(), openPort()]
    const answers = await Promise.all([...ports, ...ports].map((port) => port.send(URL_OF_WORKER, dispatches, names, 1)))
    expect(answers.flat().map(({ answer }) => answer)).toEqual(Array.from({ length: 12 }, () => 'ACCEPTED'))
    expect(fake.queue.names().filter((name) => names.includes(name.split('/').at(-1) as string))).toHaveLength(3)
  })

  test('INV-4 a create that was done and not answered is found done when it is said again', async () => {
    const { dispatches, names } = some(1)
    const port = openPort()
    fake.faults(() => ({ code: status.UNAVAILABLE, when: 'after' }))
    expect(await port.send(URL_OF_WORKER, dispatches, names, 1)).toMatchObject([{ answer: 'UNREACHABLE' }])
    fake.faults(() => undefined)
    expect(await port.send(URL_OF_WORKER, dispatches, names, 1)).toEqual([{ answer: 'ACCEPTED', was_there: true }])
    expect(fake.calls).toHaveLength(2)
  })

  test('answers a queue that does not answer in its own words, and asks once', async () => {
    const impatient = openTasksClient({ project: PARENT.project, endpoint: fake.endpoint, timeout_ms: 1_000 })
    fake.faults(() => ({ when: 'hang' }))
    const answers = await send(openPort({ client: impatient })).finally(() => impatient.close())
    expect(answers).toMatchObject([{ answer: 'UNREACHABLE' }])
    expect(fake.calls).toHaveLength(1)
  })

  test.each([
    ['a queue that is not there just now', () => ({ code: status.UNAVAILABLE, when: 'before' }) as const, 'UNREACHABLE'],
    ['a permission that is missing', () => ({ code: status.PERMISSION_DENIED, when: 'before' }) as const, 'BLOCKED'],
    ['too much', () => ({ code: status.RESOURCE_EXHAUSTED, when: 'before' }) as const, 'BUSY'],
    ['an argument that is wrong', () => ({ code: status.INVALID_ARGUMENT, when: 'before' }) as const, 'REFUSED'],
  ])('answers %s in its own words, and asks once', async (_, fault, answer) => {
    fake.faults(fault)
    expect(await send(openPort())).toMatchObject([{ answer }])
    expect(fake.calls).toHaveLength(1)
  })

  test('waits longer each time after there was too much, and goes on at once when there is room', async () => {
    const port = openPort()
    fake.faults(() => ({ code: status.RESOURCE_EXHAUSTED, when: 'before' }))
    const asked: number[] = []
    for (; elapsed < 20_000; elapsed += 500) {
      const before = fake.calls.length
      expect(await send(port)).toEqual([{ answer: 'BUSY' }])
      if (fake.calls.length > before) asked.push(elapsed)
    }
    expect(asked).toEqual([0, 1_000, 3_000, 7_000, 15_000])
    fake.faults(() => undefined)
    elapsed = 31_000
    expect(await send(port, 2)).toEqual([{ answer: 'ACCEPTED' }, { answer: 'ACCEPTED' }])
  })

  test('loses no attempt over a queue that is not there, and says what to do', async () => {
    const port = openPort({ queue: QUEUE.replace('attempts', 'missing') })
    const [answer] = await send(port)
    expect(answer).toMatchObject({
      answer: 'BLOCKED',
      problem: expect.stringMatching(/queues\/missing answered NOT_FOUND.* Make the queue, or name another/),
    })
    // What comes meanwhile is not asked about, and hears the same.
    expect(await send(port, 3)).toEqual([answer, answer, answer])
    expect(fake.calls).toHaveLength(1)
  })

  test('loses no attempt over a worker without TLS, to which no token goes', async () => {
    const answers = await send(openPort(), 1, {}, 'http://worker.example.com/')
    expect(answers).toMatchObject([{ answer: 'BLOCKED', problem: expect.stringContaining('was deployed with http://worker.example.com/') }])
    expect(await send(openPort({ service_account: undefined }), 1, {}, 'http://worker.example.com/')).toEqual([{ answer: 'ACCEPTED' }])
  })

  test('refuses a dispatch that is larger than a task may be, with the number', async () => {
    const partition_keys = Array.from({ length: 10_000 }, (_, index) => `${'x'.repeat(95)}${index}`)
    const [answer] = await send(openPort(), 1, { partition_keys })
    expect(answer).toMatchObject({
      answer: 'REFUSED',
      error: {
        code: 'TASK_TOO_LARGE',
        retryable: false,
        message: expect.stringContaining(`Cloud Tasks takes ${QUEUE_TASK_BYTES_MAX} at most.`),
      },
    })
    expect(fake.calls).toEqual([])
  })

  test('what is just small enough for it is taken by the queue', async () => {
    const room = QUEUE_TASK_BYTES_MAX - 1_024 - JSON.stringify({ ...template, upstream: {} }).length - 1_000
    expect(await send(openPort(), 1, { upstream: {}, partition_keys: ['x'.repeat(room)] })).toEqual([{ answer: 'ACCEPTED' }])
  })

  test('asks for no more than some at once, and answers in order all the same', async () => {
    let open = 0
    let most = 0
    const slow = {
      async createTask() {
        most = Math.max(most, (open += 1))
        await new Promise((resolve) => setImmediate(resolve))
        open -= 1
      },
    }
    expect(await send(openPort({ client: slow }), 200)).toHaveLength(200)
    expect(most).toBe(32)
  })

  describe('looks at its queue', () => {
    const wanted = { per_second: 50, backoff_max_seconds: 20, tries: 100 }

    test('and says what differs from what was asked for, and nothing of the rest', async () => {
      const report = await examineQueue(client, QUEUE, wanted, 'compare')
      expect(report).toMatchObject({ kind: 'known', state: 'RUNNING', applied: false })
      expect(sentencesOf(QUEUE, report)).toEqual([
        `${QUEUE}: rate_limits.max_dispatches_per_second is 500, and should be 50. Change it, or set SERVO_CLOUD_TASKS_SETTINGS=apply.`,
        `${QUEUE}: retry_config.max_backoff is 10, and should be 20. Change it, or set SERVO_CLOUD_TASKS_SETTINGS=apply.`,
      ])
      expect(fake.calls.map(({ method }) => method)).toEqual(['GetQueue'])
    })

    test('and changes it where it was told to, once', async () => {
      const before = fake.queue.settings()
      expect(sentencesOf(QUEUE, await examineQueue(client, QUEUE, wanted, 'apply'))).toEqual([
        `${QUEUE}: rate_limits.max_dispatches_per_second was 500, and is 50 now.`,
        `${QUEUE}: retry_config.max_backoff was 10, and is 20 now.`,
      ])
      expect(fake.queue.settings()).toMatchObject({
        rateLimits: { maxDispatchesPerSecond: 50, maxConcurrentDispatches: 1_000 },
        retryConfig: { maxBackoff: { seconds: 20 }, minBackoff: { seconds: 1 } },
      })
      expect(sentencesOf(QUEUE, await examineQueue(client, QUEUE, wanted, 'apply'))).toEqual([])
      expect(fake.calls.map(({ method }) => method)).toEqual(['GetQueue', 'UpdateQueue', 'GetQueue'])
      fake.queue.change(before)
    })

    test('and says that it is paused, or cannot be asked', async () => {
      const before = fake.queue.settings()
      fake.queue.change({ ...before, state: 'PAUSED' })
      expect(sentencesOf(QUEUE, await examineQueue(client, QUEUE, {}, 'compare'))).toEqual([
        `${QUEUE} is PAUSED: it takes attempts, and delivers none. Resume it.`,
      ])
      fake.queue.change(before)
      fake.faults(() => ({ code: status.PERMISSION_DENIED, when: 'before' }))
      expect(sentencesOf(QUEUE, await examineQueue(client, QUEUE, {}, 'apply'))[0]).toContain('answered PERMISSION_DENIED')
    })
  })
})
