// `servo worker --standby`, as `servo dev` starts it: it loads its module, says what it has loaded, and listens when it is told to.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, test } from '@jest/globals'
import { freePort } from '../fixtures/free-port.js'
import { until } from '../fixtures/until.js'

const SERVO = fileURLToPath(new URL('../../bin/servo.js', import.meta.url))
const TIMEOUT_MS = 60_000
const LOCATION = `
import { asset, defineCodeLocation } from 'servo'
const events = asset({ key: 'raw.events', deps: [], run: () => undefined })
export default defineCodeLocation({ name: 'raw', assets: [events] })
`

const folder = mkdtempSync(join(tmpdir(), 'servo-standby-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let child: ChildProcess
let messages: unknown[]
let ended: Promise<readonly unknown[]>
afterEach(() => void child.kill('SIGKILL'))

async function start(name: string, text: string): Promise<number> {
  const module = join(folder, name)
  writeFileSync(module, text)
  const port = await freePort()
  child = spawn(process.execPath, [SERVO, 'worker', module, '--port', String(port), '--standby'], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  messages = []
  child.on('message', (message) => messages.push(message))
  ended = once(child, 'exit')
  return port
}
const said = (servo: string) => until(`it says ${servo}`, () => messages.some((message) => (message as { servo?: string }).servo === servo))
const health = async (port: number): Promise<unknown> => (await fetch(`http://127.0.0.1:${port}/healthz`)).json()

test(
  'listens when it is told to, and says in its health why it is not the newest',
  async () => {
    const port = await start('well.mjs', LOCATION)
    await said('loaded')
    expect(messages).toEqual([
      { servo: 'loaded', source: { location_name: 'raw', members: expect.objectContaining({ sdk: 'typescript' }) } },
    ])
    await expect(health(port)).rejects.toThrow()
    // What a user's code sends to itself means nothing.
    child.send({ servo: 'listen to me' })
    child.send({ servo: 'listen' })
    await said('listening')
    expect(await health(port)).toEqual({ status: 'ok', location_name: 'raw', running: 0, waiting: 0, slots: 8, prefetch: 256 })
    child.send({ servo: 'code_problem', problem: 'raw.mjs:3: oops' })
    await until('it says so', async () => JSON.stringify(await health(port)).includes('"code_problem":"raw.mjs:3: oops"'))
    child.send({ servo: 'code_problem', problem: null })
    await until('it says so no more', async () => !JSON.stringify(await health(port)).includes('code_problem'))
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  },
  TIMEOUT_MS,
)

test.each([
  ['broken.mjs', 'const x = {\n', 2, 'could not be loaded: '],
  // A channel that kept the process would hide both.
  ['waits.mjs', 'await new Promise(() => undefined)\n', 1, 'it awaits something at its top level that never comes'],
  ['exits.mjs', 'process.exit(0)\n', 1, 'its code ended the process with process.exit(0)'],
])(
  'says why it ends where %s cannot be loaded',
  async (name, text, code, problem) => {
    await start(name, `${LOCATION}${text}`)
    await said('failed')
    expect(await ended).toEqual([code, null])
    expect(messages).toEqual([{ servo: 'failed', problem: expect.stringContaining(problem) }])
  },
  TIMEOUT_MS,
)

test.each(['SIGTERM', 'disconnect'])(
  'ends in standby by %s',
  async (how) => {
    await start('ends.mjs', LOCATION)
    await said('loaded')
    if (how === 'disconnect') child.disconnect()
    else child.kill(how as NodeJS.Signals)
    expect(await ended).toEqual([0, null])
  },
  TIMEOUT_MS,
)
