// What an automation says of its work on its own port, with real loops; and a second one beside it, whose port is taken.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { workflowId } from '../../src/core/names.js'
import { pokeSignal } from '../../src/workflows/contract.js'
import { type AutomationFixture, startAutomationFixture } from '../fixtures/automation.js'
import { freePort } from '../fixtures/free-port.js'
import { createSpeaker } from '../fixtures/say.js'
import { withTemporal } from '../fixtures/temporal.js'
import { until } from '../fixtures/until.js'

const temporal = withTemporal()
const TIMEOUT_MS = 60_000
let fixture: AutomationFixture
let metrics: { readonly host: string; readonly port: number }

beforeAll(async () => {
  metrics = { host: '127.0.0.1', port: await freePort() }
  fixture = await startAutomationFixture(temporal(), { metrics })
}, TIMEOUT_MS)

afterAll(() => fixture?.stop(), TIMEOUT_MS)

const poke = () => temporal().client.workflow.getHandle(workflowId(fixture.scope, 'workspace')).signal(pokeSignal)

async function value(series: string): Promise<number | undefined> {
  const text = await (await fetch(`http://127.0.0.1:${metrics.port}/metrics`)).text()
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

test(
  'an automation counts what its turns make visible, and nothing when nothing happens',
  async () => {
    await until('the loops are started', async () => (await value('servo_repairs_total{kind="loop_started"}')) === 2)
    expect(await value('servo_run_requests_total{source="MANUAL"}')).toBe(0)
    const say = createSpeaker()
    const now = { at: fixture.appender.now() }
    await fixture.appender.append([
      say.locationDeployed('main', 0, {}, now),
      say.assetDefined('a', { start_timeout_seconds: 3_600 }, 'main', now),
    ])
    await fixture.appender.append([say.runRequested('user:1', { assets: { keys: ['a'] } }, now)])
    await poke()
    await until('its task is dispatched', async () => (await value('servo_tasks_total{state="DISPATCHED",reason="NONE"}')) === 1)
    expect(await value('servo_run_requests_total{source="MANUAL"}')).toBe(1)
    expect(await value('servo_runs_total{state="PLANNED"}')).toBe(1)
    expect(await value('servo_dispatch_delay_seconds_count{stage="ready_to_dispatched"}')).toBe(1)
    expect(await value('servo_append_duration_seconds_count{outcome="appended"}')).toBeGreaterThan(0)
    expect(await value('servo_events_folded_total{outcome="applied"}')).toBeGreaterThanOrEqual(5)
    expect(await value('servo_fold_delay_seconds_count')).toBeGreaterThanOrEqual(3)
    await until(
      'the worker that is not there was asked',
      async () => Number(await value('servo_handover_answers_total{send="first",answer="UNREACHABLE"}')) === 1,
    )
    // A turn that finds nothing to do publishes nothing, and is counted all the same.
    const quiet = (await value('servo_turn_duration_seconds_count{outcome="quiet"}')) ?? 0
    const published = await value('servo_publishes_total{outcome="published"}')
    await poke()
    await until('another turn was quiet', async () => Number(await value('servo_turn_duration_seconds_count{outcome="quiet"}')) > quiet)
    expect(await value('servo_publishes_total{outcome="published"}')).toBe(published)
  },
  TIMEOUT_MS,
)

test(
  'a second one on this machine works without its port, and says so',
  async () => {
    const other = await startAutomationFixture(temporal(), { folder: fixture.folder, metrics })
    expect(other.logged.filter((line) => line.startsWith('Metrics are not served:'))).toHaveLength(1)
    await other.stop()
    expect((await fetch(`http://127.0.0.1:${metrics.port}/healthz`)).status).toBe(200)
  },
  TIMEOUT_MS,
)
