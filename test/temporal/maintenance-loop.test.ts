// A busy workspace has merges due all the time: what goes by the clock comes all the same.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { NativeConnection } from '@temporalio/worker'
import { ensureLoops } from '../../src/activities/ensure-loops.js'
import { installRuntime } from '../../src/bin/temporal-worker.js'
import { workflowId } from '../../src/core/names.js'
import { HOUR_MS } from '../../src/core/time.js'
import { type MaintenanceCall, mergeDueSignal } from '../../src/workflows/contract.js'
import { MAINTENANCE_REPORT } from '../fixtures/loop-reports.js'
import { startScriptedLoops } from '../fixtures/scripted-loops.js'
import { withTemporal } from '../fixtures/temporal.js'
import { until } from '../fixtures/until.js'

const temporal = withTemporal()
const TIMEOUT_MS = 60_000
const MAINTENANCE_MS = 1_500
const scope = { tenant_id: 'acme', workspace_id: 'busy' }

describe('a loop whose merges are due without end', () => {
  let connection: NativeConnection
  let loops: Awaited<ReturnType<typeof startScriptedLoops>>
  const calls: MaintenanceCall[] = []

  beforeAll(async () => {
    installRuntime(() => undefined)
    connection = await NativeConnection.connect({ address: temporal().address })
    loops = await startScriptedLoops(connection, 'busy', {
      real: {
        // Each look ends with a merge due already, so that the loop never waits for as long as the clock takes.
        async maintain(call) {
          calls.push(call)
          await temporal().client.workflow.getHandle(workflowId(scope, 'maintenance')).signal(mergeDueSignal)
          return MAINTENANCE_REPORT
        },
      },
    })
  }, TIMEOUT_MS)

  afterAll(async () => {
    await temporal().client.workflow.getHandle(workflowId(scope, 'maintenance')).terminate()
    await temporal().client.workflow.getHandle(workflowId(scope, 'workspace')).terminate()
    await loops?.stop()
    await connection?.close()
  }, TIMEOUT_MS)

  test(
    'collects by the clock',
    async () => {
      const timings = { backstop_ms: HOUR_MS, backstop_ms_max: HOUR_MS, maintenance_ms: MAINTENANCE_MS }
      await ensureLoops({ client: temporal().client, scope, timings })
      await until('it has collected again', () => calls.filter(({ collect }) => collect).length >= 3)
      const between = calls
        .slice(
          1,
          calls.findLastIndex(({ collect }) => collect),
        )
        .filter(({ collect }) => !collect)
      // By the clock, and not with every merge.
      expect(between.length).toBeGreaterThan(0)
      expect(between.every(({ merge }) => merge)).toBe(true)
    },
    TIMEOUT_MS,
  )
})
