// Two workspaces in one Temporal namespace, with an automation each: neither is given anything of the other, also while their
// loops move from the queues that all workspaces shared in an older Servo.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { WorkflowHandle } from '@temporalio/client'
import { taskQueues, workflowId } from '../../src/core/names.js'
import { drainSignal, pokeSignal, stateQuery, WORKFLOW_TYPES } from '../../src/workflows/contract.js'
import { type AutomationFixture, startAutomationFixture } from '../fixtures/automation.js'
import { createSpeaker, TENANT_ID } from '../fixtures/say.js'
import { withTemporal } from '../fixtures/temporal.js'
import { temporalProgram } from '../fixtures/temporal-program.js'
import { until } from '../fixtures/until.js'

const temporal = withTemporal()
const TIMEOUT_MS = 120_000
const TIMINGS = { backstop_ms: 1_000, backstop_ms_max: 2_000, maintenance_ms: 60_000 }
/** What all loops ran on, whatever their workspace. */
const SHARED = { loops: 'servo-loops', turn: 'servo-turn', work: 'servo-work' }
/** Turns of each workspace, so that one that goes astray shows. */
const TURNS = 12
const KINDS = ['workspace', 'maintenance'] as const

type Recorded = { readonly activity: string; readonly queue: string }

const scopeOf = (workspace_id: string) => ({ tenant_id: TENANT_ID, workspace_id })
const handleOf = (workspace_id: string, kind: (typeof KINDS)[number]): WorkflowHandle =>
  temporal().client.workflow.getHandle(workflowId(scopeOf(workspace_id), kind))
const queueOf = async (handle: WorkflowHandle) => (await handle.describe()).taskQueue

/** What the newest run of a loop called, and the sentences of what failed in it. */
async function lived(handle: WorkflowHandle): Promise<{ readonly calls: readonly Recorded[]; readonly failures: readonly string[] }> {
  const { events } = await handle.fetchHistory()
  return {
    calls: (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: each }) =>
      each == null ? [] : [{ activity: each.activityType?.name ?? '', queue: each.taskQueue?.name ?? '' }],
    ),
    failures: (events ?? []).flatMap(({ activityTaskFailedEventAttributes: failed, activityTaskStartedEventAttributes: started }) => [
      ...(failed == null ? [] : [failed.failure?.message ?? '']),
      ...(started?.lastFailure == null ? [] : [started.lastFailure.message ?? '']),
    ]),
  }
}

describe('two workspaces in one namespace', () => {
  const both: AutomationFixture[] = []

  beforeAll(async () => {
    for (const workspace_id of ['left', 'right']) {
      both.push(await startAutomationFixture(temporal(), { workspace_id, timings: TIMINGS }))
    }
  }, TIMEOUT_MS)
  afterAll(async () => {
    for (const fixture of both) await fixture.stop()
  }, TIMEOUT_MS)

  test(
    'each automation takes the turns of its own workspace, and fails none of the other',
    async () => {
      for (const { scope, appender } of both) {
        const now = { at: appender.now() }
        const mine = createSpeaker(scope)
        await appender.append([
          mine.locationDeployed('main', 0, {}, now),
          mine.assetDefined(`asset-of-${scope.workspace_id}`, { start_timeout_seconds: 3_600 }, 'main', now),
        ])
        await appender.append([mine.runRequested('user:1', { assets: { keys: [`asset-of-${scope.workspace_id}`] } }, now)])
      }
      for (const { scope, row } of both) {
        const task = await until(`the task of ${scope.workspace_id} is dispatched`, () =>
          row('tasks', ({ state }) => state === 'DISPATCHED'),
        )
        expect(task).toMatchObject({ asset_key: `asset-of-${scope.workspace_id}` })
      }
      for (const { scope } of both) {
        const handle = handleOf(scope.workspace_id, 'workspace')
        for (let turns = (await handle.query(stateQuery)).turns; turns < TURNS; turns = (await handle.query(stateQuery)).turns) {
          await handle.signal(pokeSignal)
          await until('it had another turn', async () => (await handle.query(stateQuery)).turns > turns)
        }
        for (const kind of KINDS) {
          const { calls, failures } = await lived(handleOf(scope.workspace_id, kind))
          expect(failures).toEqual([])
          const { turn, work } = taskQueues(scope)
          expect([...new Set(calls.map(({ activity, queue }) => `${activity} on ${queue}`))].sort()).toEqual(
            kind === 'maintenance' ? [`maintain on ${work}`] : [`handOver on ${work}`, `turn on ${turn}`],
          )
        }
      }
    },
    TIMEOUT_MS,
  )
})

describe('loops of an older Servo, on the queue that all workspaces shared', () => {
  const both: AutomationFixture[] = []
  const started: WorkflowHandle[] = []
  afterAll(async () => {
    for (const fixture of both) await fixture.stop()
    for (const handle of started) await handle.terminate().catch(() => undefined)
  }, TIMEOUT_MS)

  test(
    'move to the queues of their workspace, two workspaces at a time, and finish on the old ones what they had begun',
    async () => {
      for (const workspace_id of ['old-left', 'old-right']) {
        for (const kind of KINDS) started.push(await startShared(workspace_id, kind))
      }
      // Another workspace, whose automation is of the older Servo: nobody here tells its loop to go anywhere.
      const stranger = await startShared('old-stranger', 'workspace')
      started.push(stranger)
      const firsts = await Promise.all(started.slice(0, 4).map(async (handle) => ({ handle, runId: (await handle.describe()).runId })))
      for (const workspace_id of ['old-left', 'old-right']) {
        both.push(await startAutomationFixture(temporal(), { workspace_id, timings: TIMINGS }))
      }
      for (const { scope } of both) {
        for (const kind of KINDS) {
          const handle = handleOf(scope.workspace_id, kind)
          await until(`${scope.workspace_id}/${kind} has moved`, async () => (await queueOf(handle)) === taskQueues(scope).loops)
        }
        const handle = handleOf(scope.workspace_id, 'workspace')
        await until('it has turns there', async () => (await handle.query(stateQuery)).sequence > 0)
        const { turn } = taskQueues(scope)
        expect((await lived(handle)).calls.filter(({ activity }) => activity === 'turn').map(({ queue }) => queue)).toContain(turn)
      }
      // What they called before lay beside their old queue, as their histories have it.
      for (const { handle, runId } of firsts) {
        const { calls } = await lived(temporal().client.workflow.getHandle(handle.workflowId, runId))
        const queues = calls.map(({ activity, queue }) => `${activity} on ${queue}`)
        expect([...new Set(queues)].every((each) => [`turn on ${SHARED.turn}`, `maintain on ${SHARED.work}`].includes(each))).toBe(true)
      }
      for (const { logged } of both)
        await until('it lets go of the old queue', () => logged.some((line) => line.startsWith('No loop of this workspace runs on')))
      expect(await queueOf(stranger)).toBe(SHARED.loops)
      expect((await stranger.describe()).status.name).toBe('RUNNING')
    },
    TIMEOUT_MS,
  )

  test(
    'are sent away no second time when they are there, and nowhere else than to a queue of loops',
    async () => {
      const [fixture] = both as [AutomationFixture]
      const handle = handleOf(fixture.scope.workspace_id, 'workspace')
      const home = taskQueues(fixture.scope).loops
      const { runId } = await handle.describe()
      const { turns } = await handle.query(stateQuery)
      await handle.signal(drainSignal, { task_queue: home })
      await handle.signal(pokeSignal)
      await until('it had another turn', async () => (await handle.query(stateQuery)).turns > turns)
      expect((await handle.describe()).runId).toBe(runId)
      await handle.signal(drainSignal, { task_queue: 'a-queue-that-nobody-serves' })
      await until('it began anew', async () => (await handle.describe()).runId !== runId)
      expect(await queueOf(handle)).toBe(home)
    },
    TIMEOUT_MS,
  )

  test(
    'and the command after a rollback ends the loops of one workspace, which come back with nothing lost',
    async () => {
      const [left, right] = both as [AutomationFixture, AutomationFixture]
      const untouched = await handleOf(right.scope.workspace_id, 'workspace').describe()
      const before = await handleOf(left.scope.workspace_id, 'workspace').describe()
      await promisify(execFile)(await temporalProgram(), rollbackCommand(left.scope.workspace_id))
      for (const kind of KINDS) {
        const handle = handleOf(left.scope.workspace_id, kind)
        await until(`${kind} is started again`, async () => {
          const { status, runId } = await handle.describe()
          return status.name === 'RUNNING' && runId !== before.runId
        })
      }
      const handle = handleOf(left.scope.workspace_id, 'workspace')
      await until('it has turns', async () => (await handle.query(stateQuery)).sequence > 0)
      expect((await handleOf(right.scope.workspace_id, 'workspace').describe()).runId).toBe(untouched.runId)
    },
    TIMEOUT_MS,
  )
})

/** As an automation of the older Servo starts it. */
function startShared(workspace_id: string, kind: (typeof KINDS)[number]): Promise<WorkflowHandle> {
  const scope = scopeOf(workspace_id)
  return temporal().client.workflow.start(WORKFLOW_TYPES[kind], {
    workflowId: workflowId(scope, kind),
    taskQueue: SHARED.loops,
    args: [{ v: 1, ...scope, timings: TIMINGS, last_error: null, missed: [], failures: 0 }],
    searchAttributes: {
      ServoTenant: [scope.tenant_id],
      ServoWorkspace: [workspace_id],
      ServoKind: [kind],
      ServoEntityId: [workspace_id],
      ServoStatus: ['STARTING'],
    },
  })
}

/** The command of docs/temporal.md, for this server and this workspace. */
function rollbackCommand(workspace_id: string): readonly string[] {
  const page = readFileSync(fileURLToPath(new URL('../../docs/temporal.md', import.meta.url)), 'utf8')
  const written = /^temporal (workflow terminate .+)$/m.exec(page)?.[1]
  if (written === undefined) throw new Error('docs/temporal.md has no command that ends the loops of a workspace.')
  const query = /--query '([^']+)'/.exec(written)?.[1] ?? ''
  const named = query.replace('"default"', `"${TENANT_ID}"`).replace('"default"', `"${workspace_id}"`)
  const rest = written.replace(/ --query '[^']+'/, '').replace('127.0.0.1:7233', temporal().address)
  return [...rest.split(' '), '--query', named]
}
