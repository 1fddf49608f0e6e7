// An automation that is told to end while everything that it does takes long, because its store has stopped answering: a turn, a
// merge, a schedule that waits for a turn. It ends in order, and leaves the calls to the next one at once.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { Client } from '@temporalio/client'
import { openAppender, openDeps } from '../../src/bin/deps.js'
import { workflowId } from '../../src/core/names.js'
import { entityStateQuery, mergeDueSignal, pokeSignal } from '../../src/workflows/contract.js'
import { type HangingStore, startHangingStore } from '../faults/hanging-store.js'
import { type AutomationProcess, startAutomationProcess } from '../fixtures/automation-process.js'
import { type FakeGcs, startFakeGcs } from '../fixtures/fake-gcs.js'
import { createSpeaker, TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { withTemporal } from '../fixtures/temporal.js'
import { until } from '../fixtures/until.js'

jest.setTimeout(120_000) // no wait: the bound of a test that starts processes

/** From the signal to the end of the process. */
const END_MS_MAX = 10_000
const SCOPE = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
/** More than the listeners on one signal that Node takes for a leak. */
const SCHEDULE_IDS = Array.from('0123456789AB', (each) => `01JZ8M5Q3R7T9V0W2X4Y6ZABC${each}`)
const IDS = {
  workspace: workflowId(SCOPE, 'workspace'),
  maintenance: workflowId(SCOPE, 'maintenance'),
  ...Object.fromEntries(SCHEDULE_IDS.map((id) => [id, workflowId(SCOPE, 'schedule', id)])),
}

const temporal = withTemporal()
let gcs: FakeGcs
let store: HangingStore
let automation: AutomationProcess
beforeAll(async () => {
  gcs = await startFakeGcs()
  store = await startHangingStore(gcs.endpoint)
})
afterAll(async () => {
  await automation?.stop('SIGKILL')
  await store?.close()
  await gcs?.stop()
})

type Pending = { readonly activity: string; readonly isStarted: boolean; readonly attempt: number; readonly lastFailure: string }

/** What a loop waits for now. */
async function pending(client: Client, id: string): Promise<readonly Pending[]> {
  const { raw } = await client.workflow.getHandle(id).describe()
  return (raw.pendingActivities ?? []).map(({ activityType, state, attempt, lastFailure }) => ({
    activity: activityType?.name ?? '',
    isStarted: Number(state) === STARTED,
    attempt: attempt ?? 0,
    lastFailure: lastFailure?.message ?? '',
  }))
}
/** Temporal's PendingActivityState. */
const STARTED = 2

const start = () =>
  startAutomationProcess({
    TEMPORAL_ADDRESS: temporal().address,
    SERVO_STORE: `gs://${gcs.bucket}/shutdown`,
    STORAGE_EMULATOR_HOST: store.url,
    SERVO_TENANT: TENANT_ID,
    SERVO_WORKSPACE: WORKSPACE_ID,
  })

test('SIGTERM during a turn, a merge and the calls of schedules ends the process in order within ten seconds', async () => {
  const { client } = temporal()
  automation = await start()
  await automation.working()
  await defineSchedules()
  const workspace = client.workflow.getHandle(IDS.workspace)
  await workspace.signal(pokeSignal)
  const schedules = SCHEDULE_IDS.map((id) => client.workflow.getHandle(workflowId(SCOPE, 'schedule', id)))
  for (const schedule of schedules) {
    await until('its loop knows the schedule', async () => (await schedule.query(entityStateQuery)).status === 'ACTIVE')
  }
  await until('the workspace is at rest', async () => (await pending(client, IDS.workspace)).length === 0)
  await until('maintenance is at rest', async () => (await pending(client, IDS.maintenance)).length === 0)

  store.hang()
  await workspace.signal(pokeSignal)
  await client.workflow.getHandle(IDS.maintenance).signal(mergeDueSignal)
  for (const schedule of schedules) await schedule.signal(pokeSignal)
  for (const id of Object.values(IDS)) {
    const activity = id === IDS.workspace ? 'turn' : id === IDS.maintenance ? 'maintain' : 'scheduleTurn'
    await until(`${activity} is under way`, async () =>
      (await pending(client, id)).some((each) => each.activity === activity && each.isStarted),
    )
  }
  // The calls of schedules share one read.
  await until('the store keeps them waiting', () => store.held() >= 3)

  const began = performance.now()
  const { code, stderr } = await automation.stop()
  expect(performance.now() - began).toBeLessThan(END_MS_MAX)
  expect(code).toBe(0)
  expect(stderr).not.toContain('GracefulShutdownPeriodExpiredError')
  expect(stderr).not.toContain('MaxListenersExceededWarning')
  expect(stderr.split('\n').at(-1)).toBe('automation: ended')

  // Temporal has heard of each, and does not wait for a time-out before it gives them to another automation.
  for (const id of Object.values(IDS)) {
    const left = await until(`${id} is left`, async () => {
      const found = await pending(client, id)
      return found.length > 0 && found.every((each) => !each.isStarted) && found
    })
    for (const { lastFailure } of left) expect(lastFailure).toBe('This process is ending, and leaves the call to another.')
  }
})

async function defineSchedules(): Promise<void> {
  const deps = await openDeps({ ...SCOPE, store: `gs://${gcs.bucket}/shutdown`, gcs_endpoint: gcs.endpoint })
  const appender = await openAppender(deps)
  const say = createSpeaker()
  const now = { at: appender.now() }
  await appender.append([say.locationDeployed('main', 0, {}, now), say.assetDefined('a', {}, 'main', now)])
  const cron = { cron_expressions: ['0 0 1 1 *'], timezone: 'UTC' }
  await appender.append(SCHEDULE_IDS.map((id) => say.scheduleDefined(id, cron, {}, now)))
  await deps.close()
}
