// What somebody reads of the loops in Temporal, word for word: before their first answer, after it, and when it fails.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { WorkflowHandle } from '@temporalio/client'
import { defineSearchAttributeKey } from '@temporalio/common'
import { NativeConnection } from '@temporalio/worker'
import { ensureLoops } from '../../src/activities/ensure-loops.js'
import { installRuntime } from '../../src/bin/temporal-worker.js'
import { taskQueues, type WorkspaceLoopKind, workflowId } from '../../src/core/names.js'
import { mergeDueSignal, pokeSignal } from '../../src/workflows/contract.js'
import { failure, startScriptedLoops } from '../fixtures/scripted-loops.js'
import { withTemporal } from '../fixtures/temporal.js'
import { until } from '../fixtures/until.js'

const temporal = withTemporal()
const TIMEOUT_MS = 60_000
const scope = { tenant_id: 'acme', workspace_id: 'texts' }
/** More than a test has time for: whoever looks finds the loop in this state. */
const failing = (message: string) => Array.from({ length: 30 }, () => failure(message))

describe('in Temporal', () => {
  let connection: NativeConnection
  let loops: Awaited<ReturnType<typeof startScriptedLoops>>

  beforeAll(async () => {
    // Activities fail here on purpose.
    installRuntime(() => undefined)
    connection = await NativeConnection.connect({ address: temporal().address })
    loops = await startScriptedLoops(connection, 'texts', taskQueues(scope), {
      turns: ['held', ...failing('the pointer of gs://b | p\n is damaged')],
      // The first look by the clock, and a merge beside it.
      maintains: ['held', { merged_files: 3 }, ...failing('a base file is damaged')],
    })
    await ensureLoops({ client: temporal().client, scope })
  }, TIMEOUT_MS)

  afterAll(async () => {
    for (const kind of ['workspace', 'maintenance'] as const) await handleOf(kind).terminate()
    await loops?.stop()
    await connection?.close()
  }, TIMEOUT_MS)

  const handleOf = (kind: WorkspaceLoopKind): WorkflowHandle => temporal().client.workflow.getHandle(workflowId(scope, kind))

  async function attributesOf(kind: WorkspaceLoopKind): Promise<readonly unknown[]> {
    const { typedSearchAttributes } = await handleOf(kind).describe()
    const names = ['ServoTenant', 'ServoWorkspace', 'ServoKind', 'ServoEntityId', 'ServoStatus']
    return names.map((name) => typedSearchAttributes.get(defineSearchAttributeKey(name, 'KEYWORD')))
  }

  async function detailsOf(kind: WorkspaceLoopKind): Promise<readonly string[]> {
    const { currentDetails } = (await handleOf(kind).query('__temporal_workflow_metadata')) as { readonly currentDetails: string }
    return currentDetails.split('\n')
  }

  const untilStatus = (kind: WorkspaceLoopKind, status: string) =>
    until(`${kind} is ${status}`, async () => (await attributesOf(kind))[4] === status)

  const untilCalled = (kind: WorkspaceLoopKind, calls: number) => {
    const { turn, maintain } = loops
    return until(`call ${calls} of ${kind}`, () => (kind === 'workspace' ? turn : maintain).calls() >= calls)
  }

  describe('the loop of a workspace', () => {
    test(
      'before its first turn was answered is STARTING',
      async () => {
        await untilCalled('workspace', 1)
        expect(await attributesOf('workspace')).toEqual(['acme', 'texts', 'workspace', 'texts', 'STARTING'])
        expect(await (await handleOf('workspace').describe()).staticSummary()).toBe(
          'workspace texts of acme: says when to decide what runs',
        )
        expect(await detailsOf('workspace')).toEqual(['**STARTING**'])
      },
      TIMEOUT_MS,
    )

    test(
      'whose turns fail is ERROR, says why in one line, and what it knew before',
      async () => {
        loops.turn.letGo()
        await untilStatus('workspace', 'IDLE')
        await handleOf('workspace').signal(pokeSignal)
        await untilStatus('workspace', 'ERROR')
        expect(await attributesOf('workspace')).toEqual(['acme', 'texts', 'workspace', 'texts', 'ERROR'])
        expect(await detailsOf('workspace')).toEqual([
          '**ERROR** · 0 open runs',
          '',
          '- tasks: none',
          '- next due: nothing, it waits for events',
          '- last error: the pointer of gs://b | p is damaged',
          '- revision 1',
        ])
      },
      TIMEOUT_MS,
    )
  })

  describe('the loop of maintenance', () => {
    test(
      'before its first look was answered is STARTING',
      async () => {
        await untilCalled('maintenance', 1)
        expect(await attributesOf('maintenance')).toEqual(['acme', 'texts', 'maintenance', 'texts', 'STARTING'])
        expect(await (await handleOf('maintenance').describe()).staticSummary()).toBe(
          'workspace texts of acme: merges and tidies its tables',
        )
        expect(await detailsOf('maintenance')).toEqual(['**STARTING**'])
      },
      TIMEOUT_MS,
    )

    test(
      'that waits is IDLE, and says what it did last, of merges that waited for no collection',
      async () => {
        await handleOf('maintenance').signal(mergeDueSignal)
        await until('it has merged', async () => (await detailsOf('maintenance')).includes('- files merged: 3'))
        await untilStatus('maintenance', 'IDLE')
        expect(await detailsOf('maintenance')).toContain('- files removed: 0')
        loops.maintain.letGo({ merged_files: 3, collected_files: 12 })
        await until('it has collected', async () => (await detailsOf('maintenance')).includes('- files removed: 12'))
        expect(await detailsOf('maintenance')).toEqual(['**IDLE**', '', ...DONE])
      },
      TIMEOUT_MS,
    )

    test(
      'whose looks fail is ERROR, and says why',
      async () => {
        await handleOf('maintenance').signal(mergeDueSignal)
        await untilStatus('maintenance', 'ERROR')
        expect(await detailsOf('maintenance')).toEqual(['**ERROR**', '', ...DONE, '- last error: a base file is damaged'])
      },
      TIMEOUT_MS,
    )
  })
})

const DONE = ['- files merged: 3', '- files removed: 12', '- segments packed: 0', '- late segments: 0']
