// `servo dev` on a Temporal server that TEMPORAL_ADDRESS names: a second project does not serve the same workspace from its own
// store, and a restart of the first one does.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { taskQueues } from '../../src/core/names.js'
import { type DevProcess, startDevProcess } from '../fixtures/dev-process.js'
import { freePorts } from '../fixtures/started.js'
import { withTemporal } from '../fixtures/temporal.js'
import { until } from '../fixtures/until.js'

const TIMEOUT_MS = 240_000

const temporal = withTemporal()
const folder = mkdtempSync(join(tmpdir(), 'servo-other-store-'))
const started: DevProcess[] = []
afterAll(async () => {
  for (const one of started) one.signalGroup('SIGINT')
  for (const one of started) await one.ended
  rmSync(folder, { recursive: true, force: true })
}, TIMEOUT_MS)

async function startIn(project: string, environment: Readonly<Record<string, string>> = {}): Promise<DevProcess> {
  const one = startDevProcess({
    command: ['servo', 'dev'],
    data: join(folder, project),
    ports: await freePorts(),
    environment: { TEMPORAL_ADDRESS: temporal().address, ...environment },
  })
  started.push(one)
  return one
}

/** The identities that poll the loops of a workspace. */
async function pollersOf(workspace_id: string): Promise<readonly string[]> {
  const { connection, namespace } = temporal()
  const { loops } = taskQueues({ tenant_id: 'default', workspace_id })
  const { pollers } = await connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: loops }, taskQueueType: 1 })
  return (pollers ?? []).map(({ identity }) => identity ?? '')
}

test(
  'a second project is refused under the same workspace name, and starts under another one; a restart of the first is not refused',
  async () => {
    const first = await startIn('first')
    await first.said('Servo is up.')
    await until('its automation polls', async () => (await pollersOf('default')).length === 1)
    const [identity] = await pollersOf('default')
    expect(identity).toMatch(/^\d+@[^/]+\/[0-9a-f]{8}$/)

    const second = await startIn('second')
    expect(await Promise.race([second.ended, second.said('Servo is up.')])).toBe(2)
    expect(second.output()).toMatch(
      new RegExp(
        `^servo: TEMPORAL_ADDRESS names the Temporal server ${temporal().address}, where the workspace default of tenant default is served from another store: ${identity} polled its queue \\d+ s ago\\..*\n.*\`unset TEMPORAL_ADDRESS\`\\..*\`export SERVO_WORKSPACE=NAME\``,
        'm',
      ),
    )

    const renamed = await startIn('second', { SERVO_WORKSPACE: 'second' })
    await renamed.said('Servo is up.')

    // Its poller of before is still listed, as one that polled seconds ago.
    first.signalGroup('SIGINT')
    expect(await first.ended).toBe(0)
    const again = await startIn('first')
    await again.said('Servo is up.')
    await until('the automation of the restart polls, too', async () => (await pollersOf('default')).length === 2)
  },
  TIMEOUT_MS,
)
