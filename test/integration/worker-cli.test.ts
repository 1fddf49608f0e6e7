// `servo worker` as a user starts it: a process that serves a module, runs what it is handed, and ends well.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { systemRandom } from '../../src/bin/clock.js'
import { parseSecrets } from '../../src/core/secrets.js'
import { type Secrets, signBody } from '../../src/core/token.js'
import { newUlid } from '../../src/core/ulid.js'
import { type Receiver, startReceiver } from '../fixtures/callback-receiver.js'
import { runServo, type ServoProcess, startServo } from '../fixtures/servo-process.js'
import { readStory } from '../worker/stories.js'

const TIMEOUT_MS = 120_000
/** As documented, in a folder without the package. */
const MODULE = `
import { asset, defineCodeLocation } from 'servo'
type Count = { readonly row_count: number }
const events = asset({ key: 'raw.events', deps: [], run: (): Count => ({ row_count: 3 }) })
const NAMES = ['SERVO_SECRETS', 'SERVO_WORKER_SECRETS', 'SERVO_API_TOKEN', 'TEMPORAL_API_KEY', 'OF_THE_USER']
const found = NAMES.filter((name) => process.env[name] !== undefined)
const looks = asset({ key: 'raw.looks', deps: [], run: () => ({ at_load: found, now: NAMES.filter((name) => process.env[name] !== undefined) }) })
const waits = asset({ key: 'raw.waits', deps: [], run: ({ signal }) => new Promise((end) => signal.addEventListener('abort', () => end())) })
const hangs = asset({ key: 'raw.hangs', deps: [], run: () => new Promise(() => setInterval(() => undefined, 1_000)) }) // it hangs on purpose, for ever
const stray = asset({ key: 'raw.stray', deps: [], run: () => void Promise.reject(new Error('nobody waits for this')) })
const exits = asset({ key: 'raw.exits', deps: [], run: () => process.exit(0) })
export const raw = defineCodeLocation({ name: 'raw', assets: [events, looks, waits, hangs, stray, exits] })
`
const [template] = readStory('skip').request.dispatches
const random = systemRandom()
const { version: VERSION } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }

let folder = ''
let module = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-worker-cli-'))
  module = join(folder, 'raw.ts')
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(module, MODULE)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

let receiver: Receiver
const running: ServoProcess[] = []
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  for (const servo of running.splice(0)) servo.stop('SIGKILL')
  await receiver.close()
  expect(receiver.faults).toEqual([])
})

type Listening = { readonly servo: ServoProcess; readonly url: string; readonly said: Readonly<Record<string, unknown>> }

async function start(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}): Promise<Listening> {
  const servo = startServo(['worker', module, '--port', '0', '--json', ...args], { SERVO_API_URL: receiver.api_url, ...environment })
  running.push(servo)
  const [line] = await servo.printed(1)
  const said = JSON.parse(line as string) as Listening['said'] & { readonly url: string }
  return { servo, url: said.url, said }
}

async function dispatch(url: string, asset_key: string, headers: (body: string) => Readonly<Record<string, string>> = () => ({})) {
  const attempt_id = newUlid(Date.now(), random)
  const own = { attempt_id, asset_key, task_key: asset_key, location_name: 'raw', callback_url: receiver.callbackUrl(attempt_id) }
  const living = { task_token: receiver.tokenOf(attempt_id), start_deadline_at: new Date(Date.now() + 60_000).toISOString() }
  const body = JSON.stringify({ protocol: 'servo-worker-v1', dispatches: [{ ...template, ...own, ...living }] })
  const response = await fetch(`${url}/servo/v1/dispatch`, { method: 'POST', headers: headers(body), body })
  return { attempt_id, status: response.status }
}
const started = (attempt_id: string) => receiver.until(() => receiver.of(attempt_id).length > 0, `started of ${attempt_id}`)

test(
  'serves a module of TypeScript, says where it listens, and ends with 0 when it is told to stop',
  async () => {
    const { servo, url, said } = await start()
    expect(said).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      location_name: 'raw',
      asset_count: 6,
      slots: 8,
      signed: false,
    })
    expect(await (await fetch(`${url}/metrics`)).text()).toContain(`\nservo_worker_build_info{version="${VERSION}"} 1\n`)
    const { attempt_id } = await dispatch(url, 'raw.events')
    expect((await receiver.completed(attempt_id)).body).toMatchObject({ outcome: 'SUCCEEDED', metadata: { row_count: 3 } })
    servo.stop('SIGTERM')
    expect(await servo.finished).toMatchObject({ code: 0, stderr: expect.stringContaining('Stopping: attempts have 30 s to finish.') })
  },
  TIMEOUT_MS,
)

test(
  'goes on when the code leaves a rejected promise behind, and says so',
  async () => {
    const { servo, url } = await start()
    await receiver.completed((await dispatch(url, 'raw.stray')).attempt_id)
    await receiver.completed((await dispatch(url, 'raw.events')).attempt_id)
    servo.stop('SIGINT')
    expect(await servo.finished).toMatchObject({ code: 0, stderr: expect.stringContaining('nobody waits for this') })
  },
  TIMEOUT_MS,
)

test(
  'says so when code ends it with process.exit, and does not end as if all were well',
  async () => {
    const { servo, url } = await start()
    await dispatch(url, 'raw.exits')
    expect(await servo.finished).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`The code of ${module} ended its worker with process.exit(0).`),
    })
  },
  TIMEOUT_MS,
)

test(
  'reports as cancelled what does not finish in time, and ends although code goes on',
  async () => {
    const { servo, url } = await start(['--grace', '1'])
    const all = [await dispatch(url, 'raw.waits'), await dispatch(url, 'raw.hangs')]
    for (const { attempt_id } of all) await started(attempt_id)
    servo.stop('SIGTERM')
    for (const { attempt_id } of all) {
      expect((await receiver.completed(attempt_id)).body).toMatchObject({ outcome: 'RELEASED', error: { code: 'WORKER_DRAINED' } })
    }
    expect(await servo.finished).toMatchObject({ code: 0 })
  },
  TIMEOUT_MS,
)

test(
  'ends at once by a second signal',
  async () => {
    const { servo, url } = await start()
    const { attempt_id } = await dispatch(url, 'raw.hangs')
    await started(attempt_id)
    servo.stop('SIGTERM')
    const isDraining = async () => ((await (await fetch(`${url}/healthz`)).json()) as { status: string }).status === 'draining'
    while (!(await isDraining()));
    servo.stop('SIGTERM')
    expect(await servo.finished).toMatchObject({ code: null })
    expect(receiver.of(attempt_id).map(({ path }) => path)).toEqual(['started'])
  },
  TIMEOUT_MS,
)

test(
  'takes signed dispatches only where it has keys, also on an address that is open to others',
  async () => {
    const installation = 'new:one-of-an-installation,old:two-of-an-installation'
    const printed = await runServo(['worker', 'secret', 'raw', '--tenant', 'acme'], { SERVO_WORKER_SECRETS: installation })
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    const secrets = parseSecrets(printed.stdout) as unknown as Secrets
    expect(secrets).toEqual([
      { secret_key_id: 'new', secret: expect.stringMatching(/^swl_/) },
      { secret_key_id: 'old', secret: expect.stringMatching(/^swl_/) },
    ])
    const { url, said, servo } = await start(['--host', '0.0.0.0'], { SERVO_WORKER_SECRETS: printed.stdout })
    expect(said).toMatchObject({ signed: true })
    const here = url.replace('0.0.0.0', '127.0.0.1')
    expect(await dispatch(here, 'raw.events')).toMatchObject({ status: 401 })
    const other = (parseSecrets(installation) as unknown as Secrets)[0]
    expect(await dispatch(here, 'raw.events', (body) => ({ 'servo-signature': signBody([other], body, Date.now()) }))).toMatchObject({
      status: 401,
    })
    for (const secret of secrets) {
      const { attempt_id, status } = await dispatch(here, 'raw.events', (body) => ({
        'servo-location-signature': signBody([secret], body, Date.now()),
      }))
      expect(status).toBe(200)
      await receiver.completed(attempt_id)
    }
    servo.stop('SIGTERM')
    expect((await servo.finished).stderr).not.toMatch(/secret|swl_/)
  },
  TIMEOUT_MS,
)

test(
  'has no secret in the environment that its code sees, and says where it has one of the installation',
  async () => {
    const secrets = { SERVO_SECRETS: 'k1:a-secret', SERVO_API_TOKEN: 'a-token', TEMPORAL_API_KEY: 'a-key', OF_THE_USER: 'yes' }
    const { url, servo } = await start([], { ...secrets, SERVO_WORKER_SECRETS: 'w1:one-of-an-installation' })
    const { attempt_id } = await dispatch(url, 'raw.looks', (body) => ({
      'servo-signature': signBody([{ secret_key_id: 'w1', secret: 'one-of-an-installation' }], body, Date.now()),
    }))
    const { body } = await receiver.completed(attempt_id)
    expect(body).toMatchObject({ outcome: 'SUCCEEDED', metadata: { at_load: ['OF_THE_USER'], now: ['OF_THE_USER'] } })
    servo.stop('SIGTERM')
    expect((await servo.finished).stderr).toContain('Give this worker that of its location, which `servo worker secret raw` prints.')
  },
  TIMEOUT_MS,
)

test(
  'reports to its own API alone',
  async () => {
    const { url } = await start([], { SERVO_API_URL: 'http://127.0.0.1:7800' })
    const { attempt_id, status } = await dispatch(url, 'raw.events')
    expect(status).toBe(403)
    const told = await start(['--api-url', `http://127.0.0.1:7800,${receiver.api_url}`], { SERVO_API_URL: 'http://127.0.0.1:7800' })
    await receiver.completed((await dispatch(told.url, 'raw.events')).attempt_id)
    expect(receiver.of(attempt_id)).toEqual([])
  },
  TIMEOUT_MS,
)

describe('servo worker secret', () => {
  test.each([
    ['no secret of the installation', ['raw'], {}, 'SERVO_WORKER_SECRETS is not set.'],
    ['one that is too short', ['raw'], { SERVO_WORKER_SECRETS: 'w1:short' }, 'SERVO_WORKER_SECRETS is not as it should be.'],
    ['no name', ['a/b'], { SERVO_WORKER_SECRETS: 'w1:one-of-an-installation' }, '"a/b" is not the name of a code location.'],
    ['no folder of servo dev', ['raw', '--data', 'nowhere'], {}, 'secrets.json is not there.'],
  ])('%s: a sentence and exit code 2', async (_, args, environment, sentence) => {
    const finished = await runServo(['worker', 'secret', ...args], environment)
    expect(finished).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
    expect(finished.stderr).not.toMatch(/short\b|of-an-installation/)
  })

  test('prints one JSON value for programs, and that of a folder of servo dev', async () => {
    await mkdir(join(folder, 'data'), { recursive: true })
    const kept = { SERVO_SECRETS: 'dev1:one-of-a-data-folder', SERVO_WORKER_SECRETS: 'w1:one-of-an-installation' }
    await writeFile(join(folder, 'data', 'secrets.json'), JSON.stringify(kept))
    const by_folder = await runServo(['worker', 'secret', 'raw', '--data', join(folder, 'data'), '--json'])
    const by_variable = await runServo(['worker', 'secret', 'raw'], { SERVO_WORKER_SECRETS: kept.SERVO_WORKER_SECRETS })
    expect(JSON.parse(by_folder.stdout)).toEqual({ location_name: 'raw', worker_secrets: by_variable.stdout })
  })
})

describe('what cannot be served: a sentence and exit code 2', () => {
  test.each([
    [
      'an open address without keys',
      ['--host', '0.0.0.0'],
      {},
      "--host 0.0.0.0 lets other machines run this worker's code. Set SERVO_WORKER_SECRETS",
    ],
    ['a key that cannot be read', [], { SERVO_WORKER_SECRETS: 'secret' }, 'Entry 1 of SERVO_WORKER_SECRETS cannot be read.'],
    ['no port', ['--port', '70000'], {}, 'Give a port from 0 to 65535.'],
    ['no count', ['--slots', '0'], {}, 'Give a whole number from 1 on.'],
  ])(
    '%s',
    async (_, args, environment, sentence) => {
      const finished = await runServo(['worker', module, ...args], environment)
      expect(finished).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
    },
    TIMEOUT_MS,
  )

  test(
    'a module that is not there',
    async () => {
      const finished = await runServo(['worker', join(folder, 'row.ts')])
      expect(finished).toMatchObject({ code: 2, stderr: expect.stringContaining('row.ts was not found.') })
    },
    TIMEOUT_MS,
  )

  test(
    'a port that is taken',
    async () => {
      const taken = createServer().listen(0, '127.0.0.1')
      await once(taken, 'listening')
      const { port } = taken.address() as AddressInfo
      const finished = await runServo(['worker', module, '--port', String(port)])
      taken.close()
      expect(finished).toMatchObject({ code: 2, stderr: expect.stringContaining(`Port ${port} of 127.0.0.1 is taken.`) })
    },
    TIMEOUT_MS,
  )
})
