// What every worker must do when it is told to end: each story has a process of its own, which is over afterwards.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type DispatchRequest, type DispatchResponse, dispatchResponse } from '../../src/api/contract/worker.js'
import { type Receiver, startReceiver } from '../fixtures/callback-receiver.js'
import { until } from '../fixtures/until.js'
import type { ListeningProcess, StartWorkerProcess } from '../fixtures/worker-process.js'
import { livingDispatch, newAttempt } from './living.js'
import { masked, readStory, STORY_NAMES } from './stories.js'

const TEST_TIMEOUT_MS = 60_000

export function drainSuite(name: string, startWorkerProcess: StartWorkerProcess): void {
  describe(`the end of ${name}`, () => {
    let folder = ''
    let file = ''
    let receiver: Receiver
    let worker: ListeningProcess | undefined
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'servo-drain-'))
      file = join(folder, 'held')
      writeFileSync(file, '')
      receiver = await startReceiver({ heartbeat_interval_ms: 50 })
    })
    afterEach(async () => {
      await worker?.stop()
      await receiver.close()
      rmSync(folder, { recursive: true, force: true })
      expect(receiver.faults).toEqual([])
    })

    const handOver = async (url: string, request: DispatchRequest, attempt_id: string): Promise<DispatchResponse['answers']> => {
      const dispatches = request.dispatches.map((each) => livingDispatch(receiver, each, attempt_id))
      const body = JSON.stringify({ ...request, dispatches })
      const response = await fetch(`${url}/servo/v1/dispatch`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      return dispatchResponse.parse(await response.json()).answers
    }
    const isDraining = async (url: string) => ((await (await fetch(`${url}/healthz`)).json()) as { status: string }).status === 'draining'

    test.each(STORY_NAMES.filter((each) => readStory(each).drain !== undefined))(
      'tells the story %s',
      async (storyName) => {
        const { request, response, callbacks, drain } = readStory(storyName)
        if (drain === undefined) throw new Error(`The story ${storyName} has no drain.`)
        worker = await startWorkerProcess({
          CONFORMANCE_FILE: file,
          CONFORMANCE_GRACE_MS: String(drain.grace_ms),
          SERVO_API_URL: receiver.api_url,
        })
        const { url, terminate, ended } = worker
        const [attempt_id, next] = [newAttempt(), newAttempt()]
        // No report is taken before the next one was handed over: until then the process must be there to answer.
        let isHandedOver = false
        receiver.answerBy(({ path }) => (path === 'completed' && !isHandedOver ? { status: 503 } : undefined))

        expect(await handOver(url, request, attempt_id)).toEqual([{ ...response.answers[0], attempt_id }])
        await receiver.until(() => receiver.of(attempt_id).some(({ path }) => path === 'heartbeat'), 'A heartbeat')
        terminate()
        await until('the worker drains', () => isDraining(url), 10_000)
        // What it has, it has.
        expect(await handOver(url, request, attempt_id)).toEqual([{ attempt_id, answer: 'ACCEPTED' }])
        expect(await handOver(url, drain.request, next)).toEqual([{ ...drain.response.answers[0], attempt_id: next }])
        isHandedOver = true
        writeFileSync(file, 'Let it end.')

        expect(await ended).toBe(0)
        const taken = receiver.of(attempt_id).filter(({ status }) => status !== 503)
        expect(masked(taken)).toEqual(callbacks.map(({ path, body }) => ({ path, body })))
        expect(receiver.of(next)).toEqual([])
      },
      TEST_TIMEOUT_MS,
    )
  })
}
