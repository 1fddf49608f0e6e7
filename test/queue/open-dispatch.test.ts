// The way to the workers as the automation opens it: by its settings, and with a word about the queue.

import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { systemClock } from '../../src/bin/clock.js'
import { readDispatchConfig } from '../../src/bin/config.js'
import { openDispatch } from '../../src/bin/dispatch.js'
import { type FakeCloudTasks, PARENT, QUEUE, startFakeCloudTasks } from '../faults/cloud-tasks/fake.js'
import { createSigner } from '../faults/cloud-tasks/signer.js'
import { until } from '../fixtures/until.js'
import { readStory } from '../worker/stories.js'

let fake: FakeCloudTasks
let said: string[] = []
beforeEach(async () => {
  said = []
  fake = await startFakeCloudTasks({ now: Date.now, signer: await createSigner() })
})
afterEach(() => fake.stop())

const open = (environment: Readonly<Record<string, string>>) =>
  openDispatch(readDispatchConfig(environment), { clock: systemClock, worker_secrets: undefined, log: (line) => void said.push(line) })
const settings = (more: object) => ({
  SERVO_DISPATCH: 'cloud_tasks',
  SERVO_CLOUD_TASKS_PROJECT: PARENT.project,
  SERVO_CLOUD_TASKS_LOCATION: PARENT.location,
  SERVO_CLOUD_TASKS_QUEUE: PARENT.queue,
  SERVO_CLOUD_TASKS_ENDPOINT: fake.endpoint,
  ...more,
})
const dispatch = readStory('skip').request.dispatches[0] as Dispatch

test('straight, where nobody says otherwise', async () => {
  const { port, close } = await open({})
  expect(port.port).toBe('DIRECT')
  await close()
})

test('by the queue, under the name that is given and with no token where no account is named', async () => {
  const { port, close } = await open(settings({}))
  expect(port.port).toBe('CLOUD_TASKS')
  expect(await port.send('http://127.0.0.1:1/', [dispatch], ['d_the-name'], 1)).toEqual([{ answer: 'ACCEPTED' }])
  expect(fake.queue.names()).toEqual([`${QUEUE}/tasks/d_the-name`])
  // The queue's own limits are nobody's business here.
  expect(fake.calls.map(({ method }) => method)).toEqual(['CreateTask'])
  await close()
})

test('with the limits that were asked for, and a line about each that was changed', async () => {
  const { close } = await open(settings({ SERVO_CLOUD_TASKS_SETTINGS: 'apply', SERVO_CLOUD_TASKS_PER_SECOND: '20' }))
  await until('the queue was changed', () => said.length === 2)
  expect(said).toEqual([
    `${QUEUE}: rate_limits.max_dispatches_per_second was 500, and is 20 now.`,
    `${QUEUE}: retry_config.max_retry_duration was 0, and is 3600 now.`,
  ])
  expect(fake.queue.settings()).toMatchObject({
    rateLimits: { maxDispatchesPerSecond: 20 },
    retryConfig: { maxRetryDuration: { seconds: 3_600 } },
  })
  await close()
})
