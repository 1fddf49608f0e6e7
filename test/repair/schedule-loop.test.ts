// What a schedule's own loop is for: with a real Temporal, where the loop of the workspace has lost its timer, and where the
// page of a schedule's loop shows a fire that is not its schedule's any more.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { defineSearchAttributeKey } from '@temporalio/common'
import { NativeConnection } from '@temporalio/worker'
import { ensureLoops, entityLoops } from '../../src/activities/ensure-loops.js'
import { createAsk } from '../../src/activities/entities/ask.js'
import { createEntityCalls } from '../../src/activities/entities/kinds.js'
import { SCHEDULE_KIND } from '../../src/activities/entities/schedule.js'
import { createPoker } from '../../src/activities/poke.js'
import { signalWorkspace } from '../../src/activities/signal-workspace.js'
import { startEntityLoop } from '../../src/activities/start-loops.js'
import { createWorkspaceActivities } from '../../src/activities/workspace.js'
import { createWorkspacePages } from '../../src/activities/workspace-page.js'
import { clockUntil } from '../../src/bin/clock.js'
import { openAppender, openDeps, openReader, turnDeps } from '../../src/bin/deps.js'
import { installRuntime } from '../../src/bin/temporal-worker.js'
import { taskQueues, workflowId } from '../../src/core/names.js'
import { HOUR_MS, instantText, SECOND_MS } from '../../src/core/time.js'
import { createCurrent } from '../../src/readers/current.js'
import type { Schedule } from '../../src/readers/schedules.js'
import { createReconcile } from '../../src/turn/controllers.js'
import { createTurn } from '../../src/turn/turn.js'
import { createSpeaker, NOW, TENANT_ID, ulidOf, WORKSPACE_ID } from '../fixtures/say.js'
import { createScheduleStory, SCHEDULE_ID } from '../fixtures/schedule-story.js'
import { startScriptedLoops } from '../fixtures/scripted-loops.js'
import { withTemporal } from '../fixtures/temporal.js'
import { until } from '../fixtures/until.js'

const temporal = withTemporal()
const TIMEOUT_MS = 90_000
/** The backstop of no loop comes while a test lasts. */
const timings = { backstop_ms: HOUR_MS, backstop_ms_max: HOUR_MS, maintenance_ms: HOUR_MS }
const SECRET = { secret_key_id: 'k1', secret: 'servo-golden-secret' }

let connection: NativeConnection
beforeAll(async () => {
  installRuntime(() => undefined)
  connection = await NativeConnection.connect({ address: temporal().address })
}, TIMEOUT_MS)
afterAll(() => connection?.close())

async function historyOf(id: string) {
  const { events } = await temporal().client.workflow.getHandle(id).fetchHistory()
  return {
    signals: (events ?? []).filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal != null).length,
    fired: (events ?? []).filter(({ timerFiredEventAttributes: fired }) => fired != null).length,
  }
}

describe('a workspace on a real store, whose loop is never told when something is due', () => {
  const scope = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
  /** Each fires once a day, a few seconds after the one before. */
  const SCHEDULE_IDS = ['first', 'second', 'third'].map(ulidOf)
  const FIRES_APART_S = 4
  const folder = mkdtempSync(join(tmpdir(), 'servo-timer-'))
  const closing = new AbortController()
  const say = createSpeaker()
  let deps: Awaited<ReturnType<typeof openDeps>>
  let loops: Awaited<ReturnType<typeof startScriptedLoops>>

  beforeAll(async () => {
    deps = await openDeps({ ...scope, store: `local:${folder}` })
    const appender = await openAppender(deps)
    const clock = clockUntil(deps.clock, closing.signal)
    const { client } = temporal()
    const log = () => undefined
    const turn = createTurn({ ...turnDeps(deps, appender), reconcile: createReconcile({ secret: SECRET }) })
    const poke = createPoker({ signal: () => signalWorkspace({ client, scope }), clock, closed: closing.signal, log })
    const current = createCurrent({ reader: openReader(deps), clock: deps.clock })
    const submit = { scope, appender, random: deps.random, poke }
    const workspace = createWorkspaceActivities({
      ...deps,
      turn,
      hand_over: undefined as never,
      pages: createWorkspacePages(),
      timings,
      stopping: closing.signal,
      overdue: closing.signal,
    })
    loops = await startScriptedLoops(connection, 'timer', taskQueues(scope), {
      real: {
        ...createEntityCalls({
          ...deps,
          current,
          ask: createAsk({ current, poke, stopping: closing.signal }),
          submit,
          stopping: closing.signal,
          secrets: [SECRET],
        }),
        // As one whose timer was lost: it waits for its backstop.
        turn: async (call) => ({ ...(await workspace.turn(call)), wake_in_ms: null, wake_at: null, more: false }),
      },
    })
    const at = { at: appender.now() }
    await appender.append([
      say.locationDeployed('main', 0, {}, at),
      say.assetDefined('a', {}, 'main', at),
      ...SCHEDULE_IDS.map((schedule_id, index) => {
        const fire = new Date(appender.now() + (index + 1) * FIRES_APART_S * SECOND_MS)
        const cron = `${fire.getUTCSeconds()} ${fire.getUTCMinutes()} ${fire.getUTCHours()} * * *`
        const definition = { cron_expressions: [cron], timezone: 'UTC', asset_selection: ['a'] }
        return say.scheduleDefined(schedule_id, definition, { schedule_name: `daily-${index}` }, at)
      }),
    ])
    await ensureLoops({ client, scope })
  }, TIMEOUT_MS)

  afterAll(async () => {
    closing.abort()
    const ids = [
      workflowId(scope, 'workspace'),
      workflowId(scope, 'maintenance'),
      ...SCHEDULE_IDS.map((id) => workflowId(scope, 'schedule', id)),
    ]
    await Promise.allSettled(ids.map((id) => temporal().client.workflow.getHandle(id).terminate()))
    await loops?.stop()
    await deps?.close()
    rmSync(folder, { recursive: true, force: true })
  }, TIMEOUT_MS)

  const ticks = async () => (await (await openReader(deps).latest())?.page('schedule_ticks', { limit: 100 }))?.rows ?? []

  test(
    'a lost timer goes on: the loops of the schedules that are due bring a turn each',
    async () => {
      await until('the schedules are published', async () => (await openReader(deps).latest())?.row('schedule_state', [ulidOf('third')]))
      for (const entity_id of SCHEDULE_IDS)
        await startEntityLoop({ client: temporal().client, scope }, 'schedule', { entity_id, name: entity_id, summary: entity_id })
      await until('each has ticked', async () => new Set((await ticks()).map(({ schedule_id }) => schedule_id)).size === 3)
      const { signals, fired } = await historyOf(workflowId(scope, 'workspace'))
      // The first turn comes with the start, and may decide the first tick.
      expect(signals).toBeGreaterThanOrEqual(2)
      expect(fired).toBe(0)
    },
    TIMEOUT_MS,
  )
})

describe('a loop whose schedule got another cron, of which nobody told it', () => {
  const scope = { tenant_id: TENANT_ID, workspace_id: 'listing' }
  const id = workflowId(scope, 'schedule', SCHEDULE_ID)
  let loops: Awaited<ReturnType<typeof startScriptedLoops>>

  afterAll(async () => {
    const ids = [workflowId(scope, 'workspace'), workflowId(scope, 'maintenance'), id]
    await Promise.allSettled(ids.map((each) => temporal().client.workflow.getHandle(each).terminate()))
    await loops?.stop()
  }, TIMEOUT_MS)

  test(
    'is poked by a look after the loops as long as its page is listed with the old fire, and left alone from then on',
    async () => {
      const story = createScheduleStory()
      const schedule = (): Schedule => {
        const { rows } = story.story
        return { definition: rows.get('schedule_definitions', SCHEDULE_ID), state: rows.get('schedule_state', SCHEDULE_ID) } as Schedule
      }
      story.define(NOW, { cron_expressions: ['0 10 1 1 *'] })
      const shown = () => ({ next_fire_at: instantText(SCHEDULE_KIND.dueAt(schedule())[0] as number) })
      const before = shown()
      story.define(NOW + 1, { cron_expressions: ['0 11 1 1 *'] })
      const now = shown()
      expect(now).not.toEqual(before)
      loops = await startScriptedLoops(connection, 'listing', taskQueues(scope), {
        looks: [before, ...Array.from({ length: 100 }, () => now)],
      })
      const { client } = temporal()
      const kind = { ...SCHEDULE_KIND, readAll: async () => [schedule()] }
      const ensure = async () =>
        (
          await ensureLoops({
            client,
            scope,
            entities: [entityLoops(kind, async () => undefined)],
            now: () => NOW + 2,
          })
        ).started
      const listedFire = async () => {
        for await (const listed of client.workflow.list({ query: `WorkflowId = "${id}"` })) {
          return listed.typedSearchAttributes.get(defineSearchAttributeKey('ServoNextFireAt', 'DATETIME'))?.toISOString()
        }
        return undefined
      }
      expect(await ensure()).toContain('schedule')
      await until('it is listed with the old fire', async () => (await listedFire()) === before.next_fire_at)
      expect(await historyOf(id)).toMatchObject({ signals: 0 })

      await ensure()
      expect((await historyOf(id)).signals).toBe(1)
      await until('it is listed with the new fire', async () => (await listedFire()) === now.next_fire_at)
      for (let looks = 0; looks < 5; looks++) expect(await ensure()).toEqual([])
      expect((await historyOf(id)).signals).toBe(1)
    },
    TIMEOUT_MS,
  )
})
