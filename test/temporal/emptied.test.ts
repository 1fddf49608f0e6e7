// A Temporal that lost its database, and whose namespace comes back later than its workers can wait: polls of a namespace
// that is not there are fatal for a worker after a minute, and the automations outlive their workers.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { pokeWorkspace } from '../../src/activities/ensure-loops.js'
import { openAppender, openDeps } from '../../src/bin/deps.js'
import { type DevServer, startDevServer } from '../../src/cli/local/temporal-server.js'
import { NAMESPACE_DEFAULT } from '../../src/core/names.js'
import { type AutomationProcess, startAutomationProcess } from '../fixtures/automation-process.js'
import { createSpeaker, TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { runServo } from '../fixtures/servo-process.js'
import { startOnFreePort, temporalProgram } from '../fixtures/temporal-program.js'
import { until } from '../fixtures/until.js'

/** The minute of the poll, ten seconds until it is made again, and what a busy machine needs besides. */
const LOST_MS_MAX = 150_000
const TIMEOUT_MS = 300_000

const folder = mkdtempSync(join(tmpdir(), 'servo-emptied-'))
const automations: AutomationProcess[] = []
let server: DevServer | undefined
afterAll(async () => {
  for (const automation of automations) await automation.stop('SIGKILL')
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const published = async (by: readonly AutomationProcess[]) => {
  const counts = await Promise.all(by.map(({ value }) => value('servo_publishes_total{outcome="published"}')))
  return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
}

test(
  'two automations outlive a Temporal that was emptied and gets its namespace after they have lost their workers',
  async () => {
    const program = await temporalProgram()
    const log_file = join(folder, 'temporal.log')
    server = await startOnFreePort({ program, log_file })
    const { address } = server
    const store = `local:${join(folder, 'store')}`
    const environment = { TEMPORAL_ADDRESS: address, SERVO_STORE: store, SERVO_TENANT: TENANT_ID, SERVO_WORKSPACE: WORKSPACE_ID }
    for (let i = 0; i < 2; i++) automations.push(await startAutomationProcess(environment))
    for (const automation of automations) await automation.working()
    await until('something is published', async () => (await published(automations)) > 0)

    process.kill(server.pid, 'SIGKILL')
    await server.ended
    for (const automation of automations) await automation.lacking('temporal')
    server = await startDevServer({ program, port: Number(address.split(':')[1]), namespace: 'another', log_file })
    for (const automation of automations) await automation.lacking('namespace')
    for (const { value } of automations) {
      const lost = async () => (await value('servo_automation_sessions_lost_total{needs="namespace"}')) ?? 0
      await until('its workers have ended', async () => (await lost()) > 0, LOST_MS_MAX)
    }
    for (const automation of automations) await automation.lacking('namespace')

    // While no loop runs: of what nobody announces to a loop that does, it learns with its backstop, minutes after its last turn.
    await deploy(store, 'meanwhile')
    const before = await published(automations)
    expect(await runServo(['temporal', 'set-up', '--temporal', address])).toMatchObject({ code: 0 })
    for (const automation of automations) await automation.working()
    await until('what was accepted meanwhile is folded', async () => (await published(automations)) > before)

    const [first, second] = automations as [AutomationProcess, AutomationProcess]
    await expectOrderlyEnd(first)
    const between = await published([second])
    await deploy(store, 'afterwards')
    await announce(address)
    await until('what is announced is folded by the one that is left', async () => (await published([second])) > between)
    await expectOrderlyEnd(second)
  },
  TIMEOUT_MS,
)

async function expectOrderlyEnd(automation: AutomationProcess): Promise<void> {
  const { code, stderr } = await automation.stop()
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('Cannot close connection')])
}

/** An event that nobody announces. */
async function deploy(store: string, location_name: string): Promise<void> {
  const deps = await openDeps({ store, tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID })
  const appender = await openAppender(deps)
  const say = createSpeaker()
  await appender.append([say.locationDeployed(location_name, 0, {}, { at: appender.now() })])
  await deps.close()
}

async function announce(address: string): Promise<void> {
  const connection = await Connection.connect({ address })
  const client = new Client({ connection, namespace: NAMESPACE_DEFAULT })
  await pokeWorkspace({ client, scope: { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID } })
  await connection.close()
}
