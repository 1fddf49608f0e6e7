// The worker of `servo dev` has the secret of its own location and none of the others, also when the location is given another
// name while it is served.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { type DevProcess, startDevProcess } from '../fixtures/dev-process.js'
import { runServo } from '../fixtures/servo-process.js'
import { freePorts } from '../fixtures/started.js'
import { until } from '../fixtures/until.js'

const TIMEOUT_MS = 240_000
const SDK = new URL('../../dist/sdk/index.js', import.meta.url).href
const folder = mkdtempSync(join(tmpdir(), 'servo-location-secret-'))
const data = join(folder, '.servo')
const module = join(folder, 'pipeline.mjs')
const seen = join(folder, 'seen.json')

let dev: DevProcess | undefined
afterAll(async () => {
  dev?.signalGroup('SIGTERM')
  await dev?.ended
  rmSync(folder, { recursive: true, force: true })
}, TIMEOUT_MS)

/** Its code looks for what its process was started with: not only where process.env has it. */
const write = (location_name: string) =>
  writeFileSync(
    module,
    `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { asset, defineCodeLocation } from '${SDK}'
const place = '/proc/self/environ'
const started = existsSync(place) ? readFileSync(place, 'utf8') : undefined
const look = asset({ key: '${location_name}.look', deps: [], run: () => writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ env: process.env, started })) })
export default defineCodeLocation({ name: '${location_name}', assets: [look] })
`,
  )

test(
  'a worker of servo dev is given the secret of its location, and another one with another name',
  async () => {
    write('first')
    const ports = await freePorts()
    const environment = { SERVO_API_TOKEN: 'a-token-of-16-letters' }
    const started = startDevProcess({ command: ['servo', 'dev', module], data, ports, environment })
    dev = started
    await started.said('Servo is up.')
    const reach = { ...environment, SERVO_API: `http://127.0.0.1:${ports.port}`, SERVO_WORKER_URL: `http://127.0.0.1:${ports.worker}` }
    const servo = async (...args: readonly string[]) => {
      const finished = await runServo(args, reach)
      expect({ args, ...finished }).toMatchObject({ code: 0 })
      return finished.stdout
    }
    const runIn = async (location_name: string) => {
      await servo('deploy', module)
      await servo('run', 'start', `${location_name}.look`, '--wait')
      const { env, started: at_start } = JSON.parse(readFileSync(seen, 'utf8')) as { env: Record<string, string>; started?: string }
      const own = await servo('worker', 'secret', location_name, '--data', data)
      // Not every system shows it.
      if (at_start !== undefined) expect(at_start).toContain(`SERVO_WORKER_SECRETS=${own}\0`)
      const kept = JSON.parse(readFileSync(join(data, 'secrets.json'), 'utf8')) as Record<string, string>
      const known = JSON.stringify({ env, started: at_start })
      for (const text of [...Object.values(kept), ...Object.values(environment)]) expect(known).not.toContain(text.split(':').at(-1))
      expect(JSON.stringify(env)).not.toContain('swl_')
    }

    await runIn('first')
    write('second')
    const served = async () =>
      ((await (await fetch(`${reach.SERVO_WORKER_URL}/healthz`)).json()) as { location_name: string }).location_name
    await until('the worker serves the second', async () => (await served().catch(() => '')) === 'second', TIMEOUT_MS / 4)
    await until('it is said', () => started.output().includes('The worker serves'), TIMEOUT_MS / 4)
    await runIn('second')
  },
  TIMEOUT_MS,
)
