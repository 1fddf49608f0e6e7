// What every worker must do, whatever it is written in: driven over HTTP as a black box, beside the receiver that takes
// its callbacks and knows what no worker may say.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Dispatch, type DispatchResponse, dispatchResponse } from '../../src/api/contract/worker.js'
import { locationSecret } from '../../src/core/location-secret.js'
import { secretsText } from '../../src/core/secrets.js'
import { signBody, signQueuedBody } from '../../src/core/token.js'
import { type Receiver, startReceiver } from '../fixtures/callback-receiver.js'
import { freePort } from '../fixtures/free-port.js'
import type { ListeningProcess, StartWorkerProcess } from '../fixtures/worker-process.js'
import { drainSuite } from './drain.js'
import { livingDispatch, newAttempt } from './living.js'
import { masked, readStory, replyOf, STORY_NAMES, type Story } from './stories.js'

const START_TIMEOUT_MS = 120_000
const template = readStory('success').request.dispatches[0] as Dispatch
/** Of the installation: no worker has it. */
const INSTALLATION = { secret_key_id: 'k1', secret: 'a secret of the tests' }
const SECRET = locationSecret(INSTALLATION, template)
/** The worker has it too, while it takes the place of the other. */
const NEXT = locationSecret({ secret_key_id: 'k2', secret: 'the next secret of the tests' }, template)
const SIGNATURE = 'servo-location-signature'

/** Of an API at http://127.0.0.1:1/servo; a proxy in front of it may decode them. */
const BESIDE_API = [
  'http://127.0.0.1:1/servo',
  'http://127.0.0.1:1/servoevil/callbacks',
  'http://127.0.0.1:1/servo/../evil',
  'http://127.0.0.1:1/servo/callbacks/../../evil',
  'http://127.0.0.1:1/servo/%2e%2E/evil',
  'http://127.0.0.1:1/servo/.%2e/evil',
  'http://127.0.0.1:1/servo/..%2fevil',
  'http://127.0.0.1:1/servo/..\\evil',
  'http://127.0.0.1:1/servo/..%5cevil',
  'http://127.0.0.1:1/servo/..',
  'http://someone@127.0.0.1:1/servo/callbacks',
  'http://127.0.0.1:1@evil.example/servo/callbacks',
]

type Kept = {
  /** The API says that it takes callbacks of several attempts in one request. */
  readonly takes_together?: boolean
  /** The worker has the path that it need not have. */
  readonly has_cancel_path?: boolean
}

export function protocolSuite(
  name: string,
  startWorkerProcess: StartWorkerProcess,
  { takes_together = false, has_cancel_path = false }: Kept = {},
): void {
  drainSuite(name, startWorkerProcess)
  describe(`the protocol, kept by ${name}`, () => {
    let folder = ''
    let file = ''
    let worker: ListeningProcess
    let receiver: Receiver
    let port = 0

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'servo-conformance-'))
      file = join(folder, 'touched')
      port = await freePort()
      worker = await startWorkerProcess({
        CONFORMANCE_FILE: file,
        SERVO_WORKER_SECRETS: secretsText([SECRET, NEXT]),
        SERVO_API_URL: `http://127.0.0.1:${port}`,
      })
    }, START_TIMEOUT_MS)
    afterAll(async () => {
      await worker?.stop()
      rmSync(folder, { recursive: true, force: true })
    }, START_TIMEOUT_MS)
    beforeEach(async () => {
      writeFileSync(file, '')
      receiver = await startReceiver({ heartbeat_interval_ms: 50, takes_together, port })
    })
    afterEach(async () => {
      await receiver.close()
      expect(receiver.faults).toEqual([])
    })

    const postTo = (path: string, body: string, headers: Readonly<Record<string, string>>) =>
      fetch(`${worker.url}/servo/v1/${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
    const post = (body: string, headers: Readonly<Record<string, string>>) => postTo('dispatch', body, headers)
    const signed = (body: string) => post(body, { [SIGNATURE]: signBody([SECRET], body, Date.now()) })
    const living = (dispatch: Dispatch, attempt_id: string) => livingDispatch(receiver, dispatch, attempt_id)
    const dispatch = async (dispatches: readonly Dispatch[]): Promise<DispatchResponse['answers']> => {
      const response = await signed(JSON.stringify({ protocol: 'servo-worker-v1', dispatches }))
      expect(response.status).toBe(200)
      return dispatchResponse.parse(await response.json()).answers
    }
    const touched = () => readFileSync(file, 'utf8').split('\n').filter(Boolean)
    const touch = async (attempt_id: string) =>
      dispatch([living({ ...template, asset_key: 'conformance.touch', upstream: {} }, attempt_id)])

    const play = async (
      story: Story,
      attempt_id = newAttempt(),
    ): Promise<{ readonly attempt_id: string; readonly answers: DispatchResponse['answers'] }> => {
      receiver.answerBy(({ path }, earlier) => replyOf(story, path, earlier.filter((each) => each.path === path).length))
      const answers = await dispatch(story.request.dispatches.map((each) => living(each, attempt_id)))
      const last = story.callbacks.at(-1)
      const isOver = () => receiver.of(attempt_id).some(({ path, status }) => path === last?.path && status === last.status)
      if (last !== undefined) await receiver.until(isOver, `The last callback of "${story.title}"`)
      return { attempt_id, answers }
    }

    test.each(STORY_NAMES.filter((each) => readStory(each).drain === undefined && readStory(each).cancel === undefined))(
      'tells the story %s',
      async (storyName) => {
        const story = readStory(storyName)
        const { attempt_id, answers } = await play(story)
        // How a worker words why it refuses is its own affair.
        const shortened = (all: Story['response']['answers']) => all.map(({ answer, error }) => ({ answer, code: error?.code }))
        expect(shortened(answers)).toEqual(shortened(story.response.answers))
        for (const { error } of answers) if (error !== undefined) expect(error.message).toMatch(/\w \w.*\.$/)
        expect(masked(receiver.of(attempt_id))).toEqual(story.callbacks.map(({ path, body }) => ({ path, body })))
      },
    )

    test('runs an attempt once that it is sent twice, in one request and in two', async () => {
      const attempt_id = newAttempt()
      const twice = living({ ...template, asset_key: 'conformance.wait', upstream: {} }, attempt_id)
      const answers = [...(await dispatch([twice, twice])), ...(await dispatch([twice]))]
      expect(answers.map(({ answer }) => answer)).toEqual(['ACCEPTED', 'ACCEPTED', 'ACCEPTED'])
      await receiver.until(() => receiver.of(attempt_id).some(({ path }) => path === 'heartbeat'), 'A heartbeat')
      expect(await dispatch([twice])).toMatchObject([{ attempt_id, answer: 'ACCEPTED' }])
      receiver.answerBy(({ path }) => (path === 'heartbeat' ? { status: 200, body: { cancel: true } } : undefined))
      await receiver.completed(attempt_id)
      expect(receiver.of(attempt_id).filter(({ path }) => path === 'started')).toHaveLength(1)
    })

    test('runs no code of an attempt that belongs to another execution', async () => {
      const other = newAttempt()
      const own = newAttempt()
      receiver.answerBy(({ path, attempt_id }) => (path === 'started' && attempt_id === other ? { status: 409, body: {} } : undefined))
      await touch(other)
      await receiver.until(() => receiver.of(other).length > 0, 'started')
      await touch(own)
      await receiver.completed(own)
      expect(touched()).toEqual([own])
      expect(receiver.of(other)).toMatchObject([{ path: 'started' }])
    })

    test('runs the code once although answers of started are lost, busy and cut', async () => {
      const attempt_id = newAttempt()
      const replies = ['dropped', { status: 503 }, { status: 429 }, 'lost'] as const
      receiver.answerBy(({ path }, earlier) => (path === 'started' ? replies[earlier.length] : undefined))
      await touch(attempt_id)
      await receiver.completed(attempt_id)
      const started = receiver.of(attempt_id).filter(({ path }) => path === 'started')
      expect(new Set(started.map(({ body }) => body.execution_id)).size).toBe(1)
      expect(started).toHaveLength(5)
      expect(touched()).toEqual([attempt_id])
    })

    test('says again how an attempt ended until it is answered, with the same ids', async () => {
      const attempt_id = newAttempt()
      const replies = [{ status: 500 }, 'lost', undefined] as const
      receiver.answerBy(({ path }, earlier) =>
        path === 'completed' ? replies[earlier.filter((each) => each.path === path).length] : undefined,
      )
      await touch(attempt_id)
      await receiver.until(() => receiver.of(attempt_id).filter(({ path }) => path === 'completed').length === 3, 'A third completed')
      const bodies = receiver.of(attempt_id).filter(({ path }) => path === 'completed')
      expect(new Set(bodies.map(({ body }) => JSON.stringify(body))).size).toBe(1)
      expect(touched()).toEqual([attempt_id])
    })

    test('sends heartbeats that count from 0 while the code runs, and stops when one is answered with 409', async () => {
      const attempt_id = newAttempt()
      receiver.answerBy(({ path }, earlier) => (path === 'heartbeat' && earlier.length === 4 ? { status: 409 } : undefined))
      await dispatch([living({ ...template, asset_key: 'conformance.wait', upstream: {} }, attempt_id)])
      await receiver.until(() => receiver.of(attempt_id).length === 5, 'The fourth heartbeat')
      // Another attempt from begin to end: what the first one had to say would have come by then.
      const other = newAttempt()
      await touch(other)
      await receiver.completed(other)
      const [, ...beats] = receiver.of(attempt_id)
      expect(beats.map(({ path, body }) => [path, body['seq']])).toEqual([0, 1, 2, 3].map((seq) => ['heartbeat', seq]))
      expect(beats.at(-1)?.body['progress']).toEqual({ done: 1, total: 3, message: 'waiting' })
    })

    describe('of a queue, which reads the status alone,', () => {
      const deliver = (dispatches: readonly Dispatch[], expires_at = Date.now() + 60_000) => {
        const body = JSON.stringify({ protocol: 'servo-worker-v1', dispatches })
        const signature = signQueuedBody([SECRET], body, Date.now() - 400_000, expires_at)
        return post(body, { [SIGNATURE]: signature, 'servo-delivery': 'queue' })
      }

      test('takes a delivery that waited, once, for as long as it says that it counts', async () => {
        const attempt_id = newAttempt()
        const one = living({ ...template, asset_key: 'conformance.touch', upstream: {} }, attempt_id)
        // It has the attempt until its end is answered: what comes later is for the API to refuse.
        let has_both = false
        receiver.answerBy(({ path }) => (path === 'completed' && !has_both ? { status: 503 } : undefined))
        expect((await deliver([one], Date.now() - 2_000)).status).toBe(401)
        expect([(await deliver([one])).status, (await deliver([one])).status]).toEqual([200, 200])
        has_both = true
        await receiver.completed(attempt_id)
        expect(touched()).toEqual([attempt_id])
      })

      test('has what it does not take delivered again, or says so to the API, and never takes it for done', async () => {
        const attempt_id = newAttempt()
        const { status } = await deliver([living({ ...template, asset_key: 'conformance.unknown', upstream: {} }, attempt_id)])
        const refusal = receiver.of(attempt_id).find(({ path }) => path === 'completed')
        expect(status === 429 || refusal?.body['outcome'] === 'REFUSED').toBe(true)
        expect(touched()).toEqual([])
      })
    })

    describe('refuses', () => {
      const body = JSON.stringify({ protocol: 'servo-worker-v1', dispatches: [] })
      const asProblem = async (response: Response, status: number) => {
        expect({ status: response.status, type: response.headers.get('content-type') }).toEqual({
          status,
          type: 'application/problem+json',
        })
        const problem = (await response.json()) as Readonly<Record<string, unknown>>
        expect(problem).toMatchObject({ status, title: expect.any(String), type: expect.any(String), detail: expect.stringMatching(/\.$/) })
        return problem
      }

      test.each([
        ['no signature', {}],
        ['a wrong one', { [SIGNATURE]: signBody([{ ...SECRET, secret: 'another' }], body, Date.now()) }],
        ['one of another key', { [SIGNATURE]: signBody([{ ...SECRET, secret_key_id: 'k0' }], body, Date.now()) }],
        [
          "one by another location's secret",
          { [SIGNATURE]: signBody([locationSecret(INSTALLATION, { ...template, location_name: 'other' })], body, Date.now()) },
        ],
        [
          "one by the secret of another workspace's location of that name",
          { [SIGNATURE]: signBody([locationSecret(INSTALLATION, { ...template, workspace_id: 'other' })], body, Date.now()) },
        ],
        ["one by the installation's secret", { [SIGNATURE]: signBody([INSTALLATION], body, Date.now()) }],
        ['one of the release before', { 'servo-signature': signBody([INSTALLATION], body, Date.now()) }],
        ['one in the header of the release before', { 'servo-signature': signBody([SECRET], body, Date.now()) }],
        ['an old one', { [SIGNATURE]: signBody([SECRET], body, Date.now() - 3_600_000) }],
        ['one of another body', { [SIGNATURE]: signBody([SECRET], `${body} `, Date.now()) }],
      ])('a body with %s', async (_, headers: Readonly<Record<string, string>>) => {
        await asProblem(await post(body, headers), 401)
      })

      test('a body that is no JSON', async () => {
        await asProblem(await signed('{"protocol"'), 400)
      })

      test('a body of another protocol, and one whose dispatch lacks its members, and names them', async () => {
        const { errors } = await asProblem(await signed(JSON.stringify({ protocol: 'servo-worker-v9', dispatches: [template] })), 400)
        expect(errors).toMatchObject([{ path: 'protocol', message: expect.any(String) }])
        const { callback_url: _, ...lacking } = template
        const second = await asProblem(await signed(JSON.stringify({ protocol: 'servo-worker-v1', dispatches: [template, lacking] })), 400)
        expect(second['errors']).toMatchObject([{ path: 'dispatches[1].callback_url', message: expect.any(String) }])
      })

      test.each(['http://127.0.0.1:1', 'http://127.0.0.1:1/callbacks', 'https://evil.example/api'])(
        'to report to %s, which is not its API',
        async (callback_url) => {
          const one = { ...living(template, newAttempt()), callback_url }
          const { detail } = await asProblem(await signed(JSON.stringify({ protocol: 'servo-worker-v1', dispatches: [one] })), 403)
          expect(detail).toContain('SERVO_API_URL')
        },
      )

      test(
        'to report beside the path of its API, however that is written',
        async () => {
          const api = 'http://127.0.0.1:1/servo'
          const behind = await startWorkerProcess({
            CONFORMANCE_FILE: file,
            SERVO_WORKER_SECRETS: secretsText([SECRET]),
            SERVO_API_URL: api,
          })
          try {
            const statusOf = async (callback_url: string) => {
              // Nobody has such an asset: what is taken comes to nothing.
              const { callbacks_url: _, ...dispatched } = living({ ...template, asset_key: 'conformance.unknown' }, newAttempt())
              const one = { ...dispatched, callback_url }
              const sent = JSON.stringify({ protocol: 'servo-worker-v1', dispatches: [one] })
              const headers = { 'content-type': 'application/json', [SIGNATURE]: signBody([SECRET], sent, Date.now()) }
              return (await fetch(`${behind.url}/servo/v1/dispatch`, { method: 'POST', headers, body: sent })).status
            }
            expect(await statusOf(`${api}/callbacks/1`)).toBe(200)
            for (const url of BESIDE_API) expect([url, await statusOf(url)]).toEqual([url, 403])
          } finally {
            await behind.stop()
          }
        },
        START_TIMEOUT_MS,
      )

      test('what a page in a browser sends', async () => {
        const headers = { [SIGNATURE]: signBody([SECRET], body, Date.now()), origin: 'http://evil.example' }
        await asProblem(await post(body, headers), 403)
      })

      test('another path', async () => {
        await asProblem(await fetch(`${worker.url}/servo/v2/dispatch`), 404)
      })
    })

    test('takes what is signed with any of its keys', async () => {
      const attempt_id = newAttempt()
      const one = living({ ...template, asset_key: 'conformance.touch', upstream: {} }, attempt_id)
      const sent = JSON.stringify({ protocol: 'servo-worker-v1', dispatches: [one] })
      expect((await post(sent, { [SIGNATURE]: signBody([NEXT], sent, Date.now()) })).status).toBe(200)
      await receiver.completed(attempt_id)
    })

    test('does not follow where a callback is sent on to, which would take its token along', async () => {
      const [attempt_id, other] = [newAttempt(), newAttempt()]
      const place = receiver.callbackUrl(other)
      receiver.answerBy((callback) => (callback.attempt_id === attempt_id ? { status: 302, location: `${place}/started` } : undefined))
      await touch(attempt_id)
      await receiver.until(() => receiver.of(attempt_id).length > 0, 'started')
      const next = newAttempt()
      receiver.answerBy(() => undefined)
      await touch(next)
      await receiver.completed(next)
      expect(receiver.of(other)).toEqual([])
      expect(touched()).toEqual([next])
    })

    test('says how it is', async () => {
      const response = await fetch(`${worker.url}/healthz`)
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({
        status: 'ok',
        location_name: 'conformance',
        running: expect.any(Number),
        slots: expect.any(Number),
      })
    })

    if (!has_cancel_path) {
      test('answers 404 where it is told to stop attempts, because it need not have a path for that', async () => {
        const body = JSON.stringify({ protocol: 'servo-worker-v1', attempt_ids: [newAttempt()] })
        expect((await postTo('cancel', body, { [SIGNATURE]: signBody([SECRET], body, Date.now()) })).status).toBe(404)
      })
      return
    }

    test.each(STORY_NAMES.filter((each) => readStory(each).cancel !== undefined))('tells the story %s', async (storyName) => {
      const story = readStory(storyName)
      const { request, response } = story.cancel ?? { request: { attempt_ids: [] }, response: { attempt_ids: [] } }
      const attempt_id = newAttempt()
      const told = play(story, attempt_id)
      await receiver.until(() => receiver.of(attempt_id).some(({ path }) => path === 'heartbeat'), 'A heartbeat')
      const withLiving = (ids: readonly string[]) => ids.map((id) => (id === story.request.dispatches[0]?.attempt_id ? attempt_id : id))
      const body = JSON.stringify({ ...request, attempt_ids: withLiving(request.attempt_ids) })
      expect((await postTo('cancel', body, {})).status).toBe(401)
      const answer = await postTo('cancel', body, { [SIGNATURE]: signBody([SECRET], body, Date.now()) })
      expect({ status: answer.status, body: await answer.json() }).toEqual({
        status: 200,
        body: { attempt_ids: withLiving(response.attempt_ids) },
      })
      await told
      expect(masked(receiver.of(attempt_id))).toEqual(story.callbacks.map(({ path, body: said }) => ({ path, body: said })))
    })
  })
}
