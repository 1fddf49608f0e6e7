// The loop of an entity on a real server, with answers from a script: the ids of its commands through a Reset, the settings that come
// with answers, and when it changes its attributes.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { WorkflowHandle } from '@temporalio/client'
import { NativeConnection } from '@temporalio/worker'
import { startEntityLoop } from '../../src/activities/start-loops.js'
import { installRuntime } from '../../src/bin/temporal-worker.js'
import { NAMESPACE_DEFAULT, taskQueues, workflowId } from '../../src/core/names.js'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import type { ScheduleReport } from '../../src/workflows/contract.js'
import { pauseSignal, pokeSignal, resumeSignal } from '../../src/workflows/contract.js'
import { startScriptedLoops } from '../fixtures/scripted-loops.js'
import { withTemporal } from '../fixtures/temporal.js'
import { until } from '../fixtures/until.js'

const temporal = withTemporal()
const TIMEOUT_MS = 60_000
/** Of a Reset, as its API numbers what it does not apply again. */
const SIGNALS = 1
/** Of the first workflow task, which is the fourth event of every history. */
const FIRST_TASK_FINISHED = 4

let connection: NativeConnection
beforeAll(async () => {
  installRuntime(() => undefined)
  connection = await NativeConnection.connect({ address: temporal().address })
}, TIMEOUT_MS)
afterAll(() => connection?.close())

async function startLoop(workspace_id: string, looks: readonly Partial<ScheduleReport>[]) {
  const scope = { tenant_id: 'acme', workspace_id }
  const { client } = temporal()
  const loops = await startScriptedLoops(connection, workspace_id, taskQueues(scope), { looks })
  const entity_id = '01JHMPFN80G8M4P9V0MMKSSZ7N'
  await startEntityLoop({ client, scope }, 'schedule', { entity_id, name: 'a-loop', summary: 'a loop' })
  const handle: WorkflowHandle = client.workflow.getHandle(workflowId(scope, 'schedule', entity_id))
  const untilSent = (count: number) => until(`${count} commands are sent`, () => loops.told.length >= count)
  return {
    handle,
    loops,
    untilSent,
    ids: () => loops.told.map(({ request_id }) => request_id),
    async reset(excluded: readonly number[] = []) {
      const { runId } = await handle.describe()
      const { connection: rpc } = client
      await (rpc as unknown as ResetService).workflowService.resetWorkflowExecution({
        namespace: NAMESPACE_DEFAULT,
        workflowExecution: { workflowId: handle.workflowId, runId },
        reason: 'a test',
        requestId: `${Math.random()}`,
        workflowTaskFinishEventId: FIRST_TASK_FINISHED,
        resetReapplyExcludeTypes: excluded,
      })
    },
    async stop() {
      await handle.terminate().catch(() => undefined)
      await loops.stop()
    },
  }
}
type ResetService = { readonly workflowService: { readonly resetWorkflowExecution: (request: object) => Promise<unknown> } }
type Loop = Awaited<ReturnType<typeof startLoop>>

describe('commands by signals without a request_id', () => {
  let loop: Loop
  beforeAll(async () => {
    loop = await startLoop('resets', [])
    await until('it has looked', () => loop.loops.look.calls() >= 1)
    await loop.handle.signal(pauseSignal)
    await loop.untilSent(1)
    await loop.handle.signal(resumeSignal, { requested_by: 'ana' })
    await loop.untilSent(2)
  }, TIMEOUT_MS)
  afterAll(() => loop?.stop(), TIMEOUT_MS)

  test(
    'have the same ids when a Reset applies them again, and a new one has another',
    async () => {
      const before = loop.ids()
      expect(new Set(before).size).toBe(2)
      await loop.reset()
      await loop.untilSent(4)
      expect(loop.ids().slice(2)).toEqual(before)
      expect(loop.loops.told.slice(2).map(({ kind }) => kind)).toEqual(['pause', 'resume'])
      await loop.handle.signal(pauseSignal)
      await loop.untilSent(5)
      expect(before).not.toContain(loop.ids()[4])
    },
    TIMEOUT_MS,
  )

  test(
    'have an id that was not used before, also where a Reset left the earlier signals out',
    async () => {
      const looks = loop.loops.look.calls()
      const before = loop.ids()
      await loop.reset([SIGNALS])
      await until('the reset run has looked', () => loop.loops.look.calls() > looks)
      await until('its answer is there', async () => (await loop.handle.query<{ turns: number; sequence: number }>('state')).sequence > 0)
      await loop.handle.signal(pauseSignal)
      await loop.untilSent(before.length + 1)
      expect(before).not.toContain(loop.ids().at(-1))
    },
    TIMEOUT_MS,
  )
})

describe('the settings of a loop', () => {
  const settings = { looks_max: 3, next_fire_slack_ms: 5 * MINUTE_MS }
  const at = (minutes: number): Partial<ScheduleReport> => ({
    settings,
    next_fire_at: new Date(Date.UTC(2025, 0, 15, 10) + minutes * MINUTE_MS).toISOString(),
    wake_in_ms: HOUR_MS,
  })
  let loop: Loop
  beforeAll(async () => {
    loop = await startLoop('settings', [at(0), at(5), { ...at(11), status: 'ACTIVE' }, at(12), at(12)])
  }, TIMEOUT_MS)
  afterAll(() => loop?.stop(), TIMEOUT_MS)

  test(
    'come with its answers: it begins a new run after as many looks, changes the next fire where it is further off, and carries none',
    async () => {
      const first = await loop.handle.describe()
      const looked = (count: number) =>
        until(`look ${count} is answered`, async () => {
          const { turns, sequence } = await loop.handle.query<{ turns: number; sequence: number }>('state')
          return turns === count && sequence > 0 && loop.loops.look.calls() >= count
        })
      await looked(1)
      for (const count of [2, 3]) {
        await loop.handle.signal(pokeSignal)
        await until(`call ${count}`, () => loop.loops.look.calls() >= count)
      }
      await until('a new run has begun', async () => (await loop.handle.describe()).runId !== first.runId)
      await until('it has looked', () => loop.loops.look.calls() >= 4)
      const firstRun = temporal().client.workflow.getHandle(loop.handle.workflowId, first.runId)
      const { events } = await firstRun.fetchHistory()
      // STARTING to ACTIVE with the first fire, and the one eleven minutes later; five minutes are not worth an action.
      expect((events ?? []).filter((event) => event.upsertWorkflowSearchAttributesEventAttributes != null)).toHaveLength(2)
      const { events: next } = await loop.handle.fetchHistory()
      const { payloads } = next?.[0]?.workflowExecutionStartedEventAttributes?.input ?? {}
      const input = JSON.parse(Buffer.from(payloads?.[0]?.data ?? []).toString()) as object
      expect(Object.keys(input).sort()).toEqual([
        'commands',
        'failures',
        'last_command',
        'last_error',
        'numbering',
        'schedule_id',
        'tenant_id',
        'v',
        'workspace_id',
      ])
    },
    TIMEOUT_MS,
  )
})
