// The loop of somebody who writes assets: `servo dev`, run, edit, and the run shows what was edited, whose definitions are
// deployed too. Settings of a cluster in the terminal do not reach the server that `servo dev` starts.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { type DevProcess, startDevProcess, untilGone } from '../fixtures/dev-process.js'
import { runServo } from '../fixtures/servo-process.js'
import { freePorts } from '../fixtures/started.js'
import { until } from '../fixtures/until.js'

const TIMEOUT_MS = 240_000
const SDK = new URL('../../dist/sdk/index.js', import.meta.url).href
const ELSEWHERE = { TEMPORAL_NAMESPACE: 'a-namespace-of-a-cluster', TEMPORAL_API_KEY: 'a-key-of-a-cluster' }

const folder = mkdtempSync(join(tmpdir(), 'servo-edit-'))
let dev: DevProcess | undefined
afterAll(async () => {
  dev?.signalGroup('SIGTERM')
  await dev?.ended
  rmSync(folder, { recursive: true, force: true })
}, TIMEOUT_MS)

const module = join(folder, 'pipeline.mjs')
const shown = join(folder, 'shown.txt')
const write = (word: string, more = '') =>
  writeFileSync(
    module,
    `import { writeFileSync } from 'node:fs'
import { asset, defineCodeLocation } from '${SDK}'
import { text } from './lib/text.mjs'
const word = asset({ key: 'word', deps: [], run: async () => writeFileSync(${JSON.stringify(shown)}, '${word}' + text) })
${more}export default defineCodeLocation({ name: 'edited', assets: [word${more === '' ? '' : ', added'}] })
`,
  )
const ADDED = "const added = asset({ key: 'added', deps: [word], run: async () => undefined })\n"
const text = join(folder, 'lib', 'text.mjs')
const writeText = (more: string) => writeFileSync(text, `export const text = '${more}'\n`)

test(
  'an edited module is what the next run runs',
  async () => {
    mkdirSync(join(folder, 'lib'))
    writeText('')
    write('first')
    const ports = await freePorts()
    const started = startDevProcess({ command: ['servo', 'dev', module], data: join(folder, '.servo'), ports, environment: ELSEWHERE })
    dev = started
    await started.said('Servo is up.')
    const environment = { SERVO_API: `http://127.0.0.1:${ports.port}`, SERVO_WORKER_URL: `http://127.0.0.1:${ports.worker}` }
    const servo = async (...args: readonly string[]) => {
      const finished = await runServo(args, environment)
      expect({ args, ...finished }).toMatchObject({ code: 0 })
      return finished.stdout
    }
    const ran = async () => {
      await servo('run', 'start', 'word', '--wait')
      return readFileSync(shown, 'utf8')
    }
    const workerId = () => started.children().get('worker')?.pid
    const first = workerId()
    const renewed = async (count: number) => {
      await until('the worker serves what was edited', () => started.output().split('The worker serves').length > count)
      expect(workerId()).not.toBe(first)
    }

    expect(started.output()).toContain('Deployed edited, version 1: + word.')
    expect(await servo('deploy', module)).toContain(
      `Worker ${environment.SERVO_WORKER_URL} (as deployed before), 8 slots (as the worker says), up to 256 attempts ahead (as the worker says).\nNothing to deploy`,
    )
    expect(await ran()).toBe('first')

    write('second', ADDED)
    await renewed(1)
    await started.said('Deployed edited, version 2: + added.')
    expect(await ran()).toBe('second')
    await servo('run', 'start', 'added', '--wait')

    // What the module imports is its code too.
    writeText(' and more')
    await renewed(2)
    expect(await ran()).toBe('second and more')

    // Code that cannot be loaded takes nothing away: the worker goes on, and says why it is not the newest.
    const working = workerId()
    writeFileSync(text, "export const text = ''\nconst x = {\n")
    const problem = `${module} could not be loaded: ${text}:2: Unexpected end of input. Mend this line.`
    await started.said(`${problem}\nThe worker goes on with the code from before.`)
    const health = await fetch(`${environment.SERVO_WORKER_URL}/healthz`)
    expect(await health.json()).toMatchObject({ status: 'ok', code_problem: problem })
    expect(await ran()).toBe('second and more')
    expect(workerId()).toBe(working)
    writeText(' and most')
    await renewed(3)
    expect(await ran()).toBe('second and most')

    // Neither does code whose deploy would be refused: the worker of another location would refuse all that this one has.
    writeFileSync(module, readFileSync(module, 'utf8').replace("name: 'edited'", "name: 'edited2'"))
    await started.said(`The definitions of ${module} cannot be deployed: Nothing was deployed.`)
    expect(started.output()).toContain('belongs to the code location edited.')
    expect(await ran()).toBe('second and most')

    // Nobody has looked at this plan: what is not in the module stays.
    write('third')
    await renewed(4)
    await started.said(`Kept, though ${module} does not have it any more: added. \`servo deploy ${module}\` removes it.`)
    expect(await servo('asset', 'list')).toContain('added')
    expect(await servo('deploy', module)).toContain('- added')

    const last = started.children()
    started.signalGroup('SIGINT')
    expect(await started.ended).toBe(0)
    await untilGone(last)
  },
  TIMEOUT_MS,
)
