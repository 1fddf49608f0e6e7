import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Automation, startAutomation } from '../../src/bin/automation.js'
import type { ServerConfig } from '../../src/bin/config.js'
import { type Deps, openAppender, openDeps, openReader } from '../../src/bin/deps.js'
import { workflowId } from '../../src/core/names.js'
import type { Appender } from '../../src/ledger/append.js'
import { pokeSignal } from '../../src/workflows/contract.js'
import { createSpeaker, TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { withTemporal } from '../fixtures/temporal.js'
import { workflowsForTests } from '../fixtures/workflows.js'
import { until } from '../fixtures/until.js'

const temporal = withTemporal()
const scope = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }

describe('the loop of a workspace', () => {
  let folder: string
  let automation: Automation
  let deps: Deps
  let appender: Appender
  const logged: string[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'servo-loop-'))
    const { address, namespace } = temporal()
    const config: ServerConfig = {
      workspace: { store: `local:${folder}`, ...scope },
      temporal: { address, namespace },
      secrets: [{ secret_key_id: 'k1', secret: 'servo-golden-secret' }],
      worker_secrets: undefined,
      api_url: 'http://127.0.0.1:1',
      log_level: 'info',
    }
    automation = await startAutomation(config, { log: (line) => logged.push(line), workflows: await workflowsForTests() })
    deps = await openDeps(config.workspace)
    appender = await openAppender(deps)
  }, 60_000)

  afterAll(async () => {
    await automation?.stop()
    await deps?.close()
    rmSync(folder, { recursive: true, force: true })
  }, 60_000)

  test('plans and dispatches what is asked for, as soon as it is poked', async () => {
    const say = createSpeaker()
    const now = { at: appender.now() }
    await appender.append([say.locationDeployed('main', 0, {}, now), say.assetDefined('a', {}, 'main', now)])
    await appender.append([say.runRequested('user:1', { assets: { keys: ['a'] } }, now)])
    const { client } = temporal()
    const handle = client.workflow.getHandle(workflowId(scope, 'workspace'))
    await until('the loop is there', () =>
      handle.describe().then(
        () => true,
        () => false,
      ),
    )
    await handle.signal(pokeSignal)
    const reader = openReader(deps)
    const task = await until('the task is dispatched', async () => {
      const view = await reader.latest()
      const page = await view?.page('tasks', { where: [], limit: 10 })
      return page?.rows.find(({ state }) => state === 'DISPATCHED')
    })
    expect(task).toMatchObject({ asset_key: 'a', attempt: 1 })
  }, 60_000)
})
