// `servo run start --wait` of a run that nobody takes up: after seconds it says why, whatever keeps it.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { WorkerState } from '../../src/readers/why/worker.js'
import { type Commands, startCommands } from '../fixtures/api-commands.js'
import { MAIN } from '../fixtures/api-world.js'
import { startServo } from '../fixtures/servo-process.js'
import { until } from '../fixtures/until.js'

let at: Commands
let worker: WorkerState
let asked: string[]
beforeAll(async () => {
  const askWorker = async (worker_url: string) => {
    asked.push(worker_url)
    return worker
  }
  at = await startCommands({ askWorker })
  await at.ask.post('/code-locations/main/deploy', MAIN)
})
afterAll(() => at.close())

test.each<readonly [string, WorkerState, string]>([
  [
    'no worker that answers',
    { kind: 'silent', why: 'connect ECONNREFUSED 127.0.0.1:4100' },
    'No worker answers the API at http://127.0.0.1:4100: connect ECONNREFUSED 127.0.0.1:4100. Start the worker of main;',
  ],
  [
    'code that cannot be loaded',
    { kind: 'health', health: { location_name: 'main', code_problem: 'a.ts could not be loaded: a.ts:3: Unexpected end of input.' } },
    'The worker of main runs older code, because the code of now cannot be loaded: a.ts could not be loaded: a.ts:3: Unexpected end of input.',
  ],
])('a run that waits because of %s', async (_, state, sentence) => {
  worker = state
  asked = []
  for (const more of [[], ['--json']]) {
    const began = asked.length
    const command = startServo(['run', 'start', 'a', '--wait', '--api', at.url, ...more])
    await until('the worker is asked', () => asked.length > began)
    expect(await at.work()).toBe(1)
    const { code, stderr } = await command.finished
    expect({ code, lines: stderr.split('\n').filter((line) => line.includes(sentence)) }).toEqual({ code: 0, lines: [expect.any(String)] })
  }
  expect(asked[0]).toBe('http://127.0.0.1:4100')
})
