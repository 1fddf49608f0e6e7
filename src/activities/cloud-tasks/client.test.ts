import { CloudTasksClient } from '@google-cloud/tasks'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { openTasksClient } from './client.js'

const VARIABLE = 'GOOGLE_APPLICATION_CREDENTIALS'
const before = process.env[VARIABLE]
beforeEach(() => {
  process.env[VARIABLE] = '/nowhere/credentials.json'
})
afterEach(() => {
  jest.restoreAllMocks()
  if (before === undefined) delete process.env[VARIABLE]
  else process.env[VARIABLE] = before
})

test('each client of the library that found no credentials is closed once, and the next call has another', async () => {
  const closed = new Set<unknown>()
  const close = CloudTasksClient.prototype.close
  const spy = jest.spyOn(CloudTasksClient.prototype, 'close').mockImplementation(function (this: CloudTasksClient) {
    closed.add(this)
    return close.call(this)
  })
  const client = openTasksClient({ project: 'p' })
  const ask = () => client.getQueue('projects/p/locations/l/queues/q')
  for (let wave = 1; wave <= 3; wave++) {
    const ended = await Promise.allSettled([ask(), ask(), ask()])
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(String((ended[0] as PromiseRejectedResult).reason)).toContain('/nowhere')
    expect([closed.size, spy.mock.calls.length]).toEqual([wave, wave])
  }
  await client.close()
})
