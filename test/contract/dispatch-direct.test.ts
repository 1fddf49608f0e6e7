// By requests straight to the worker: the contract of every way, and what each status of a whole request means.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createDirectPort } from '../../src/activities/direct.js'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { systemClock } from '../../src/bin/clock.js'
import type { Secrets } from '../../src/core/token.js'
import { readStory } from '../worker/stories.js'
import { dispatchSuite, WORKER_SECRETS } from './dispatch.js'

const port = createDirectPort({ clock: systemClock, worker_secrets: WORKER_SECRETS })
/** The worker has not heard of it. */
const ROTATED: Secrets = [{ secret_key_id: 'w2', secret: 'another secret of the tests' }]

dispatchSuite('direct requests', async () => ({
  port,
  kind: 'straight',
  setUpWrongly: {
    port: createDirectPort({ clock: systemClock, worker_secrets: ROTATED }),
    says: /^http:.* answered 401: .* Give the worker the SERVO_WORKER_SECRETS of the automation/,
  },
  deliver: async () => undefined,
  workerOptions: {},
  close: async () => undefined,
}))

describe('a request that is answered as a whole', () => {
  const dispatch = readStory('skip').request.dispatches[0] as Dispatch
  let status = 200
  let server: Server
  let url: string

  beforeAll(async () => {
    server = createServer((_request, response) => response.writeHead(status).end('Not so.'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  test.each([401, 403, 404, 405])('with %i loses no attempt, and is told with what to look at', async (wrong) => {
    status = wrong
    const problem = expect.stringMatching(new RegExp(`^${url} answered ${wrong}: Not so\\. (Give|Look) .*\\.$`))
    expect(await port.send(url, [dispatch, dispatch], [])).toEqual([
      { answer: 'BLOCKED', problem },
      { answer: 'BLOCKED', problem },
    ])
  })

  test.each([400, 413, 422])('with %i is wrong itself, and refused', async (wrong) => {
    status = wrong
    const error = { code: `HTTP_${wrong}`, message: `The worker answered ${wrong}: Not so.` }
    expect(await port.send(url, [dispatch], [])).toEqual([{ answer: 'REFUSED', error }])
  })

  test.each([408, 425, 429])('with %i is to come later', async (later) => {
    status = later
    expect(await port.send(url, [dispatch], [])).toEqual([{ answer: 'BUSY' }])
  })

  test.each([500, 503])('with %i says nothing of its attempts', async (broken) => {
    status = broken
    expect(await port.send(url, [dispatch], [])).toEqual([{ answer: 'UNREACHABLE', problem: `The worker answered ${broken}: Not so.` }])
  })
})
