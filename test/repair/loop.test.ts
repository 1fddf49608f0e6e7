// Loops that are gone, sleep too long, or were never told: with a real Temporal, whose loss is the loss of a timer and of
// nothing else.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { WorkflowHandle } from '@temporalio/client'
import { NativeConnection } from '@temporalio/worker'
import { ensureLoops } from '../../src/activities/ensure-loops.js'
import { installRuntime } from '../../src/bin/temporal-worker.js'
import { taskQueues, workflowId } from '../../src/core/names.js'
import { HOUR_MS, instantText } from '../../src/core/time.js'
import { pokeSignal, stateQuery } from '../../src/workflows/contract.js'
import { type AutomationFixture, startAutomationFixture } from '../fixtures/automation.js'
import { freePort } from '../fixtures/free-port.js'
import { createSpeaker } from '../fixtures/say.js'
import { startScriptedLoops } from '../fixtures/scripted-loops.js'
import { withTemporal } from '../fixtures/temporal.js'
import { until } from '../fixtures/until.js'

const temporal = withTemporal()
const TIMEOUT_MS = 90_000
const BACKSTOP_MS = 1_500

describe('a loop whose turns answer what a script says', () => {
  const scope = { tenant_id: 'acme', workspace_id: 'scripted' }
  const timings = { backstop_ms: BACKSTOP_MS, backstop_ms_max: 4 * BACKSTOP_MS, maintenance_ms: HOUR_MS }
  let connection: NativeConnection
  let loops: Awaited<ReturnType<typeof startScriptedLoops>>
  let handle: WorkflowHandle
  const ensure = async () => (await ensureLoops({ client: temporal().client, scope })).started

  beforeAll(async () => {
    installRuntime(() => undefined)
    connection = await NativeConnection.connect({ address: temporal().address })
    const far = { open_runs: 1, wake_in_ms: 10 * HOUR_MS, wake_at: instantText(10 * HOUR_MS) }
    loops = await startScriptedLoops(connection, 'repair', taskQueues(scope), {
      turns: [far, far, {}, {}, {}, {}, {}],
      settings: { ...timings, turns_max: 100 },
    })
    handle = temporal().client.workflow.getHandle(workflowId(scope, 'workspace'))
    expect(await ensure()).toEqual(['workspace', 'maintenance'])
  }, TIMEOUT_MS)

  afterAll(async () => {
    for (const kind of ['workspace', 'maintenance'] as const) {
      await temporal().client.workflow.getHandle(workflowId(scope, kind)).terminate()
    }
    await loops?.stop()
    await connection?.close()
  }, TIMEOUT_MS)

  /** What it said it would sleep for, after each turn. */
  async function sleeps(): Promise<readonly number[]> {
    const { events } = await handle.fetchHistory()
    return (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) => {
      const { seconds, nanos } = timer?.startToFireTimeout ?? {}
      return timer == null ? [] : [Number(seconds ?? 0) * 1_000 + Number(nanos ?? 0) / 1_000_000]
    })
  }

  test('a loop is started without settings: they come with the answers of its turns', async () => {
    const { events } = await handle.fetchHistory()
    const { payloads } = events?.[0]?.workflowExecutionStartedEventAttributes?.input ?? {}
    const input = JSON.parse(Buffer.from(payloads?.[0]?.data ?? []).toString()) as object
    expect(Object.keys(input).sort()).toEqual(['failures', 'last_error', 'missed', 'tenant_id', 'v', 'workspace_id'])
  })

  test(
    'a lost timer goes on: a loop that is told to sleep for hours while work is open looks again by itself, and ever more seldom when idle',
    async () => {
      await until('the backstop has brought six turns', () => loops.turn.calls() >= 6)
      expect((await sleeps()).slice(0, 5)).toEqual([1, 1, 2, 4, 4].map((times) => times * BACKSTOP_MS))
    },
    TIMEOUT_MS,
  )

  test(
    'a loop that runs is left alone: a look after the loops adds nothing to what they are',
    async () => {
      await until('both are listed', async () => (await ensure()).length === 0)
      const maintenance = temporal().client.workflow.getHandle(workflowId(scope, 'maintenance'))
      await until('maintenance rests', async () => loops.maintain.calls() === 1)
      const { historyLength, runId } = await maintenance.describe()
      for (let looks = 0; looks < 10; looks++) expect(await ensure()).toEqual([])
      expect(await maintenance.describe()).toMatchObject({ historyLength, runId })
    },
    TIMEOUT_MS,
  )

  test(
    'a loop that does not run goes on: terminated by hand, nobody can wake it, and the next look starts it with a turn',
    async () => {
      await handle.terminate('by hand')
      const calls = loops.turn.calls()
      for (let pokes = 0; pokes < 3; pokes++) await expect(handle.signal(pokeSignal)).rejects.toThrow()
      expect(loops.turn.calls()).toBe(calls)

      // The list is behind by a moment: as long as it has the old one, a look starts nothing.
      const started = await until('a look misses it', async () => {
        const missing = await ensure()
        return missing.length > 0 && missing
      })
      expect(started).toEqual(['workspace'])
      await until('it has had a turn', () => loops.turn.calls() > calls)
    },
    TIMEOUT_MS,
  )
})

describe('an automation', () => {
  let fixture: AutomationFixture
  let metrics: { readonly host: string; readonly port: number }
  const say = createSpeaker()
  const handleOf = (kind: 'workspace' | 'maintenance') => temporal().client.workflow.getHandle(workflowId(fixture.scope, kind))
  const now = () => ({ at: fixture.appender.now() })
  async function taskOf(run_key: string) {
    const run = await fixture.row('runs', (row) => row['run_key'] === run_key)
    return fixture.row('tasks', ({ run_id }) => run_id === run?.['run_id'])
  }
  const untilTask = (run_key: string, state: string, attempt = 1) =>
    until(`attempt ${attempt} of ${run_key} is ${state}`, async () => {
      const task = await taskOf(run_key)
      return task?.['state'] === state && task['attempt'] === attempt && task
    })

  beforeAll(async () => {
    metrics = { host: '127.0.0.1', port: await freePort() }
    const timings = { backstop_ms: BACKSTOP_MS, backstop_ms_max: BACKSTOP_MS, maintenance_ms: HOUR_MS }
    fixture = await startAutomationFixture(temporal(), { metrics, timings })
    await until('the loop has had a turn', async () => (await handleOf('workspace').query(stateQuery)).sequence > 0)
  }, TIMEOUT_MS)

  afterAll(() => fixture?.stop(), TIMEOUT_MS)

  async function startedLoops(): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${metrics.port}/metrics`)).text()
    return Number(/^servo_repairs_total\{kind="loop_started"\} (\d+)$/m.exec(text)?.[1])
  }

  test(
    'a lost poke goes on: the backstop brings the turn that folds what nobody announced',
    async () => {
      const definition = { start_timeout_seconds: 3_600, retry: { max_attempts: 2, backoff_seconds: 5, jitter: 0 } }
      await fixture.appender.append([say.locationDeployed('main', 0, {}, now()), say.assetDefined('a', definition, 'main', now())])
      await fixture.appender.append([say.runRequested('user:1', {}, now())])
      await untilTask('user:1', 'DISPATCHED')
    },
    TIMEOUT_MS,
  )

  test(
    'loops that somebody terminated go on: the process starts them, and the retry whose timer went with them is dispatched',
    async () => {
      const before = await startedLoops()
      const { run_id, attempt_id } = await untilTask('user:1', 'DISPATCHED')
      const [name, of] = [{ run_id: String(run_id), task_key: 'a', attempt: 1 }, { attempt_id: String(attempt_id) }]
      await fixture.appender.append([say.taskStarted(name, of, now()), say.taskFinished(name, 'FAILED', of, now())])
      await untilTask('user:1', 'RETRY_WAIT')
      await handleOf('workspace').terminate('by hand')
      await handleOf('maintenance').terminate('by hand')
      await fixture.appender.append([say.runRequested('user:2', {}, now())])
      await until('both are started', async () => (await startedLoops()) === before + 2)
      await untilTask('user:1', 'DISPATCHED', 2)
      // It was asked for while nobody could be poked.
      await untilTask('user:2', 'DISPATCHED')
      expect(fixture.logged).toContain('The workspace loop was not running, and was started.')
    },
    TIMEOUT_MS,
  )
})
