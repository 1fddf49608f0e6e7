import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Client, WorkflowHandle } from '@temporalio/client'
import { defineSearchAttributeKey } from '@temporalio/common'
import { createPoker } from '../../src/activities/poke.js'
import { signalWorkspace } from '../../src/activities/signal-workspace.js'
import { clockUntil, systemClock } from '../../src/bin/clock.js'
import { workflowId } from '../../src/core/names.js'
import { clockText } from '../../src/core/page-text.js'
import { drainSignal, missedSignal, pokeSignal, stateQuery } from '../../src/workflows/contract.js'
import { type AutomationFixture, startAutomationFixture } from '../fixtures/automation.js'
import { createSpeaker } from '../fixtures/say.js'
import { withTemporal } from '../fixtures/temporal.js'
import { until } from '../fixtures/until.js'

const temporal = withTemporal()
const TIMEOUT_MS = 60_000

describe('the loop of a workspace', () => {
  let fixture: AutomationFixture
  let handle: WorkflowHandle
  const say = createSpeaker()

  beforeAll(async () => {
    fixture = await startAutomationFixture(temporal())
    handle = temporal().client.workflow.getHandle(workflowId(fixture.scope, 'workspace'))
    await until('the loop has had a turn', async () => (await handle.query(stateQuery)).sequence > 0)
  }, TIMEOUT_MS)

  afterAll(() => fixture?.stop(), TIMEOUT_MS)

  const details = () =>
    handle
      .query<string>('__temporal_workflow_metadata')
      .then((metadata) => (metadata as unknown as { currentDetails: string }).currentDetails)
  const attribute = async (name: string) => (await handle.describe()).typedSearchAttributes.get(defineSearchAttributeKey(name, 'KEYWORD'))

  test(
    'says what it is, and that it is idle',
    async () => {
      await until('it is idle', async () => (await attribute('ServoStatus')) === 'IDLE')
      const description = await handle.describe()
      expect(await Promise.all(['ServoTenant', 'ServoWorkspace', 'ServoKind', 'ServoEntityId'].map(attribute))).toEqual([
        'acme',
        'prod',
        'workspace',
        'prod',
      ])
      expect(await description.staticSummary()).toBe('workspace prod of acme: says when to decide what runs')
      expect(await details()).toBe('**IDLE** · 0 open runs\n\n- tasks: none\n- next due: nothing, it waits for events\n- revision 1')
    },
    TIMEOUT_MS,
  )

  test(
    'is found by its attributes',
    async () => {
      const { client } = temporal()
      const query = 'ServoTenant = "acme" AND ServoWorkspace = "prod" AND ServoStatus = "IDLE" AND ExecutionStatus = "Running"'
      await until('both loops are listed', async () => {
        const ids: string[] = []
        for await (const { workflowId: id } of client.workflow.list({ query })) ids.push(id)
        return ids.sort().join() === 'servo/acme/prod/maintenance,servo/acme/prod/workspace'
      })
    },
    TIMEOUT_MS,
  )

  test(
    'plans and dispatches what is asked for, as soon as it is poked, and says so',
    async () => {
      const now = { at: fixture.appender.now() }
      await fixture.appender.append([
        say.locationDeployed('main', 0, {}, now),
        say.assetDefined('a', { start_timeout_seconds: 3_600 }, 'main', now),
      ])
      await fixture.appender.append([say.runRequested('user:1', { assets: { keys: ['a'] } }, now)])
      await handle.signal(pokeSignal)
      const task = await until('the task is dispatched', () => fixture.row('tasks', ({ state }) => state === 'DISPATCHED'))
      expect(task).toMatchObject({ asset_key: 'a', attempt: 1 })
      await until('the loop says that it works', async () => (await attribute('ServoStatus')) === 'WORKING')
      const shown = await details()
      expect(shown).toContain('**WORKING** · 1 open run\n\n- tasks: 1 handed over and not started\n- next due: ')
      const due = clockText(Number(task['start_deadline_at']), Date.now())
      expect(shown).toContain(`- next due: ${due} UTC, start deadline of a, run ${task['run_id']}`)
    },
    TIMEOUT_MS,
  )

  test(
    'goes on in a new run when it is drained, and forgets nothing that it was told',
    async () => {
      const { runId } = await handle.describe()
      await handle.signal(drainSignal)
      await until('it runs anew', async () => (await handle.describe()).runId !== runId)
      await until('the new run has had a turn', async () => (await handle.query(stateQuery)).sequence > 0)
    },
    TIMEOUT_MS,
  )

  test(
    'is not killed by a signal without what it should carry, as the UI sends one',
    async () => {
      const { turns } = await handle.query(stateQuery)
      await handle.signal(missedSignal)
      await until('it had another turn', async () => (await handle.query(stateQuery)).turns > turns)
      expect((await handle.describe()).status.name).toBe('RUNNING')
    },
    TIMEOUT_MS,
  )

  test(
    'is poked by whoever could not reach Temporal, as soon as it is there',
    async () => {
      const closing = new AbortController()
      const said: string[] = []
      let client: Client | undefined
      const poke = createPoker({
        signal: async () => {
          if (client === undefined) throw new Error('nobody is there.')
          return signalWorkspace({ client, scope: fixture.scope })
        },
        clock: clockUntil(systemClock, closing.signal),
        closed: closing.signal,
        log: (message) => said.push(message),
      })
      const { turns } = await handle.query(stateQuery)
      poke('now')
      await until('it was tried', () => said.length > 0)
      client = temporal().client
      await until('it had another turn', async () => (await handle.query(stateQuery)).turns > turns)
      closing.abort()
      expect(said).toEqual(['The loop of the workspace could not be poked now, and will be as soon as Temporal answers: nobody is there.'])
    },
    TIMEOUT_MS,
  )

  test(
    'backs off while turns fail, says why, and goes on when they succeed again',
    async () => {
      const restore = fixture.hideStore()
      await handle.signal(pokeSignal)
      await until('it says that its turn failed', async () => (await attribute('ServoStatus')) === 'ERROR')
      expect(await details()).toMatch(/^\*\*ERROR\*\*[^]*\n- last error: /)
      const { failures } = await handle.query(stateQuery)
      expect(failures).toBeGreaterThan(0)
      restore()
      await handle.signal(pokeSignal)
      await until('it works again', async () => (await attribute('ServoStatus')) === 'WORKING')
      expect((await handle.query(stateQuery)).last_error).toBeNull()
    },
    TIMEOUT_MS,
  )

  test(
    'is started again by another process when somebody terminated it',
    async () => {
      await handle.terminate('by hand')
      const other = await startAutomationFixture(temporal(), { folder: fixture.folder })
      await until('it runs', async () => (await handle.describe()).status.name === 'RUNNING')
      await until('it has had a turn', async () => (await handle.query(stateQuery)).sequence > 0)
      await other.stop()
    },
    TIMEOUT_MS,
  )
})
