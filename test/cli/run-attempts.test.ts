// What `servo run` shows of attempts that did not succeed, while the next one runs and after it succeeded.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Commands, startCommands } from '../fixtures/api-commands.js'
import { definition, dispatched, MAIN, type Out } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'
import type { Finished } from '../fixtures/servo-process.js'
import { until } from '../fixtures/until.js'

const STACK = 'Error: It broke.\n    at broken (a.ts:3:1)'
const ERROR = { code: 'BOOM', message: 'It broke.', stack: STACK }
const RELEASED = { outcome: 'RELEASED', error: { code: 'WORKER_DRAINED', message: 'The worker ends.' } }

let at: Commands
beforeAll(async () => {
  at = await startCommands()
  const assets = [definition('a', { retry: { max_attempts: 2, backoff_seconds: 1, jitter: 0 } }), definition('b')]
  expect(await at.ask.post('/code-locations/main/deploy?wait=true', { ...MAIN, assets })).toMatchObject({ status: 202 })
})
afterAll(() => at.close())

async function started(selector: string): Promise<string> {
  return (JSON.parse((await at.servo('run', 'start', selector, '--json')).stdout) as { run_id: string }).run_id
}

async function outOf(run_id: string, attempt: number): Promise<Out> {
  return until(`attempt ${attempt} is out`, async () => {
    at.world.passSeconds(1)
    await at.world.turn.run()
    const out = await dispatched(at.world)
    return out.find(({ claims }) => claims.run_id === run_id && claims.attempt === attempt)
  })
}

async function say({ path, said, headers }: Out, callback: string, body: object): Promise<void> {
  expect(await at.ask.post(`${path}/${callback}`, { ...said, ...body }, headers)).toMatchObject({ status: 200 })
  await at.world.turn.run()
}

const json = <T>({ stdout }: Finished): T => JSON.parse(stdout) as T
const lines = ({ stdout }: Finished): readonly string[] => stdout.split('\n')

describe('a run whose second attempt is under way', () => {
  let run_id = ''
  let second: Out
  beforeAll(async () => {
    run_id = await started('a')
    const first = await outOf(run_id, 1)
    await say(first, 'started', { worker_id: 'w1' })
    await say(first, 'logs', { chunk: 0, lines: [{ at: '2025-01-15T10:00:00.000Z', level: 'INFO', message: 'reading' }] })
    await say(first, 'completed', { outcome: 'FAILED', error: ERROR })
    second = await outOf(run_id, 2)
    await say(second, 'started', { worker_id: 'w2' })
    // Beats that come sooner than a third of the timeout are not kept.
    at.world.passSeconds(20)
    await say(second, 'heartbeat', { seq: 0, progress: { done: 9, total: 60, message: 'writing' } })
  })

  test('has the progress of the second among its tasks, and not the error of the first', async () => {
    const { stdout } = await at.servo('run', 'tasks', run_id)
    expect(stdout).toMatch(/a .*RUNNING.*2\/2.*w2.*9\/60 writing/)
    expect(stdout).not.toContain('It broke.')
  })

  test('has both attempts, the first with its error, and says where its stack is', async () => {
    const { stdout, stderr } = await at.servo('run', 'attempts', run_id)
    expect(stdout).toMatch(/a .* 1 .*FAILED.*w1.*BOOM: It broke\./)
    expect(stdout).toMatch(/a .* 2 .*RUNNING.*w2/)
    expect(stderr).toBe(`Its stack: servo run logs ${run_id} 'a' --attempt 1`)
    const all = json<readonly object[]>(await at.servo('run', 'attempts', run_id, 'a', '--json'))
    expect(all).toMatchObject([
      { attempt: 1, error: ERROR },
      { attempt: 2, error: null },
    ])
  })

  test('has the error and the stack behind the log of the first, and after the second succeeded too', async () => {
    const logs = async () => lines(await at.servo('run', 'logs', run_id, 'a', '--attempt', '1'))
    const expected = [
      expect.stringMatching(/INFO {2}reading$/),
      expect.stringMatching(/^\d\d:\d\d:\d\d ERROR Attempt 1 FAILED: BOOM: It broke\.$/),
      '  Error: It broke.',
      '      at broken (a.ts:3:1)',
    ]
    expect(await logs()).toEqual(expected)
    await say(second, 'completed', { outcome: 'SUCCEEDED', materialization_id: ulidOf(second.claims.attempt_id) })
    expect(await logs()).toEqual(expected)
    const [, end] = lines(await at.servo('run', 'logs', run_id, 'a', '--attempt', '1', '--json')).map((line) => JSON.parse(line) as object)
    expect(end).toMatchObject({ task_key: 'a', attempt: 1, level: 'ERROR', fields: { outcome: 'FAILED', reason: null, error: ERROR } })
    expect(await at.servo('run', 'logs', run_id, 'a')).toMatchObject({ code: 0, stdout: '', stderr: 'Nothing was logged yet.' })
    expect((await at.servo('run', 'events', run_id)).stdout).toMatch(/TaskFinished .*a .* 1 .*state: FAILED, error: It broke\./)
  })
})

test('the log that is named for a final failure has its error, though nothing was logged', async () => {
  const run_id = await started('b')
  const out = await outOf(run_id, 1)
  await say(out, 'started', { worker_id: 'w1' })
  await say(out, 'completed', { outcome: 'FAILED', error: ERROR })
  const shown = await at.servo('run', 'show', run_id)
  const named = /^Its log: servo (run logs \S+ '(.*)')$/.exec(shown.stderr)
  expect(named?.[1]).toBe(`run logs ${run_id} 'b'`)
  expect(lines(await at.servo('run', 'logs', run_id, String(named?.[2])))).toEqual([
    expect.stringMatching(/ERROR Attempt 1 FAILED: BOOM: It broke\.$/),
    '  Error: It broke.',
    '      at broken (a.ts:3:1)',
  ])
})

test('an attempt that was given back is shown as lost, and why', async () => {
  const run_id = await started('b')
  const out = await outOf(run_id, 1)
  await say(out, 'started', { worker_id: 'w1' })
  await say(out, 'completed', RELEASED)
  expect((await at.servo('run', 'attempts', run_id)).stdout).toMatch(/LOST.*RELEASED, WORKER_DRAINED: The worker ends\./)
  expect(lines(await at.servo('run', 'logs', run_id, 'b', '--attempt', '1'))).toEqual([
    expect.stringMatching(/ERROR Attempt 1 was LOST: RELEASED, WORKER_DRAINED: The worker ends\.$/),
  ])
})

test('a run without attempts says so', async () => {
  expect(await at.ask.put('/pools/global?wait=true', { max_running: 0 })).toMatchObject({ status: 202 })
  const run_id = await started('b')
  await at.world.turn.run()
  expect(await at.servo('run', 'attempts', run_id)).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringContaining('no attempt yet'),
  })
  expect(await at.servo('run', 'attempts', run_id, 'nobody')).toMatchObject({ code: 1, stderr: expect.stringContaining('no task nobody') })
})
