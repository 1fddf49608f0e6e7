// A busy workspace has merges due all the time: what goes by the clock comes all the same, and holds no merge up. And
// what a collection found before it failed is acted on.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Context } from '@temporalio/activity'
import { NativeConnection } from '@temporalio/worker'
import { ensureLoops } from '../../src/activities/ensure-loops.js'
import { installRuntime } from '../../src/bin/temporal-worker.js'
import { taskQueues, workflowId } from '../../src/core/names.js'
import { type MaintenanceCall, mergeDueSignal, stateQuery } from '../../src/workflows/contract.js'
import { MAINTENANCE_REPORT, TURN_REPORT } from '../fixtures/loop-reports.js'
import { startScriptedLoops } from '../fixtures/scripted-loops.js'
import { withTemporal } from '../fixtures/temporal.js'
import { until } from '../fixtures/until.js'

const temporal = withTemporal()
const TIMEOUT_MS = 60_000
const MAINTENANCE_MS = 1_500
const scope = { tenant_id: 'acme', workspace_id: 'busy' }

describe('a collection that fails behind late segments', () => {
  const late = '01JHMPFN80G8M4P9V0MMKSSZ7N'
  const damaged = { tenant_id: 'acme', workspace_id: 'damaged' }
  const workflow = (kind: 'maintenance' | 'workspace') => temporal().client.workflow.getHandle(workflowId(damaged, kind))
  let connection: NativeConnection
  let loops: Awaited<ReturnType<typeof startScriptedLoops>>
  const missed: (readonly string[])[] = []

  beforeAll(async () => {
    installRuntime(() => undefined)
    connection = await NativeConnection.connect({ address: temporal().address })
    loops = await startScriptedLoops(connection, 'damaged', taskQueues(damaged), {
      maintains: [{ missed: [late], failed: 'a pack is damaged' }, 'held'],
      real: {
        async turn(call) {
          missed.push(call.missed)
          return TURN_REPORT
        },
      },
    })
  }, TIMEOUT_MS)

  afterAll(async () => {
    for (const kind of ['maintenance', 'workspace'] as const) await workflow(kind).terminate()
    await loops?.stop()
    await connection?.close()
  }, TIMEOUT_MS)

  test(
    'has them folded, is shown, and is tried again long before its time comes by the clock',
    async () => {
      await ensureLoops({ client: temporal().client, scope: damaged })
      await until('a turn is told of them', () => missed.some((names) => names.includes(late)))
      await until('it collects again', () => loops.maintain.calls() === 2)
      expect(await workflow('maintenance').query(stateQuery)).toMatchObject({ failures: 1, last_error: 'a pack is damaged' })
      loops.maintain.letGo()
      await until('it is well', async () => (await workflow('maintenance').query(stateQuery)).failures === 0)
    },
    TIMEOUT_MS,
  )
})

describe('a loop whose merges are due without end', () => {
  let connection: NativeConnection
  let loops: Awaited<ReturnType<typeof startScriptedLoops>>
  const calls: MaintenanceCall[] = []
  const handle = () => temporal().client.workflow.getHandle(workflowId(scope, 'maintenance'))
  let letGo: () => void = () => undefined
  const held = new Promise<void>((resolve) => (letGo = resolve))

  beforeAll(async () => {
    installRuntime(() => undefined)
    connection = await NativeConnection.connect({ address: temporal().address })
    loops = await startScriptedLoops(connection, 'busy', taskQueues(scope), {
      real: {
        // Each look ends with a merge due already, so that the loop never waits for as long as the clock takes.
        async maintain(call) {
          calls.push(call)
          if (call.collect) await Promise.race([held, Context.current().cancelled])
          else await handle().signal(mergeDueSignal)
          return { ...MAINTENANCE_REPORT, again_in_ms: MAINTENANCE_MS }
        },
      },
    })
  }, TIMEOUT_MS)

  afterAll(async () => {
    await handle().terminate()
    await temporal().client.workflow.getHandle(workflowId(scope, 'workspace')).terminate()
    await loops?.stop()
    await connection?.close()
  }, TIMEOUT_MS)

  test(
    'merges while a collection takes long, and collects by the clock',
    async () => {
      await ensureLoops({ client: temporal().client, scope })
      await until('its first look has begun', () => calls.length === 1)
      await handle().signal(mergeDueSignal)
      await until('it has merged beside its look', () => calls.filter(({ collect }) => !collect).length >= 5)
      expect(calls.filter(({ collect }) => collect)).toHaveLength(1)
      letGo()
      await until('it has collected again', () => calls.filter(({ collect }) => collect).length >= 3)
      // By the clock in one call, and not with every merge.
      expect(calls.filter(({ merge }) => !merge)).toEqual([])
    },
    TIMEOUT_MS,
  )
})
