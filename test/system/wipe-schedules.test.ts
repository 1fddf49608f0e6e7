// Temporal's database is deleted between ticks of 200 schedules, with the automation running and with everything killed: no
// instant is lost and none is doubled, by the table of ticks and by the runs that they asked for.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openAppender, openDeps, openReader } from '../../src/bin/deps.js'
import { stampNow } from '../../src/commands/submit.js'
import { definedKey, definitionHash } from '../../src/core/keys.js'
import { SECOND_MS } from '../../src/core/time.js'
import { newUlid } from '../../src/core/ulid.js'
import { withDefaults } from '../../src/events/fields.js'
import { SCHEDULE_FIELDS } from '../../src/events/schedule-definition.js'
import type { RunRow } from '../../src/projections/run-table.js'
import type { ScheduleTickRow } from '../../src/projections/schedule-table.js'
import { readAll } from '../../src/readers/pages.js'
import { type System, startSystem } from '../fixtures/system.js'
import { until } from '../fixtures/until.js'

const SCHEDULES = 200
const EVERY_MS = 10 * SECOND_MS
const SCOPE = { tenant_id: 'default', workspace_id: 'default' }
const TIMEOUT_MS = 300_000
const WAIT_MS_MAX = 200_000

let system: System
let deps: Awaited<ReturnType<typeof openDeps>>
beforeAll(async () => {
  system = await startSystem({ with_temporal_file: true })
  deps = await openDeps({ ...SCOPE, store: system.store })
  // Nobody pokes here: the deploy does, and needs none of it.
  await define()
  // Nobody listens there: runs wait, and this test is about what asks for them.
  const worker_url = 'http://127.0.0.1:1'
  await system.client.post('/code-locations/main/deploy', { worker_url, slots: 1, assets: [{ asset_key: 'a', deps: [] }] })
}, TIMEOUT_MS)
afterAll(async () => {
  await deps?.close()
  await system?.stop()
}, TIMEOUT_MS)

async function define(): Promise<void> {
  const appender = await openAppender(deps)
  const drafts = Array.from({ length: SCHEDULES }, (_, i) => {
    const schedule_id = newUlid(deps.clock.now(), deps.random)
    const definition = withDefaults(SCHEDULE_FIELDS, { cron_expressions: [`${i % 10}/10 * * * * *`], asset_selection: ['a'] })
    const payload = { schedule_id, schedule_name: `schedule-${i}`, definition_hash: definitionHash(definition), definition }
    return { event_type: 'ScheduleDefined' as const, idempotency_key: definedKey('schedule', schedule_id, 'test'), payload }
  })
  await appender.append(stampNow({ ...deps, appender, scope: SCOPE }, drafts, 'servo/api'))
}

async function rowsOf<Row>(table: 'schedule_ticks' | 'runs'): Promise<readonly Row[]> {
  const view = await openReader(deps).latest()
  return view === undefined ? [] : ((await readAll(view, table)) as unknown as readonly Row[])
}

const bySchedule = (ticks: readonly ScheduleTickRow[]): ReadonlyMap<string, readonly ScheduleTickRow[]> => {
  const found = new Map<string, ScheduleTickRow[]>()
  for (const tick of ticks) found.set(tick.schedule_id, [...(found.get(tick.schedule_id) ?? []), tick])
  for (const each of found.values()) each.sort((left, right) => left.scheduled_for - right.scheduled_for)
  return found
}

/** Every schedule ticked for an instant after this one. */
const untilAllTickedAfter = (at: number) =>
  until(
    'every schedule has ticked since',
    async () => {
      const newest = bySchedule(await rowsOf<ScheduleTickRow>('schedule_ticks'))
      return newest.size === SCHEDULES && [...newest.values()].every((ticks) => (ticks.at(-1)?.scheduled_for ?? 0) > at)
    },
    WAIT_MS_MAX,
  )

test(
  'the schedules go on after Temporal was wiped under a running automation',
  async () => {
    await untilAllTickedAfter(0)
    await system.wipeTemporal()
    await untilAllTickedAfter(deps.clock.now())
  },
  TIMEOUT_MS,
)

test(
  'the schedules go on after everything was killed and Temporal was wiped',
  async () => {
    for (const part of ['automation', 'api', 'temporal'] as const) await system.kill(part)
    await system.wipeTemporal()
    for (const part of ['automation', 'api'] as const) await system.start(part)
    await untilAllTickedAfter(deps.clock.now())
  },
  TIMEOUT_MS,
)

test(
  'each instant of each schedule is there once, run or counted, and each that ran has one run',
  async () => {
    for (const part of ['automation', 'api', 'temporal'] as const) await system.kill(part)
    const ticks = await rowsOf<ScheduleTickRow>('schedule_ticks')
    const problems = [...bySchedule(ticks)].flatMap(([schedule_id, list]) => {
      const first = list[0] as ScheduleTickRow
      const last = list.at(-1) as ScheduleTickRow
      const instants = (last.scheduled_for - (first.first_scheduled_for ?? first.scheduled_for)) / EVERY_MS + 1
      const counted = list.reduce((sum, { skipped_count }) => sum + (skipped_count ?? 1), 0)
      return counted === instants ? [] : [`${schedule_id} has ${instants} instants, of which ${counted} are told.`]
    })
    expect(problems).toEqual([])
    const runs = await rowsOf<RunRow>('runs')
    const asked = ticks.filter(({ status }) => status === 'TRIGGERED').map(({ run_key }) => run_key)
    expect(asked.length).toBeGreaterThan(SCHEDULES * 2)
    expect(runs.map(({ run_key }) => run_key).sort()).toEqual(asked.sort())
  },
  TIMEOUT_MS,
)
