// What holds of every way by which attempts reach workers, whether it sends them or gives them to a queue: tried with a real
// worker server and real requests.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { DispatchPort } from '../../src/activities/dispatch.js'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { queueTaskName } from '../../src/core/keys.js'
import { locationSecret } from '../../src/core/location-secret.js'
import type { Secrets } from '../../src/core/token.js'
import { asset } from '../../src/sdk/asset.js'
import { defineCodeLocation } from '../../src/sdk/code-location.js'
import { startWorker, type Worker } from '../../src/sdk/worker/worker.js'
import { type Receiver, startReceiver } from '../fixtures/callback-receiver.js'
import { freePort } from '../fixtures/free-port.js'
import { until } from '../fixtures/until.js'
import { livingDispatch, newAttempt } from '../worker/living.js'
import { readStory } from '../worker/stories.js'

export const WORKER_SECRETS: Secrets = [{ secret_key_id: 'w1', secret: 'a secret of the tests' }]

export type DispatchHarness = {
  readonly port: DispatchPort
  /** Lets a queue deliver what it has, and try again what is due again; a way without a queue has nothing to do. */
  readonly deliver: () => Promise<void>
  /** What the worker at this URL is asked for, beside what is asked of everybody. */
  readonly workerOptions: object
  /** `queue`: the way answers for the queue, and what the worker says comes out later. */
  readonly kind: 'straight' | 'queue'
  /** The same way, set up wrongly, and what it says of that. */
  readonly setUpWrongly: { readonly port: DispatchPort; readonly says: RegExp }
  readonly close: () => Promise<void>
}

const template = readStory('skip').request.dispatches[0] as Dispatch
const OF_LOCATION = locationSecret(WORKER_SECRETS[0], { ...template, location_name: 'here' })

export function dispatchSuite(name: string, open: () => Promise<DispatchHarness>): void {
  describe(`attempts by ${name}`, () => {
    let harness: DispatchHarness
    let receiver: Receiver
    let worker: Worker | undefined
    let ran: string[] = []
    let hold: Promise<void> | undefined

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(async () => {
      await harness?.close()
    })
    beforeEach(async () => {
      receiver = await startReceiver()
      ran = []
      hold = undefined
    })
    afterEach(async () => {
      await worker?.close()
      worker = undefined
      await receiver.close()
      expect(receiver.faults).toEqual([])
    })

    const serve = async (slots = 4, port = 0, secrets: Secrets = [OF_LOCATION]): Promise<string> => {
      const one = asset({
        key: 'one',
        deps: ['source'],
        run: async ({ attempt_id }) => {
          ran.push(attempt_id)
          await hold
        },
      })
      worker = await startWorker({
        location: defineCodeLocation({ name: 'here', assets: [one] }),
        host: '127.0.0.1',
        port,
        slots,
        secrets,
        api_urls: [receiver.api_url],
        worker_id: 'worker-1',
        clock: systemClock,
        random: systemRandom(),
        log: () => undefined,
        stop_grace_ms: 50,
        ...harness.workerOptions,
      })
      return worker.url
    }
    let sent = 0
    const dispatchOf = (more: Partial<Dispatch> = {}): Dispatch => ({
      ...livingDispatch(receiver, template, newAttempt()),
      asset_key: 'one',
      location_name: 'here',
      task_key: `one#${(sent += 1)}`,
      ...more,
    })
    const namesOf = (dispatches: readonly Dispatch[]) =>
      dispatches.map(({ run_id, task_key, attempt_id }) => queueTaskName(`${run_id} ${task_key} ${attempt_id}`))
    const send = (url: string, dispatches: readonly Dispatch[]) => harness.port.send(url, dispatches, namesOf(dispatches), 1)
    const kindsOf = (answers: readonly { readonly answer: string }[]) => answers.map(({ answer }) => answer)
    const untilCompleted = async (dispatches: readonly Dispatch[]) => {
      await Promise.all(dispatches.map(({ attempt_id }) => receiver.completed(attempt_id)))
    }
    /** What the sweep does, and the queue's own time. */
    const goOn = async (url: string, dispatches: readonly Dispatch[]) => {
      if (harness.kind === 'straight') await send(url, dispatches)
      else await harness.deliver()
    }

    test('arrive, each once with what was given and nothing else, and are answered in order', async () => {
      const url = await serve(8)
      const dispatches = Array.from({ length: 5 }, () => dispatchOf())
      expect(kindsOf(await send(url, dispatches))).toEqual(Array.from({ length: 5 }, () => 'ACCEPTED'))
      await harness.deliver()
      await untilCompleted(dispatches)
      expect([...ran].sort()).toEqual(dispatches.map(({ attempt_id }) => attempt_id).sort())
    })

    test('arrive at a worker that has the secret of the installation still', async () => {
      const url = await serve(4, 0, WORKER_SECRETS)
      const dispatches = [dispatchOf()]
      expect(kindsOf(await send(url, dispatches))).toEqual(['ACCEPTED'])
      await harness.deliver()
      await untilCompleted(dispatches)
    })

    test('that are sent again, and at the same time, run once', async () => {
      const url = await serve(8)
      const dispatches = [dispatchOf(), dispatchOf()]
      const answers = await Promise.all([send(url, dispatches), send(url, dispatches), send(url, [...dispatches].reverse())])
      expect(kindsOf(answers.flat())).toEqual(Array.from({ length: 6 }, () => 'ACCEPTED'))
      await harness.deliver()
      await untilCompleted(dispatches)
      expect(kindsOf(await send(url, dispatches))).toEqual(['ACCEPTED', 'ACCEPTED'])
      await harness.deliver()
      for (const { attempt_id } of dispatches) {
        expect(new Set(receiver.of(attempt_id).map(({ body }) => body.execution_id)).size).toBe(1)
      }
      expect(ran).toHaveLength(2)
    })

    test('whose worker is away arrive when it is back', async () => {
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      const dispatches = [dispatchOf()]
      const answers = await send(url, dispatches)
      expect(kindsOf(answers)).toEqual([harness.kind === 'straight' ? 'UNREACHABLE' : 'ACCEPTED'])
      if (harness.kind === 'straight') expect(answers[0]).toMatchObject({ problem: expect.stringContaining(url) })
      await harness.deliver()
      await serve(4, port)
      await goOn(url, dispatches)
      await untilCompleted(dispatches)
    })

    test('for which a busy worker has no room arrive when it has', async () => {
      let release: () => void = () => undefined
      hold = new Promise((resolve) => (release = resolve))
      const url = await serve(1)
      const [first, second] = [dispatchOf(), dispatchOf()]
      expect(kindsOf(await send(url, [first]))).toEqual(['ACCEPTED'])
      await harness.deliver()
      await until('the first one runs', () => ran.length === 1)
      expect(kindsOf(await send(url, [second]))).toEqual([harness.kind === 'straight' ? 'BUSY' : 'ACCEPTED'])
      await harness.deliver()
      expect(ran).toEqual([first.attempt_id])
      release()
      await untilCompleted([first])
      await goOn(url, [second])
      await untilCompleted([second])
    })

    test('that the worker can never run are refused, once, and with the reason', async () => {
      const url = await serve()
      const strange = dispatchOf({ asset_key: 'strange' })
      const fine = dispatchOf()
      const answers = await send(url, [strange, fine])
      await harness.deliver()
      if (harness.kind === 'straight') {
        expect(answers).toMatchObject([{ answer: 'REFUSED', error: { code: 'UNKNOWN_ASSET' } }, { answer: 'ACCEPTED' }])
      } else {
        // The queue cannot be told, so the API is; and the queue has nothing to deliver any more.
        expect((await receiver.completed(strange.attempt_id)).body).toMatchObject({ outcome: 'REFUSED', error: { code: 'UNKNOWN_ASSET' } })
        await harness.deliver()
        expect(receiver.of(strange.attempt_id)).toHaveLength(2)
      }
      await untilCompleted([fine])
      expect(ran).toEqual([fine.attempt_id])
    })

    test('are lost to nobody while the way is set up wrongly, which is said, and arrive when it is mended', async () => {
      const url = await serve()
      const dispatches = [dispatchOf(), dispatchOf()]
      const { port, says } = harness.setUpWrongly
      const blocked = { answer: 'BLOCKED', problem: expect.stringMatching(says) }
      expect(await port.send(url, dispatches, namesOf(dispatches), 1)).toMatchObject([blocked, blocked])
      await harness.deliver()
      expect(kindsOf(await send(url, dispatches))).toEqual(['ACCEPTED', 'ACCEPTED'])
      await harness.deliver()
      await untilCompleted(dispatches)
      expect(ran).toHaveLength(2)
    })

    test('are answered even where nothing about the way is right', async () => {
      const dispatches = [dispatchOf(), dispatchOf({ start_deadline_at: 'never' as Dispatch['start_deadline_at'] })]
      for (const url of ['no url at all', 'http://127.0.0.1:1/', 'ftp://x']) expect(await send(url, dispatches)).toHaveLength(2)
      expect(await send('http://127.0.0.1:1/', [])).toEqual([])
    })
  })
}
