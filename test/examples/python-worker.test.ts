// The example in Python from its start to a run that succeeded, as its page says: a worker that knows nothing of Servo but the
// protocol, and a document that says what it serves.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { RunPage, TaskPage } from '../../src/cli/answers.js'
import { runServo } from '../fixtures/servo-process.js'
import { type System, startSystem } from '../fixtures/system.js'
import { type ListeningProcess, startListening } from '../fixtures/worker-process.js'
import { ROOT, readText } from '../tidy/tree.js'

const TIMEOUT_MS = 120_000
/** As the page of the protocol has them, in its order. */
const COMMANDS = [...readText('docs/worker-protocol.md').matchAll(/`npx servo ([^`]+)`/g)].map(([, command]) =>
  (command as string).split(' '),
)
const FOLDER = join(ROOT, 'examples/python-worker')

if (spawnSync('python3', ['--version']).status === 0) {
  let system: System
  let worker: ListeningProcess
  beforeAll(async () => {
    system = await startSystem()
    worker = await startListening('python3', ['-B', join(FOLDER, 'wordcount.py')], { ...system.workerEnvironment('wordcount'), PORT: '0' })
  }, TIMEOUT_MS)
  afterAll(async () => {
    await worker?.stop()
    await system?.stop()
  }, TIMEOUT_MS)

  test(
    'a worker in Python is deployed by its document, and its assets are made',
    async () => {
      const environment = { SERVO_API: system.environment['SERVO_API_URL'] as string }
      const servo = (...args: readonly string[]) => runServo(args, environment)
      // Its port is any that is free: an option goes before what the document says.
      const deploy = (...args: readonly string[]) => servo('deploy', ...args, '--worker-url', worker.url)
      const [dryRun, start, ...others] = COMMANDS
      expect([dryRun?.[0], dryRun?.at(-1), start?.slice(0, 2), others]).toEqual(['deploy', '--dry-run', ['run', 'start'], []])
      const document = dryRun?.slice(1, -1) ?? []
      expect(await deploy(...document, '--dry-run')).toMatchObject({ code: 0, stderr: 'Nothing was deployed: this is a dry run.' })
      const deployed = await deploy(...document)
      expect(deployed).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/\+ wordcount\.count\n[^]*Deployed wordcount, version 1\.$/),
      })
      const run = await servo(...(start ?? []))
      expect(run.code === 0 ? '' : `${run.stdout}\n${run.stderr}`).toBe('')
      const [made] = (await system.client.get<RunPage>('/runs')).runs
      const { tasks } = await system.client.get<TaskPage>(`/runs/${made?.run_id}/tasks`)
      expect(tasks.map(({ task_key, state, metadata }) => ({ task_key, state, metadata }))).toContainEqual({
        task_key: 'wordcount.count',
        state: 'SUCCEEDED',
        metadata: { one: 4, worker: 2, location: 2 },
      })
      expect((await deploy(...document)).stdout).toContain('Nothing to deploy: version 1')
    },
    TIMEOUT_MS,
  )
} else {
  test.skip('skipped: python3 was not found on this machine', () => undefined)
}
